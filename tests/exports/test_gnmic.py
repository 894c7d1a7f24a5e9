"""gnmic: keys of its user guide only, and every uplink exactly once, under its color."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from ailb_gen.design.model import Design
from ailb_gen.exports.labels import uplinks
from ailb_gen.exports.sensors import BFD, SESSIONS
from tests.conftest import example
from tests.exports.fabrics import odd_design, written

# Keys of gnmic that the export uses: TargetConfig and SubscriptionConfig of the Go module openconfig/gnmic/pkg/api
# v0.1.9 (types/target.go, types/subscription.go), others of its user guide (docs/user_guide); it ignores unknown ones.
GUIDE = {
    "": {"encoding", "targets", "subscriptions", "processors", "outputs"},
    "targets": {"name", "address", "subscriptions", "event-tags"},
    "subscriptions": {"paths", "mode", "stream-mode", "sample-interval"},
    "processors": {"event-add-tag", "event-strings"},
    "outputs": {"type", "listen", "export-timestamps", "expiration", "event-processors"},
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
    processors = [config["processors"][name] for name in config["outputs"]["prometheus"]["event-processors"]]
    adds = [one["event-add-tag"] for one in processors if "event-add-tag" in one]
    found = []
    for target in config["targets"].values():
        for subscription in target["subscriptions"]:
            # A pattern is matched against the values of all tags; this one is the name of the subscription.
            colors = [one["add"]["color"] for one in adds if any(re.search(tag, subscription) for tag in one["tags"])]
            for path in config["subscriptions"][subscription]["paths"]:
                if port := PORT.fullmatch(path):
                    found.append((target["name"], port[1], *colors))
    assert sorted(found) == sorted((link.device, link.interface, link.color) for link in uplinks(design))


def test_it_has_keys_of_the_user_guide_only(tmp_path: Path) -> None:
    config = read(example("jvd"), tmp_path)
    assert set(config) == GUIDE[""]
    for section in ("targets", "subscriptions", "processors", "outputs"):
        for body in config[section].values():
            assert set(body) <= GUIDE[section]


@pytest.mark.parametrize(
    ("path", "numbers"),
    [
        ("/interfaces/interface/state/oper-status", {"UP": "1", "DOWN": "2", "LOWER_LAYER_DOWN": "7"}),
        (f"{SESSIONS[0]}/session-state", {"ESTABLISHED": "6", "OPENSENT": "4", "OPENCONFIRM": "5", "IDLE": "1"}),
        (f"{BFD}/session-state", {"ADMIN_DOWN": "1", "DOWN": "2", "UP": "4"}),
        ("/interfaces/interface/state/counters/in-octets", {"7": "7"}),
    ],
)
def test_words_of_states_become_numbers(path: str, numbers: dict[str, str], tmp_path: Path) -> None:
    """As event-strings does it: every value whose path matches is replaced, word by word."""
    config = read(example("lab"), tmp_path)
    found = {}
    for word in numbers:
        value = word
        for name in config["outputs"]["prometheus"]["event-processors"]:
            strings = config["processors"][name].get("event-strings", {"value-names": []})
            if any(re.search(one, path) for one in strings["value-names"]):
                for step in strings["transforms"]:
                    value = value.replace(step["replace"]["old"], step["replace"]["new"])
        found[word] = value
    assert found == numbers


def test_odd_names_stay_names_and_no_secret_is_written(tmp_path: Path) -> None:
    config = read(odd_design(tmp_path), tmp_path)
    assert config["targets"]["off"] | {"subscriptions": []} == {
        "name": "off",
        "address": "192.0.2.1:9339",
        "subscriptions": [],
        "event-tags": {"fabric": "1e3", "device": "off", "role": "spine"},
    }
    assert not {"username", "password"} & set(config)
