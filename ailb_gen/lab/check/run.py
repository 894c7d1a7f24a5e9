"""Judge a lab: one pass in the steady state, then rounds in which every leaf loses one uplink at once."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from ailb_gen.addresses import Prefix
from ailb_gen.checks.catalogue import OF_LAB, checks_of
from ailb_gen.checks.context import Context
from ailb_gen.checks.families import lab as checks
from ailb_gen.checks.model import Check, Findings, Result
from ailb_gen.lab.check.agree import computed_hops, disagreements, judge_agreement
from ailb_gen.lab.check.asked import AskedRoutes
from ailb_gen.lab.check.measured import Hops, Measured
from ailb_gen.lab.check.paths import Pair, judge_probes, judge_traces, pairs
from ailb_gen.lab.check.probe import probes
from ailb_gen.lab.check.routes import compare_next_hops, judge_copies, judge_next_hops, judge_sessions, told
from ailb_gen.lab.check.servers import judge_servers
from ailb_gen.network.fabric import End
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing

# So many paths are looked at attribute by attribute; of more, the prefixes are sampled.
MOST_PATHS = 20_000
# How long next hops must be unchanged to count as final, and how long that may take: a session that was refused is
# tried again within 5 s. Seconds.
QUIET_S, PATIENCE_S, PAUSE_S = 6.0, 45.0, 0.1
OF_FAILURES = (checks.FAILED, checks.AGREE_FAILED, checks.REPAIRED)


@dataclass(frozen=True, slots=True)
class Look:
    """Samples of what is too large to check completely.

    `prefixes` are those whose paths are read, `pairs` those that are traced, `probes` the prefixes that some leaves
    announce for a moment.
    """

    prefixes: tuple[Prefix, ...]
    pairs: tuple[Pair, ...]
    probes: Mapping[str, Prefix]


class Lab(Protocol):
    """A running lab, as far as it is looked at and broken here."""

    def measure(self, look: Look) -> Measured:
        """Look once at everything but next hops. Raises LabError."""

    def hops(self) -> Hops:
        """Return the next hops of every switch's kernel. Raises LabError."""

    def down(self) -> frozenset[End]:
        """Return both ends of the links that were made to fail. Raises LabError."""

    def fail(self, ends: Iterable[End]) -> None:
        """Take the links with some ends down. Raises LabError."""

    def repair(self) -> None:
        """Put up again what `fail` took down. Raises LabError."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a check of a lab: IDs of the checks, rounds of failures, most traces, the seed of samples."""

    chosen: frozenset[str]
    rounds: int = 1
    traces: int = 1000
    seed: int = 1

    def wants(self, entries: Iterable[Check]) -> bool:
        """Return whether any of some checks was asked for."""
        return any(entry.id in self.chosen for entry in entries)


def steps(options: Options) -> int:
    """Return how many pieces of work there are: what a progress bar counts."""
    return 3 + (2 * options.rounds if options.wants(OF_FAILURES) else 0)


def judge_lab(
    lab: Lab, context: Context, options: Options, step: Callable[[str], None] = lambda name: None
) -> Iterator[Result]:
    """Yield the results of the checks that were asked for; `step` is called with what begins.

    Raises LabError, when the lab ends or cannot be asked; it is repaired then as far as possible.
    """
    findings = Findings()
    step("computing")
    down = lab.down()
    routing = routing_without(context, down)
    ours = computed_hops(routing.graph, routing.states)
    chosen, total = pairs(context, options.traces, options.seed)
    look = Look(sampled(context, options.seed), tuple(chosen), probes(context))
    step("looking")
    hops = settle(lab.hops, ours)
    seen = replace(lab.measure(look), hops=hops)
    step("comparing")
    judge(context, seen, findings, down)
    all_prefixes = len(context.routing.prefixes)
    findings.figure(checks.AGREE_RIB, "prefixes compared path by path", f"{len(look.prefixes)} of {all_prefixes}")
    findings.figure(checks.TRACED, "queue pairs traced", f"{len(chosen)} of {total}")
    if options.wants(OF_FAILURES):
        for number in range(options.rounds):
            _round(lab, context, number, seen.hops, down, findings, step)
        findings.figure(checks.FAILED, "rounds in which every leaf lost one uplink", options.rounds)
    yield from findings.results(check for check in checks_of(OF_LAB) if check.id in options.chosen)


def unjudged(options: Options, reason: str) -> Iterator[Result]:
    """Yield a skipped result for every check that was asked for."""
    return (Result(check, skipped=reason) for check in checks_of(OF_LAB) if check.id in options.chosen)


def routing_without(context: Context, down: frozenset[End]) -> Routing:
    """Return what this program computes with the links of some ends down."""
    graph = context.routing.graph
    return Routing(context.network, sessions_at(graph, down), graph) if down else context.routing


