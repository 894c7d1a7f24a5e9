"""The model of the fabric in the middle of a push: some switches old, some new, and what must then be up.

What is expected of a switch is not what its file says alone: a session needs both ends. So the sessions that must come
up after a wave are computed, by the packages that prove the files, from the configurations that are active by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ailb_gen.deploy.switch import DeviceError, Phase
from ailb_gen.deploy.verify import Advertised, Expected, Neighbor
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node
from ailb_gen.layout import CABLING, TOPOLOGY, switch_file
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.links import cables
from ailb_gen.network.model import Switch
from ailb_gen.network.sessions import Sessions, Side, sessions
from ailb_gen.network.switch import switch
from ailb_gen.network.topology import Topology, read_cabling, read_topology
from ailb_gen.routing.speaker import direct_prefixes, originated, rules
from ailb_gen.textio import read_text


@dataclass(frozen=True)
class FabricModel:
    """The switches that are known, by name, and the cables between all."""

    switches: Mapping[str, Switch]
    roles: Mapping[str, str]
    links: tuple[Cable, ...]
    attachments: Mapping[tuple[str, str], End]

    def after(self, changed: Mapping[str, Switch]) -> FabricModel:
        """Return the state in which some switches have changed."""
        fabric_model = replace(self, switches={**self.switches, **changed})
        # What follows from the cables alone is computed once.
        fabric_model.__dict__.update(
            {key: value for key, value in self.__dict__.items() if key in ("cables", "servers")}
        )
        return fabric_model

    @cached_property
    def network(self) -> Network:
        """The fabric as the packages that prove the files know it; servers take no part in sessions."""
        return Network(self.switches, {}, self.roles, self.links, self.attachments, ())

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions that come up between the switches as they are."""
        return sessions(self.network)

    def around(self, names: Iterable[str]) -> Network:
        """Return the part of the fabric that some switches have sessions in."""
        links = tuple(cable for name in names for cable in self.cables.get(name, ()))
        ends = dict.fromkeys(end.device for cable in links for end in (cable.a, cable.b))
        switches = {name: self.switches[name] for name in ends if name in self.switches}
        return Network(switches, {}, self.roles, links, {}, ())

    @cached_property
    def cables(self) -> Mapping[str, tuple[Cable, ...]]:
        """The cables of every switch, in order."""
        found: dict[str, list[Cable]] = {}
        for cable in self.links:
            for end in (cable.a, cable.b):
                found.setdefault(end.device, []).append(cable)
        return {name: tuple(cables) for name, cables in found.items()}

    @cached_property
    def by_device(self) -> Mapping[str, tuple[tuple[Side, Side], ...]]:
        """The sessions of every switch, its own side first."""
        found: dict[str, list[tuple[Side, Side]]] = {}
        for session in self.sessions.up:
            for own, far in ((session.a, session.b), (session.b, session.a)):
                found.setdefault(own.device, []).append((own, far))
        return {name: tuple(rows) for name, rows in found.items()}

    def expected(self, name: str, alarms: Iterable[str] = ()) -> Expected:
        """Return what must be seen on a switch; `alarms` were there before and may stay."""
        neighbors, announced = [], []
        for own, far in self.by_device.get(name, ()):
            neighbors.append(Neighbor(own.interface, far.device, far.asn, len(self._announced(far))))
            announced += [Advertised(own.interface, *row) for row in self._announced(own)]
        rows = self.switches[name].advertisements if name in self.switches else {}
        announcing = frozenset(interface for interface, row in rows.items() if row.prefixes)
        return Expected(name, tuple(neighbors), tuple(announced), announcing, frozenset(alarms))

    def _announced(self, side: Side) -> tuple[tuple[str, str | None, int | None], ...]:
        """Return what a switch's fabric-advertise sends over a session: prefix, color community, AIGP."""
        found = self._sent.get((side.device, side.group))
        if found is None:
            found = self._sent[side.device, side.group] = tuple(_sent(self.switches[side.device], side.group))
        return found

    @cached_property
    def servers(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """The servers at every switch: the name of the server and the port of the switch."""
        found: dict[str, list[tuple[str, str]]] = {}
        for (server, _), end in self.attachments.items():
            found.setdefault(end.device, []).append((server, end.port))
        return {name: tuple(rows) for name, rows in found.items()}

    @cached_property
    def _sent(self) -> dict[tuple[str, int], tuple[tuple[str, str | None, int | None], ...]]:
        """Cached results: they are the same for all sessions of a group, and needed at both ends."""
        return {}


def _sent(own: Switch, group: int) -> Iterator[tuple[str, str | None, int | None]]:
    rule, up = rules(own, own.groups[group]), direct_prefixes(own)
    for route in own.routes:
        sent = originated(own, route, rule) if route.prefix in up else None
        if sent is not None:
            yield str(route.prefix), next(iter(sent.colors), None), sent.aigp


def acting_of(name: str, tree: Node) -> Node:
    """Return what of a device's configuration acts: groups and interface ranges applied. Raises DeviceError."""
    try:
        return effective(tree)
    except UsageError as error:
        hint = "repair it on the device, or in the file that is pushed to it"
        raise DeviceError(name, Phase.READ, f"what its configuration does is not clear: {error}", hint) from error


def switch_of(name: str, tree: Node) -> Switch:
    """Read a switch from its configuration, without line numbers. Raises DeviceError.

    The lines of the tree are lost for it.
    """
    return model_of(name, acting_of(name, tree))


def model_of(name: str, root: Node) -> Switch:
    """Read what a switch does from its effective tree, whose lines are lost for it.

    Without the statements that are not read: nothing here asks for them, and a device may have any number.
    """
    stack = list(root)
    for node in stack:
        node.line = 1
        stack += node
    return replace(switch(name, switch_file(name), root), unmodelled=(), harmless=frozenset())


def read_fabric_model(artifacts: Path, switches: Mapping[str, Switch]) -> FabricModel:
    """Take cables and roles from an artifact directory, the switches as they are. Raises UsageError."""
    topology, cabling = _read(artifacts, TOPOLOGY, read_topology), _read(artifacts, CABLING, read_cabling)
    found = cables({}, {}, topology, cabling)
    defects = (*topology.defects, *cabling.defects, *found.defects)
    if defects:
        lines = "\n".join(f"{artifacts}/{defect.place or defect.scope}: {defect.message}" for defect in defects)
        raise UsageError(f"{lines}\nthe cabling is not known; generate the files again")
    attachments = {(cable.b.device, cable.b.port): cable.a for cable in found.attachments}
    return FabricModel(switches, topology.roles, found.links, attachments)


def _read(artifacts: Path, file: str, parse: Callable[[str], Topology]) -> Topology:
    try:
        return parse(read_text(artifacts / file, file))
    except IntentError as error:
        raise UsageError(f"{artifacts}/{error}") from error
