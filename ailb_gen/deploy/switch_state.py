"""The state of a switch against what is expected of it: sessions, advertised prefixes, router advertisements, alarms.

Every question is one RPC; names of replies and elements are those of Junos's XML output (`show … | display xml`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from lxml.etree import _Element

from ailb_gen.deploy.switch_driver import LONGEST, NUMBER, DeviceError, Phase, SwitchDriver, unreadable
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

ESTABLISHED = "Established"
COLOR = "color:"
MOST_ALARMS = 100
# Rows of an answer: twenty times the sessions of a spine with 512 leaves, and more alarms than a device has parts.
MOST_ROWS = 10_000
SUMMARY, ROUTES = "get-bgp-summary-information", "get-route-information"


@dataclass(frozen=True, slots=True)
class ExpectedSession:
    """A session that must be up: own logical interface, the peer and its AS, how many prefixes it sends at least."""

    interface: str
    peer: str
    asn: int
    prefixes: int = 0


@dataclass(frozen=True, slots=True)
class ExpectedPrefix:
    """A prefix that must be sent over a session, with its color community, None for none, and AIGP, None for none."""

    interface: str
    prefix: str
    color: str | None
    aigp: int | None


@dataclass(frozen=True, slots=True)
class ObservedSession:
    """A BGP neighbor as the switch shows it; `interface` is that of a link-local address, empty for any other."""

    address: str
    interface: str
    asn: int
    state: str
    accepted: int

    @property
    def up(self) -> bool:
        """Whether the session is established."""
        return self.state.startswith(ESTABLISHED)


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """The expected state of a switch; `announcing` are the interfaces that must send router advertisements.

    `alarms` are those that were there before: they may stay.
    """

    name: str
    neighbors: tuple[ExpectedSession, ...] = ()
    advertised: tuple[ExpectedPrefix, ...] = ()
    announcing: frozenset[str] = frozenset()
    alarms: frozenset[str] = frozenset()

    def deviations(self, switch: SwitchDriver) -> tuple[str, ...]:
        """Return the deviations from the expected state, in words. Raises DeviceError."""
        return self.observe(switch)[1]

    def observe(self, switch: SwitchDriver) -> tuple[frozenset[str], tuple[str, ...]]:
        """Return the interfaces whose expected session is not up, and all deviations, in words.

        Raises DeviceError.
        """
        found = {peer.interface: peer for peer in bgp_sessions(switch)}
        wrong = list(self._sessions(found))
        if not wrong:
            wrong += self._prefixes(switch, found)
        if self.announcing:
            silent = self.announcing - announcing(switch)
            wrong += (f"no router advertisements are sent on {interface}" for interface in sorted(silent))
        new = sorted(alarms(switch) - self.alarms)
        wrong += (f"new alarm: {alarm}" for alarm in new[:MOST_ALARMS])
        if len(new) > MOST_ALARMS:
            wrong.append(f"{len(new) - MOST_ALARMS} new alarms more")
        down = (row.interface for row in self.neighbors if row.interface not in found or not found[row.interface].up)
        return frozenset(down), tuple(wrong)

    def _sessions(self, found: Mapping[str, ObservedSession]) -> Iterator[str]:
        for neighbor in self.neighbors:
            peer = found.get(neighbor.interface)
            if peer is None:
                yield f"no BGP neighbor is discovered on {neighbor.interface} (expected {neighbor.peer})"
            elif not peer.up:
                yield f"the session with {neighbor.peer} on {neighbor.interface} is {peer.state or 'not there'}"
            elif peer.asn != neighbor.asn:
                yield f"the peer on {neighbor.interface} is in AS {peer.asn}, not {neighbor.asn} ({neighbor.peer})"
            elif peer.accepted < neighbor.prefixes:
                accepted = f"{peer.accepted} prefixes are accepted from {neighbor.peer} on {neighbor.interface}"
                yield f"{accepted}, it sends {neighbor.prefixes} of its own"

    def _prefixes(self, switch: SwitchDriver, found: Mapping[str, ObservedSession]) -> Iterator[str]:
        for interface in dict.fromkeys(row.interface for row in self.advertised):
            sent = advertised(switch, found[interface].address)
            for row in self.advertised:
                if row.interface != interface:
                    continue
                got = sent.get(row.prefix)
                if got is None:
                    yield f"{row.prefix} is not advertised on {interface}"
                elif got != (row.color, row.aigp):
                    attributes = f"{_attributes(*got)}, not with {_attributes(row.color, row.aigp)}"
                    yield f"{row.prefix} is advertised on {interface} with {attributes}"


def _attributes(color: str | None, aigp: int | None) -> str:
    return f"{color or 'no color'}, {'no AIGP' if aigp is None else f'AIGP {aigp}'}"


def bgp_sessions(switch: SwitchDriver) -> tuple[ObservedSession, ...]:
    """Read `show bgp summary` (get-bgp-summary-information)."""
    return tuple(_peer(switch, entry) for entry in _rows(switch, SUMMARY, "bgp-peer"))


def _peer(switch: SwitchDriver, entry: _Element) -> ObservedSession:
    address = _text(entry, "peer-address")
    return ObservedSession(
        # An established session is shown with its port: fe80::1%et-0/0/0.0+179.
        address=address.partition("+")[0],
        interface=address.partition("+")[0].partition("%")[2],
        asn=_number(switch, SUMMARY, "peer-as", _text(entry, "peer-as")),
        state=_text(entry, "peer-state"),
        accepted=sum(
            _number(switch, SUMMARY, one.tag, (one.text or "0").strip()) for one in entry.iter("accepted-prefix-count")
        ),
    )


def advertised(switch: SwitchDriver, address: str) -> dict[str, tuple[str | None, int | None]]:
    """Read `show route advertising-protocol bgp ADDRESS extensive`: prefix to color community and AIGP."""
    reply = switch.ask(ROUTES, advertising_protocol_name="bgp", neighbor=address, extensive=True)
    found = {}
    for entry in reply.iter("rt"):
        prefix, length = _text(entry, "rt-destination"), _text(entry, "rt-prefix-length")
        values = [(one.text or "").strip() for one in entry.iter("community", "extended-community")]
        colors = [text for text in values if text.startswith(COLOR)]
        aigp = next(entry.iter("bgp-aigp"), None)
        found[prefix if "/" in prefix else f"{prefix}/{length}"] = (
            colors[0] if colors else None,
            _number(switch, ROUTES, aigp.tag, (aigp.text or "0").strip()) if aigp is not None else None,
        )
    return found


def announcing(switch: SwitchDriver) -> frozenset[str]:
    """Read `show ipv6 router-advertisement`: the interfaces on which advertisements were sent.

    The prefixes that Junos prints there are those of advertisements that it received.
    """
    reply = switch.ask("get-ipv6-ra-information")
    return frozenset(
        _text(entry, "interface-name")
        for entry in reply.iter("ipv6-ra-interface")
        if _text(entry, "ipv6-ra-advertisements-sent") not in ("", "0")
    )


def alarms(switch: SwitchDriver) -> frozenset[str]:
    """Read `show chassis alarms` and `show system alarms`: the descriptions of what is active."""
    return frozenset(
        _text(entry, "alarm-description")
        for rpc in ("get-alarm-information", "get-system-alarm-information")
        for entry in _rows(switch, rpc, "alarm-detail")
    )


def _rows(switch: SwitchDriver, rpc: str, name: str) -> list[_Element]:
    """Ask for state, and return the elements of a name. Raises DeviceError, also for more than any device has."""
    found = list(islice(switch.ask(rpc).iter(name), MOST_ROWS + 1))
    if len(found) > MOST_ROWS:
        raise unreadable(switch.name, Phase.VERIFY, rpc, f"it has more than {MOST_ROWS:,} times {name}")
    return found


def _text(entry: _Element, name: str) -> str:
    found = entry.find(name)
    return (found.text or "").strip()[:LONGEST] if found is not None else ""


def _number(switch: SwitchDriver, rpc: str, name: str, text: str) -> int:
    if NUMBER.fullmatch(text) is None:
        raise unreadable(switch.name, Phase.VERIFY, rpc, f"{name} is {text[:80]!a}")
    return int(text)


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

    def expected(self, name: str, alarms: Iterable[str] = ()) -> ExpectedState:
        """Return the expected state of a switch; `alarms` were there before and may stay."""
        neighbors, announced = [], []
        for own, far in self.by_device.get(name, ()):
            neighbors.append(ExpectedSession(own.interface, far.device, far.asn, len(self._announced(far))))
            announced += [ExpectedPrefix(own.interface, *row) for row in self._announced(own)]
        rows = self.switches[name].advertisements if name in self.switches else {}
        announcing = frozenset(interface for interface, row in rows.items() if row.prefixes)
        return ExpectedState(name, tuple(neighbors), tuple(announced), announcing, frozenset(alarms))

    def _announced(self, side: Side) -> tuple[tuple[str, str | None, int | None], ...]:
        """Return the routes that a switch's fabric-advertise sends over a session: prefix, color community, AIGP."""
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
    """Return the effective configuration of a device: groups and interface ranges applied. Raises DeviceError."""
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
    """Read a switch from its effective tree, whose lines are lost for it.

    Without the statements that are not read: nothing here asks for them, and a device may have any number.
    """
    stack = list(root)
    for node in stack:
        node.line = 1
        stack += node
    return replace(switch(name, switch_file(name), root), unmodeled=(), harmless=frozenset())


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
