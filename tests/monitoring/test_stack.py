"""The files of `monitoring`, byte by byte, and as the programs that read them do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from ailb_gen.api.monitoring import monitoring
from ailb_gen.deploy.watching.changes import WatchFigures
from ailb_gen.deploy.watching.metrics import WatchCollector
from ailb_gen.monitoring.collector import COLLECTORS
from ailb_gen.monitoring.dashboards import DASHBOARDS, dashboards
from ailb_gen.monitoring.stack import MonitoringOptions
from tests.conftest import example, need_tool
from tests.golden_trees import GOLDEN

KEPT = GOLDEN / "monitoring"


def test_the_files_of_the_lab_are_those_of_before() -> None:
    files = monitoring(example("lab"), GOLDEN / "lab", MonitoringOptions())
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        for path, data in files.items():
            (KEPT / path).parent.mkdir(parents=True, exist_ok=True)
            (KEPT / path).write_bytes(data)
    assert files == {path.relative_to(KEPT).as_posix(): path.read_bytes() for path in KEPT.rglob("*") if path.is_file()}


@pytest.mark.parametrize("collector", COLLECTORS)
def test_promtool_reads_configuration_rules_and_metrics(collector: str, tmp_path: Path) -> None:
    files = monitoring(example("lab"), GOLDEN / "lab", MonitoringOptions(collector, 30, "https://docs.example.net"))
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    promtool = need_tool("promtool")
    for words in (("config", "prometheus.yml"), ("rules", "--lint=all", "--lint-fatal", "rules.yml")):
        run = subprocess.run(
            [promtool, "check", *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
        )
        assert run.returncode == 0, run.stdout + run.stderr
        assert "SUCCESS" in run.stdout
    for name in ("uplinks.prom", "expected.prom"):
        subprocess.run([promtool, "check", "metrics"], input=files[name], check=True, timeout=60)


@pytest.mark.parametrize("name", [one.name for one in DASHBOARDS])
def test_dashboards_are_what_grafanas_schema_says(name: str) -> None:
    """Read into the types that Grafana publishes and written back, nothing is lost and nothing unknown."""
    register_default_plugins()
    body = json.loads(dashboards("lab")[f"{name}.json"])
    again = json.loads(json.dumps(Dashboard.from_json(body), cls=JSONEncoder))
    assert _within(body, again) == []
    assert len(body["uid"]) <= 40


def _within(one: object, other: object, at: str = "") -> list[str]:
    """Return the places whose value is not in the other, which may have defaults besides."""
    if isinstance(one, dict):
        named = other if isinstance(other, dict) else {}
        return [place for key, value in one.items() for place in _within(value, named.get(key), f"{at}.{key}")]
    if isinstance(one, list):
        rest = other if isinstance(other, list) and len(other) == len(one) else [None] * len(one)
        return [place for n, value in enumerate(one) for place in _within(value, rest[n], f"{at}[{n}]")]
    return [] if one == other else [f"{at}: {one!r} is {other!r}"]


def test_dashboards_and_alerts_ask_for_series_that_are_recorded() -> None:
    files = monitoring(example("lab"), GOLDEN / "lab", MonitoringOptions())
    rules = files["rules.yml"].decode()
    recorded = set(re.findall(r'record: "?([a-z_:]+)', rules))
    exprs = [rules] + [data.decode() for path, data in files.items() if path.startswith("grafana/")]
    asked = {name for text in exprs for name in re.findall(r"\bailb_[a-z]+:[a-z_:]+", text)}
    assert asked - recorded - {"ailb_leaf:"} == set()
    metrics = set(re.findall(r"^# TYPE (\w+)", (files["uplinks.prom"] + files["expected.prom"]).decode(), re.M))
    collector = WatchCollector()
    collector.figures = WatchFigures("lab")
    metrics |= {family.name for family in collector.collect()}
    asked = {name for text in exprs for name in re.findall(r"\bailb_[a-z_]+\b(?!:)", text) if "_host_" not in name}
    assert asked <= metrics


@pytest.mark.parametrize("others", [False, True])
def test_gnmic_subscribes_to_what_the_rules_read(others: bool) -> None:
    files = monitoring(example("lab"), GOLDEN / "lab", MonitoringOptions(all_paths=others))
    config = yaml.safe_load(files["gnmic/gnmic.yaml"])
    paths = [path for one in config["subscriptions"].values() for path in one["paths"]]
    subscribed = {re.sub(r"[^a-z0-9]+", "_", path.strip("/")) for path in paths}
    read = set(re.findall(r"\b(?:interfaces|network_instances)_\w+", files["rules.yml"].decode()))
    assert len(read) == 8
    assert subscribed >= read if others else subscribed == read
    assert others == any(path.startswith("/qos/") for path in paths)
    # Every switch has all of them, and nothing is forgotten between two samples.
    assert {tuple(one["subscriptions"]) for one in config["targets"].values()} == {tuple(config["subscriptions"])}
    slowest = max(int(one["sample-interval"].rstrip("s")) for one in config["subscriptions"].values())
    assert int(config["outputs"]["prometheus"]["expiration"].rstrip("s")) >= max(60, 3 * slowest)


@pytest.mark.parametrize("others", [False, True])
def test_telegraf_subscribes_to_what_the_rules_read(others: bool) -> None:
    files = monitoring(example("lab"), GOLDEN / "lab", MonitoringOptions("telegraf", all_paths=others))
    config = tomllib.loads(files["telegraf/telegraf.conf"].decode())
    measured = [one["name"] for one in config["inputs"]["gnmi"][0]["subscription"]]
    fields = set(re.findall(r"\b(?:interfaces|links|bgp)_\w+", files["rules.yml"].decode()))
    assert {one.partition("_")[0] for one in fields} == set(measured[:3]) == {"interfaces", "links", "bgp"}
    assert measured[3:] == (["queues", "bgp_prefixes", "bfd", "optics", "optics_lanes", "fec"] if others else [])
    looked_up = {name for one in config["processors"]["lookup"] for name in one["namepass"]}
    assert looked_up == set(measured)
    assert {one["namepass"][0] for one in config["processors"]["enum"]} == set(measured) & {"links", "bgp", "bfd"}


def test_a_long_name_still_has_an_id_that_grafana_takes() -> None:
    body = json.loads(dashboards("f" * 60)["fabric.json"])
    assert re.fullmatch(r"ailb-[0-9a-f]{35}", body["uid"])
