"""Check routing policies: what every chain does with all kinds of routes (AILB306 to AILB308, AILB311)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.expected_switches import LEAF, SPINE
from ailb_gen.checks.families.policy_blame import blamed, mistaken_mark
from ailb_gen.checks.families.received_routes import devices_of_leaves
from ailb_gen.checks.families.route_probes import heard, local, prefixes
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import OR, used_policies
from ailb_gen.checks.model import Check, Findings, Severity
from ailb_gen.network.model import Switch
from ailb_gen.network.policy import Policy, Term
from ailb_gen.routing.fib import members_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.policy import Lists, evaluate, referred
from ailb_gen.routing.route import BGP, DIRECT, Route
from ailb_gen.routing.solve import State
from ailb_gen.wording import some

ENDS = ("accept", "reject", "next-policy")
Chain = tuple["Policy", ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The data that decides which routes a switch may pass.

    `pools` are the fabric's pool and those of loopbacks, `own` the switch's loopbacks, `colors` values of color
    communities, `mark` what spines add.
    """

    role: str
    pools: tuple[Prefix, ...]
    own: frozenset[Prefix]
    colors: tuple[str, ...]
    mark: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PolicyDeviation:
    """A route that a chain treats otherwise than it must: `by`, the term that decides, empty for the default."""

    check: Check
    found: str
    expected: str
    by: str
    route: str


def check_policies(context: Context, findings: Findings) -> None:
    """Send routes through the policies of every fabric group of every switch."""
    graph, expected = context.routing.graph, context.expected
    spines = [name for name in graph.index if name in expected.switches and expected.switches[name].role == SPINE]
    mark = _mark(expected, graph, spines, findings)
    known: dict[object, list[PolicyDeviation]] = {}
    for switch, own in context.switches:
        device = graph.index[switch.named]
        facts = replace(_facts(expected, switch, own.role), mark=mark)
        for (imports, exports), groups in _chains(graph, device).items():
            for direction, chain in (("import", imports), ("export", exports)):
                _check_chain(facts, switch, (direction, chain, groups), graph.lists[device], known, findings)


def _check_leaks(context: Context, findings: Findings) -> None:
    """Find leaves that send on what they learned from spines."""
    routing, leaves = context.routing, devices_of_leaves(context)
    findings.look(NO_TRANSIT, len(leaves))
    leaking: dict[int, list[Prefix]] = defaultdict(list)
    for state in routing.states.where(partial(_leaks, routing.graph, leaves)):
        for node, rib in state.nodes.items():
            if not rib.local and any(rib.sent):
                for device in leaves.intersection(members_of(routing.graph, state, node)):
                    leaking[device].append(state.prefix)
    for device, leaked in leaking.items():
        switch = routing.graph.switches[device]
        message = f"readvertises routes learned from spines: {some(leaked)}"
        findings.at(NO_TRANSIT, switch, message, switch.bgp_line, involves=(about.device(switch.named),))


def _leaks(graph: Graph, leaves: set[int], state: State) -> bool:
    """Return whether a class with leaves sends on what it learned."""
    sending = (graph.device(node) for node, rib in state.nodes.items() if not rib.local and any(rib.sent))
    return any(graph.class_at(device).members & leaves for device in sending)


def _check_all(context: Context, findings: Findings) -> None:
    check_policies(context, findings)
    _check_leaks(context, findings)


def _facts(expected: ExpectedFabric, switch: Switch, role: str) -> Facts:
    asked = expected.fabric.loopbacks
    pools = [Prefix(pool.network, pool.length) for pool in (asked.leaves, asked.spines)] if asked else []
    unit = switch.unit("lo0.0")
    loopbacks = [Prefix(address.value, 128) for address in unit.addresses] if unit is not None else []
    own = frozenset(prefix for prefix in loopbacks if any(pool.contains(prefix) for pool in pools))
    return Facts(role, (expected.pool, *pools), own, tuple(color.value for color in expected.colors))


