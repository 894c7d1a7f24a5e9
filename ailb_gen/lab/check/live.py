"""Look at a running lab: kernels, daemons, advertisements, traceroutes; one pass, all devices at once."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from typing import TypeVar

from ailb_gen.addresses import Prefix, address_value
from ailb_gen.checks.context import Context
from ailb_gen.errors import LabError
from ailb_gen.lab import kernel
from ailb_gen.lab.advertisements import Advertisement, capture
from ailb_gen.lab.bird.config import render
from ailb_gen.lab.bird.model import BfdState, BirdPeer, SessionState, Translation
from ailb_gen.lab.bird.parse import bfd, rib, sessions
from ailb_gen.lab.check.changes import LabChanges
from ailb_gen.lab.check.observed import ACTIVE, HIDDEN, INACTIVE, Hops, Observed, ObservedRecoloring, Samples
from ailb_gen.lab.check.readings import global_addresses, rules_of, send, tables_of
from ailb_gen.lab.check.trials import Recoloring, with_probe
from ailb_gen.lab.faults import CableFault, FaultKind, faults_of
from ailb_gen.lab.kernel import Kernels
from ailb_gen.lab.namespaces import namespace
from ailb_gen.lab.plan import LabPlan, port_of, unit_link
from ailb_gen.lab.polling import settled
from ailb_gen.lab.routers import bird_of, config_file
from ailb_gen.lab.traffic.flows import flows
from ailb_gen.lab.traffic.model import LEAST_BYTES, Flow, TrafficLoad
from ailb_gen.lab.traffic.run import running as traffic
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Switch
from ailb_gen.routing.rib import Path

# Advertisements are sent on request (RFC 4861, section 6.2.6): within 0.5 s,
# but no sooner than 3 s after the last one.
HEARD_WITHIN_S = 12.0
# Most of a reading is waiting for ip(8) and BIRD.
AT_ONCE = 8
# A probe prefix has arrived when it comes in nowhere else for a while; that, and the timeout, in seconds.
PROBE_S, PROBED_WITHIN_S = 0.4, 5.0
# How long BFD sessions may take to come up, and the pause between two readings. Seconds.
BFD_UP_S, BFD_PAUSE_S = 10.0, 0.2
# Packets per second of all flows while colors change; how long they flow before and after; between two looks. Seconds.
RECOLOR_RATE, RECOLOR_S, RECOLOR_PAUSE_S = 1000.0, 0.3, 0.02
T = TypeVar("T")


class RunningLab:
    """A lab in whose namespaces this process is. Every method raises LabError."""

    def __init__(self, plan: LabPlan, context: Context) -> None:
        self.plan, self.context = plan, context
        self.changes, self.kernels = LabChanges(plan), Kernels()
        # Ends of links on which BFD did not come up in time: that is not waited for again.
        self.without_bfd: set[End] = set()
        self.ports = {
            name: {port.link: port.port for port in switch.ports.values()} for name, switch in plan.switches.items()
        }

    @cached_property
    def running(self) -> frozenset[str]:
        """The devices that are there; switches whose daemon answers."""
        answering = self._each(self.plan.switches, _answers)
        servers = (name for name in self.plan.servers if namespace(name).exists())
        return frozenset([*(name for name, answers in answering.items() if answers), *servers])

    @cached_property
    def switches(self) -> list[str]:
        """The switches that run."""
        return [name for name in self.plan.switches if name in self.running]

    @cached_property
    def servers(self) -> list[str]:
        """The servers that run."""
        return [name for name in self.plan.servers if name in self.running]

    @cached_property
    def links(self) -> Mapping[str, Mapping[str, kernel.KernelLink]]:
        """The links of every device at the first reading."""
        return self._each([*self.plan.switches, *self.servers], self.kernels.links)

    @cached_property
    def faults(self) -> tuple[CableFault, ...]:
        """What had failed on purpose before."""
        return faults_of(self.plan, self.links)

    def hops(self) -> Hops:
        """Return the next hops of every switch's kernel."""
        return self._each(self.switches, self._hops)

    def _hops(self, name: str) -> Mapping[Prefix, frozenset[str]]:
        ports, known = self.ports[name], dict[frozenset[kernel.KernelNextHop], frozenset[str]]()
        found = {}
        for prefix, hops in self.kernels.routes(name).items():
            if hops not in known:
                known[hops] = frozenset(ports.get(hop.link, hop.link) for hop in hops)
            if hops:
                found[prefix] = known[hops]
        return found

    def down(self) -> frozenset[End]:
        """Return both ends of the links that had failed on purpose before."""
        return _ends(self.faults)

    @cached_property
    def dark(self) -> frozenset[End]:
        """Both ends of the links between switches that carried nothing when they were looked at first."""
        lit = {
            End(name, port.port)
            for name, switch in self.plan.switches.items()
            for port in switch.ports.values()
            if name in self.running and self.links[name][port.link].carrier
        }
        pairs = ({cable.a, cable.b} for cable in self.plan.links)
        return frozenset(end for pair in pairs if not pair <= lit for end in pair)

    def fail(self, ends: Iterable[End], kind: FaultKind = FaultKind.CARRIER) -> None:
        """Let the links with some ends fail, but for those that have."""
        if kind is not FaultKind.CARRIER:
            # Before BFD is up it notices nothing.
            self._bfd(time.monotonic())
        already = _ends(faults_of(self.plan, self._each(self.plan.switches, self.kernels.links)))
        self.changes.fail([end for end in ends if end not in already], kind)

    def repair(self) -> None:
        """Repair the links that were taken down here."""
        self.changes.repair()

    def recolor(self, change: Recoloring) -> ObservedRecoloring:
        """Let a leaf exchange two colors while packets flow to its servers, and take them back."""
        leaf, prefixes, hosts = change.leaf, change.prefixes, self.context.network.hosts
        chosen = [
            flow
            for flow in (flows(self.plan, hosts) if len(hosts) > 1 else ())
            if {flow.source, flow.target} <= self.running
            and any(prefix.holds(flow.target_address) for prefix in prefixes)
            and self._leaf(flow) != leaf
        ]
        reason = self._differs(leaf, sessions(bird_of(leaf))) if leaf in self.running else f"{leaf} does not run"
        if reason or not chosen:
            return ObservedRecoloring(skipped=reason or f"no other leaf's servers send to those of {leaf}")
        near = self._leaf(chosen[0])
        before = self._hops_to(near, prefixes)
        if before != self._hops_to(near, prefixes) or before[0] == before[1]:
            return ObservedRecoloring(skipped=f"{near} sends packets of both colors over the same links")
        text = self._translation(change.changed, sessions(bird_of(leaf))).text
        with ExitStack() as stack:
            load = TrafficLoad(RECOLOR_RATE / len(chosen), 0, LEAST_BYTES)
            try:
                sending = stack.enter_context(traffic(self.plan, tuple(chosen), load))
            except LabError as error:
                return ObservedRecoloring(skipped=f"no packets can be sent during the test: {error}")
            time.sleep(RECOLOR_S)
            with self.changes.running(leaf, text):
                moved = self._reaches(near, prefixes, before[::-1])
            moved &= self._reaches(near, prefixes, before)
            time.sleep(RECOLOR_S)
            result = sending.stop()
        worst = max(result.flows, key=lambda one: one.outage_ms)
        return ObservedRecoloring(result.sent, result.lost, worst.outage_ms, str(worst.flow), moved)

    def _leaf(self, flow: Flow) -> str:
        seat = self.plan.servers[flow.source].nics[flow.source_nic].leaf
        return seat.device if seat is not None else ""

    def _hops_to(self, switch: str, prefixes: Iterable[Prefix]) -> list[frozenset[str]]:
        hops = self._hops(switch)
        return [hops.get(prefix, frozenset()) for prefix in prefixes]

    def _reaches(self, switch: str, prefixes: Iterable[Prefix], expected: list[frozenset[str]]) -> bool:
        """Wait until a switch has some next hops; returns whether it has in the end."""
        hops = partial(self._hops_to, switch, prefixes)
        return settled(hops, expected.__eq__, PROBED_WITHIN_S, pause_s=RECOLOR_PAUSE_S) == expected

    def _differs(self, leaf: str, states: Mapping[str, SessionState]) -> str:
        """Return that a leaf runs something else than its file says, if it does."""
        expected = self._translation(self.context.network.switches[leaf], states).text
        same = config_file(leaf).read_text("utf-8") == expected
        return "" if same else f"{leaf} runs another configuration than in the files"

    def measure(self, samples: Samples) -> Observed:
        """Observe everything once but next hops. Advertisements come slowly, and are awaited meanwhile."""
        from concurrent.futures import ThreadPoolExecutor

        began = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            heard = pool.submit(self._advertisements)
            found = self._measured(samples)
            # BFD begins slowly (RFC 5880, 6.8.3): it is read last.
            return replace(found, advertisements=heard.result(), bfd=self._bfd(began))

    def _measured(self, samples: Samples) -> Observed:
        switches, servers = self.switches, self.servers
        daemons = self._each(switches, lambda name: sessions(bird_of(name)))
        addresses = self._each([*switches, *servers], kernel.addresses)
        # Before leaves announce probes: then their neighbors send all routes again.
        ribs = self._each(switches, lambda name: self._rib(name, daemons[name], samples.prefixes))
        macs = {End(name, nic.nic): nic.mac for name in servers for nic in self.plan.servers[name].nics.values()}
        mtus = {
            self._end(name, link): one.mtu for name in (*switches, *servers) for link, one in self.links[name].items()
        }
        there = [pair for pair in samples.pairs if {pair.source.device, pair.target.device} <= self.running]
        owners = {one.value: name for name in self.plan.switches for one in addresses.get(name, ())}
        traces, sizes = send(self.context, there, owners, macs, mtus)
        probed, not_probed = self._probed(samples, daemons)
        return Observed(
            devices=self.running,
            untranslated={name: self._untranslated(name, daemons[name]) for name in switches},
            addresses=global_addresses(addresses),
            macs=macs,
            rules=self._each(servers, rules_of),
            tables=self._each(servers, tables_of),
            sessions={self._end(name, one.link): one for name, rows in daemons.items() for one in rows.values()},
            examined=samples.prefixes,
            ribs=ribs,
            traces=traces,
            sizes=sizes,
            mtus=mtus,
            probed=probed,
            not_probed=not_probed,
        )

    def _each(self, names: Iterable[str], function: Callable[[str], T]) -> dict[str, T]:
        from concurrent.futures import ThreadPoolExecutor

        listed = list(names)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(listed, pool.map(function, listed), strict=True))

    def _bfd(self, began: float) -> dict[End, BfdState]:
        """Return the BFD sessions of all switches, when all are up or some have not come up since they `began`."""

        def down(sessions: Mapping[End, BfdState]) -> set[End]:
            return {end for end, one in sessions.items() if not one.up} - self.dark - self.without_bfd

        patience_s = began + BFD_UP_S - time.monotonic()
        sessions = settled(self._bfd_sessions, lambda now: not down(now), patience_s, pause_s=BFD_PAUSE_S)
        self.without_bfd |= down(sessions)
        return sessions

    def _bfd_sessions(self) -> dict[End, BfdState]:
        states = self._each(self.switches, lambda name: bfd(bird_of(name)))
        return {self._end(name, link): one for name, rows in states.items() for link, one in rows.items()}

    def _end(self, name: str, link: str) -> End:
        """Return a link by its port, or its own name where it is none of a cable."""
        return End(name, self.ports.get(name, {}).get(link, link))

    def _untranslated(self, name: str, states: Mapping[str, SessionState]) -> tuple[tuple[str, int], ...]:
        switch = self.context.network.switches.get(name)
        statements = self._translation(switch, states).untranslated if switch is not None else ()
        return tuple((f"{one.statement}: {one.reason}", one.line) for one in statements)

    def _translation(self, switch: Switch, states: Mapping[str, SessionState]) -> Translation:
        """Translate a switch of the files again, with the neighbors that the lab has found."""
        peers = {
            f"{self._end(switch.named, one.link).port}.0": BirdPeer(address_value(one.neighbor) or 0, one.neighbor_as)
            for one in states.values()
        }
        return render(switch, self.plan.switches[switch.named], peers)

    def _probed(
        self, samples: Samples, daemons: Mapping[str, Mapping[str, SessionState]]
    ) -> tuple[dict[str, dict[str, frozenset[str]]], str]:
        """Let some leaves announce a prefix for a moment; return where it came in, and why it was not tried."""
        switches = self.context.network.switches
        with ExitStack() as stack:
            for leaf, prefix in samples.probes.items():
                if leaf not in daemons:
                    return {}, f"{leaf} does not run"
                if reason := self._differs(leaf, daemons[leaf]):
                    return {}, reason
                changed = with_probe(switches[leaf], prefix)
                text = self._translation(changed, daemons[leaf]).text
                link = unit_link(self.plan.switches[leaf], changed.ports["irb"].units[0].name) or ""
                stack.enter_context(self.changes.running(leaf, text, link, prefix))
            return self._came_in(samples.probes, daemons), ""

    def _came_in(
        self, announced_by: Mapping[str, Prefix], daemons: Mapping[str, Mapping[str, SessionState]]
    ) -> dict[str, dict[str, frozenset[str]]]:
        """Return by which ports of every switch prefixes came in, once that has not changed for a moment."""
        prefixes = tuple(announced_by.values())
        found: dict[str, dict[Prefix, frozenset[str]]] = {}
        until = time.monotonic() + PROBED_WITHIN_S
        while True:
            time.sleep(PROBE_S)
            before = found
            found = self._each(daemons, lambda name: self._ports_of(name, daemons[name], prefixes))
            everywhere = all(any(prefix in rows for rows in found.values()) for prefix in prefixes)
            if (found == before and everywhere) or time.monotonic() > until:
                break
        return {
            leaf: {name: rows.get(prefix, frozenset()) for name, rows in found.items()}
            for leaf, prefix in announced_by.items()
        }

    def _ports_of(
        self, name: str, states: Mapping[str, SessionState], prefixes: tuple[Prefix, ...]
    ) -> dict[Prefix, frozenset[str]]:
        return {
            prefix: frozenset(port_of(path.interface) for path in paths)
            for prefix, paths in self._rib(name, states, prefixes).items()
            if prefix in prefixes
        }

    def _rib(
        self, name: str, states: Mapping[str, SessionState], prefixes: tuple[Prefix, ...]
    ) -> Mapping[Prefix, tuple[Path, ...]]:
        """Return the paths of some prefixes; all at once where those are all that there are."""
        bird = bird_of(name)
        whole = len(prefixes) == len(self.context.routing.prefixes)
        rows = [route for prefix in (("",) if whole else map(str, prefixes)) for route in rib(bird, prefix)]
        ports = {protocol: self._end(name, one.link).port for protocol, one in states.items()}
        found: dict[Prefix, list[Path]] = defaultdict(list)
        for row in rows:
            if row.protocol in ports:
                status = HIDDEN if row.hidden else ACTIVE if row.active else INACTIVE
                found[row.prefix].append(Path(row.route, status, interface=f"{ports[row.protocol]}.0"))
        return {prefix: tuple(paths) for prefix, paths in found.items()}

    def _advertisements(self) -> dict[End, Advertisement]:
        links = [
            (name, port.link)
            for name, switch in self.plan.switches.items()
            for port in switch.ports.values()
            if port.far.device in self.plan.switches and End(name, port.port) not in self.dark
        ]
        nics = [(name, nic.nic) for name in self.servers for nic in self.plan.servers[name].nics.values() if nic.leaf]
        return {self._end(one.device, one.link): one for one in capture([*links, *nics], HEARD_WITHIN_S)}


def _ends(faults: Iterable[CableFault]) -> frozenset[End]:
    return frozenset(end for one in faults for end in (one.a, one.b))


def _answers(name: str) -> bool:
    try:
        bird_of(name).command("show status")
    except LabError:
        return False
    return True