def sessions_at(graph: Graph, down: frozenset[End]) -> frozenset[int]:
    """Return the sessions over links with some ends."""
    return frozenset(at for at, one in enumerate(graph.sessions.up) if not down.isdisjoint((one.cable.a, one.cable.b)))


def judge(context: Context, seen: Measured, findings: Findings, down: frozenset[End] = frozenset()) -> None:
    """Judge what one pass over a lab has shown; `down` are both ends of links that have failed on purpose."""
    asked = AskedRoutes(context, down)
    _judge_running(context, seen, findings)
    judge_servers(context, seen, down, findings)
    judge_sessions(context, asked, seen, findings)
    judge_copies(context, asked, seen, findings)
    judge_next_hops(context, asked, seen, findings)
    judge_traces(context, asked, seen, findings)
    judge_probes(context, asked, seen, findings)
    judge_agreement(routing_without(context, down), seen, down, findings)


def _judge_running(context: Context, seen: Measured, findings: Findings) -> None:
    """Every device of the intent is there; every statement that its file has is in the lab."""
    for name in (*context.expected.switches, *context.hosts):
        findings.look(checks.RUNNING)
        if name not in seen.devices:
            findings.add(checks.RUNNING, name, "does not run in the lab")
    for name, switch in context.network.switches.items():
        findings.look(checks.TRANSLATED)
        for text, line in seen.unmodelled.get(name, ()):
            findings.at(checks.TRANSLATED, switch, f"not in the lab: {text}", line)


def sampled(context: Context, seed: int) -> tuple[Prefix, ...]:
    """Return the prefixes whose paths are looked at: all, or a sample in a large fabric."""
    prefixes = context.routing.prefixes
    each = sum(map(len, context.routing.graph.adjacencies)) or 1
    most = max(4, MOST_PATHS // each)
    if len(prefixes) <= most:
        return prefixes
    return tuple(sorted(random.Random(seed).sample(prefixes, most)))  # noqa: S311 - a sample


def settle(read: Callable[[], Hops], want: Hops) -> Hops:
    """Return next hops when they are those that are computed, or when they have not changed for a while."""
    started = changed = time.monotonic()
    found = read()
    while not _same(found, want):
        now = time.monotonic()
        if now - changed > QUIET_S or now - started > PATIENCE_S:
            break
        time.sleep(PAUSE_S)
        again = read()
        if again != found:
            found, changed = again, time.monotonic()
    return found


def _same(found: Hops, want: Hops) -> bool:
    return all(found[name] == want.get(name, {}) for name in found)


def uplinks_of(context: Context, number: int) -> tuple[End, ...]:
    """Return one uplink of every leaf, as the leaf's end: that of a round, another one at the next leaf."""
    rows: dict[str, list[End]] = {}
    for cable in AskedRoutes(context).cables:
        rows.setdefault(cable.a_device, []).append(End(cable.a_device, cable.a_port))
    return tuple(ends[(index + number) % len(ends)] for index, ends in enumerate(rows.values()))


def _round(
    lab: Lab,
    context: Context,
    number: int,
    before: Hops,
    down: frozenset[End],
    findings: Findings,
    step: Callable[[str], None],
) -> None:
    """Take one uplink of every leaf down, compare, repair, compare; what is down already stays so."""
    ends = uplinks_of(context, number)
    step(f"round {number + 1}: down")
    failure = f"with {ends[0]} and {len(ends) - 1} more uplinks down: " if len(ends) > 1 else f"with {ends[0]} down: "
    try:
        lab.fail(ends)
        judge_failed(context, down.union(ends), lambda ours: settle(lab.hops, ours), failure, findings)
    finally:
        lab.repair()
    step(f"round {number + 1}: repaired")
    after = settle(lab.hops, before)
    findings.look(checks.REPAIRED, len(before))
    for name, rows in before.items():
        now = after.get(name, {})
        wrong = [str(prefix) for prefix in sorted(rows.keys() | now.keys()) if rows.get(prefix) != now.get(prefix)]
        if wrong:
            message = f"after round {number + 1} it has other next hops than before to {told(wrong)}"
            findings.add(checks.REPAIRED, name, message)


def judge_failed(
    context: Context, ends: Iterable[End], read: Callable[[Hops], Hops], failure: str, findings: Findings
) -> None:
    """Compare next hops while some links are down; `read` is given what this program computes."""
    down = frozenset(ends)
    graph = context.routing.graph
    ours = computed_hops(graph, context.routing.after(sessions_at(graph, down)))
    found = read(ours)
    compare_next_hops(context, AskedRoutes(context, down), found, checks.FAILED, failure, findings)
    disagreements(ours, found, checks.AGREE_FAILED, failure, findings)
