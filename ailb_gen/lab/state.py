"""The measured fabric: what the daemons and kernels of a lab say, as the emulator's devices ask for it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from ailb_gen.addresses import Prefix
from ailb_gen.emulator.fabric_state import BgpSession, Counters, PrefixCounts, RouteTotals
from ailb_gen.errors import UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node
from ailb_gen.lab.bird.model import Peer, SessionState
from ailb_gen.lab.ceasing import cease
from ailb_gen.lab.links import Interface, Settings, apply, powered_off, settings
from ailb_gen.lab.plan import Plan, PortPlan, link_local, mac_address, unit_link
from ailb_gen.lab.ribs import Ends, paths, route_of, totals
from ailb_gen.lab.switches import LabSwitch
from ailb_gen.layout import switch_file
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Switch
from ailb_gen.network.sessions import Side, discovered, local_as
from ailb_gen.network.switch import switch
from ailb_gen.routing.rib import NextHop, Path
from ailb_gen.routing.route import DEFAULT_LOCAL_PREFERENCE, Route


class LabFabric:
    """A `FabricState` measured in a lab; any thread may call it.

    Namespaces and links of the plan exist. Until `started`, commits reach the kernels alone, and no daemon; until
    `forwarding`, daemons keep their routes from the kernels. Answers are at most a moment old. Everything raises
    LabError when a daemon or a kernel does not answer.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.lock = threading.RLock()
        self.switches = {name: LabSwitch(found) for name, found in plan.switches.items()}
        self.started = self.forwarding = False
        # The link-local addresses of routers that were heard, by switch and link.
        self._heard: dict[str, Mapping[str, int]] = {}
        self._changes: dict[End, tuple[bool, str, int]] = {}

    def start(self) -> None:
        """Start the daemons of all switches that are configured; they advertise, and have no sessions yet."""
        with self.lock:
            on = [own for own in self.switches.values() if own.switch is not None]
            for own in on:
                own.router.begin(own.render({}, held=True))
            for own in on:
                own.router.wait()

    def connect(self) -> None:
        """Let daemons have sessions with the routers that are heard, from now on."""
        with self.lock:
            self.started = True
            self._configure(tuple(self.switches))

    def forward(self) -> None:
        """Let daemons bring their routes into the kernels, from now on."""
        with self.lock:
            self.forwarding = True
            self._configure(tuple(self.switches))

    def unaddressed(self) -> tuple[str, ...]:
        """Return the links between switches that must have a link-local address, and do not have it, as text."""
        with self.lock:
            return tuple(
                f"{name}: {link} has no link-local address"
                for name, own in self.switches.items()
                for link in sorted(self._linked(own) - own.addressed())
            )

    def _linked(self, own: LabSwitch) -> set[str]:
        """Return the links of a switch with `family inet6` whose both ends are enabled."""
        wanted = {port.link: self._asked(End(own.name, port.port)) for port in own.ports.values()}
        others = {port.link: self._asked(port.far) for port in own.ports.values()}
        return {link for link, here in wanted.items() if here.inet6 and here.enabled and others[link].enabled}

    def _asked(self, end: End) -> Interface:
        """Return what the configuration of a switch asks of a port."""
        other = self.switches.get(end.device)
        if other is None or other.settings is None:
            return Interface()
        return other.settings.interfaces[other.ports[end.port].link]

    def unheard(self) -> tuple[str, ...]:
        """Return the routers that advertise by their configuration and are not heard at the other end, as text."""
        with self.lock:
            return tuple(
                f"{name}:{port.port} hears no router advertisement of {port.far}"
                for name, own in self.switches.items()
                for port in own.ports.values()
                if not self._hears(own, port) and self._advertises(port.far) and port.link in self._linked(own)
            )

    def _advertises(self, end: End) -> bool:
        other = self.switches[end.device].switch if end.device in self.switches else None
        return other is not None and f"{end.port}.0" in other.advertisements and self._asked(end).inet6

    def _hears(self, own: LabSwitch, port: PortPlan) -> bool:
        """Return whether a switch hears the router that its cable leads to."""
        far = self.switches.get(port.far.device)
        return far is not None and self._heard.get(own.name, {}).get(port.link) == link_local(
            far.ports[port.far.port].mac
        )

    def commit(self, name: str, tree: Node) -> None:
        """Take over the active configuration of a device, as written; a device that was off is on again.

        Sessions of which both configurations say the same stay up. Raises UsageError when groups apply each other in a
        circle; then nothing has changed. Raises LabError.
        """
        found = switch(name, switch_file(name), effective(tree))
        with self.lock:
            own = self.switches[name]
            silent = _falling_silent(own, found) if self.started else ()
            # Links may lose their addresses; and the daemon has a last word.
            _cease(name, silent)
            self._take(own, found, settings(self.plan, found))
            self._configure([name, *self._neighbors(name)])
            _cease(name, silent)

    def power_off(self, name: str) -> None:
        """Take a device out of the fabric: its links and sessions are down until it commits again."""
        with self.lock:
            own = self.switches[name]
            own.router.stop()
            self._take(own, None, powered_off(self.plan, name))
            self._configure(self._neighbors(name))

    def _take(self, own: LabSwitch, found: Switch | None, wanted: Settings) -> None:
        apply(own.name, own.settings, wanted)
        own.take(found, wanted)

    def hear(self, name: str, routers: Mapping[str, int]) -> None:
        """Note which routers a switch hears: link-local addresses by link."""
        with self.lock:
            self._heard[name] = dict(routers)
            self._configure([name])

    def _neighbors(self, name: str) -> list[str]:
        far = (port.far.device for port in self.switches[name].ports.values())
        return list(dict.fromkeys(one for one in far if one in self.switches))

    def _configure(self, names: Sequence[str]) -> None:
        """Let the daemons of switches run what follows from configurations and heard routers."""
        for name in names if self.started else ():
            own = self.switches[name]
            if own.switch is not None:
                own.configure(self.peers(name), held=not self.forwarding)

    def peers(self, name: str) -> dict[str, Peer]:
        """Return the neighbors that a switch has heard, and that have an AS number there, by logical interface."""
        found = {}
        for port in self.switches[name].ports.values():
            address = self._heard.get(name, {}).get(port.link)
            asn = self._asn(port.far) if address is not None else None
            if address is not None and asn is not None:
                found[f"{port.port}.0"] = Peer(address, asn)
        return found

    def _asn(self, end: End) -> int | None:
        """Return the AS number that a switch has on the session of a port."""
        other = self.switches[end.device].switch if end.device in self.switches else None
        group = discovered(other).get(f"{end.port}.0") if other is not None else None
        return local_as(other, other.groups[group]) if other is not None and group is not None else None

    def keep_down(self, device: str, interface: str) -> None:
        """Keep the BGP session on a logical interface from coming up, whatever is configured. Raises UsageError."""
        self._far(device, interface)
        with self.lock:
            self.switches[device].keep_down(interface)

    def restore(self, device: str, interface: str) -> None:
        """Let the BGP session on a logical interface come up again. Raises UsageError."""
        far = self._far(device, interface)
        with self.lock:
            self.switches[device].restore(interface)
            self.switches[far.device].restore(f"{far.port}.0")

    def _far(self, device: str, interface: str) -> End:
        far = self.neighbor(device, _port(interface))
        if far is None:
            raise UsageError(f"{device} has no cable to another switch on {interface}; no session could be kept down")
        return far

    def switch(self, name: str) -> Switch:
        """Return the model of a device's active configuration, which is empty while it is off."""
        return self.switches[name].switch or _unconfigured(name)

    def neighbor(self, device: str, port: str) -> End | None:
        """Return the port of a switch at the other end of a cable; None for a server, or without a cable."""
        found = self.switches[device].ports.get(port)
        return found.far if found is not None and found.far.device in self.switches else None

    def mac(self, device: str, interface: str = "") -> str:
        """Return the MAC address of a port or of a logical interface; without a link of its own, of the chassis."""
        own = self.switches[device]
        if (port := own.ports.get(interface) or own.ports.get(_port(interface))) is not None:
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

    def counters(self, device: str, interface: str) -> Counters:
        """Return the traffic of a port or of a logical interface; none of one that the lab has no link for."""
        own = self.switches[device]
        link = own.ports[interface].link if interface in own.ports else unit_link(own.plan, interface)
        with self.lock:
            return own.counters().get(link or "", Counters())

    def advertiser(self, device: str, interface: str) -> End | None:
        """Return the port whose router advertisements arrive on a logical interface; None if none do."""
        port = self.switches[device].ports.get(_port(interface))
        far = self.neighbor(device, port.port) if port is not None else None
        if port is None or far is None or interface != f"{port.port}.0" or not self._carrier(device, port.link):
            return None
        return far if self._hears(self.switches[device], port) else None

    def sessions(self, name: str) -> tuple[BgpSession, ...]:
        """Return the BGP neighbors that a device has discovered, in the order of its cables; none while it is off."""
        with self.lock:
            return tuple(self._sessions(name))

    def _sessions(self, name: str) -> Iterator[BgpSession]:
        own = self.switches[name]
        states, bfd_up = own.sessions(), own.bfd_up()
        for interface, side in own.sides().items():
            far = self.advertiser(name, interface)
            if far is not None:
                state = states.get(own.protocol(interface) or "")
                yield self._session(own, side, far, state, own.ports[_port(interface)].link in bfd_up)

    def _session(self, own: LabSwitch, side: Side, far: End, state: SessionState | None, bfd_up: bool) -> BgpSession:
        established = state is not None and state.established
        known = self.switch(own.name).groups[side.group].peer_as
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
        )

    def _flaps(self, end: End, established: bool, since: str) -> int:
        """Count how often a session was seen to have gone down."""
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
        """Return where the sessions of a switch go, by protocol."""
        groups, found = own.groups(), {}
        for interface, group in groups.items():
            protocol, far = own.protocol(interface), own.ports[_port(interface)].far
            if protocol is not None:
                found[protocol] = (interface, far.device, group)
        return found

    def next_hops(self, name: str, prefix: Prefix) -> Sequence[NextHop]:
        """Return the next hops that a device forwards a prefix to; empty for a direct route or none at all."""
        with self.lock:
            own = self.switches[name]
            return tuple(self._next_hop(own, interface) for interface in own.fib().get(prefix, ()))

    def _next_hop(self, own: LabSwitch, interface: str) -> NextHop:
        far, side = own.ports[_port(interface)].far, own.sides().get(interface)
        color = self.switch(own.name).groups[side.group].color if side is not None else None
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
        """Return what a device sends over a session, ordered by prefix; its own AS is not in the paths yet."""
        with self.lock:
            own = self.switches[name]
            protocol = own.protocol(session.interface)
            rows = own.exported(protocol) if session.established and protocol is not None else ()
            sent = {row.prefix: route_of(row.attributes) for row in rows}
            return {prefix: replace(sent[prefix], local_preference=DEFAULT_LOCAL_PREFERENCE) for prefix in sorted(sent)}

    def advertised_count(self, name: str, session: BgpSession) -> int:
        """Return the number of routes of `advertised`."""
        with self.lock:
            own = self.switches[name]
            state = own.sessions().get(own.protocol(session.interface) or "")
            return state.exported if state is not None and session.established else 0


def _falling_silent(own: LabSwitch, found: Switch) -> tuple[str, ...]:
    """Return the links on which another configuration sends no more router advertisements."""
    before = own.switch.advertisements if own.switch is not None else {}
    units = [name for name in before if name not in found.advertisements or not _speaks(found, name)]
    return tuple(link for name in units if (link := unit_link(own.plan, name)) is not None)


def _speaks(found: Switch, name: str) -> bool:
    unit = found.unit(name)
    return unit is not None and unit.inet6


def _cease(name: str, links: Sequence[str]) -> None:
    for link in links:
        cease(name, link)


def _port(interface: str) -> str:
    return interface.rpartition(".")[0] or interface


def _seconds(text: str) -> float:
    """Return a time as BIRD writes it, in seconds since 1970: with a date, or of today."""
    if " " not in text:
        text = f"{datetime.now().astimezone():%Y-%m-%d} {text}"
    return datetime.fromisoformat(text).timestamp()


@cache
def _unconfigured(name: str) -> Switch:
    """Return the model of an empty configuration."""
    return switch(name, switch_file(name), Node(""))
