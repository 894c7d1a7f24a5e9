"""The state of a fabric as its devices know it: `EmulatedFabric` computes it, another fabric may measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

from ailb_gen.addresses import Prefix, address_text, eui64
from ailb_gen.junos.tree import Node
from ailb_gen.layout import switch_file
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Neighbor, RouterAdvertisement, Switch
from ailb_gen.network.switch import switch
from ailb_gen.routing.rib import NextHop, Path
from ailb_gen.routing.route import Route

LINK_LOCAL = 0xFE80 << 112


@dataclass(frozen=True, slots=True)
class BgpSession:
    """A neighbor of a device on an interface, discovered unless `neighbor` is there, and the BGP session with it.

    `group` is the index of the group in the device's configuration. `peer_asn` is None while it is unknown: without a
    `peer-as` it comes with the neighbor's OPEN message. `since` is when the session came up again after
    the neighbor was away, in seconds since 1970; None if it has been up since the device started. `flaps` counts how
    often it has gone down, `bfd_up` tells whether a BFD session beside it is up.
    """

    interface: str
    group: int
    asn: int
    peer: str
    peer_interface: str
    peer_asn: int | None
    established: bool
    since: float | None = None
    flaps: int = 0
    bfd_up: bool = False
    neighbor: Neighbor | None = None


class PrefixCounts(NamedTuple):
    """The numbers of prefixes received from a neighbor: active, all, and not hidden."""

    active: int = 0
    received: int = 0
    accepted: int = 0


class RouteTotals(NamedTuple):
    """The number of prefixes learned by BGP with a usable path and with any path, of hidden paths, and of all paths."""

    active: int = 0
    destinations: int = 0
    hidden: int = 0
    paths: int = 0


class TrafficCounters(NamedTuple):
    """The traffic counters of an interface; drops are packets."""

    input_bytes: int = 0
    output_bytes: int = 0
    input_packets: int = 0
    output_packets: int = 0
    output_drops: int = 0


class QueueCounters(NamedTuple):
    """The counters of a queue of a port: what it has sent and what it has dropped."""

    packets: int = 0
    octets: int = 0
    dropped_packets: int = 0
    dropped_octets: int = 0

    @property
    def queued_packets(self) -> int:
        """Packets that came to the queue."""
        return self.packets + self.dropped_packets

    @property
    def queued_octets(self) -> int:
        """Octets that came to the queue."""
        return self.octets + self.dropped_octets


class FabricState(Protocol):
    """All devices of a fabric, the cables between them, and the state of their protocols.

    Only the thread of the fleet calls it. Devices are known by name, ports as `et-0/0/0`, logical interfaces as
    `et-0/0/0.0`. Everything may raise LabError where state is measured and cannot be had.
    """

    def commit(self, name: str, tree: Node) -> None:
        """Take over the active configuration of a device, as written; a device that was off is on again.

        Raises UsageError when groups apply each other in a circle; then nothing has changed.
        """

    def power_off(self, name: str) -> None:
        """Take a device out of the fabric: its links and sessions are down until it commits again."""

    def switch(self, name: str) -> Switch:
        """Return the model of a device's active configuration, which is empty while it is off."""

    def neighbor(self, device: str, port: str) -> End | None:
        """Return the port of a switch at the other end of a cable; None for a server, or without a cable."""

    def mac(self, device: str, interface: str = "") -> str:
        """Return the MAC address of a port or of a logical interface, or of the chassis."""

    def link_up(self, device: str, port: str) -> bool:
        """Return whether a port has carrier: a cable, neither end disabled, and a device at the other end.

        Ports without a cable have none, nor have logical ones such as `irb` and `lo0`.
        """

    def cable_bps(self, device: str, port: str) -> int | None:
        """Return the speed of the cable on a port in bit/s; None without a cable, or where no file says it."""

    def counters(self, device: str, interface: str) -> TrafficCounters:
        """Return the traffic of a port or of a logical interface."""

    def queue_counters(self, device: str, port: str, queue: int) -> QueueCounters:
        """Return the counters of a queue of a port."""

    def advertiser(self, device: str, interface: str) -> End | None:
        """Return the port whose router advertisements arrive on a logical interface; None if none do."""

    def advertisement(self, device: str, interface: str) -> RouterAdvertisement | None:
        """Return the router advertisements that `advertiser` sends, None if there is none."""

    def sessions(self, name: str) -> tuple[BgpSession, ...]:
        """Return the BGP neighbors of a device, discovered or static, by its cables; none while it is off."""

    def keep_down(self, device: str, interface: str) -> None:
        """Keep the BGP session on a logical interface down, even if it is configured. Raises UsageError."""

    def restore(self, device: str, interface: str) -> None:
        """Let the BGP session on a logical interface come up again. Raises UsageError."""

    def prefixes(self, name: str) -> Sequence[Prefix]:
        """Return the prefixes, in order, that a device may have paths to; none while it is off."""

    def paths(self, name: str, prefix: Prefix) -> Sequence[Path]:
        """Return every path that a device has of a prefix, the best ones first, the hidden ones last."""

    def next_hops(self, name: str, prefix: Prefix) -> Sequence[NextHop]:
        """Return the next hops that a device forwards a prefix to; empty for a direct route or none at all."""

    def prefix_counts(self, name: str) -> Mapping[str, PrefixCounts]:
        """Return the prefix counts of every session of a device, by its interface; one without prefixes is missing."""

    def route_totals(self, name: str) -> RouteTotals:
        """Return the numbers of prefixes and paths that a device learned by BGP."""

    def advertised(self, name: str, session: BgpSession) -> Mapping[Prefix, Route]:
        """Return the routes that a device sends over a session, by prefix; its own AS is not in the paths yet."""

    def advertised_count(self, name: str, session: BgpSession) -> int:
        """Return the number of routes of `advertised`."""


def link_local(fabric: FabricState, device: str, interface: str) -> str:
    """Return the link-local address of a logical interface, made of its MAC address (RFC 4291, appendix A)."""
    return address_text(LINK_LOCAL | eui64(fabric.mac(device, interface)))


def end_address(fabric: FabricState, end: End | None) -> str:
    """Return the address at an end of a cable: that of a static session, else link-local; empty without an end."""
    if end is None:
        return ""
    interface = f"{end.port}.0"
    static = (group.neighbor(interface) for group in fabric.switch(end.device).groups)
    own = next((neighbor.own for neighbor in static if neighbor is not None), None)
    return address_text(own) if own is not None else link_local(fabric, end.device, interface)


@cache
def unconfigured(name: str) -> Switch:
    """Return the model of an empty configuration."""
    return switch(name, switch_file(name), Node(""))
