"""gnmic: keys of its user guide only, and every uplink exactly once, under its color."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from ailb_gen.design.model import Design
from ailb_gen.exports.labels import uplinks
from tests.conftest import example
from tests.exports.fabrics import odd_design, written

# Keys of gnmic's user guide (docs/user_guide of openconfig/gnmic) that the export uses; gnmic ignores others.
GUIDE = {
    "": {"encoding", "targets", "subscriptions", "processors", "outputs"},
    "targets": {"name", "address", "subscriptions", "event-tags"},
    "subscriptions": {"paths", "mode", "stream-mode", "sample-interval"},
    "processors": {"event-extract-tags"},
    "outputs": {"type", "listen", "event-processors"},
}
PORT = re.compile(r"/interfaces/interface\[name=(.+?)\]/state/counters")


def read(design: Design, folder: Path) -> Mapping[str, Any]:
    """Return the file as gnmic's YAML 1.2 reads it, keys in lower case as gnmic has them."""
    text = (written(design, "gnmic", folder) / "gnmic.yaml").read_text()
    found: Mapping[str, Any] = lower(YAML(typ="safe", pure=True).load(text))
    return found


def lower(value: Any) -> Any:
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value)
        return {key.lower(): lower(one) for key, one in value.items()}
    return [lower(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["jvd", "odd", "jvd-8-uplinks"])
def test_every_uplink_is_collected_once_with_its_color(name: str, tmp_path: Path) -> None:
    design = odd_design(tmp_path) if name == "odd" else example(name)
    config = read(design, tmp_path)
    (pattern,) = config["processors"]["color"]["event-extract-tags"]["tags"]
    found = []
    for target in config["targets"].values():
        for subscription in target["subscriptions"]:
            color = re.search(pattern, subscription)
            for path in config["subscriptions"][subscription]["paths"]:
                if port := PORT.fullmatch(path):
                    found.append((target["name"], port[1], color and color["color"]))
    assert sorted(found) == sorted((link.device, link.interface, link.color.lower()) for link in uplinks(design))


def test_it_has_keys_of_the_user_guide_only(tmp_path: Path) -> None:
    config = read(example("jvd"), tmp_path)
    assert set(config) == GUIDE[""]
    for section in ("targets", "subscriptions", "processors", "outputs"):
        for body in config[section].values():
            assert set(body) <= GUIDE[section]


def test_odd_names_stay_names_and_no_secret_is_written(tmp_path: Path) -> None:
    config = read(odd_design(tmp_path), tmp_path)
    assert config["targets"]["off"] | {"subscriptions": []} == {
        "name": "off",
        "address": "192.0.2.1:9339",
        "subscriptions": [],
        "event-tags": {"fabric": "1e3", "device": "off", "role": "spine"},
    }
    assert not {"username", "password"} & set(config)
