"""Check Batfish's answers about the shadow: sessions, addresses, next hops, routes that spines receive, loops."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from ipaddress import IPv4Network

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.answers import Batfish, Row, listed, parse_ipv4, parse_network, shadow_nodes
from ailb_gen.batfish.hops import Hops, batfish_hops, own_hops
from ailb_gen.batfish.shadow import Shadow
from ailb_gen.batfish.unsupported import NOT_MODELED
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.families.batfish import AGREE, LOOPS, OWNERS, PINNED, SESSIONS, SHOWN, TRANSIT, UNDERSTOOD
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.network.fabric import End, Network
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import some

SNAPSHOT = "shadow"
ESTABLISHED, MATCHED = "ESTABLISHED", "UNIQUE_MATCH"
# BACKUP shows the routes that a switch holds and does not use: among them is a leaf's transit.
STATUSES = "BEST,BACKUP"


def check_shadow(
    batfish: Batfish,
    shadow: Shadow,
    intent: ExpectedRoutes,
    routing: Routing,
    findings: Findings,
    advance: Callable[[], None],
) -> None:
    """Ask about the shadow without failures, and add findings. Raises BatfishError."""
    network = routing.graph.network

    # In the order in which they are checked.
    questions: dict[str, dict[str, object]] = {
        "fileParseStatus": {},
        "initIssues": {},
        "bgpSessionStatus": {},
        "bgpSessionCompatibility": {},
        "ipOwners": {"duplicatesOnly": True},
        "routes": {"protocols": "bgp"},
        "bgpRib": {"nodes": _nodes(network, intent), "status": STATUSES},
        "detectLoops": {},
        "multipathConsistency": {},
    }
    answers = {name: batfish.ask(name, SNAPSHOT, None, **parameters) for name, parameters in questions.items()}

    def rows(question: str) -> list[Row]:
        answer = answers[question]()
        advance()
        return answer

    check_gaps(network, shadow, findings)
    check_understood(shadow, rows("fileParseStatus"), rows("initIssues"), findings)
    check_sessions(network, shadow, intent, rows("bgpSessionStatus"), findings)
    check_compatible(network, shadow, intent, rows("bgpSessionCompatibility"), findings)
    check_owners(network, shadow, rows("ipOwners"), findings)
    hops = batfish_hops(network, shadow.numbering, rows("routes"))
    check_pinned(network, intent, hops, findings, shadow.narrowed)
    add_disagreements(network, hops, own_hops(routing.graph, routing.states), AGREE, "", findings, shadow.narrowed)
    check_transit(network, shadow, intent, rows("bgpRib"), findings)
    check_loops(shadow, rows("detectLoops"), "loops", findings)
    check_loops(shadow, rows("multipathConsistency"), "arrives on only some of its paths", findings)


def _nodes(network: Network, intent: ExpectedRoutes) -> str:
    """Name the spines that are there, as Batfish's node specifiers do: a name that begins with a digit in quotes."""
    names = [name.lower() for name in intent.connected_spines if name in network.switches]
    return ",".join(f'"{name}"' if name[0].isdigit() else name for name in names)


def check_gaps(network: Network, shadow: Shadow, findings: Findings) -> None:
    """Add the statements of the files that the shadow cannot express."""
    for switch in shadow.switches:
        findings.look(SHOWN)
        for gap in switch.gaps:
            where = network.switches[switch.name]
            subjects = [about.policy(where.named, gap.policy)] if gap.policy else []
            findings.at(SHOWN, where, f"not in the shadow: {gap.message}", gap.line, part=gap.policy, subjects=subjects)


def check_understood(shadow: Shadow, status: Sequence[Row], issues: Sequence[Row], findings: Findings) -> None:
    """Check fileParseStatus and initIssues of the shadow: every file is read wholly."""
    rows = {str(row["File_Name"]): row for row in status}
    for switch in shadow.switches:
        findings.look(UNDERSTOOD)
        row = rows.get(f"configs/{switch.name}.cfg")
        state = ""
        if row is None:
            state = "does not mention its shadow"
        elif row["Status"] != "PASSED":
            state = f"reads its shadow as {row['Status']}"
        elif listed(row["Nodes"]) != [switch.name.lower()]:
            state = f"reads its shadow as {', '.join(listed(row['Nodes'])) or 'no device'}"
        if state:
            findings.add(UNDERSTOOD, switch.name, f"Batfish {state}")
    names = shadow_nodes(switch.name for switch in shadow.switches)
    for row in issues:
        nodes = [names.get(node, node) for node in listed(row["Nodes"])]
        text = f": '{row['Line_Text']}'" if row["Line_Text"] else ""
        scope = ", ".join(listed(row["Source_Lines"]) or nodes) or "shadow"
        check = SHOWN if NOT_MODELED.match(str(row["Details"])) else UNDERSTOOD
        findings.add(check, scope, f"Batfish: {row['Details']}{text}")


