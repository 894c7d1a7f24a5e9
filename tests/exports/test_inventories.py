"""Inventories, read by the programs that they are for."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nornir import InitNornir
from nornir.core.inventory import Inventory

from ailb_gen.deploy.inventory import AilbInventory
from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.exports.inventories import ansible
from ailb_gen.exports.kind import ExportInput
from tests.conftest import EXAMPLES, example
from tests.exports.fabrics import ODD, fabric_file, odd_design, written


def read_by_ansible(design: Design, folder: Path) -> dict[str, Any]:
    """Return everything that the real ansible-inventory knows."""
    file = written(design, "ansible", folder) / "inventory.yaml"
    words = [sys.executable, "-m", "ansible", "inventory", "-i", str(file), "--list"]
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "ANSIBLE_INVENTORY_ENABLED": "yaml"}
    run = subprocess.run(words, capture_output=True, text=True, env=env, check=False, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_ansible_reads_groups_and_variables(tmp_path: Path) -> None:
    found = read_by_ansible(example("mixed"), tmp_path)
    assert found["storage"]["hosts"] == ["store-1-1", "store-2-1"]
    assert found["rail0"]["hosts"] == ["stripe1-leaf1", "stripe2-leaf1"]
    assert found["spine"]["hosts"] == ["spine1", "spine2", "spine3", "spine4"]
    assert set(found["stripe2"]["hosts"]) >= {"stripe2-leaf4", "b200-01", "h100-04"}
    spine = found["_meta"]["hostvars"]["spine2"]
    assert spine["ansible_network_os"] == "junipernetworks.junos.junos"
    assert (spine["ansible_connection"], spine["ansible_port"]) == ("ansible.netcommon.netconf", 830)
    assert (spine["fabric_asn"], spine["fabric_colors"]) == (4200000002, ["blue"])
    assert found["_meta"]["hostvars"]["h100-01"]["ansible_port"] == 22


def test_ansible_takes_odd_names_for_names(tmp_path: Path) -> None:
    found = read_by_ansible(odd_design(tmp_path), tmp_path)
    assert set(found["server"]["hosts"]) == set(ODD)
    hosts = found["_meta"]["hostvars"]
    assert hosts["off"]["ansible_host"] == "192.0.2.1"
    assert hosts["on"]["ansible_host"] == "192.0.2.101"
    assert {one["fabric_name"] for one in hosts.values()} == {"1e3"}
    assert found["storage"]["hosts"] == [ODD[-1]]


@pytest.mark.parametrize("name", ["all", "ungrouped", "stripe1", "storage"])
def test_a_device_with_the_name_of_a_group_is_refused_for_ansible(name: str, tmp_path: Path) -> None:
    design = odd_design(tmp_path, (name, "gpu1"))
    with pytest.raises(UsageError, match=f"{name} is a device, and Ansible has a group of that name; rename"):
        ansible(ExportInput(design))


def read_by_nornir(folder: Path) -> Inventory:
    """Return what the real SimpleInventory reads."""
    options = {f"{what}_file": str(folder / f"{name}.yaml") for what, name in (("host", "hosts"), ("group", "groups"))}
    options["defaults_file"] = str(folder / "defaults.yaml")
    return InitNornir(
        inventory={"plugin": "SimpleInventory", "options": options},
        logging={"enabled": False},
        runner={"plugin": "serial"},
    ).inventory


def same_as_our_plugin(fabric: Path, found: Inventory) -> None:
    ours = AilbInventory(fabric).load()
    assert list(found.hosts) == list(ours.hosts)
    assert set(found.groups) == set(ours.groups)
    for name, host in ours.hosts.items():
        read = found.hosts[name]
        assert [group.name for group in read.groups] == [group.name for group in host.groups]
        assert (read.hostname, read.port, read.platform) == (host.hostname, host.port, host.platform)
        assert (read.username, read.password) == (None, None)
        assert read["role"] == host["role"]
        assert (read.get("stripe", 0), read.get("rail")) == (host["stripe"], host["rail"])
        if host["role"] == "spine":
            assert tuple(read["colors"]) == host["colors"]


@pytest.mark.parametrize("name", ["jvd", "mixed"])
def test_nornir_reads_the_hosts_and_groups_of_our_plugin(name: str, tmp_path: Path) -> None:
    same_as_our_plugin(EXAMPLES / name / "fabric.yaml", read_by_nornir(written(example(name), "nornir", tmp_path)))


def test_nornir_takes_odd_names_for_names(tmp_path: Path) -> None:
    found = read_by_nornir(written(odd_design(tmp_path), "nornir", tmp_path / "nornir"))
    assert set(ODD) < set(found.hosts)
    assert found.hosts["off"]["fabric"] == "1e3"
    same_as_our_plugin(fabric_file(tmp_path), found)
