"""Look at a running lab: kernels, daemons, advertisements, traceroutes; one pass, all devices at once."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from ailb_gen.addresses import Prefix, address_text, address_value, eui64
from ailb_gen.checks.context import Context
from ailb_gen.errors import LabError
from ailb_gen.lab import kernel
from ailb_gen.lab.advertisements import Advertisement, capture
from ailb_gen.lab.bird.config import render
from ailb_gen.lab.bird.control import REFUSED, Bird
from ailb_gen.lab.bird.model import Peer, RibRoute, SessionState, Translation
from ailb_gen.lab.bird.parse import read_routes, sessions
from ailb_gen.lab.check.measured import (
    ACTIVE,
    HIDDEN,
    INACTIVE,
    Hops,
    Measured,
    SeenAdvertisement,
    SeenPath,
    SeenPrefix,
    SeenRoute,
    SeenRule,
    SeenSession,
    SeenTrace,
)
from ailb_gen.lab.check.paths import Pair
from ailb_gen.lab.check.probe import with_probe
from ailb_gen.lab.check.run import Look
from ailb_gen.lab.faults import Kind, fail, faults_of, repair
from ailb_gen.lab.namespaces import NAMES, batch, output
from ailb_gen.lab.plan import Plan, unit_link
from ailb_gen.lab.routers import config_file, control_socket
from ailb_gen.lab.trace import Probe, Trace, named, trace
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Switch

# Advertisements are sent on request (RFC 4861, section 6.2.6): within 0.5 s,
# but no sooner than 3 s after the last one.
HEARD_WITHIN_S = 12.0
# Most of a look is waiting for ip(8) and BIRD.
AT_ONCE = 8
# The kernel's own tables, `local` and `main`.
OWN_TABLES = frozenset({255, 254, 0})
TABLE = re.compile(r" table (\d+)")
# BIRD's answer about a prefix that it has no route to.
NOT_FOUND = 8001
LINK_LOCAL = Prefix(0xFE80 << 112, 10)
# A probe prefix is seen when it is nowhere else for so long; seconds. A probe ends after so many seconds in any case.
PROBE_S, PROBED_WITHIN_S, EXPIRES_S = 0.4, 5.0, 60
# How long an answer to a packet that was not answered at first may take. Seconds.
PATIENT_S = 1.5
T = TypeVar("T")


class RunningLab:
    """A lab in whose namespaces this process is. Every method raises LabError."""

    def __init__(self, plan: Plan, context: Context) -> None:
        self.plan, self.context = plan, context
        self.failed: list[End] = []
        self.ports = {
            name: {port.link: port.port for port in switch.ports.values()} for name, switch in plan.switches.items()
        }

    @cached_property
    def running(self) -> frozenset[str]:
        """The devices that are there; switches whose daemon answers."""
        alive = self._each(self.plan.switches, _answers)
        servers = (name for name in self.plan.servers if (NAMES / name).exists())
        return frozenset([*(name for name, answers in alive.items() if answers), *servers])

    def hops(self) -> Hops:
        """Return the next hops of every switch's kernel."""
        return self._each([name for name in self.plan.switches if name in self.running], self._hops)

    def _hops(self, name: str) -> Mapping[Prefix, frozenset[str]]:
        ports, known = self.ports[name], dict[frozenset[kernel.NextHop], frozenset[str]]()
        found = {}
        for prefix, hops in kernel.routes(name, protocol=kernel.BIRD).items():
            if hops not in known:
                known[hops] = frozenset(ports.get(hop.link, hop.link) for hop in hops)
            if hops:
                found[prefix] = known[hops]
        return found

    def down(self) -> frozenset[End]:
        """Return both ends of the links that were made to fail."""
        return frozenset(end for one in faults_of(self.plan) for end in (one.a, one.b))

    def fail(self, ends: Iterable[End]) -> None:
        """Take the links with some ends down, but for those that are."""
        already = self.down()
        for end in ends:
            if end not in already:
                self.failed.append(end)
                fail(self.plan, str(end), Kind.CARRIER)

    def repair(self) -> None:
        """Put up again what was taken down here."""
        while self.failed:
            repair(self.plan, str(self.failed.pop()))

    def measure(self, look: Look) -> Measured:
        """Look at everything once but next hops. Advertisements come slowly, so that they are awaited meanwhile."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            heard = pool.submit(self._advertisements)
            found = self._measured(look)
            return replace(found, advertisements=heard.result())

    def _measured(self, look: Look) -> Measured:
        switches = [name for name in self.plan.switches if name in self.running]
        servers = [name for name in self.plan.servers if name in self.running]
        daemons = self._each(switches, lambda name: sessions(_bird(name)))
        addresses = self._each([*switches, *servers], kernel.addresses)
        macs = {End(name, nic.nic): nic.mac for name in servers for nic in self.plan.servers[name].nics.values()}
        ribs = self._each(switches, lambda name: self._rib(name, daemons[name], look.prefixes))
        traces = self._traces(look.pairs, addresses, macs)
        probed, unprobed = self._probed(look, daemons)
        return Measured(
            devices=self.running,
            unmodelled={name: self._unmodelled(name, daemons[name]) for name in switches},
            addresses=_global(addresses),
            macs=macs,
            rules=self._each(servers, _rules),
            tables=self._each(servers, _tables),
            sessions={
                End(name, self.ports[name].get(one.link, one.link)): SeenSession(
                    one.established, one.local_as, one.neighbor_as, _state(one)
                )
                for name, rows in daemons.items()
                for one in rows.values()
            },
            examined=look.prefixes,
            ribs=ribs,
            traces=traces,
            probed=probed,
            unprobed=unprobed,
        )

    def _each(self, names: Iterable[str], function: Callable[[str], T]) -> dict[str, T]:
        from concurrent.futures import ThreadPoolExecutor

        listed = list(names)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(listed, pool.map(function, listed), strict=True))

    def _unmodelled(self, name: str, states: Mapping[str, SessionState]) -> tuple[tuple[str, int], ...]:
        switch = self.context.network.switches.get(name)
        found = self._translation(switch, states).unmodelled if switch is not None else ()
        return tuple((f"{one.statement}: {one.reason}", one.line) for one in found)

    def _translation(self, switch: Switch, states: Mapping[str, SessionState]) -> Translation:
        """Translate a switch of the files again, with the neighbors that the lab has found."""
        peers = {
            f"{self.ports[switch.named].get(one.link, one.link)}.0": Peer(
                address_value(one.neighbor) or 0, one.neighbor_as
            )
            for one in states.values()
        }
        return render(switch, self.plan.switches[switch.named], peers)

    def _probed(
        self, look: Look, daemons: Mapping[str, Mapping[str, SessionState]]
    ) -> tuple[dict[str, dict[str, frozenset[str]]], str]:
        """Let some leaves announce a prefix for a moment; return where it came in, and why it was not tried."""
        switches = self.context.network.switches
        with ExitStack() as stack:
            for leaf, prefix in look.probes.items():
                if leaf not in daemons:
                    return {}, f"{leaf} does not run"
                if self._translation(switches[leaf], daemons[leaf]).text != config_file(leaf).read_text("utf-8"):
                    return {}, f"{leaf} runs another configuration than that of the files"
                changed = with_probe(switches[leaf], prefix)
                text = self._translation(changed, daemons[leaf]).text
                link = unit_link(self.plan.switches[leaf], changed.ports["irb"].units[0].name) or ""
                stack.enter_context(announced(leaf, link, prefix, text))
            return self._came_in(look.probes, daemons), ""

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
            prefix: frozenset(path.port for path in paths)
            for prefix, paths in self._rib(name, states, prefixes).items()
            if prefix in prefixes
        }

    def _rib(
        self, name: str, states: Mapping[str, SessionState], prefixes: tuple[Prefix, ...]
    ) -> Mapping[Prefix, tuple[SeenPath, ...]]:
        """Return the paths of some prefixes; all at once where those are all that there are."""
        bird = _bird(name)
        whole = len(prefixes) == len(self.context.routing.prefixes)
        rows: list[RibRoute] = []
        for what in ("",) if whole else map(str, prefixes):
            rows += [*_routes(bird, what), *_routes(bird, f"{what} filtered".strip())]
        ports = {protocol: self.ports[name].get(one.link, one.link) for protocol, one in states.items()}
        found: dict[Prefix, list[SeenPath]] = defaultdict(list)
        for row in rows:
            if row.protocol in ports:
                found[row.prefix].append(_path(ports[row.protocol], row))
        return {prefix: tuple(paths) for prefix, paths in found.items()}

    def _advertisements(self) -> dict[End, SeenAdvertisement]:
        found = {}
        links = [
            (name, port.link)
            for name, switch in self.plan.switches.items()
            for port in switch.ports.values()
            if port.far.device in self.plan.switches and name in self.running
        ]
        servers = (server for name, server in self.plan.servers.items() if name in self.running)
        nics = [(server.name, nic.nic) for server in servers for nic in server.nics.values() if nic.leaf]
        for one in capture([*links, *nics], HEARD_WITHIN_S):
            found[End(one.device, self.ports.get(one.device, {}).get(one.link, one.link))] = _told(one)
        return found

    def _traces(
        self, pairs: tuple[Pair, ...], addresses: Mapping[str, tuple[kernel.Address, ...]], macs: Mapping[End, str]
    ) -> tuple[SeenTrace, ...]:
        owners = {one.value: name for name in self.plan.switches for one in addresses.get(name, ())}
        seats = {End(cable.b_device, cable.b_port): cable.a_device for cable in self.context.cabling.hosts}
        probes, made = [], []
        for pair in pairs:
            if {pair.source.device, pair.target.device} <= self.running:
                source, target = (
                    self.context.expected.switches[seats[nic]].prefixes[pair.number - 1].value + eui64(macs[nic])
                    for nic in (pair.source, pair.target)
                )
                probes.append(Probe(pair.source.device, source, target))
                made.append(pair)
        return tuple(
            SeenTrace(*pair, hops, found.end)
            for pair, (found, hops) in zip(made, named(_traced(probes), owners), strict=True)
        )


def _traced(probes: list[Probe]) -> list[Trace]:
    """Trace pairs; those without an answer once more, with patience: neighbors were still to be resolved."""
    found = trace(probes)
    silent = [number for number, one in enumerate(found) if one.end or None in one.hops]
    again = trace([probes[number] for number in silent], timeout_s=PATIENT_S) if silent else []
    for number, one in zip(silent, again, strict=True):
        found[number] = one
    return found


def _bird(name: str) -> Bird:
    return Bird(control_socket(name))


@contextmanager
def announced(leaf: str, link: str, prefix: Prefix, text: str) -> Iterator[None]:
    """Let a leaf run another configuration, with an address in a prefix; both end by themselves should we die."""
    file, bird = config_file(leaf).with_suffix(".probe"), _bird(leaf)
    address = f"{address_text(prefix.value | 1)}/{prefix.length} dev {link}"
    file.write_text(text, encoding="utf-8")
    batch([f"addr replace {address} nodad valid_lft {EXPIRES_S} preferred_lft {EXPIRES_S}"], leaf, "-6")
    try:
        bird.command(f'configure "{file}" timeout {EXPIRES_S}')
        yield
    finally:
        # Right also when the time was over before, when the address has gone by itself.
        bird.configure()
        with suppress(LabError):
            batch([f"addr del {address}"], leaf, "-6")
        file.unlink()


def _answers(name: str) -> bool:
    try:
        _bird(name).command("show status")
    except LabError:
        return False
    return True


def _routes(bird: Bird, what: str) -> tuple[RibRoute, ...]:
    answer = bird.ask(f"show route all {what}".strip())
    if answer.code >= REFUSED and answer.code != NOT_FOUND:
        raise LabError(f"{bird.path}: BIRD refuses to show routes: {' '.join(answer.text.split())}")
    return read_routes(answer.text) if answer.code < REFUSED else ()


def _state(session: SessionState) -> str:
    return f"{session.state}{f', {session.last_error}' if session.last_error else ''}"


def _path(port: str, row: RibRoute) -> SeenPath:
    found = row.attributes
    status = HIDDEN if found.hidden else ACTIVE if row.active else INACTIVE
    return SeenPath(port, found.as_path, found.communities, found.aigp, found.local_preference, found.med, status)


def _told(found: Advertisement) -> SeenAdvertisement:
    prefixes = (
        SeenPrefix(one.prefix, one.on_link, one.autonomous, one.valid_s, one.preferred_s) for one in found.prefixes
    )
    return SeenAdvertisement(found.lifetime_s, tuple(prefixes))


def _global(addresses: Mapping[str, tuple[kernel.Address, ...]]) -> dict[End, frozenset[int]]:
    """Return the addresses that packets can be sent to, by device and link."""
    found: dict[End, set[int]] = defaultdict(set)
    for name, rows in addresses.items():
        for one in rows:
            if not (LINK_LOCAL.holds(one.value) or one.duplicate or one.tentative):
                found[End(name, one.link)].add(one.value)
    return {end: frozenset(values) for end, values in found.items()}


def _rules(name: str) -> frozenset[SeenRule]:
    return frozenset(
        SeenRule(rule.priority, rule.source or Prefix(0, 0), rule.table)
        for rule in kernel.rules(name)
        if rule.table not in OWN_TABLES and not rule.others
    )


def _tables(name: str) -> dict[int, frozenset[SeenRoute]]:
    """Return the routes of all tables of a server, but for the kernel's own."""
    lines: dict[int, list[str]] = defaultdict(list)
    for line in output(name, ("ip", "-6", "-N", "-o", "route", "show", "table", "all")).splitlines():
        found = TABLE.search(line)
        if found is not None and int(found[1]) not in OWN_TABLES:
            lines[int(found[1])].append(line)
    return {
        table: frozenset(
            SeenRoute(prefix, hop.link, hop.gateway)
            for prefix, hops in kernel.read_routes("\n".join(rows)).items()
            for hop in hops
        )
        for table, rows in lines.items()
    }
