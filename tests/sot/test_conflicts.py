"""Conflicts between intent and source, object by object: each kind of difference gives its finding, and no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.api.generate import generate
from ailb_gen.api.pull import pull
from ailb_gen.checks.catalogue import OF_SOURCE, checks_of
from ailb_gen.intent.load import load, parse
from ailb_gen.sot.records import Ref
from tests.sot.store import Store, store_of
from tests.sot.test_pull import EXAMPLES, findings, texts

MANAGED = """
management: {leaves: 192.0.2.11/24, spines: 192.0.2.31/24, servers: 192.0.2.101/24}
overrides:
  servers:
    gpu-s1-1: {nics: [{mac: "a0:88:c2:00:00:01"}, {mac: "a0:88:c2:00:00:02"}]}
"""


def port(store: Store, device: str, name: str) -> None:
    store.put("interface", (device, name), {"device": Ref("device", (device,)), "enabled": True})


def swapped(store: Store) -> None:
    for nic, leaf, at in (("gpu0_eth", "stripe1-leaf2", "et-0/0/40"), ("gpu1_eth", "stripe1-leaf1", "et-0/0/40")):
        store.remove("cable", *store.cable_at("gpu-s1-1", nic))
        port(store, leaf, at)
        store.cable("gpu-s1-1", nic, leaf, at)


def other_stripe(store: Store) -> None:
    for number, nic in enumerate(("gpu0_eth", "gpu1_eth"), 1):
        store.remove("cable", *store.cable_at("gpu-s1-1", nic))
        port(store, f"stripe2-leaf{number}", "et-0/0/40")
        store.cable("gpu-s1-1", nic, f"stripe2-leaf{number}", "et-0/0/40")


def third_nic(store: Store) -> None:
    port(store, "gpu-s1-1", "gpu2_eth")
    port(store, "stripe1-leaf1", "et-0/0/40")
    store.cable("gpu-s1-1", "gpu2_eth", "stripe1-leaf1", "et-0/0/40")


def new_link(store: Store) -> None:
    port(store, "stripe1-leaf1", "et-0/0/40")
    port(store, "stripe1-leaf2", "et-0/0/40")
    store.cable("stripe1-leaf1", "et-0/0/40", "stripe1-leaf2", "et-0/0/40")


def storage(store: Store) -> None:
    store.add_device("nas=1\n", "storage", owned=False, like="gpu-s1-1")
    port(store, "stripe1-leaf1", "et-0/0/40")
    store.cable("nas=1\n", "gpu0_eth", "stripe1-leaf1", "et-0/0/40")


def far_end(store: Store) -> None:
    port(store, "stripe1-leaf1", "et-0/0/40")
    store.cable("elsewhere", "eth0", "stripe1-leaf1", "et-0/0/40")


def twin(store: Store) -> None:
    store.twins.append(store.records["device", ("gpu-s1-1",)])


def second_mac(store: Store) -> None:
    store.put("mac-address", ("gpu-s1-2", "gpu1_eth", "a0:88:c2:00:00:01"), {})


def no_mac(store: Store) -> None:
    store.remove("mac-address", "gpu-s1-1", "gpu0_eth", "a0:88:c2:00:00:01")
    store.set("interface", ("gpu-s1-1", "gpu0_eth"), primary_mac=None)


def renamed(store: Store) -> None:
    store.add_device("GPU-S1-1", like="gpu-s1-2", owned=False, role="x")
    store.remove("device", "gpu-s1-1")


# What is done there, and the findings that follow.
CASES: dict[str, tuple[Callable[[Store], None], dict[str, list[str]]]] = {
    "missing": (
        lambda store: store.remove("device", "gpu-s2-2"),
        {"AILBS01": ["Store has no device gpu-s2-2 in site lab"]},
    ),
    "renamed": (renamed, {"AILBS01": ["Store has no device gpu-s1-1 in site lab; it has GPU-S1-1"]}),
    "twice": (twin, {"AILBS01": ["Store has 2 devices with the name gpu-s1-1"]}),
    "tagged": (
        lambda store: store.add_device("spine9", "spine", like="spine1"),
        {"AILBS02": ["spine9 has the fabric's tag, and is not in the intent"]},
    ),
    "storage": (
        storage,
        {"AILBS02": [r"nas=1\n is cabled to stripe1-leaf1 et-0/0/40, and is not in the intent"]},
    ),
    "far": (
        far_end,
        {"AILBS02": ["stripe1-leaf1 et-0/0/40 is cabled to elsewhere eth0: Store shows no such device in site lab"]},
    ),
    "role": (
        lambda store: store.set("device", ("spine1",), role=Ref("device-role", ("leaf",))),
        {"AILBS03": ["role of spine1 is leaf, not spine"]},
    ),
    "type": (
        lambda store: store.set("device", ("spine1",), type=Ref("device-type", ("Arista", "7060X6"))),
        {"AILBS03": ["device type of spine1 is 7060X6, not generic"]},
    ),
    "planned": (
        lambda store: store.set("device", ("gpu-s1-1",), status="planned"),
        {"AILBS04": ["gpu-s1-1 is planned, not active"]},
    ),
    "planned cable": (
        lambda store: store.set("cable", store.cable_at("spine1", "et-0/0/0"), status="planned"),
        {"AILBS04": ["the cable from stripe1-leaf1 et-0/0/0 to spine1 et-0/0/0 is planned, not connected"]},
    ),
    "disabled": (
        lambda store: store.set("interface", ("spine1", "et-0/0/0"), enabled=False),
        {"AILBS05": ["spine1 et-0/0/0 is disabled"]},
    ),
    "moved": (
        lambda store: store.move("stripe1-leaf1", "et-0/0/0", "et-0/0/9"),
        {
            "AILBS06": [
                "stripe1-leaf1 et-0/0/0 and spine1 et-0/0/0 are not connected: stripe1-leaf1 et-0/0/0 has no cable, "
                "spine1 et-0/0/0 goes to stripe1-leaf1 et-0/0/9"
            ]
        },
    ),
    "unplugged": (
        lambda store: store.remove("cable", *store.cable_at("gpu-s1-1", "gpu0_eth")),
        {
            "AILBS06": [
                "stripe1-leaf1 et-0/0/16 and gpu-s1-1 gpu0_eth are not connected: stripe1-leaf1 et-0/0/16 has no "
                "cable, gpu-s1-1 gpu0_eth has no cable"
            ]
        },
    ),
    "new link": (
        new_link,
        {"AILBS06": ["stripe1-leaf1 et-0/0/40 and stripe1-leaf2 et-0/0/40 are connected, and not in the intent"]},
    ),
    "second MAC": (
        second_mac,
        {"AILBS07": ["a0:88:c2:00:00:01 is on gpu-s1-1 gpu0_eth, gpu-s1-2 gpu1_eth"]},
    ),
    "no MAC": (
        no_mac,
        {"AILBS07": ["the MAC address of gpu-s1-1 gpu0_eth is none, not a0:88:c2:00:00:01"]},
    ),
    "address": (
        lambda store: store.set("device", ("spine1",), primary_ip=Ref("ip-address", ("192.0.2.99/24",))),
        {"AILBS08": ["the management address of spine1 is 192.0.2.99/24, not 192.0.2.31/24"]},
    ),
    "shared address": (
        lambda store: store.set("device", ("spine1",), primary_ip=Ref("ip-address", ("192.0.2.11/24",))),
        {
            "AILBS08": [
                "the management address of spine1 is 192.0.2.11/24, not 192.0.2.31/24",
                "192.0.2.11 is the primary address of stripe1-leaf1, spine1",
            ]
        },
    ),
    "other stripe": (
        other_stripe,
        {"AILBS09": ["gpu-s1-1 is cabled to stripe 2, and in stripe 1 in the intent"]},
    ),
    "third NIC": (
        third_nic,
        {"AILBS09": ["gpu-s1-1 gpu2_eth is cabled to a leaf, and is none of the 2 NICs of a server of its kind"]},
    ),
}


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    text = (EXAMPLES / "lab" / "fabric.yaml").read_text(encoding="utf-8") + MANAGED
    (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
    return tmp_path / "fabric.yaml"


@pytest.mark.parametrize("name", CASES)
def test_each_difference_is_told(name: str, fabric: Path) -> None:
    change, expected = CASES[name]
    store = store_of(load(fabric))
    assert findings(pull(fabric, store)) == []
    change(store)
    report = pull(fabric, store)
    found = texts(report)
    if name in ("other stripe", "third NIC"):
        # The cables are told as well.
        found.pop("AILBS06")
    assert found == expected
    assert report.report.passed == (set(expected) <= {"AILBS02", "AILBS04"})
    assert not pull(fabric, store, check=True).report.passed


def test_every_check_has_a_case() -> None:
    assert {check for _, expected in CASES.values() for check in expected} == {one.id for one in checks_of(OF_SOURCE)}


def test_swapped_rails_are_told(fabric: Path) -> None:
    """Both ends of both cables, and the rails."""
    store = store_of(load(fabric))
    swapped(store)
    found = texts(pull(fabric, store))
    assert found["AILBS09"] == [
        "gpu-s1-1 gpu0_eth is NIC 0, of stripe 1 and rail 0, and is cabled to stripe1-leaf2 of stripe 1, rail 1",
        "gpu-s1-1 gpu1_eth is NIC 1, of stripe 1 and rail 1, and is cabled to stripe1-leaf1 of stripe 1, rail 0",
    ]
    assert len(found["AILBS06"]) == 2


def test_a_missing_interface_is_told(fabric: Path) -> None:
    store = store_of(load(fabric))
    store.remove("cable", *store.cable_at("gpu-s1-1", "gpu0_eth"))
    store.remove("mac-address", "gpu-s1-1", "gpu0_eth", "a0:88:c2:00:00:01")
    store.remove("interface", "gpu-s1-1", "gpu0_eth")
    found = texts(pull(fabric, store))
    assert found["AILBS05"] == ["Store has no interface gpu-s1-1 gpu0_eth"]
    assert set(found) == {"AILBS05", "AILBS06"}


def test_a_kind_of_server_may_be_its_role(tmp_path: Path) -> None:
    text = """
name: kinds
platform: generic
stripes: 1
rails: 4
spines: 4
server_kinds: {storage: {rails: [3, 1], gpus: off, nic: "st{i}"}}
"""
    servers = "servers: [{name: gpu1}, {name: nas1, kind: storage}]\n"
    store = store_of(parse(text + servers, "f", tmp_path))
    store.set("device", ("nas1",), role=Ref("device-role", ("storage",)))
    path = tmp_path / "fabric.yaml"
    path.write_text(f"{text}servers: {{csv: servers.csv}}\n", encoding="utf-8")
    report = pull(path, store)
    assert findings(report) == []
    report.write()
    assert (tmp_path / "servers.csv").read_text().splitlines()[2] == "nas1,1,storage,,,,,,,et-0/0/17,et-0/0/17,,"
    generate(path, tmp_path / "build")
    assert findings(pull(path, store)) == []