def _chains(graph: Graph, device: int) -> dict[tuple[Chain, Chain], list[str]]:
    """Return the chains of a switch's groups that have neighbors, with the names of the groups; each once."""
    found: dict[tuple[Chain, Chain], list[str]] = defaultdict(list)
    known: dict[tuple[object, ...], tuple[Chain, Chain]] = {}
    for group, rule in zip(graph.switches[device].groups, graph.rules[device], strict=True):
        if group.has_sessions:
            # Groups name the same policies, and comparing those by content would take longer than all the rest.
            chains = known.setdefault((group.imports, group.exports), (rule.imports, rule.exports))
            # A group whose neighbors differ is several of one name.
            if group.name not in found[chains]:
                found[chains].append(group.name)
    return found


def _mark(expected: ExpectedFabric, graph: Graph, spines: Sequence[str], findings: Findings) -> frozenset[str]:
    """Return the communities that most groups of spines add to the pool's routes."""
    first, bare = Prefix(expected.pool.value, 64), frozenset({expected.colors[0].value})
    counts: Counter[frozenset[str]] = Counter()
    for name in spines:
        device = graph.index[name]
        findings.look(NOT_BACK)
        for (_, exports), groups in _chains(graph, device).items():
            verdict = evaluate(exports, graph.lists[device], first, Route(communities=bare), default=True)
            if verdict.accepted:
                counts[verdict.route.communities - bare] += len(groups)
    if counts.keys() == {frozenset()}:
        for name in spines:
            switch = graph.switches[graph.index[name]]
            message = "no spine marks its advertisements: routes that a leaf leaks would be accepted"
            findings.at(NOT_BACK, switch, message, switch.bgp_line)
    del counts[frozenset()]
    return counts.most_common(1)[0][0] if counts else frozenset()


def _text(communities: Iterable[str]) -> str:
    return " ".join(sorted(communities))


def _check_chain(
    facts: Facts,
    switch: Switch,
    where: tuple[str, Chain, list[str]],
    lists: Lists,
    known: dict[object, list[PolicyDeviation]],
    findings: Findings,
) -> None:
    direction, chain, groups = where
    check = NO_TRANSIT if (facts.role, direction) == (LEAF, "export") else KEPT
    findings.look(check)
    if direction == "import" and facts.role == SPINE:
        findings.look(NOT_BACK)
    other = "exports" if direction == "import" else "imports"
    key = (facts, direction, chain, referred(chain, lists))
    if key not in known:
        known[key] = list(_deviations(facts, direction, chain, lists))
    lines = {f"{policy.name} term {term.name}": term.line for policy in chain for term in policy.terms if term.name}
    lines |= {policy.name: policy.line for policy in chain}
    rows: dict[tuple[Check, str, str, str], list[str]] = defaultdict(list)
    for row in known[key]:
        rows[row.check, row.by, row.found, row.expected].append(row.route)
    default = f"the default behind {', '.join(policy.name for policy in chain)}" if chain else "the default"
    for (found, by, verb, expected), routes in rows.items():
        line = lines.get(by) or next((group.line for group in switch.groups if group.name == groups[0]), 0)
        message = f"{direction} of {some(groups)}: {by or default} {verb} {routes[0]}"
        if len(routes) > 1:
            message += f"; {len(routes) - 1} other kinds of routes, too"
        part = chain[0].name if chain else groups[0]
        statement = OR.join(f"protocols bgp group {group} {direction}" for group in groups)
        # A policy that is used in both directions is the wrong one in one of them.
        others = {name for group in switch.groups if group.name in groups for name in getattr(group, other)}
        # One that only balances is that of the forwarding table.
        balances = chain and all(policy.terms and all(map(_balances, policy.terms)) for policy in chain)
        if chain and not balances and not {policy.name for policy in chain} & others:
            statement = mistaken_mark(chain, switch.communities, facts.mark, facts.colors) or blamed(
                chain, switch.prefix_lists, (*facts.pools, *facts.own), by, verb, expected
            )
        findings.at(found, switch, message, line, expected, verb, part=part, statement=statement)


