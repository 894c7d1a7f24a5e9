"""Check a lab: one pass in the steady state, then failures, then colors that change under traffic."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ailb_gen.addresses import Prefix
from ailb_gen.checks.catalogue import OF_LAB, checks_of
from ailb_gen.checks.context import Context
from ailb_gen.checks.families import lab as checks
from ailb_gen.checks.model import Check, Findings, Result
from ailb_gen.lab.check.agreement import check_agreement, computed_hops, sessions_missing
from ailb_gen.lab.check.expected import NO_LINKS_DOWN, DownLinks
from ailb_gen.lab.check.failures import (
    OF_FAILURES,
    FailureRun,
    LinkFailure,
    LiveLab,
    double,
    failures,
    sessions_at,
    settle,
)
from ailb_gen.lab.check.links import check_bfd, check_mtus, check_multipath
from ailb_gen.lab.check.observed import Observed, Samples
from ailb_gen.lab.check.paths import check_sizes, check_traces, pairs
from ailb_gen.lab.check.routes import check_copies, check_next_hops, check_sessions
from ailb_gen.lab.check.servers import check_servers
from ailb_gen.lab.check.trials import check_probes, check_recoloring, probes
from ailb_gen.network.fabric import End
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import some

# Most paths that are compared attribute by attribute; of more, the prefixes are sampled.
MOST_PATHS = 20_000


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
        """Return whether any of some checks is chosen."""
        return any(entry.id in self.chosen for entry in entries)


def steps(context: Context, options: LabCheckOptions) -> int:
    """Return the number of steps, which a progress bar counts."""
    recolored = options.faults and options.wants([checks.RECOLORED])
    return 3 + 2 * len(_failures(context, options)) + recolored


def _failures(context: Context, options: LabCheckOptions) -> list[LinkFailure]:
    if not options.wants(OF_FAILURES):
        return []
    return list(failures(context, options.rounds, options.doubles, options.faults, options.seed))


def check_lab(
    lab: LiveLab, context: Context, options: LabCheckOptions, step: Callable[[str], None] = lambda name: None
) -> Iterator[Result]:
    """Yield the results of the checks that are chosen; `step` is called with the name of every step.

    Raises LabError, when the lab ends or does not answer; it is repaired then as far as possible.
    """
    findings = Findings()
    step("computing")
    down = DownLinks(lab.down(), lab.dark)
    routing = routing_without(context, down.all)
    computed = computed_hops(routing.graph, routing.states)
    chosen, total = pairs(context, options.traces, options.seed)
    samples = Samples(sampled(context, options.seed), tuple(chosen), probes(context))
    step("observing")
    hops = settle(lab.hops, computed)
    observed = replace(lab.measure(samples), hops=hops)
    step("comparing")
    check_state(context, observed, findings, down)
    all_prefixes = len(context.routing.prefixes)
    findings.figure(checks.AGREE_RIB, "prefixes compared path by path", f"{len(samples.prefixes)} of {all_prefixes}")
    findings.figure(checks.TRACED, "queue pairs traced", f"{len(chosen)} of {total}")
    ended = [name for name in context.network.switches if name not in observed.devices]
    if ended and options.wants([checks.RUNNING]):
        # What would be observed follows from that.
        for check in (*OF_FAILURES, checks.RECOLORED):
            findings.skip(check, f"no failures are caused while switches do not run: {some(ended)}")
    else:
        # Those that have not come up until now are not waited for again.
        down = replace(down, dark=down.dark | sessions_missing(routing, observed))
        _check_changes(FailureRun(lab, context, observed.hops, down, findings, step), options)
    yield from findings.results(check for check in checks_of(OF_LAB) if check.id in options.chosen)


def _check_changes(test: FailureRun, options: LabCheckOptions) -> None:
    """Let links fail and colors change, as far as chosen."""
    context, findings = test.context, test.findings
    planned = _failures(context, options)
    for failure in planned:
        test.run(failure)
    if options.wants(OF_FAILURES):
        tried = len(planned) and min(options.doubles, len(double(context, options.seed)))
        findings.figure(checks.FAILED, "rounds in which every leaf lost one uplink", options.rounds)
        findings.figure(checks.FAILED, "double failures", f"{tried} of {len(double(context, options.seed))}")
    if options.faults and options.wants([checks.RECOLORED]):
        test.step("color changes")
        check_recoloring(test.lab.recolor, context, test.down.failed, findings)


def skipped_checks(options: LabCheckOptions, reason: str) -> Iterator[Result]:
    """Yield a skipped result for every check that is chosen."""
    return (Result(check, skipped=reason) for check in checks_of(OF_LAB) if check.id in options.chosen)


def routing_without(context: Context, down: frozenset[End]) -> Routing:
    """Return the routing that this program computes with the links of some ends down."""
    graph = context.routing.graph
    return Routing(context.network, sessions_at(graph, down), graph) if down else context.routing


def check_state(context: Context, observed: Observed, findings: Findings, down: DownLinks = NO_LINKS_DOWN) -> None:
    """Compare the result of one pass over a lab, with some links down, with the intent and with the model."""
    routes = context.expected_routes(down.failed)
    _check_running(context, observed, findings)
    check_servers(context, routes, observed, down, findings)
    for check in (check_sessions, check_copies, check_traces, check_mtus, check_sizes, check_bfd, check_probes):
        check(context, routes, observed, findings)
    check_next_hops(context, routes, observed.hops, checks.NEXT_HOPS, "", findings)
    check_multipath(context, routes, findings)
    check_agreement(routing_without(context, down.all), observed, down.all, findings)


def _check_running(context: Context, observed: Observed, findings: Findings) -> None:
    """Every device of the intent is there; every statement that its file has is in the lab."""
    for name in (*context.expected.switches, *context.hosts):
        findings.look(checks.RUNNING)
        if name not in observed.devices:
            also = ", or its BIRD does not answer" if name in context.network.switches else ""
            findings.add(checks.RUNNING, name, f"does not run in the lab{also}")
    for name, switch in context.network.switches.items():
        findings.look(checks.TRANSLATED)
        for text, line in observed.untranslated.get(name, ()):
            findings.at(checks.TRANSLATED, switch, f"not in the lab: {text}", line)


def sampled(context: Context, seed: int) -> tuple[Prefix, ...]:
    """Return the prefixes whose paths are compared: all, or a sample in a large fabric."""
    prefixes = context.routing.prefixes
    each = sum(map(len, context.routing.graph.adjacencies)) or 1
    most = max(4, MOST_PATHS // each)
    if len(prefixes) <= most:
        return prefixes
    return tuple(sorted(random.Random(seed).sample(prefixes, most)))  # noqa: S311 - a sample
