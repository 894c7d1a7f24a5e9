"""Judge a lab: one pass in the steady state, then failures, then colors that change under traffic."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from ailb_gen.addresses import Prefix
from ailb_gen.checks.catalogue import OF_LAB, checks_of
from ailb_gen.checks.context import Context
from ailb_gen.checks.families import lab as checks
from ailb_gen.checks.model import Check, Findings, Result
from ailb_gen.lab.check.agreement import check_agreement, computed_hops, sessions_missing
from ailb_gen.lab.check.expected import NO_LINKS_DOWN, DownLinks, ExpectedLabRoutes
from ailb_gen.lab.check.failures import (
    OF_FAILURES,
    Breakable,
    LinkFailure,
    check_failure,
    double,
    failures,
    sessions_at,
    settle,
)
from ailb_gen.lab.check.liveness import check_bfd, check_multipath
from ailb_gen.lab.check.observed import Hops, Observed, ObservedRecoloring
from ailb_gen.lab.check.paths import Pair, check_probes, check_traces, pairs
from ailb_gen.lab.check.probe import probes
from ailb_gen.lab.check.recolor import Recoloring, check_recoloring
from ailb_gen.lab.check.routes import check_copies, check_next_hops, check_sessions
from ailb_gen.lab.check.servers import check_servers
from ailb_gen.lab.check.sizes import check_mtus, check_sizes
from ailb_gen.network.fabric import End
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import some

# So many paths are looked at attribute by attribute; of more, the prefixes are sampled.
MOST_PATHS = 20_000


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of what is too large to check completely.

    `prefixes` are those whose paths are read, `pairs` those that are traced, `probes` the prefixes that some leaves
    announce for a moment.
    """

    prefixes: tuple[Prefix, ...]
    pairs: tuple[Pair, ...]
    probes: Mapping[str, Prefix]


class LiveLab(Breakable, Protocol):
    """A running lab, as far as it is looked at and changed here. Every method raises LabError."""

    def measure(self, look: Samples) -> Observed:
        """Look once at everything but next hops."""

    def down(self) -> frozenset[End]:
        """Return both ends of the links that were made to fail."""

    @property
    def dark(self) -> frozenset[End]:
        """Both ends of the links that carry nothing: without carrier, or with a daemon that does not run."""

    def recolor(self, change: Recoloring) -> ObservedRecoloring:
        """Let a leaf exchange two colors for a moment, and back, while packets flow."""


@dataclass(frozen=True, slots=True)
class LabCheckOptions:
    """Options of a check of a lab: IDs of the checks, rounds of failures, most traces, the seed of samples.

    `doubles` are double failures, `faults` lets links lose packets in one direction and flap, and colors change.
    """

    chosen: frozenset[str]
    rounds: int = 1
    doubles: int = 0
    faults: bool = False
    traces: int = 1000
    seed: int = 1

    def wants(self, entries: Iterable[Check]) -> bool:
        """Return whether any of some checks was asked for."""
        return any(entry.id in self.chosen for entry in entries)


def steps(context: Context, options: LabCheckOptions) -> int:
    """Return how many pieces of work there are: what a progress bar counts."""
    recolored = options.faults and options.wants([checks.RECOLORED])
    return 3 + 2 * len(_failures(context, options)) + recolored


def _failures(context: Context, options: LabCheckOptions) -> list[LinkFailure]:
    if not options.wants(OF_FAILURES):
        return []
    return list(failures(context, options.rounds, options.doubles, options.faults, options.seed))


