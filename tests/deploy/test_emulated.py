"""Devices of an emulator that does not run, or that was started for a smaller fabric."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ailb_gen.background import locked
from ailb_gen.deploy.emulated import emulator_of
from tests.deploy.fabric import CANARY, LAST, ORDER, SPINES, Site, run
from tests.ports import free_ports


def edit(tiny: Site, **ports: int | None) -> None:
    """Give devices other ports in the inventory, or take them out of it, below the line of the emulator."""
    path = tiny.inventory / "hosts.yaml"
    head, _, body = path.read_text().partition("\n")
    hosts = yaml.safe_load(body)
    for name, port in ports.items():
        if port is None:
            del hosts[name]
        else:
            hosts[name]["port"] = port
    path.write_text(f"{head}\n{yaml.safe_dump(hosts)}")


@pytest.mark.parametrize("known", [True, False])
def test_an_emulator_that_does_not_run(tiny: Site, known: bool) -> None:
    (tiny.inventory / "emulator.json").touch()
    closed = free_ports(len(ORDER))
    ports = {name: closed + number for number, name in enumerate(ORDER)}
    edit(tiny, **ports)
    (tiny.inventory / "known_hosts").write_text(tiny.fleet.known_hosts(ports) if known else "")
    done = run(*tiny.place("plan"), *[] if known else ["--accept-new-hostkeys"])
    start = f"ailb-gen emulate {tiny.generated.artifacts} -i {tiny.inventory} --daemon"
    told = f"connect: the emulator of {tiny.inventory} is not running; start it with: {start}\n"
    assert done.err == f"ailb-gen: 4 devices, {CANARY}, {LAST}, {SPINES[0]} and 1 more: {told}"
    assert done.code == 3


def test_a_device_that_the_emulator_does_not_have_is_not_looked_for(tiny: Site) -> None:
    edit(tiny, **{LAST: None, CANARY: None})
    with locked(tiny.inventory):
        done = run(*tiny.place("plan"), "--accept-new-hostkeys")
    again = f"ailb-gen emulate {tiny.generated.artifacts} -i {tiny.inventory} --daemon"
    restart = f"restart it with: ailb-gen emulate --stop {tiny.inventory} && {again}\n"
    reason = f"not in {tiny.inventory}: its emulator was started before the fabric had such a device; {restart}"
    assert done.err == f"ailb-gen: 2 devices, {CANARY}, {LAST}: connect: {reason}"
    assert done.code == 3


def test_another_inventory_says_which_devices_it_does_not_list(tiny: Site) -> None:
    edit(tiny, **{LAST: None, CANARY: None})
    hosts = tiny.inventory / "hosts.yaml"
    hosts.write_text(hosts.read_text().partition("\n")[2])
    done = run(*tiny.place("plan"))
    assert done.err.startswith(f"ailb-gen: 2 devices, {CANARY}, {LAST}: connect: no host key is known in ")
    assert done.err.endswith("; hosts.yaml does not list them: are their addresses right?\n")


def test_an_inventory_of_another_origin_has_no_emulator(tmp_path: Path) -> None:
    (tmp_path / "emulator.json").touch()
    assert emulator_of(tmp_path, tmp_path) is None
    (tmp_path / "hosts.yaml").write_text("leaf1: {hostname: 192.0.2.1}\n")
    assert emulator_of(tmp_path, tmp_path) is None
