"""Telegraf: its configuration is TOML with keys of its plug-ins, and its tables have every uplink."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from ailb_gen.exports.labels import uplinks
from tests.conftest import example
from tests.exports.fabrics import odd_design, written


def test_the_tables_have_the_colors_of_all_uplinks(tmp_path: Path) -> None:
    design = odd_design(tmp_path)
    folder = written(design, "telegraf", tmp_path)
    addresses = {one.name: one.management.address.partition("/")[0] for one in design.switches if one.management}
    ports = json.loads((folder / "uplinks.json").read_text())
    assert ports == {
        f"{addresses[link.device]} {link.interface}": {
            "color": link.color,
            "peer": link.peer,
            "peer_interface": link.peer_interface,
        }
        for link in uplinks(design)
    }
    devices = json.loads((folder / "devices.json").read_text())
    assert devices["192.0.2.1"] == {"fabric": "1e3", "device": "off", "role": "spine"}
    # Telegraf takes text only.
    assert all(isinstance(value, str) for row in (*ports.values(), *devices.values()) for value in row.values())


def test_the_configuration_reaches_every_switch_without_secrets(tmp_path: Path) -> None:
    config = tomllib.loads((written(example("jvd"), "telegraf", tmp_path) / "telegraf.conf").read_text())
    (gnmi,) = config["inputs"]["gnmi"]
    assert gnmi["addresses"] == [f"{switch.name}:9339" for switch in example("jvd").switches]
    assert (gnmi["username"], gnmi["password"]) == ("${GNMI_USERNAME}", "${GNMI_PASSWORD}")
    names = {one["name"] for one in gnmi["subscription"]}
    looked_up = {name for one in config["processors"]["lookup"] for name in one["namepass"]}
    assert looked_up == names >= {"interfaces", "queues", "links", "bgp", "bgp_prefixes", "bfd", "optics", "fec"}
    # States are numbers in Prometheus, which has no text.
    assert {
        (one["namepass"][0], one["mapping"][0]["fields"][0]): one["mapping"][0]["value_mappings"]["UP"]
        for one in config["processors"]["enum"]
        if "UP" in one["mapping"][0]["value_mappings"]
    } == {("links", "oper_status"): 1, ("bfd", "session_state"): 4}
    # The interval of a sample is given where the mode is sample.
    assert all(re.fullmatch("[0-9]+s", one["sample_interval"]) for one in gnmi["subscription"])


def telegraf(folder: Path, *words: str) -> str:
    """Run Telegraf: the one on the PATH, or the one that AILB_TELEGRAF names."""
    program = os.environ.get("AILB_TELEGRAF") or shutil.which("telegraf")
    if program is None:
        pytest.skip("Telegraf is not installed; neither Debian nor PyPI has it")
    env = {"PATH": "/usr/bin", "TELEGRAF_LOOKUP": str(folder), "GNMI_USERNAME": "u", "GNMI_PASSWORD": "p"}
    run = subprocess.run(
        [program, "--strict-env-handling", *words], capture_output=True, text=True, env=env, check=False, timeout=60
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_telegraf_knows_every_option(tmp_path: Path) -> None:
    folder = written(odd_design(tmp_path), "telegraf", tmp_path)
    telegraf(folder, "config", "check", "--config", str(folder / "telegraf.conf"))


def test_telegraf_adds_the_labels_to_counters_of_interfaces_and_queues(tmp_path: Path) -> None:
    folder = written(odd_design(tmp_path), "telegraf", tmp_path)
    text = (folder / "telegraf.conf").read_text()
    # Lines as the gNMI input makes them, in its place.
    (folder / "lines").write_text(
        "interfaces,source=192.0.2.11,name=et-0/0/0:0 out_octets=1i\n"
        "queues,source=192.0.2.11,interface_id=et-0/0/1:0,name=4 transmit_pkts=2i\n"
    )
    given = '[[inputs.file]]\nfiles = ["${TELEGRAF_LOOKUP}/lines"]\ndata_format = "influx"\n'
    (folder / "lines.conf").write_text(given + text[text.index("[[processors.lookup]]") : text.index("[[outputs")])
    shown = telegraf(folder, "--config", str(folder / "lines.conf"), "--test")
    leaf = "device=stripe1-leaf1,fabric=1e3"
    assert f"> interfaces,color=Green,{leaf}," in shown
    assert f"> queues,color=blue,{leaf}," in shown
    assert "peer=off,peer_interface=et-0/0/0:0,rail=0,role=leaf" in shown
