"""What a switch forwards with, against what its file says: MTUs of ports, next hops of routes, load balancing.

Every question but the last is one RPC; names of replies and elements are those of Junos's XML output. No RPC says what
the forwarding plane makes of DLB: the statements that are active are read, groups inherited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from lxml.etree import _Element

from ailb_gen.addresses import Prefix
from ailb_gen.checks.families.devices import BESIDES, DRIFT, FILES, NEXT_PUSH, REACHED, STATE
from ailb_gen.checks.model import Finding, Result, Run
from ailb_gen.deploy.device_diff import ADD, REMOVE, REPLACE, Edit, ServerDiff, SwitchDiff, edit_of
from ailb_gen.deploy.device_pool import ByDevice
from ailb_gen.deploy.planning import device_diffs
from ailb_gen.deploy.resource_limits import ONE_AT_A_TIME
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import expected_of
from ailb_gen.deploy.servers.verify import verify as verify_host
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import DeviceError, Phase, SwitchDriver, cut
from ailb_gen.deploy.switch_state import FabricModel, read_fabric_model, switch_of
from ailb_gen.deploy.transaction import tree_of
from ailb_gen.errors import Place
from ailb_gen.network.model import Port, SwitchLoadBalancing
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import plural, some

# The Ethernet header, which counts in the MTU of a port and not in that of IPv6.
HEADER = 14
# Of routes that have the same next hops one is read, of at most ROUTES kinds: on a spine every leaf is one.
ROUTES = 16
# What is said in every report of `verify`.
NOT_READ = (
    "verify does not read class of service, firewall filters, optics and error counters, nor what the forwarding plane "
    f"makes of DLB (only its statements); of routes with the same next hops it reads one, of up to {ROUTES} kinds on a "
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

    def deviations(self, seen: ForwardingState) -> Iterator[str]:
        """Yield the deviations of the observed state, in words."""
        pairs = (("MTU", self.mtus, seen.mtus), ("IPv6 MTU", self.inet6_mtus, seen.inet6_mtus))
        for what, expected, found in pairs:
            for interface, mtu in expected.items():
                if interface not in found:
                    yield f"there is no interface {interface}"
                elif found[interface] != mtu:
                    yield f"the {what} of {interface} is {found[interface] or 'not shown'}, expected {mtu}"
        for prefix, hops in self.routes.items():
            if seen.routes[prefix] != hops:
                many = f"{_counted(seen.routes[prefix])}, expected {_counted(hops)}"
                yield f"{prefix} is forwarded to {many}"
        for statement, show in BALANCING:
            now, then = show(seen.balancing), show(self.balancing)
            if now != then:
                yield f"{statement}: {some(sorted(now - then))}, expected {some(sorted(then - now))}"


def read_forwarding(name: str, switch: SwitchDriver, prefixes: Iterable[Prefix]) -> ForwardingState:
    """Read the forwarding of a switch, with the next hops of some prefixes. Raises DeviceError."""
    reply = switch.ask("get-interface-information")
    physical = {_text(entry, "name"): _text(entry, "mtu") for entry in reply.iter("physical-interface")}
    logical = {_text(entry, "name"): _inet6_mtu(entry) for entry in reply.iter("logical-interface")}
    routes = {prefix: _next_hops(switch, str(prefix)) for prefix in prefixes}
    text = switch.running()
    with ONE_AT_A_TIME:
        balancing = switch_of(name, tree_of(name, text)).balancing
    return ForwardingState(physical, logical, routes, balancing)


def _next_hops(switch: SwitchDriver, prefix: str) -> frozenset[str]:
    """Read `show route forwarding-table destination PREFIX`: the outgoing interfaces."""
    reply = switch.ask("get-forwarding-table-information", family="inet6", destination=prefix)
    entries = [entry for entry in reply.iter("rt-entry") if _text(entry, "rt-destination") == prefix]
    return frozenset(_text(hop, "via") for entry in entries for hop in entry.iter("nh")) - {""}


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
    families = (one for one in entry.iter("address-family") if _text(one, "address-family-name") == "inet6")
    return next((_text(one, "mtu") for one in families), "")


def _text(entry: _Element, name: str) -> str:
    return (entry.findtext(name) or "").strip()


def _counted(interfaces: frozenset[str]) -> str:
    listed = f" ({some(sorted(interfaces))})" if interfaces else ""
    return f"{len(interfaces)} {plural('next hop', len(interfaces))}{listed}"


# The checks of switches.
OF_SWITCHES = (DRIFT, BESIDES, NEXT_PUSH)
# The most changes of a device that are reported.
MOST = 1_000


def deviations(
    session: DeploySession, advance: Callable[[int], None] = lambda number: None
) -> ByDevice[tuple[str, ...]]:
    """Compare the observed state of the picked switches and servers with what all files together must bring about."""
    models = {name: switch_of(name, tree_of(name, session.inputs.text(name))) for name in session.switches}
    fabric_model = read_fabric_model(session.inputs.artifacts, models)
    graph = Graph(fabric_model.network)
    routing = Routing(fabric_model.network, graph=graph)
    prefixes = {name: sampled(routing, name) for name in session.switches if name in session.picked}

    def observe(name: str, switch: SwitchDriver) -> tuple[frozenset[str], tuple[str, ...], ForwardingState]:
        # No alarm is part of the design: all are shown.
        return *fabric_model.expected(name).observe(switch), read_forwarding(name, switch, prefixes[name])

    def observe_server(name: str, server: ServerConnection) -> tuple[str, ...]:
        expected = expected_of(session.inputs.trees[name], session.inputs.hosts[name].profile)
        return tuple(map(str, verify_host(server, expected)))

    seen = session.pool.run(prefixes, observe, Phase.VERIFY, advance, keep=False)
    # A session that is down is one finding, not one for each route that goes another way for it.
    left = without(graph, ((name, one) for name, (down, _, _) in seen.good.items() for one in down))
    found: ByDevice[tuple[str, ...]] = ByDevice(seen.bad)
    for name, (_, wrong, forwarding) in seen.good.items():
        expected = expected_forwarding(fabric_model, left, name, prefixes[name])
        found[name] = (*wrong, *expected.deviations(forwarding))
    servers = [name for name in session.servers if name in session.picked]
    found.update(session.pool.run(servers, observe_server, Phase.VERIFY, advance, keep=False))
    return found


def verify(session: DeploySession, advance: Callable[[int], None] = lambda number: None) -> list[Result]:
    """Verify the picked devices against the files; deviations are findings."""
    outcomes = deviations(session, advance)
    return [unreached(outcomes.bad, len(session.roles)), state(outcomes.good)]


def unreached(errors: Mapping[str, DeviceError], count: int) -> Result:
    """Report the devices that could not be looked at; `count` is how many there are."""
    rows = [(name, str(error).removeprefix(f"{name}: ")) for name, error in sorted(errors.items())]
    return Result(REACHED, tuple(Finding(REACHED.id, *row) for row in rows), count)


def drift(session: DeploySession, advance: Callable[[int], None] = lambda number: None) -> list[Result]:
    """Compare all switches and the picked servers with their files; of every device only its findings are kept."""

    def keep(look: SwitchDiff) -> tuple[Finding, ...]:
        return tuple(of_switch(look, session.inputs.files[look.name]))

    switches, hosts = device_diffs(session, session.file_source, keep, advance)
    by_check: dict[str, list[Finding]] = {check.id: [] for check in OF_SWITCHES}
    for _, found in sorted(switches.good.items()):
        for finding in found:
            by_check[finding.check].append(finding)
    errors = unreached({**switches.bad, **hosts.bad}, len(session.roles))
    looked = [Result(check, tuple(by_check[check.id]), len(switches.good)) for check in OF_SWITCHES]
    return [errors, *looked, edited(hosts.good)]


def of_switch(look: SwitchDiff, file: str) -> Iterator[Finding]:
    """Yield the unmanaged statements of a switch, and every change that would make it match its file.

    A value that differs is one finding. Those above MOST are counted: a device may have any number.
    """
    lines = dict(zip(look.commands, look.lines, strict=False))
    for edit in map(edit_of, look.compact_edits[:MOST]):
        command, *texts = _drift(edit)
        message, expected, found = map(cut, texts)
        yield Finding(DRIFT.id, look.name, message, Place(file, lines.get(command) or 1), expected, found)
    left = len(look.compact_edits) - MOST
    if left > 0:
        yield Finding(DRIFT.id, look.name, f"{left:,} more statements differ; `plan` shows them", Place(file))
    for check, texts in ((BESIDES, [*look.unmanaged]), (NEXT_PUSH, [*look.warnings])):
        yield from (Finding(check.id, look.name, cut(text), Place(file)) for text in texts)


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
    """Report every file of a server that is not as it was generated."""
    findings = [
        Finding(FILES.id, name, f"{path} would be {change}")
        for name, look in sorted(hosts.items())
        for change, _, path in (command.partition(" ") for command in look.commands)
    ]
    return Result(FILES, tuple(findings), len(hosts))


def state(deviations: Mapping[str, tuple[str, ...]]) -> Result:
    """Report the deviations of devices that could be reached."""
    findings = [Finding(STATE.id, name, text) for name, found in sorted(deviations.items()) for text in found]
    return Result(STATE, tuple(findings), len(deviations))


def run_of(
    fabric: str,
    intent: str,
    artifacts: str,
    roles: Mapping[str, str],
    results: Iterable[Result],
    notes: tuple[str, ...] = (),
) -> Run:
    """Return the results as what the reports are made from; `notes` stand beside the verdict."""
    return Run(fabric, intent, artifacts, tuple(sorted(roles.items())), tuple(results), notes=notes)
