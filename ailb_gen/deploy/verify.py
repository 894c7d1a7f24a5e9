"""The state of a switch against what is expected of it: sessions, advertised prefixes, router advertisements, alarms.

Every question is one RPC; names of replies and elements are those of Junos's XML output (`show … | display xml`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element

from ailb_gen.deploy.switch import LONGEST, NUMBER, Phase, Switch, unreadable

ESTABLISHED = "Established"
COLOR = "color:"
MOST_ALARMS = 100
# Rows of an answer: twenty times the sessions of a spine with 512 leaves, and more alarms than a device has parts.
MOST_ROWS = 10_000
SUMMARY, ROUTES = "get-bgp-summary-information", "get-route-information"


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A session that must be up: own logical interface, the peer and its AS, how many prefixes it sends at least."""

    interface: str
    peer: str
    asn: int
    prefixes: int = 0


@dataclass(frozen=True, slots=True)
class Advertised:
    """A prefix that must be sent over a session, with its color community, None for none, and AIGP, None for none."""

    interface: str
    prefix: str
    color: str | None
    aigp: int | None


@dataclass(frozen=True, slots=True)
class Peer:
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
class Expected:
    """The expected state of a switch; `announcing` are the interfaces that must send router advertisements.

    `alarms` are those that were there before: they may stay.
    """

    name: str
    neighbors: tuple[Neighbor, ...] = ()
    advertised: tuple[Advertised, ...] = ()
    announcing: frozenset[str] = frozenset()
    alarms: frozenset[str] = frozenset()

    def differences(self, switch: Switch) -> tuple[str, ...]:
        """Return what is not as expected, in words. Raises DeviceError."""
        return self.seen(switch)[1]

    def seen(self, switch: Switch) -> tuple[frozenset[str], tuple[str, ...]]:
        """Return the interfaces whose session is not up though it must be, and what is not as expected, in words.

        Raises DeviceError.
        """
        found = {peer.interface: peer for peer in peers(switch)}
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

    def _sessions(self, found: Mapping[str, Peer]) -> Iterator[str]:
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

    def _prefixes(self, switch: Switch, found: Mapping[str, Peer]) -> Iterator[str]:
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


def peers(switch: Switch) -> tuple[Peer, ...]:
    """Read `show bgp summary` (get-bgp-summary-information)."""
    return tuple(_peer(switch, entry) for entry in _rows(switch, SUMMARY, "bgp-peer"))


def _peer(switch: Switch, entry: _Element) -> Peer:
    address = _text(entry, "peer-address")
    return Peer(
        # An established session is shown with its port: fe80::1%et-0/0/0.0+179.
        address=address.partition("+")[0],
        interface=address.partition("+")[0].partition("%")[2],
        asn=_number(switch, SUMMARY, "peer-as", _text(entry, "peer-as")),
        state=_text(entry, "peer-state"),
        accepted=sum(
            _number(switch, SUMMARY, one.tag, (one.text or "0").strip()) for one in entry.iter("accepted-prefix-count")
        ),
    )


def advertised(switch: Switch, address: str) -> dict[str, tuple[str | None, int | None]]:
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


def announcing(switch: Switch) -> frozenset[str]:
    """Read `show ipv6 router-advertisement`: the interfaces on which advertisements were sent.

    The prefixes that Junos prints there are those of advertisements that it received.
    """
    reply = switch.ask("get-ipv6-ra-information")
    return frozenset(
        _text(entry, "interface-name")
        for entry in reply.iter("ipv6-ra-interface")
        if _text(entry, "ipv6-ra-advertisements-sent") not in ("", "0")
    )


def alarms(switch: Switch) -> frozenset[str]:
    """Read `show chassis alarms` and `show system alarms`: the descriptions of what is active."""
    return frozenset(
        _text(entry, "alarm-description")
        for rpc in ("get-alarm-information", "get-system-alarm-information")
        for entry in _rows(switch, rpc, "alarm-detail")
    )


def _rows(switch: Switch, rpc: str, name: str) -> list[_Element]:
    """Ask for state, and return the elements of a name. Raises DeviceError, also for more than any device has."""
    found = list(islice(switch.ask(rpc).iter(name), MOST_ROWS + 1))
    if len(found) > MOST_ROWS:
        raise unreadable(switch.name, Phase.VERIFY, rpc, f"it has more than {MOST_ROWS:,} times {name}")
    return found


def _text(entry: _Element, name: str) -> str:
    found = entry.find(name)
    return (found.text or "").strip()[:LONGEST] if found is not None else ""


def _number(switch: Switch, rpc: str, name: str, text: str) -> int:
    if NUMBER.fullmatch(text) is None:
        raise unreadable(switch.name, Phase.VERIFY, rpc, f"{name} is {text[:80]!a}")
    return int(text)
