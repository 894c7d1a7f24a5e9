"""Reading for routes: the same switches, as far as routes follow from them, as reading everything."""

from __future__ import annotations

import random
import shutil
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from ailb_gen.junos.tree import Node
from ailb_gen.network.cos import class_of_service
from ailb_gen.network.fabric import Defect, Network
from ailb_gen.network.filters import filters
from ailb_gen.network.model import Switch, SwitchManagement
from ailb_gen.network.routed import read_routed
from tests.checks.trees import GOLDEN, network_of
from tests.conftest import examples
from tests.mutations.fuzz import DAMAGES

EMPTY = Node("")


def bare(switch: Switch) -> Switch:
    """A switch without what routes do not follow from."""
    ports = {}
    for name, port in switch.ports.items():
        units = tuple(replace(unit, vlans=()) for unit in port.units)
        ports[name] = replace(port, description="", native_vlan=None, units=units)
    return replace(
        switch,
        ports=ports,
        vlans=tuple(replace(vlan, description="") for vlan in switch.vlans),
        cos=class_of_service(EMPTY),
        filters=filters(EMPTY),
        lldp=frozenset(),
        lldp_off=frozenset(),
        unmodeled=(),
        harmless=frozenset(),
        operating=frozenset(),
        sections=frozenset(),
        management_gateway="",
        management=SwitchManagement(),
    )


def unlined(value: object) -> object:
    """A value without lines: fields that comparisons ignore, and those behind a text."""
    if isinstance(value, dict):
        return {key: unlined(one) for key, one in value.items()}
    if isinstance(value, tuple):
        is_text_with_line = len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int
        return value[0] if is_text_with_line else tuple(map(unlined, value))
    if is_dataclass(value):
        return type(value), {one.name: unlined(getattr(value, one.name)) for one in fields(value) if one.compare}
    return value


def facts(network: Network) -> tuple[object, list[Defect]]:
    files = [defect for defect in network.defects if defect.kind != "cabling"]
    return unlined({name: bare(switch) for name, switch in network.switches.items()}), files


@pytest.mark.parametrize("name", ["lab", "jvd", "brownfield", "static"])
def test_switches_cables_and_servers_are_those_of_the_files(name: str) -> None:
    found, whole = read_routed(GOLDEN / name), network_of(GOLDEN / name)
    assert facts(found) == facts(whole)
    assert (found.links, dict(found.attachments), dict(found.attachment_bps)) == (
        whole.links, whole.attachments, whole.attachment_bps,
    )  # fmt: skip
    assert dict(found.hosts) == whole.hosts


def test_damaged_files_are_read_as_they_are(tmp_path: Path) -> None:
    """Lines of a leaf and a spine are deleted, doubled, exchanged; words are swapped; digits change."""
    rng = random.Random(1)
    root = tmp_path / "lab"
    (root / "switches").mkdir(parents=True)
    for name in ("cabling.csv", "topology.json"):
        shutil.copy(GOLDEN / "lab" / name, root)
    texts = {name: (GOLDEN / "lab" / "switches" / name).read_text() for name in ("stripe1-leaf1.conf", "spine1.conf")}
    seen = 0
    for _ in range(examples(75)):
        for name, text in texts.items():
            lines = text.split("\n")
            rng.choice(DAMAGES)(rng, lines)
            (root / "switches" / name).write_text("\n".join(lines))
        found, whole = facts(read_routed(root)), facts(network_of(root))
        assert found == whole
        seen += bool(found[1])
    assert seen, "some texts are no configuration any more"


def test_without_lists_of_cables_everything_is_read(tmp_path: Path) -> None:
    root = tmp_path / "lab"
    shutil.copytree(GOLDEN / "lab", root, symlinks=True)
    for name in ("cabling.csv", "topology.json"):
        (root / name).unlink()
    found, whole = read_routed(root), network_of(root)
    assert found.links and found == whole


def test_the_files_of_a_server_are_read_when_it_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def note(root: Path, name: str, yaml: object) -> object:
        asked.append(name)
        return object()

    monkeypatch.setattr("ailb_gen.hosts.read.read_profile", note)
    hosts = read_routed(GOLDEN / "lab").hosts
    assert (len(hosts), asked) == (4, [])
    assert "nobody" not in hosts
    assert hosts["gpu-s1-1"].profile is hosts["gpu-s1-2"].profile
    assert asked == ["profiles/stripe1"]
