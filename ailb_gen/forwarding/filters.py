"""Packets that a fabric lives on, sent through firewall filters: proved to pass, or the term that may stop them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.network.filters import PREFIXES, Condition, Filter, Filters, FilterTerm, Span

TCP, UDP, ICMP6 = 6, 17, 58
BGP_PORT, BFD_PORT, ROCE_PORT = 179, 3784, 4791
ALL: Span = (0, (1 << BITS) - 1)
LINK_LOCAL: Span = (0xFE80 << 112, (0xFEC0 << 112) - 1)
# What a system chooses for itself (RFC 6335, RFC 5881), and what the entropy of RoCEv2 is put into.
CHOSEN: Span = (49152, 65535)
DISCOVERY = {133: "router solicitations", 134: "router advertisements", 135: "neighbor solicitations",
             136: "neighbor advertisements"}  # fmt: skip
# What a switch's processor may be sent, by a policer, and still keep its sessions: bits, packets per second.
ENOUGH_BITS, ENOUGH_PACKETS = 10**6, 1000
# On their way to or from the processor packets have a class of their own.
MARKING = frozenset({"forwarding-class", "loss-priority", "dscp", "traffic-class"})


@dataclass(frozen=True, slots=True, eq=False)
class Packet:
    """A kind of packet: its fields with all values that they may have. `data` is for what servers send."""

    name: str
    fields: Mapping[str, Span]
    data: bool = False
    version: int = 6


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a packet does not surely pass, and the line to look at."""

    reason: str
    line: int


def _one(value: int) -> Span:
    return value, value


def _ends(source: Span, destination: Span) -> dict[str, Span]:
    return {"source": source, "destination": destination, "ether-type": _one(0x86DD)}


def discovery_packets(links_only: bool) -> Iterator[Packet]:
    """Yield the packets of IPv6 neighbor discovery (RFC 4861); servers send some from their global addresses."""
    for number, name in DISCOVERY.items():
        fields = {"protocol": _one(ICMP6), "icmp-type": _one(number), "hop-limit": _one(255)}
        source = LINK_LOCAL if links_only or number == 134 else ALL
        yield Packet(f"{name} (ICMPv6 type {number})", {**fields, **_ends(source, ALL)})


def session_packets(bfd: bool) -> Iterator[Packet]:
    """Yield the packets of BGP between link-local neighbors, and those of BFD if it runs (RFC 5881)."""
    ends = _ends(LINK_LOCAL, LINK_LOCAL)
    tcp = {"protocol": _one(TCP), **ends}
    yield Packet("BGP (TCP to port 179)", {**tcp, "source-port": CHOSEN, "destination-port": _one(BGP_PORT)})
    yield Packet("BGP (TCP from port 179)", {**tcp, "source-port": _one(BGP_PORT), "destination-port": CHOSEN})
    if bfd:
        udp = {"protocol": _one(UDP), "source-port": CHOSEN, "destination-port": _one(BFD_PORT), **ends}
        yield Packet("BFD (UDP to port 3784)", {**udp, "hop-limit": _one(255)})


def rdma_packets(pool: Prefix, dscps: Iterable[int]) -> Iterator[Packet]:
    """Yield the packets of RoCEv2 between addresses of the pool, with each DSCP."""
    span = (pool.value, pool.value | (1 << BITS - pool.length) - 1)
    ports = {"source-port": CHOSEN, "destination-port": _one(ROCE_PORT)}
    for dscp in dscps:
        fields = {"protocol": _one(UDP), **ports, "dscp": _one(dscp), **_ends(span, span)}
        yield Packet(f"RoCEv2 (UDP to port 4791, DSCP {dscp})", fields, data=True)


def stopped(chain: tuple[Filter, ...], packet: Packet, filters: Filters) -> Stop | None:
    """Send a packet through a list of filters; None when it surely passes as it is."""
    for one in chain:
        for term in one.terms:
            holds, undecided = _holds(term, packet)
            if holds is False:
                continue
            what = f"term {term.name} of filter {one.name}" if term.name else f"filter {one.name}"
            problem = _problem(term, packet, filters)
            if problem and holds:
                return Stop(f"{what} {problem} {packet.name}", term.line)
            if problem:
                return Stop(f"{what} {problem} some of {packet.name}, depending on {undecided}", term.line)
            if holds and term.verdict == "accept":
                return None
    last = chain[-1]
    return Stop(f"no term of filter {last.name} certainly accepts {packet.name}: its default discards them", last.line)


def blocked(chain: tuple[Filter, ...], packet: Packet) -> Stop | None:
    """Send a packet through a list of filters; None when some of its kind may pass, else what discards all of them.

    Unlike `stopped` in doubt it passes: who may log in depends on addresses that are not known here.
    """
    for one in chain:
        for term in one.terms:
            holds, _ = _holds(term, packet)
            if holds is False or term.verdict == "next":
                continue
            if term.verdict == "accept":
                return None
            if holds:
                what = f"term {term.name} of filter {one.name}" if term.name else f"filter {one.name}"
                return Stop(f"{what} discards {packet.name}", term.line)
    last = chain[-1]
    return Stop(f"no term of filter {last.name} accepts {packet.name}: its default discards them", last.line)


def _problem(term: FilterTerm, packet: Packet, filters: Filters) -> str:
    """Return what a term does that discards or changes packets; empty for nothing."""
    if term.verdict == "discard":
        return "discards"
    for action, name in term.changes:
        if not packet.data:
            if action in MARKING:
                continue
            enough = filters.bits.get(name, 0) >= ENOUGH_BITS or filters.packets.get(name, 0) >= ENOUGH_PACKETS
            if action == "policer" and enough:
                continue
        return "limits the rate of" if action == "policer" else f"does `{' '.join((action, name)).rstrip()}` to"
    return ""


def _holds(term: FilterTerm, packet: Packet) -> tuple[bool | None, str]:
    """Return whether all conditions hold: None if that depends, with the condition that it depends on."""
    undecided = ""
    for condition in term.conditions:
        found = _fits(condition, packet)
        if found is False:
            return False, ""
        if found is None:
            undecided = undecided or condition.text
    return (None if undecided else True), undecided


# Either of the two may have the value.
EITHER = {"port": ("source-port", "destination-port"), "address": ("source", "destination")}


def _fits(condition: Condition, packet: Packet) -> bool | None:
    if not condition.field:
        return None
    answers = [_within(condition, packet, name) for name in EITHER.get(condition.field, (condition.field,))]
    found = True if True in answers else None if None in answers else False
    return found if found is None or not condition.negated else not found


def _within(condition: Condition, packet: Packet, field: str) -> bool | None:
    span = packet.fields.get(field)
    if span is None:
        # Neither ports nor types are in there; a hop limit or a DSCP may have any value.
        return None if field in ("hop-limit", "dscp") else False
    ipv4 = packet.version == 4 and condition.field in PREFIXES
    spans = condition.spans4 if ipv4 else condition.spans
    whole = [other for other in spans if _inside(span, other)]
    part = [other for other in spans if _overlap(span, other)]
    excluded = [other for other in (condition.excluded4 if ipv4 else condition.excluded) if _overlap(span, other)]
    if not part:
        return False
    if not whole:
        return None
    # Of prefixes that hold an address the longest one counts.
    if not excluded:
        return True
    longest = min(high - low for low, high in whole)
    if all(_inside(span, other) and other[1] - other[0] > longest for other in excluded):
        return True
    return False if any(_inside(span, other) and other[1] - other[0] < longest for other in excluded) else None


def _inside(one: Span, other: Span) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]


def _overlap(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