def check_lab(
    lab: LiveLab, context: Context, options: LabCheckOptions, step: Callable[[str], None] = lambda name: None
) -> Iterator[Result]:
    """Yield the results of the checks that were asked for; `step` is called with what begins.

    Raises LabError, when the lab ends or cannot be asked; it is repaired then as far as possible.
    """
    findings = Findings()
    step("computing")
    gone = DownLinks(lab.down(), lab.dark)
    routing = routing_without(context, gone.all)
    ours = computed_hops(routing.graph, routing.states)
    chosen, total = pairs(context, options.traces, options.seed)
    look = Samples(sampled(context, options.seed), tuple(chosen), probes(context))
    step("looking")
    hops = settle(lab.hops, ours)
    seen = replace(lab.measure(look), hops=hops)
    step("comparing")
    check_state(context, seen, findings, gone)
    all_prefixes = len(context.routing.prefixes)
    findings.figure(checks.AGREE_RIB, "prefixes compared path by path", f"{len(look.prefixes)} of {all_prefixes}")
    findings.figure(checks.TRACED, "queue pairs traced", f"{len(chosen)} of {total}")
    ended = [name for name in context.network.switches if name not in seen.devices]
    if ended and options.wants([checks.RUNNING]):
        # What would be found follows from that.
        for check in (*OF_FAILURES, checks.RECOLORED):
            findings.skip(check, f"nothing is made to fail while switches do not run: {some(ended)}")
    else:
        # Those that have not come up until now are not waited for again.
        gone = replace(gone, dark=gone.dark | sessions_missing(routing, seen))
        _judge_changes(lab, context, options, seen.hops, gone, findings, step)
    yield from findings.results(check for check in checks_of(OF_LAB) if check.id in options.chosen)


def _judge_changes(
    lab: LiveLab,
    context: Context,
    options: LabCheckOptions,
    before: Hops,
    gone: DownLinks,
    findings: Findings,
    step: Callable[[str], None],
) -> None:
    """Let links fail and colors change, as far as that was asked for; `before` are the next hops until then."""
    planned = _failures(context, options)
    for failure in planned:
        check_failure(lab, context, failure, before, gone, findings, step)
    if options.wants(OF_FAILURES):
        tried = len(planned) and min(options.doubles, len(double(context, options.seed)))
        findings.figure(checks.FAILED, "rounds in which every leaf lost one uplink", options.rounds)
        findings.figure(checks.FAILED, "double failures", f"{tried} of {len(double(context, options.seed))}")
    if options.faults and options.wants([checks.RECOLORED]):
        step("colors change")
        check_recoloring(lab.recolor, context, gone.failed, findings)


def skipped_checks(options: LabCheckOptions, reason: str) -> Iterator[Result]:
    """Yield a skipped result for every check that was asked for."""
    return (Result(check, skipped=reason) for check in checks_of(OF_LAB) if check.id in options.chosen)


def routing_without(context: Context, down: frozenset[End]) -> Routing:
    """Return what this program computes with the links of some ends down."""
    graph = context.routing.graph
    return Routing(context.network, sessions_at(graph, down), graph) if down else context.routing


def check_state(context: Context, seen: Observed, findings: Findings, gone: DownLinks = NO_LINKS_DOWN) -> None:
    """Judge what one pass over a lab has shown, with some links gone."""
    asked = ExpectedLabRoutes(context, gone.failed)
    _judge_running(context, seen, findings)
    check_servers(context, seen, gone, findings)
    check_sessions(context, asked, seen, findings)
    check_copies(context, asked, seen, findings)
    check_next_hops(context, asked, seen, findings)
    check_traces(context, asked, seen, findings)
    check_mtus(context, asked, seen, findings)
    check_sizes(context, asked, seen, findings)
    check_bfd(context, asked, seen, findings)
    check_multipath(context, asked, findings)
    check_probes(context, asked, seen, findings)
    check_agreement(routing_without(context, gone.all), seen, gone.all, findings)


def _judge_running(context: Context, seen: Observed, findings: Findings) -> None:
    """Every device of the intent is there; every statement that its file has is in the lab."""
    for name in (*context.expected.switches, *context.hosts):
        findings.look(checks.RUNNING)
        if name not in seen.devices:
            also = ", or its BIRD does not answer" if name in context.network.switches else ""
            findings.add(checks.RUNNING, name, f"does not run in the lab{also}")
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