def check_sessions(
    network: Network, shadow: Shadow, intent: ExpectedRoutes, rows: Sequence[Row], findings: Findings
) -> None:
    """Check bgpSessionStatus: two established rows for every cable of the intent, and no others."""
    states = {_session(shadow, row): str(row["Established_Status"]) for row in rows}
    observed = {ends: state for ends, state in states.items() if ends is not None}
    if None in states:
        findings.add(SESSIONS, "shadow", "Batfish reports a session between addresses that the shadow does not have")
    expected = {ends: ESTABLISHED for ends in intent.ends() if ends[0].device in network.switches}
    findings.look(SESSIONS, len(expected))
    for deviation in deviations(expected, observed):
        (own, peer), state = deviation.subject, deviation.observed
        if deviation.expected:
            message = f"in Batfish the session to {peer} is not established: {state or 'no such session'}"
        elif state == ESTABLISHED:
            message = f"in Batfish there is a session to {peer}, which the intent does not have"
        else:
            continue
        findings.add(SESSIONS, own.device, message, _port_place(network, own), part=own.port)


def check_compatible(
    network: Network, shadow: Shadow, intent: ExpectedRoutes, rows: Sequence[Row], findings: Findings
) -> None:
    """Check bgpSessionCompatibility: both ends of the cables of the intent are configured for each other."""
    expected = frozenset(intent.ends())
    for row in rows:
        pair = _session(shadow, row)
        if pair in expected and row["Configured_Status"] != MATCHED:
            own, peer = pair
            message = f"in Batfish the ends of the session to {peer} do not match: {row['Configured_Status']}"
            findings.add(SESSIONS, own.device, message, _port_place(network, own), part=own.port)


def _session(shadow: Shadow, row: Row) -> tuple[End, End] | None:
    """Return both ends of the cable of a session, its own first; None for no cable of the switch that has it."""
    ends = shadow.numbering.ends_at(row["Remote_IP"])
    return (ends[1], ends[0]) if ends is not None and ends[1].device.lower() == row["Node"] else None


def _port_place(network: Network, end: End) -> Place | None:
    switch = network.switches.get(end.device)
    if switch is None:
        return None
    port = switch.ports.get(end.port)
    return Place(switch.file, (port.line or 1) if port is not None else 1)


def check_owners(network: Network, shadow: Shadow, rows: Sequence[Row], findings: Findings) -> None:
    """Check ipOwners of duplicates: there are none."""
    names = shadow_nodes(network.switches)
    findings.look(OWNERS, len(shadow.numbering.places))
    owners: dict[str, list[str]] = {}
    for row in rows:
        owners.setdefault(str(row["IP"]), []).append(f"{names.get(str(row['Node']), row['Node'])} {row['Interface']}")
    for text, found in owners.items():
        meaning = _meaning(shadow, text)
        for scope in sorted(found):
            others = ", ".join(sorted(other for other in found if other != scope))
            name, _, port = scope.partition(" ")
            switch = network.switches.get(name)
            unit = switch.unit(port) if switch is not None else None
            place = Place(switch.file, (unit.line or 1) if unit is not None else 1) if switch is not None else None
            message = f"in Batfish an address of {meaning} belongs to {others} as well"
            findings.add(OWNERS, name, message, place, part=port)


def _meaning(shadow: Shadow, address: str) -> str:
    """Return the IPv6 prefix that the prefix of an address stands for."""
    value = parse_ipv4(address)
    found = (
        prefix for length in (24, 32) if (prefix := shadow.numbering.meanings.get(IPv4Network((value, length), False)))
    )
    return str(next(found, address))


