"""What a switch forwards with, against what its file says: MTUs of ports, next hops of routes, load balancing.

Every question but the last is one RPC; names of replies and elements are those of Junos's XML output. No RPC says what
the forwarding plane makes of DLB: the statements that are active are read, groups inherited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from lxml.etree import _Element

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.families.devices import BESIDES, DRIFT, FILES, NEXT_PUSH, REACHED, STATE
from ailb_gen.checks.model import Check, Finding, Result
from ailb_gen.deploy.device_diff import (
    ADD,
    REMOVE,
    REPLACE,
    Edit,
    ServerDiff,
    SwitchDiff,
    compare_texts,
    edit_of,
    server_diff,
)
from ailb_gen.deploy.resource_limits import ONE_AT_A_TIME
from ailb_gen.deploy.servers.expected import expected_of
from ailb_gen.deploy.servers.fleet import ServerState, of_fleet, read_state, with_leaves
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import beyond_push, compare_all
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import DeviceError, Phase, SwitchDriver, cut
from ailb_gen.deploy.switch_state import FabricModel, deviation, read_fabric_model, switch_of, text_in
from ailb_gen.deploy.transaction import same, tree_of
from ailb_gen.deploy.unmanaged import warnings
from ailb_gen.errors import Place
from ailb_gen.network.model import Port, SwitchLoadBalancing
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import counted, plural, some

# The Ethernet header, which counts in the MTU of a port and not in that of IPv6.
HEADER = 14
# Of routes that have the same next hops one is read, of at most ROUTES kinds: on a spine every leaf is one.
ROUTES = 16
# What is said in every report of `verify`.
NOT_READ = (
    "verify does not read class of service, firewall filters, optics, error counters, or DLB in the forwarding plane "
    f"(only its statements); of routes with the same next hops it reads one, for up to {ROUTES} sets of next hops per "
    "switch. drift compares all statements."
)


@dataclass(frozen=True, slots=True)
class ForwardingState:
    """Forwarding of a switch, expected or observed.

    `mtus` are those of ports in bytes with the Ethernet header, `inet6_mtus` those of logical interfaces, as text.
    `routes` are the outgoing interfaces of some prefixes.
    """

    mtus: Mapping[str, str]
    inet6_mtus: Mapping[str, str]
    routes: Mapping[Prefix, frozenset[str]]
    balancing: SwitchLoadBalancing

    def deviations(self, name: str, observed: ForwardingState) -> Iterator[Finding]:
        """Yield the deviations of the observed state of a switch."""
        pairs = (("MTU", self.mtus, observed.mtus), ("IPv6 MTU", self.inet6_mtus, observed.inet6_mtus))
        for aspect, expected, found in pairs:
            for mtu in deviations(expected, found, extra=False):
                message = f"the {aspect} of {mtu.subject} is {mtu.observed or 'not shown'}, expected {mtu.expected}"
                if mtu.observed is None:
                    message = f"there is no interface {mtu.subject}"
                yield deviation(name, aspect, message, about.port(name, mtu.subject))
        for route in deviations(self.routes, observed.routes):
            hops, expected_hops = observed.routes[route.subject], self.routes[route.subject]
            message = f"{route.subject} is forwarded to {_counted(hops)}, expected {_counted(expected_hops)}"
            # In a summary, too few next hops are not like too many.
            aspect = f"next hops: {len(hops)} of {len(expected_hops)}"
            yield deviation(name, aspect, message, about.prefix(route.subject))
        for aspect, show in BALANCING:
            have, want = show(observed.balancing), show(self.balancing)
            if have != want:
                message = f"{aspect}: {some(sorted(have - want))}, expected {some(sorted(want - have))}"
                yield deviation(name, aspect, message)


def balancing_of(name: str, running: str) -> SwitchLoadBalancing:
    """Return the load balancing of the configuration of a switch. Raises DeviceError."""
    with ONE_AT_A_TIME:
        return switch_of(name, tree_of(name, running)).balancing


def read_forwarding(
    name: str,
    switch: SwitchDriver,
    prefixes: Iterable[Prefix],
    balancing: Callable[[str, str], SwitchLoadBalancing] = balancing_of,
) -> ForwardingState:
    """Read the forwarding of a switch, with the next hops of some prefixes. Raises DeviceError.

    `balancing` gives the load balancing of the configuration of a switch.
    """
    reply = switch.ask("get-interface-information")
    physical = {text_in(entry, "name"): text_in(entry, "mtu") for entry in reply.iter("physical-interface")}
    logical = {text_in(entry, "name"): _inet6_mtu(entry) for entry in reply.iter("logical-interface")}
    routes = {prefix: _next_hops(switch, str(prefix)) for prefix in prefixes}
    return ForwardingState(physical, logical, routes, balancing(name, switch.running()))


def _next_hops(switch: SwitchDriver, prefix: str) -> frozenset[str]:
    """Read `show route forwarding-table destination PREFIX`: the outgoing interfaces."""
    reply = switch.ask("get-forwarding-table-information", family="inet6", destination=prefix)
    entries = [entry for entry in reply.iter("rt-entry") if text_in(entry, "rt-destination") == prefix]
    return frozenset(text_in(hop, "via") for entry in entries for hop in entry.iter("nh")) - {""}


# Load balancing by the statements that are active: what it is called, and the words for it.
BALANCING: tuple[tuple[str, Callable[[SwitchLoadBalancing], set[str]]], ...] = (
    ("load balancing of all routes per flow (forwarding-table export)", lambda one: {_on(one.per_packet)}),
    ("ecmp-fast-reroute", lambda one: {_on(one.fast_reroute)}),
    ("maximum-ecmp", lambda one: {str(one.maximum_ecmp)}),
    ("DLB (ecmp-dlb)", lambda one: {text for text, _ in one.dlb}),
    ("global load balancing", lambda one: {one.glb or "off"}),
)


def _on(value: bool) -> str:
    return "on" if value else "off"


def without(graph: Graph, down: Iterable[tuple[str, str]]) -> Routing:
    """Return the routes of a fabric while the sessions on some logical interfaces, (switch, name), are down."""
    off = frozenset(down)
    failed = frozenset(
        number
        for number, session in enumerate(graph.sessions.up)
        if not off.isdisjoint((side.device, side.interface) for side in (session.a, session.b))
    )
    return Routing(graph.network, graph=graph.without(failed) if failed else graph)


def expected_forwarding(model: FabricModel, routing: Routing, name: str, prefixes: Iterable[Prefix]) -> ForwardingState:
    """Return the expected forwarding of a switch."""
    found = model.switches[name]
    cabled = {end.port for cable in model.cables.get(name, ()) for end in (cable.a, cable.b) if end.device == name}
    cabled |= {port for _, port in model.servers.get(name, ())}
    ports = [port for port in found.ports.values() if port.name in cabled and not port.disabled]
    irb = [found.ports["irb"]] if "irb" in found.ports else []
    return ForwardingState(
        {port.name: str(port.mtu) for port in ports if port.mtu is not None},
        {unit: str(mtu) for port in (*ports, *irb) for unit, mtu in _inet6_mtus(port)},
        {prefix: _outgoing(routing, name, prefix) for prefix in prefixes},
        found.balancing,
    )


def sampled(routing: Routing, name: str) -> tuple[Prefix, ...]:
    """Return one prefix for each set of next hops of a switch; of many sets those that are spread over all."""
    kinds: dict[frozenset[str], Prefix] = {}
    for prefix in routing.prefixes:
        hops = _outgoing(routing, name, prefix)
        if hops:
            kinds.setdefault(hops, prefix)
    rows = tuple(kinds.values())
    return tuple(rows[len(rows) * at // ROUTES] for at in range(ROUTES)) if len(rows) > ROUTES else rows


def _outgoing(routing: Routing, name: str, prefix: Prefix) -> frozenset[str]:
    return frozenset(hop.interface for hop in routing.next_hops(routing.graph.index[name], prefix))


def _inet6_mtus(port: Port) -> Iterator[tuple[str, int]]:
    """Yield the IPv6 MTU of every logical interface: as configured, else that of the port without its header."""
    for unit in port.units:
        mtu = unit.inet6_mtu or (port.mtu - HEADER if port.mtu is not None else None)
        if unit.inet6 and mtu is not None and not unit.disabled:
            yield unit.name, mtu


def _inet6_mtu(entry: _Element) -> str:
    families = (one for one in entry.iter("address-family") if text_in(one, "address-family-name") == "inet6")
    return next((text_in(one, "mtu") for one in families), "")


def _counted(interfaces: frozenset[str]) -> str:
    listed = f" ({some(sorted(interfaces))})" if interfaces else ""
    return f"{len(interfaces)} {plural('next hop', len(interfaces))}{listed}"


# The most changes of a device that are reported.
MOST = 1_000


@dataclass(frozen=True, slots=True)
class ObservedSwitch:
    """What was observed on a switch: interfaces without their session, deviations, and its forwarding."""

    down: frozenset[str]
    deviations: tuple[Finding, ...]
    forwarding: ForwardingState


class FabricVerifier:
    """What all files of a fabric together must bring about, and the comparison of its picked devices with it.

    Devices may be observed from several threads.
    """

    def __init__(self, session: DeploySession) -> None:
        models = {name: switch_of(name, tree_of(name, session.inputs.text(name))) for name in session.switches}
        self._inputs = session.inputs
        self._model = read_fabric_model(session.inputs.artifacts, models)
        self._graph = Graph(self._model.network)
        routing = Routing(self._model.network, graph=self._graph)
        self.prefixes = {name: sampled(routing, name) for name in session.switches if name in session.picked}
        # The routes while some interfaces have no session; most often they are the same as the last time.
        self._left = frozenset[tuple[str, str]](), routing

    def observe(
        self, name: str, switch: SwitchDriver, balancing: Callable[[str, str], SwitchLoadBalancing] = balancing_of
    ) -> ObservedSwitch:
        """Observe a switch; `balancing` is as in `read_forwarding`. Raises DeviceError."""
        # No alarm is part of the design: all are shown.
        expected = self._model.expected(name)
        return ObservedSwitch(
            *expected.observe(switch),
            read_forwarding(name, switch, self.prefixes[name], balancing),
        )

    def observe_server(self, name: str, server: ServerConnection) -> ServerState:
        """Observe a server. Raises DeviceError."""
        expected = expected_of(self._inputs.trees[name], self._inputs.hosts[name].profile)
        return read_state(server, with_leaves(name, expected, self._model), compare_all)

    def routing(self, switches: Mapping[str, ObservedSwitch]) -> Routing:
        """Return the routes that are left: a session that is down is one finding, not one for each of its routes."""
        down = frozenset((name, one) for name, switch in switches.items() for one in switch.down)
        if down != self._left[0]:
            self._left = down, without(self._graph, down)
        return self._left[1]

    def findings(self, name: str, switch: ObservedSwitch, left: Routing) -> tuple[Finding, ...]:
        """Return the deviations of a switch, with the routes that are left."""
        expected = expected_forwarding(self._model, left, name, self.prefixes[name])
        return (*switch.deviations, *expected.deviations(name, switch.forwarding))


def verify(session: DeploySession, advance: Callable[[int], None] = lambda number: None) -> list[Result]:
    """Compare the observed state of the picked devices with what all files together must bring about."""
    verifier = FabricVerifier(session)
    switches = session.pool.run(verifier.prefixes, verifier.observe, Phase.VERIFY, advance, keep=False)
    left = verifier.routing(switches.good)
    found = {name: verifier.findings(name, one, left) for name, one in switches.good.items()}
    picked = [name for name in session.servers if name in session.picked]
    servers = session.pool.run(picked, verifier.observe_server, Phase.VERIFY, advance, keep=False)
    found |= {name: one.findings for name, one in servers.good.items()}
    findings = tuple(finding for _, row in sorted(found.items()) for finding in row)
    odd, figures = of_fleet(servers.good)
    state = Result(STATE, findings + odd, len(found), figures)
    return [unreached({**switches.bad, **servers.bad}, len(session.roles)), state]


def unreached(errors: Mapping[str, DeviceError], count: int) -> Result:
    """Report the unreachable devices; `count` is how many there are."""
    findings = [
        _finding(REACHED, name, str(error).removeprefix(f"{name}: "), f"{error.phase}: {error.shared or error.reason}")
        for name, error in sorted(errors.items())
    ]
    return Result(REACHED, tuple(findings), count)


def drift(session: DeploySession, advance: Callable[[int], None] = lambda number: None) -> list[Result]:
    """Compare all switches and the picked servers with their files; of every device only its findings are kept.

    Of servers also what is there beside the files: addresses, NICs, NCCL's plug-in, variables of other files.
    """

    def observe_server(name: str, server: ServerConnection) -> ServerState:
        expected = expected_of(session.inputs.trees[name], session.inputs.hosts[name].profile)
        return read_state(server, expected, beyond_push)

    def observe_switch(name: str, switch: SwitchDriver) -> tuple[Finding, ...]:
        return drift_of(session, name, switch.running())[1]

    def observe_files(name: str, server: ServerConnection) -> ServerDiff:
        return server_diff(session.inputs.trees[name], server)

    reading = partial(session.pool.run, phase=Phase.READ, advance=advance, keep=False, at_once=True)
    switches = reading(session.switches, observe_switch)
    hosts = reading([name for name in session.servers if name in session.picked], observe_files)
    found = [finding for _, findings in sorted(switches.good.items()) for finding in findings]
    results = [
        Result(check, tuple(finding for finding in found if finding.check == check.id), len(switches.good))
        for check in (DRIFT, BESIDES, NEXT_PUSH)
    ]
    servers = session.pool.run(list(hosts.good), observe_server, Phase.VERIFY, keep=False, at_once=True)
    if servers:
        odd, figures = of_fleet(servers.good)
        beside = tuple(finding for _, one in sorted(servers.good.items()) for finding in one.findings)
        results.append(Result(STATE, beside + odd, len(servers.good), figures))
    bad = {**switches.bad, **hosts.bad, **servers.bad}
    return [unreached(bad, len(session.roles)), *results, edited(hosts.good)]


def drift_of(session: DeploySession, name: str, running: str) -> tuple[SwitchLoadBalancing, tuple[Finding, ...]]:
    """Compare a running configuration with its file; return its load balancing, and all findings. Raises DeviceError.

    Both follow from this text, the files and the inventory alone.
    """
    with ONE_AT_A_TIME:
        look = compare_texts(name, running, same, session.file_source(name))
        look = replace(look, warnings=warnings(look.before, look.after, session.switches[name]))
        return look.before.balancing, tuple(of_switch(look, session.inputs.files[name]))


def of_switch(look: SwitchDiff, file: str) -> Iterator[Finding]:
    """Yield the unmanaged statements of a switch, and every change that would make it match its file.

    A value that differs is one finding. Those above MOST are counted: a device may have any number.
    """
    lines = dict(zip(look.commands, look.lines, strict=False))
    for edit in map(edit_of, look.compact_edits[:MOST]):
        command, *rest = _drift(edit)
        message, expected, found = map(cut, rest)
        place = Place(file, lines.get(command) or 1)
        yield Finding(DRIFT.id, look.name, message, place, expected, found, statement=cut(edit.statement))
    left = len(look.compact_edits) - MOST
    if left > 0:
        yield Finding(DRIFT.id, look.name, f"and {counted(left, 'more difference')}; `plan` shows all", Place(file))
    for text, statement in look.unmanaged.items():
        yield Finding(BESIDES.id, look.name, cut(text), Place(file), statement=cut(statement), instead=bool(statement))
    yield from (_finding(NEXT_PUSH, look.name, text, text, Place(file)) for text in map(cut, look.warnings))


def _finding(check: Check, device: str, message: str, aspect: str, place: Place | None = None) -> Finding:
    subjects = (about.device(device), about.setting(device, aspect))
    return Finding(check.id, device, message, place, subjects=subjects)


def _drift(edit: Edit) -> tuple[str, str, str, str]:
    """Return an edit as text: a command of it, the message, the expected and the observed value."""
    text = edit.statement
    if edit.kind == REPLACE:
        return f"set {text} {edit.new}", f"{text} {edit.old}: expected {edit.new}", edit.new, edit.old
    if edit.kind == ADD:
        return f"set {text}", f"{text}: is missing", text, ""
    if edit.kind == REMOVE:
        return f"delete {text}", f"{text}: is not in the file", "", text
    verb, _, rest = text.partition(" ")
    return text, f"{rest}: is in another order" if verb == "insert" else f"{rest}: needs {verb}", text, ""


def edited(hosts: Mapping[str, ServerDiff]) -> Result:
    """Report every file of a server that was edited after it was generated."""
    findings = [
        Finding(FILES.id, name, f"{path} would be {change}", subjects=(about.device(name), about.file(path)))
        for name, look in sorted(hosts.items())
        for change, _, path in (command.partition(" ") for command in look.commands)
    ]
    return Result(FILES, tuple(findings), len(hosts))
