"""The lab fabric of the golden files, with one thing changed, and the one with static neighbors."""

from __future__ import annotations

from pathlib import Path

from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Network
from ailb_gen.network.links import cables
from ailb_gen.network.switch import switch
from ailb_gen.network.topology import read_cabling, read_topology
from tests.conftest import ROOT

LAB = ROOT / "tests" / "golden" / "lab"


def _texts(root: Path) -> dict[str, str]:
    paths = (*sorted((root / "switches").iterdir()), root / "topology.json", root / "cabling.csv")
    return {str(path.relative_to(root)): path.read_text() for path in paths}


TEXTS = _texts(LAB)
# Static neighbors in one group.
STATIC = _texts(LAB.parent / "static")
LEAF, SPINE = "switches/stripe1-leaf1.conf", "switches/spine1.conf"


def changed(file: str, old: str, new: str, count: int = 1) -> dict[str, str]:
    """Return all texts, with `old` replaced in one of them; what is not there cannot be replaced."""
    assert old in TEXTS[file], f"{old!r} is not in {file}"
    return {**TEXTS, file: TEXTS[file].replace(old, new, count)}


def network(texts: dict[str, str]) -> Network:
    switches = {}
    for file, text in texts.items():
        if file.startswith("switches/"):
            name = file.removeprefix("switches/").removesuffix(".conf")
            switches[name] = switch(name, file, effective(read(text, file)))
    topology = read_topology(texts.get("topology.json", '{"devices": [], "links": [], "colors": []}'))
    cabling = read_cabling(texts.get("cabling.csv", TEXTS["cabling.csv"].split("\n")[0]))
    roles = {name: "spine" if name.startswith("spine") else "leaf" for name in switches}
    found = cables(switches, roles, topology, cabling)
    attachments = {(cable.b.device, cable.b.port): cable.a for cable in found.attachments}
    defects = (*topology.defects, *cabling.defects, *found.defects)
    return Network(switches, {}, roles, found.links, attachments, defects)


def line_of(texts: dict[str, str], file: str, part: str, nth: int = 1) -> int:
    """Return the number of the nth line that holds `part`."""
    return [number for number, line in enumerate(texts[file].split("\n"), 1) if part in line][nth - 1]