def _balances(term: Term) -> bool:
    return bool(term.load_balance) and not term.verdict


def _deviations(facts: Facts, direction: str, chain: Chain, lists: Lists) -> Iterator[PolicyDeviation]:
    """Compare the verdicts of a chain on all kinds of routes with the expected ones."""
    marks = [facts.mark] if facts.mark and (facts.role, direction) == (SPINE, "import") else []
    routes = heard(chain, facts.colors, marks) + (local(chain) if direction == "export" else ())
    rejecting: dict[bool, set[str]] = {True: set(), False: set()}
    for prefix in prefixes(chain, lists, (*facts.pools, *facts.own)):
        for route in routes:
            check, expected = EXPECTED[facts.role, direction](facts, prefix, route)
            if check is None:
                continue
            verdict = evaluate(chain, lists, prefix, route, default=route.protocol == BGP)
            got = verdict.route if verdict.accepted else None
            if got is None:
                rejecting[facts.pools[0].contains(prefix)].add(verdict.by)
            if got != expected:
                yield _deviation(check, verdict.by, prefix, (route, got, expected))
    if (facts.role, direction) == (LEAF, "export"):
        for by in sorted(rejecting[True] & rejecting[False] - {""}):
            pool = f"{facts.pools[0]} only together with everything else"
            yield PolicyDeviation(NO_TRANSIT, "rejects", "a term of its own", by, pool)


def _deviation(
    check: Check, by: str, prefix: Prefix, routes: tuple[Route, Route | None, Route | None]
) -> PolicyDeviation:
    route, got, expected = routes
    shown = f"{prefix} ({' '.join((route.protocol, *sorted(route.communities)))})"
    if got is None:
        return PolicyDeviation(check, "rejects", "accepts", by, shown)
    if expected is None:
        return PolicyDeviation(check, "accepts", "rejects", by, shown)
    gone, more = expected.communities - got.communities, got.communities - expected.communities
    changes = [f"{verb} {_text(values)}" for verb, values in (("without", gone), ("with", more)) if values]
    if got.local_preference != expected.local_preference:
        changes.append(f"with local-preference {got.local_preference}")
    if got.med != expected.med:
        changes.append(f"with metric {got.med}")
    only_mark = replace(got, communities=expected.communities) == expected and not Route(communities=gone | more).colors
    return PolicyDeviation(
        NOT_BACK if only_mark else check, "changes", "keeps", by, f"{shown}: it is readvertised {' and '.join(changes)}"
    )


Expectation = tuple["Check | None", "Route | None"]


def _of_leaf_export(facts: Facts, prefix: Prefix, route: Route) -> Expectation:
    """`fabric-advertise` asks no policy: all that one has to accept is the leaf's own loopback."""
    return NO_TRANSIT, route if route.protocol == DIRECT and prefix in facts.own else None


def _of_leaf_import(facts: Facts, prefix: Prefix, route: Route) -> Expectation:
    """Spines send nothing from outside the pools, so only the pool matters."""
    return (KEPT if facts.pools[0].contains(prefix) and route.communities else None), route


def _of_spine_import(facts: Facts, prefix: Prefix, route: Route) -> Expectation:
    if facts.mark and facts.mark <= route.communities:
        return NOT_BACK, None
    inside = any(pool.contains(prefix) for pool in facts.pools)
    return KEPT, route if inside else None


def _of_spine_export(facts: Facts, prefix: Prefix, route: Route) -> Expectation:
    mine = route.protocol == DIRECT and prefix in facts.own
    if mine or (route.protocol == BGP and any(pool.contains(prefix) for pool in facts.pools)):
        return KEPT, replace(route, communities=route.communities | facts.mark)
    return KEPT, None


EXPECTED = {
    (LEAF, "export"): _of_leaf_export,
    (LEAF, "import"): _of_leaf_import,
    (SPINE, "export"): _of_spine_export,
    (SPINE, "import"): _of_spine_import,
}


