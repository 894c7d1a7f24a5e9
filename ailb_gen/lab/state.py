"""The measured fabric: the state of a lab's daemons and kernels, for the emulator's devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ailb_gen.addresses import Prefix
from ailb_gen.emulator.fabric_state import BgpSession, PrefixCounts, QueueCounters, RouteTotals, TrafficCounters
from ailb_gen.lab.advertisements import Advertisement
from ailb_gen.lab.bird.model import SessionState
from ailb_gen.lab.configured import ConfiguredFabric
from ailb_gen.lab.plan import LabPlan, mac_address, port_of, unit_link
from ailb_gen.lab.ribs import Ends, paths, totals
from ailb_gen.lab.switches import LabSwitch
from ailb_gen.network.fabric import End
from ailb_gen.network.model import RaPrefix, RouterAdvertisement
from ailb_gen.network.sessions import Side
from ailb_gen.routing.rib import NextHop, Path
from ailb_gen.routing.route import DEFAULT_LOCAL_PREFERENCE, Route


class LabFabric(ConfiguredFabric):
    """A `FabricState` measured in a lab; any thread may call it. Answers are at most a moment old.

    Everything raises LabError when a daemon or a kernel does not answer.
    """

    def __init__(self, plan: LabPlan) -> None:
        super().__init__(plan)
        # Of every session: whether it was up, since when, how often it has gone down.
        self._changes: dict[End, tuple[bool, str, int]] = {}

    def mac(self, device: str, interface: str = "") -> str:
        """Return the MAC address of a port or of a logical interface; without a link of its own, of the chassis."""
        own = self.switches[device]
        if (port := own.ports.get(interface) or own.ports.get(port_of(interface))) is not None:
            return port.mac
        with self.lock:
            link = own.links().get(interface)
        return link.mac if link is not None and link.mac else mac_address(own.plan.number, 0)

    def link_up(self, device: str, port: str) -> bool:
        """Return whether a port has carrier."""
        found = self.switches[device].ports.get(port)
        return found is not None and self._carrier(device, found.link)

    def _carrier(self, device: str, name: str) -> bool:
        with self.lock:
            link = self.switches[device].links().get(name)
        return link is not None and link.carrier

    def counters(self, device: str, interface: str) -> TrafficCounters:
        """Return the traffic of a port or of a logical interface; none of one that the lab has no link for."""
        own = self.switches[device]
        link = own.ports[interface].link if interface in own.ports else unit_link(own.plan, interface)
        with self.lock:
            return own.counters().get(link or "", TrafficCounters())

    def queue_counters(self, device: str, port: str, queue: int) -> QueueCounters:
        """Return the counters of a queue of a port: kernels have no queues of Junos."""
        return QueueCounters()

    def advertiser(self, device: str, interface: str) -> End | None:
        """Return the port whose router advertisements arrive on a logical interface; None if none do."""
        port = self.switches[device].ports.get(port_of(interface))
        far = self.neighbor(device, port.port) if port is not None else None
        if port is None or far is None or interface != f"{port.port}.0" or not self._carrier(device, port.link):
            return None
        return far if self._hears(self.switches[device], port) else None

    def advertisement(self, device: str, interface: str) -> RouterAdvertisement | None:
        """Return the router advertisements that `advertiser` sends, as the last one was; None if there is none."""
        if self.advertiser(device, interface) is None or self._listener is None:
            return None
        port = self.switches[device].ports[port_of(interface)]
        source = self._heard[device][port.link]
        rows = (one for one in self._listener.advertisements(device) if (one.link, one.source) == (port.link, source))
        last = max(rows, key=lambda one: one.at, default=None)
        return _configured(f"{port.far.port}.0", last) if last is not None else None

    def sessions(self, name: str) -> tuple[BgpSession, ...]:
        """Return the BGP neighbors of a device, discovered or static, by its cables; none while it is off."""
        with self.lock:
            return tuple(self._sessions(name))

    def _sessions(self, name: str) -> Iterator[BgpSession]:
        own = self.switches[name]
        states, bfd_up = own.sessions(), own.bfd_up()
        for interface, side in own.sides().items():
            port = port_of(interface)
            far = self.advertiser(name, interface) if side.neighbor is None else self.neighbor(name, port)
            if far is not None:
                state = states.get(own.protocol(interface) or "")
                yield self._session(own, side, far, state, own.ports[port].link in bfd_up)

    def _session(self, own: LabSwitch, side: Side, far: End, state: SessionState | None, bfd_up: bool) -> BgpSession:
        established = state is not None and state.established
        known = side.neighbor.peer_as if side.neighbor is not None else own.switch.groups[side.group].peer_as
        return BgpSession(
            interface=side.interface,
            group=side.group,
            asn=side.asn,
            peer=far.device,
            peer_interface=f"{far.port}.0",
            peer_asn=state.neighbor_as if state is not None and established else known,
            established=established,
            since=_seconds(state.since) if state is not None else None,
            flaps=self._flaps(End(own.name, side.interface), established, state.since if state is not None else ""),
            bfd_up=established and bfd_up,
            neighbor=side.neighbor,
        )

    def _flaps(self, end: End, established: bool, since: str) -> int:
        """Count how often a session was observed to have gone down."""
        before, changed, flaps = self._changes.get(end, (False, "", 0))
        if before and (not established or since != changed):
            flaps += 1
        self._changes[end] = (established, since, flaps)
        return flaps

    def prefixes(self, name: str) -> Sequence[Prefix]:
        """Return the prefixes, in order, that a device has routes to; none while it is off."""
        with self.lock:
            return tuple(self.switches[name].rib())

    def paths(self, name: str, prefix: Prefix) -> Sequence[Path]:
        """Return every path that a device has of a prefix, the best ones first, the hidden ones last."""
        with self.lock:
            own = self.switches[name]
            reasons = own.translation.reasons if own.translation is not None else {}
            return paths(own.rib().get(prefix, ()), self._ends(own), frozenset(own.fib().get(prefix, ())), reasons)

    def _ends(self, own: LabSwitch) -> dict[str, Ends]:
        groups, found = own.switch.groups, {}
        for interface, side in own.sides().items():
            if (protocol := own.protocol(interface)) is not None:
                found[protocol] = (interface, own.ports[port_of(interface)].far.device, groups[side.group].name)
        return found

    def next_hops(self, name: str, prefix: Prefix) -> Sequence[NextHop]:
        """Return the next hops that a device forwards a prefix to; empty for a direct route or none at all."""
        with self.lock:
            own = self.switches[name]
            return tuple(self._next_hop(own, interface) for interface in own.fib().get(prefix, ()))

    def _next_hop(self, own: LabSwitch, interface: str) -> NextHop:
        far, side = own.ports[port_of(interface)].far, own.sides().get(interface)
        color = own.switch.groups[side.group].color if side is not None else None
        return NextHop(interface, far.device, f"{far.port}.0", color or "")

    def prefix_counts(self, name: str) -> Mapping[str, PrefixCounts]:
        """Return the prefix counts of every session of a device, by its interface; one without prefixes is missing.

        Active are those for which the kernel uses the session.
        """
        with self.lock:
            own = self.switches[name]
            states = own.sessions()
            active = Counter(interface for hops in own.fib().values() for interface in hops)
            found = {}
            for interface in own.sides():
                state = states.get(own.protocol(interface) or "")
                if state is not None and state.established and (received := state.imported + state.hidden):
                    found[interface] = PrefixCounts(active[interface], received, state.imported)
            return found

    def route_totals(self, name: str) -> RouteTotals:
        """Return the numbers of prefixes and paths that a device learned by BGP."""
        with self.lock:
            own = self.switches[name]
            return totals(own.rib(), self._ends(own))

    def advertised(self, name: str, session: BgpSession) -> Mapping[Prefix, Route]:
        """Return the routes that a device sends over a session by prefix, in order; without its own AS in the paths."""
        with self.lock:
            own = self.switches[name]
            protocol = own.protocol(session.interface)
            rows = own.exported(protocol) if session.established and protocol is not None else ()
            sent = {row.prefix: row.route for row in rows}
            return {prefix: replace(sent[prefix], local_preference=DEFAULT_LOCAL_PREFERENCE) for prefix in sorted(sent)}

    def advertised_count(self, name: str, session: BgpSession) -> int:
        """Return the number of routes of `advertised`."""
        with self.lock:
            own = self.switches[name]
            state = own.sessions().get(own.protocol(session.interface) or "")
            return state.exported if state is not None and session.established else 0


def _configured(interface: str, last: Advertisement) -> RouterAdvertisement:
    """Return the configuration that an advertisement implies; intervals cannot be observed."""
    prefixes = tuple(
        RaPrefix(one.prefix, one.on_link, one.autonomous, str(one.valid_s), str(one.preferred_s))
        for one in last.prefixes
    )
    return RouterAdvertisement(interface, prefixes, (), None, None, last.lifetime_s)


def _seconds(text: str) -> float:
    """Return a time as BIRD writes it, in seconds since 1970: with a date, or of today."""
    if " " not in text:
        text = f"{datetime.now().astimezone():%Y-%m-%d} {text}"
    return datetime.fromisoformat(text).timestamp()
