"""The state of a switch against what is expected of it: sessions, advertised prefixes, router advertisements, alarms.

Every question is one RPC; names of replies and elements are those of Junos's XML output (`show … | display xml`).
What is expected follows from all files together; `ailb_gen.checks` proves these against the intent, independently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

from lxml.etree import _Element

from ailb_gen.addresses import address_text
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.families.devices import STATE
from ailb_gen.checks.model import Finding
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
from ailb_gen.redact.text import redact
from ailb_gen.routing.speaker import direct_prefixes, originated, rules
from ailb_gen.textio import read_text

ESTABLISHED = "Established"
COLOR = "color:"
MOST_ALARMS = 100
# Rows of an answer: twenty times the sessions of a spine with 512 leaves, and more alarms than a device has parts.
MOST_ROWS = 10_000
SUMMARY, ROUTES = "get-bgp-summary-information", "get-route-information"
T = TypeVar("T")
# A route as it is sent: prefix, color community, AIGP.
Announced = tuple[str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class ExpectedSession:
    """A session that must be up: own logical interface, the peer and its AS, how many prefixes it sends at least.

    `address` is that of a static neighbor, empty where it is discovered.
    """

    interface: str
    peer: str
    asn: int
    prefixes: int = 0
    address: str = ""


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
        return tuple(finding.message for finding in self.observe(switch)[1])

    def observe(self, switch: SwitchDriver) -> tuple[frozenset[str], tuple[Finding, ...]]:
        """Return the interfaces whose expected session is not up, and all deviations. Raises DeviceError."""
        expected = {neighbor.interface: neighbor for neighbor in self.neighbors}
        # A discovered neighbor has its interface as scope, a static one an address without scope.
        known = {neighbor.address or neighbor.interface: neighbor.interface for neighbor in self.neighbors}
        seen = ((peer.interface or peer.address, peer) for peer in bgp_sessions(switch))
        peers = {known[key]: peer for key, peer in seen if key in known}
        found = [
            deviation(self.name, aspect, message, about.port(self.name, interface))
            for interface, neighbor in expected.items()
            for aspect, message in _session(neighbor, peers.get(interface))
        ]
        found += () if found else self._prefixes(switch, peers)
        silent = self.announcing - announcing(switch) if self.announcing else ()
        for interface in sorted(silent):
            message = f"no router advertisements are sent on {interface}"
            found.append(deviation(self.name, "router advertisements", message, about.port(self.name, interface)))
        new = sorted(alarms(switch) - self.alarms)
        found += (deviation(self.name, redact(alarm), f"new alarm: {alarm}") for alarm in new[:MOST_ALARMS])
        if len(new) > MOST_ALARMS:
            found.append(deviation(self.name, "alarms", f"{len(new) - MOST_ALARMS} more new alarms"))
        down = (name for name in expected if name not in peers or not peers[name].up)
        return frozenset(down), tuple(found)

    def _prefixes(self, switch: SwitchDriver, peers: Mapping[str, ObservedSession]) -> Iterator[Finding]:
        expected = {(row.interface, row.prefix): (row.color, row.aigp) for row in self.advertised}
        observed: dict[tuple[str, str], tuple[str | None, int | None]] = {}
        for interface in dict.fromkeys(row.interface for row in self.advertised):
            sent = advertised(switch, peers[interface].address)
            observed |= {key: sent[key[1]] for key in expected if key[0] == interface and key[1] in sent}
        for one in deviations(expected, observed):
            interface, prefix = one.subject
            aspect, message = "advertisement", f"{prefix} is not advertised on {interface}"
            if one.observed is not None:
                attributes = f"{_attributes(*one.observed)}, not with {_attributes(*expected[one.subject])}"
                aspect, message = "attributes", f"{prefix} is advertised on {interface} with {attributes}"
            yield deviation(self.name, aspect, message, about.port(self.name, interface), *about.prefixes(prefix))


def deviation(device: str, aspect: str, message: str, *subjects: about.Subject) -> Finding:
    """Return the finding that an aspect of some subjects, of the device if none are given, is not as expected."""
    subjects = (*(subjects or [about.device(device)]), about.setting(device, aspect))
    return Finding(STATE.id, device, message, subjects=subjects)


def _session(expected: ExpectedSession, peer: ObservedSession | None) -> Iterator[tuple[str, str]]:
    """Yield how a session deviates, if it does: of its aspects the first, and the message."""
    name, interface = expected.peer, expected.interface
    if peer is None:
        missing = (
            f"there is no BGP neighbor {expected.address}" if expected.address else "no BGP neighbor is discovered"
        )
        yield "neighbor", f"{missing} on {interface} (expected {name})"
    elif not peer.up:
        yield "session", f"the session with {name} on {interface} is {peer.state or 'not there'}"
    elif peer.asn != expected.asn:
        yield "AS", f"the peer on {interface} is in AS {peer.asn}, not {expected.asn} ({name})"
    elif peer.accepted < expected.prefixes:
        accepted = f"{peer.accepted} prefixes are accepted from {name} on {interface}"
        yield "prefixes", f"{accepted}, it sends {expected.prefixes} of its own"


def _attributes(color: str | None, aigp: int | None) -> str:
    return f"{color or 'no color'}, {'no AIGP' if aigp is None else f'AIGP {aigp}'}"


def bgp_sessions(switch: SwitchDriver) -> tuple[ObservedSession, ...]:
    """Read `show bgp summary` (get-bgp-summary-information)."""
    return tuple(_peer(switch, entry) for entry in _rows(switch, SUMMARY, "bgp-peer"))


def _peer(switch: SwitchDriver, entry: _Element) -> ObservedSession:
    address = text_in(entry, "peer-address")
    return ObservedSession(
        # An established session is shown with its port: fe80::1%et-0/0/0.0+179.
        address=address.partition("+")[0],
        interface=address.partition("+")[0].partition("%")[2],
        asn=_number(switch, SUMMARY, "peer-as", text_in(entry, "peer-as")),
        state=text_in(entry, "peer-state"),
        accepted=sum(
            _number(switch, SUMMARY, one.tag, (one.text or "0").strip()) for one in entry.iter("accepted-prefix-count")
        ),
    )


def advertised(switch: SwitchDriver, address: str) -> dict[str, tuple[str | None, int | None]]:
    """Read `show route advertising-protocol bgp ADDRESS extensive`: prefix to color community and AIGP."""
    reply = switch.ask(ROUTES, advertising_protocol_name="bgp", neighbor=address, extensive=True)
    found = {}
    for entry in reply.iter("rt"):
        prefix, length = text_in(entry, "rt-destination"), text_in(entry, "rt-prefix-length")
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
        text_in(entry, "interface-name")
        for entry in reply.iter("ipv6-ra-interface")
        if text_in(entry, "ipv6-ra-advertisements-sent") not in ("", "0")
    )


def alarms(switch: SwitchDriver) -> frozenset[str]:
    """Read `show chassis alarms` and `show system alarms`: the descriptions of what is active."""
    return frozenset(
        text_in(entry, "alarm-description")
        for rpc in ("get-alarm-information", "get-system-alarm-information")
        for entry in _rows(switch, rpc, "alarm-detail")
    )


def _rows(switch: SwitchDriver, rpc: str, name: str) -> list[_Element]:
    """Ask for state, and return the elements of a name. Raises DeviceError, also for more than any device has."""
    found = list(islice(switch.ask(rpc).iter(name), MOST_ROWS + 1))
    if len(found) > MOST_ROWS:
        raise unreadable(switch.name, Phase.VERIFY, rpc, f"it has more than {MOST_ROWS:,} times {name}")
    return found


def text_in(entry: _Element, *names: str) -> str:
    """Return the text of the first of some elements in an entry that has one; empty for none."""
    return next((text.strip()[:LONGEST] for name in names if (text := entry.findtext(name))), "")


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
        return _grouped((end.device, cable) for cable in self.links for end in (cable.a, cable.b))

    @cached_property
    def by_device(self) -> Mapping[str, tuple[tuple[Side, Side], ...]]:
        """The sessions of every switch, its own side first."""
        ends = ((session.a, session.b) for session in self.sessions.up)
        return _grouped((own.device, (own, far)) for a, b in ends for own, far in ((a, b), (b, a)))

    def expected(self, name: str, alarms: Iterable[str] = ()) -> ExpectedState:
        """Return the expected state of a switch; `alarms` were there before and may stay."""
        neighbors, announced = [], []
        for own, far in self.by_device.get(name, ()):
            theirs, ours = (self._announced(side.device, side.group) for side in (far, own))
            address = address_text(own.neighbor.address) if own.neighbor is not None and own.neighbor.address else ""
            neighbors.append(ExpectedSession(own.interface, far.device, far.asn, len(theirs), address))
            announced += [ExpectedPrefix(own.interface, *row) for row in ours]
        rows = self.switches[name].advertisements if name in self.switches else {}
        announcing = frozenset(interface for interface, row in rows.items() if row.prefixes)
        return ExpectedState(name, tuple(neighbors), tuple(announced), announcing, frozenset(alarms))

    @cached_property
    def servers(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """The servers at every switch: the name of the server and the port of the switch."""
        return _grouped((end.device, (server, end.port)) for (server, _), end in self.attachments.items())

    @cached_property
    def _announced(self) -> Callable[[str, int], tuple[Announced, ...]]:
        """Returns what a switch sends over every session of a group; it is needed at both ends."""
        return cache(lambda device, group: tuple(_sent(self.switches[device], group)))


def _grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, tuple[T, ...]]:
    found: dict[str, list[T]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in found.items()}


def _sent(own: Switch, group: int) -> Iterator[Announced]:
    """Yield the routes that the fabric-advertise of a switch sends over a session."""
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
        raise DeviceError(name, Phase.READ, f"the effect of its configuration is not clear: {error}", hint) from error


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