def check_terms(context: Context, findings: Findings) -> None:
    """Find terms that do nothing, and terms behind others that decide everything before them, in what is in use."""
    for switch in context.network.switches.values():
        for policy in used_policies(switch):
            for at, term in enumerate(policy.terms):
                findings.look(EFFECTIVE)
                by = f"{policy.name} term {term.name}" if term.name else policy.name
                messages = []
                if _is_idle(term):
                    messages.append(f"{by} does nothing")
                first = next((other for other in policy.terms[:at] if _hides(other, term)), None)
                if first is not None:
                    messages.append(f"{by} is never evaluated: {first.name or policy.name} decides before it")
                for message in messages:
                    subjects = (about.policy(switch.named, policy.name),)
                    findings.at(EFFECTIVE, switch, message, term.line, part=policy.name, subjects=subjects)


def _is_idle(term: Term) -> bool:
    """Return whether a term has no action; what is not evaluated counts as one."""
    actions = (term.changes, term.load_balance, term.local_preference is not None, term.metric is not None)
    unknown = any(text.startswith("then") for text, _ in term.unknown)
    return term.verdict not in ENDS and not any(actions) and not unknown


def _hides(earlier: Term, later: Term) -> bool:
    """Return whether a term decides about everything that a later one matches.

    Communities may change on the way, and longer filters take precedence over shorter ones: with those it holds only
    for terms whose conditions are the same.
    """
    if earlier.verdict not in ENDS or any(text.startswith(("from", "to")) for text, _ in earlier.unknown):
        return False
    sets = ((earlier.families, later.families), (earlier.protocols, later.protocols))
    if not all(not wide or (narrow and set(narrow) <= set(wide)) for wide, narrow in sets):
        return False
    if earlier.communities:
        return False
    return not _filters(earlier) or _filters(earlier) == _filters(later) or _one_holds_all(earlier, later)


def _filters(term: Term) -> tuple[object, ...]:
    rows = (term.prefix_lists, term.prefix_list_filters, term.route_filters)
    return rows if any(rows) else ()


def _one_holds_all(earlier: Term, later: Term) -> bool:
    if earlier.prefix_lists or earlier.prefix_list_filters or later.prefix_lists or later.prefix_list_filters:
        return False
    only = earlier.route_filters[0]
    fits = len(earlier.route_filters) == 1 and only.match == "orlonger" and bool(later.route_filters)
    return fits and all(only.prefix.contains(entry.prefix) for entry in later.route_filters)


_of_policies = partial(Check, run=_check_all, layer=Layer.POLICIES)
KEPT = _of_policies(
    "AILB306",
    "export policies of spines and import policies of leaves pass every prefix of the pool unchanged, and no others",
    "a policy rejects, changes or accepts routes that it must not",
    "A prefix that a policy rejects, or whose color it removes, is no longer pinned to that spine.",
    "The message names the deciding term: correct it, or the term before it that should have decided.",
)
NOT_BACK = _of_policies(
    "AILB307",
    "all spines mark the routes that they advertise, and reject marked routes on import: no route passes two spines",
    "routes can pass two spines: one does not mark its advertisements, or accepts marked routes",
    "A leaf that leaks routes would win: its longer path with AIGP beats the direct path of a backup color.",
    "Restore the term that adds the community on export and the one that rejects it on import.",
)
NO_TRANSIT = _of_policies(
    "AILB308",
    "leaves readvertise nothing: a separate term rejects the pool, and all else but the loopback is rejected",
    "a leaf readvertises routes that it must not",
    "A leaf that readvertises routes carries traffic of other leaves over its uplinks (a valley).",
    "Restore the export policy that rejects the pool before anything else decides.",
)
EFFECTIVE = Check(
    "AILB311",
    "every term of a policy has an effect, and none is shadowed by an earlier one",
    "a term of a policy has no effect, or is never evaluated",
    "A term that is never evaluated looks like protection but is not.",
    "Remove the term, or move it before the one that decides.",
    check_terms,
    Severity.WARNING,
    layer=Layer.TERMS,
)