def check_pinned(
    network: Network,
    intent: ExpectedRoutes,
    hops: Hops,
    findings: Findings,
    narrowed: Collection[str] = frozenset(),
) -> None:
    """Compare Batfish's next hops with the expected ones: the uplinks of the prefix's color.

    On the switches `narrowed`, where Batfish has fewer than the files ask for, some of them are enough.
    """
    wrong: dict[str, list[str]] = {}
    for leaf, prefix in intent.remote_prefixes():
        if leaf not in network.switches:
            continue
        findings.look(PINNED)
        expected, observed = intent.next_hops(leaf, prefix), hops.get((leaf, prefix), frozenset())
        enough = leaf in narrowed and bool(observed) and observed <= expected.allowed
        if not (expected.hold(observed) or enough):
            right = f"not {some(sorted(expected.allowed))}"
            wrong.setdefault(leaf, []).append(f"{prefix} over {some(sorted(observed))}, {right}")
    for leaf, messages in wrong.items():
        place = _bgp_place(network, leaf)
        findings.add(PINNED, leaf, f"in Batfish packets go to {first_of(messages)}", place)


def add_disagreements(
    network: Network,
    batfish: Hops,
    own: Hops,
    check: Check,
    failure: str,
    findings: Findings,
    narrowed: Collection[str] = frozenset(),
) -> None:
    """Add, by switch, where the two engines differ; `failure` begins the message, empty in the steady state.

    On the switches `narrowed`, where Batfish has fewer next hops than the files ask for, some of them are enough.
    """
    findings.look(check, len(batfish.keys() | own.keys()))
    wrong: dict[str, list[str]] = {}
    for deviation in deviations(own, batfish):
        (name, prefix), ours, theirs = deviation.subject, deviation.expected, deviation.observed
        if not (name in narrowed and ours and theirs and theirs < ours):
            there, here = some(sorted(theirs or ())), some(sorted(ours or ()))
            message = f"{prefix} uses {there} in Batfish, {here} in this program"
            wrong.setdefault(name, []).append(message)
    for name, messages in wrong.items():
        findings.add(check, name, f"{failure}the engines disagree: {first_of(messages)}", _bgp_place(network, name))


def check_transit(
    network: Network, shadow: Shadow, intent: ExpectedRoutes, rows: Sequence[Row], findings: Findings
) -> None:
    """Check bgpRib of the spines: every prefix is received from its own leaf, and from no other."""
    names = shadow_nodes(network.switches)
    received: dict[tuple[str, Prefix], set[str]] = {}
    for row in rows:
        name = names.get(str(row["Node"]))
        prefix = shadow.numbering.meanings.get(parse_network(row["Network"]))
        ends = shadow.numbering.ends_at(row["Received_From_IP"])
        if name is not None and prefix is not None and ends is not None:
            received.setdefault((name, prefix), set()).add(ends[0].device)
    for spine in intent.connected_spines:
        if spine not in network.switches:
            continue
        for prefix, owner in intent.advertised(spine):
            findings.look(TRANSIT)
            if owner in network.switches and owner not in received.get((spine, prefix), ()):
                message = f"in Batfish it receives no route to {prefix} from {owner}"
                findings.add(TRANSIT, spine, message, _bgp_place(network, spine))
    for (spine, prefix), senders in sorted(received.items()):
        owner = intent.owners.get(prefix, ("", ""))[0]
        for sender in sorted(senders - {owner}) if owner else ():
            message = f"in Batfish it readvertises {prefix} of {owner} to {spine}"
            findings.add(TRANSIT, sender, message, _bgp_place(network, sender))


def check_loops(shadow: Shadow, rows: Sequence[Row], fate: str, findings: Findings) -> None:
    """Check detectLoops or multipathConsistency: no rows."""
    findings.look(LOOPS, len(shadow.numbering.prefixes))
    names = shadow_nodes(switch.name for switch in shadow.switches)
    for row in rows:
        node = str(row.get("Flow.ingressNode") or "shadow")
        scope = names.get(node, node)
        meaning = _meaning(shadow, str(row["Flow.dstIp"])) if row.get("Flow.dstIp") else str(row["Flow"])
        findings.add(LOOPS, scope, f"in Batfish a packet to {meaning} {fate}")


def _bgp_place(network: Network, name: str) -> Place | None:
    switch = network.switches.get(name)
    return Place(switch.file, switch.bgp_line or 1) if switch is not None else None


def first_of(messages: Sequence[str]) -> str:
    """Write the first of some messages, each about one prefix, and about how many more there are such."""
    more = len(messages) - 1
    return f"{messages[0]} (and {more} more prefix{'es' if more > 1 else ''})" if more else messages[0]
