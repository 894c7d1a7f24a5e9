"""Reading as much of an artifact directory as routes and paths follow from: for pictures, within seconds.

Leaves differ in few lines of thousands; blocks that files share are read once (junos/pieces.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from ailb_gen.errors import IntentError
from ailb_gen.hosts.read import ReadServers
from ailb_gen.junos.alike import AlikeReader
from ailb_gen.junos.pieces import Pieces
from ailb_gen.junos.tree import Node, Reuse
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.fabric import Defect, Network
from ailb_gen.network.model import Switch
from ailb_gen.network.read import assembled, network_of, nothing, optional, read_switch, switch_files
from ailb_gen.network.switch import routed
from ailb_gen.network.topology import Topology, read_cabling, read_topology
from ailb_gen.textio import read_text

T = TypeVar("T")
# What differs from port to port and has no part in routes. Each word ends where the reader ends it.
WORD = r'[^\s;"{}\[\]#*]+'
UNROUTED = re.compile(
    rf'\n +(?:description (?:{WORD}|"[^"\\\n]*");|native-vlan-id \d+;|vlan \{{\n +members {WORD};\n +\}})'
)


def listed(root: Path) -> Topology:
    """Return the cables that an artifact directory lists: in `cabling.csv`, else in `topology.json`."""
    cabling = optional(root, CABLING, read_cabling)
    if cabling.links and cabling.attachments:
        return cabling
    topology = optional(root, TOPOLOGY, read_topology)
    defects = (*cabling.defects, *topology.defects)
    return replace(cabling.completed(topology), roles=topology.roles, defects=defects)


def read_routed(root: Path) -> Network:
    """Read switches as far as routes follow from them, and servers when they are looked up.

    Lists of cables are not compared with each other; where none has links, everything is read, descriptions too. Lines
    are not those of the files. Raises UsageError when `root` is no artifact directory; all other errors are defects of
    the network.
    """
    files, defects = switch_files(root)
    cables = listed(root)
    if not cables.links:
        return network_of(root)
    switches: dict[str, Switch] = {}
    pieces = Pieces()

    @cache
    def reuse(read: Callable[..., T], node: Node, *about: Hashable) -> T:
        return read(node, reuse, *about)

    for file in files:
        found = _switch(root, file, pieces, reuse)
        if isinstance(found, Defect):
            defects.append(found)
        else:
            switches[found.named] = found
    hosts = ReadServers(root)
    return assembled(switches, hosts, hosts.defects, cables, defects)


def _switch(root: Path, file: str, pieces: Pieces, reuse: Reuse) -> Switch | Defect:
    """Read a file by its pieces; what cannot be read so is read as a whole."""
    try:
        tree = pieces.read(UNROUTED.sub("", read_text(root / file, file, "utf-8")))
    except IntentError:
        tree = None
    if tree is not None and tree.children:
        return routed(Path(file).stem, file, tree, reuse)
    found = read_switch(root, file, nothing, AlikeReader())
    return found if isinstance(found, Defect) else found[0]
