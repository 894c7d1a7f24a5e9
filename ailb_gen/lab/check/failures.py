"""Let links of a lab fail, and compare next hops meanwhile and after the repair.

Rounds in which every leaf loses one uplink, two failures at once, links that lose what leaves send, links that flap.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import Protocol

from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations, summary
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import AGREE_FAILED, BFD, FAILED, ONE_WAY, REPAIRED
from ailb_gen.checks.model import Check, Findings
from ailb_gen.lab.check.agreement import check_same_hops, computed_hops
from ailb_gen.lab.check.expected import DownLinks
from ailb_gen.lab.check.links import expected_bfd
from ailb_gen.lab.check.observed import Hops, Observed, ObservedRecoloring, Samples
from ailb_gen.lab.check.routes import check_next_hops
from ailb_gen.lab.check.trials import Recoloring
from ailb_gen.lab.faults import FaultKind
from ailb_gen.lab.polling import settled
from ailb_gen.network.fabric import End
from ailb_gen.routing.graph import Graph

# How long next hops must be unchanged to count as final, and how long that may take: a session that was refused is
# tried again within 5 s. Seconds.
QUIET_S, PATIENCE_S, PAUSE_S = 9.0, 45.0, 0.1
# How many more times a loss in one direction is tried that nobody noticed.
TRIES_MORE = 3
# How often a link that flaps goes down, and how long it stays down and up. Seconds.
FLAPS, FLAP_S = 4, 0.4
OF_FAILURES = (FAILED, AGREE_FAILED, REPAIRED, ONE_WAY)


class LiveLab(Protocol):
    """A running lab, as far as it is observed and changed by checks. Every method raises LabError."""

    def measure(self, samples: Samples) -> Observed:
        """Observe once everything but next hops."""

    def hops(self) -> Hops:
        """Return the next hops of every switch's kernel."""

    def fail(self, ends: Iterable[End], kind: FaultKind = FaultKind.CARRIER) -> None:
        """Let the links with some ends fail."""

    def repair(self) -> None:
        """Repair the links that `fail` let fail."""

    def down(self) -> frozenset[End]:
        """Return both ends of the links that were made to fail."""

    @property
    def dark(self) -> frozenset[End]:
        """Both ends of the links that carry nothing: without carrier, or with a daemon that does not run."""

    def recolor(self, change: Recoloring) -> ObservedRecoloring:
        """Let a leaf exchange two colors for a moment, and back, while packets flow."""


@dataclass(frozen=True, slots=True)
class LinkFailure:
    """Links that fail at once, each given by its leaf's end; `words` say which, as a message begins.

    With `flaps` they go down and up so often, and nothing is compared meanwhile. `check` compares with the intent.
    `noticed_s` is how long it may take until both ends know.
    """

    name: str
    words: str
    ends: tuple[End, ...]
    kind: FaultKind = FaultKind.CARRIER
    flaps: int = 0
    check: Check = FAILED
    noticed_s: float = 0.0


def failures(context: Context, rounds: int, doubles: int, faults: bool, seed: int) -> Iterator[LinkFailure]:
    """Yield the failures: rounds, double failures and, with `faults`, one direction and flaps."""
    if not uplinks_of(context, 0):
        return
    for number in range(rounds):
        ends = uplinks_of(context, number)
        yield LinkFailure(f"round {number + 1}", f"with {_more(ends)} down", ends)
    for words, ends in double(context, seed)[:doubles]:
        yield LinkFailure(words, f"with {words} down", ends)
    if faults:
        ends = mute_uplinks(context, rounds)
        if ends:
            words, noticed_s = f"with {_more(ends)} dropping packets from the leaves", _noticed_s(context, ends)
            yield LinkFailure("one direction", words, ends, FaultKind.MUTE, 0, ONE_WAY, noticed_s)
        ends = uplinks_of(context, rounds + 1)
        yield LinkFailure("flaps", f"after {_more(ends)} went down {FLAPS} times", ends, flaps=FLAPS)


def _noticed_s(context: Context, ends: tuple[End, ...]) -> float:
    """Return how long BFD takes by the intent: one end hears nothing, then the other one hears that, or nothing."""
    routes, slowest = context.expected_routes(), 0
    for end in ends:
        if (peer := routes.peer(end)) is not None:
            both = (expected_bfd(context, end.device, peer.device), expected_bfd(context, peer.device, end.device))
            slowest = max(slowest, sum(one.timeout_ms for one in both if one is not None))
    return slowest / 1000


def _more(ends: tuple[End, ...]) -> str:
    return f"{ends[0]} and {len(ends) - 1} more uplinks" if len(ends) > 1 else f"{ends[0]}"


def uplinks_of(context: Context, number: int) -> tuple[End, ...]:
    """Return one uplink of every leaf, as the leaf's end: that of a round, another one at the next leaf."""
    uplinks: dict[str, list[End]] = {}
    for cable in context.expected_routes().cables:
        uplinks.setdefault(cable.a_device, []).append(End(cable.a_device, cable.a_port))
    return tuple(ends[(index + number) % len(ends)] for index, ends in enumerate(uplinks.values()))


def mute_uplinks(context: Context, number: int) -> tuple[End, ...]:
    """Return the uplinks of a round that have BFD by the intent: nothing else notices that packets are lost."""
    peers = dict(context.expected_routes().ends())
    ends = uplinks_of(context, number)
    return tuple(end for end in ends if expected_bfd(context, end.device, peers[end].device))


def double(context: Context, seed: int) -> list[tuple[str, tuple[End, ...]]]:
    """Return all double failures in random order, with their names: two spines, and a spine and a link, by turns.

    At least one spine stays.
    """
    by_spine: dict[str, list[End]] = {}
    for cable in context.expected_routes().cables:
        by_spine.setdefault(cable.b_device, []).append(End(cable.a_device, cable.a_port))
    names = sorted(by_spine)
    spines = [
        (f"{one} and {other}", (*by_spine[one], *by_spine[other]))
        for one, other in (combinations(names, 2) if len(names) > 2 else ())
    ]
    mixed = [
        (f"{spine} and {end}", (*by_spine[spine], end))
        for spine in names
        for other in names
        if other != spine
        for end in by_spine[other]
    ]
    chosen = random.Random(seed)  # noqa: S311 - a sample
    chosen.shuffle(spines)
    chosen.shuffle(mixed)
    return [row for turn in zip_longest(spines, mixed) for row in turn if row is not None]


def settle(read: Callable[[], Hops], expected: Hops, more_s: float = 0.0) -> Hops:
    """Return next hops when they are those that are expected, or when they have not changed for a while.

    `more_s` is how much longer a while is, until a failure is noticed.
    """
    return settled(read, lambda hops: _same(hops, expected), PATIENCE_S, QUIET_S + more_s, PAUSE_S)


def _same(hops: Hops, expected: Hops) -> bool:
    return all(hops[name] == expected.get(name, {}) for name in hops)


@dataclass(frozen=True, slots=True)
class FailureRun:
    """A running lab in which links fail: its next hops `before`, the links that are `down` already and stay so."""

    lab: LiveLab
    context: Context
    before: Hops
    down: DownLinks
    findings: Findings
    step: Callable[[str], None]

    def run(self, failure: LinkFailure) -> None:
        """Let links fail, compare, repair, compare."""
        self.step(f"{failure.name}: down")
        try:
            for _ in range(failure.flaps):
                self.lab.fail(failure.ends)
                time.sleep(FLAP_S)
                self.lab.repair()
                time.sleep(FLAP_S)
            if not failure.flaps:
                self._fail(failure)
        finally:
            self.lab.repair()
        self.step(f"{failure.name}: repaired")
        after = settle(self.lab.hops, self.before)
        self.findings.look(REPAIRED, len(self.before))
        for name, own in self.before.items():
            if wrong := [str(one.subject) for one in deviations(own, after.get(name, {}))]:
                # A flap says itself that it is over.
                words = failure.words if failure.flaps else f"repaired {failure.words}"
                self.findings.add(REPAIRED, name, f"{words}: it has other next hops than before to {summary(wrong)}")

    def _fail(self, failure: LinkFailure) -> None:
        failed = self.down.failed.union(failure.ends)
        computed = hops_without(self.context, failed | self.down.dark)
        self.lab.fail(failure.ends, failure.kind)
        hops = settle(self.lab.hops, computed, failure.noticed_s)
        for _ in range(_tries_more(failure, self.findings)):
            if _same(hops, computed) or _as_intended(self.context, failed, hops):
                break
            # BFD of a busy machine goes down by itself, and notices nothing until it is up again.
            self.lab.repair()
            settle(self.lab.hops, self.before)
            self.lab.fail(failure.ends, failure.kind)
            hops = settle(self.lab.hops, computed, failure.noticed_s)
        check_failed(self.context, failed, computed, hops, f"{failure.words}: ", self.findings, failure.check)


def _as_intended(context: Context, failed: frozenset[End], hops: Hops) -> bool:
    """Return whether next hops are those of the intent while the links of some ends fail."""
    findings = Findings()
    check_next_hops(context, context.expected_routes(failed), hops, ONE_WAY, "", findings)
    return not any(findings.found.values())


def _tries_more(failure: LinkFailure, findings: Findings) -> int:
    """Return how many more times a failure is tried that nobody noticed: never if BFD was seen to lack something."""
    lacking = {subject for one in findings.found[BFD.id] for subject in (*one.subjects, *one.involves)}
    ends = (about.end(end) for end in failure.ends)
    return TRIES_MORE if failure.check is ONE_WAY and lacking.isdisjoint(ends) else 0


def hops_without(context: Context, down: frozenset[End]) -> Hops:
    """Return the next hops that this program computes with the links of some ends down."""
    graph = context.routing.graph
    return computed_hops(graph, context.routing.after(sessions_at(graph, down)))


def sessions_at(graph: Graph, down: frozenset[End]) -> frozenset[int]:
    """Return the sessions over links with some ends."""
    return frozenset(at for at, one in enumerate(graph.sessions.up) if not down.isdisjoint((one.cable.a, one.cable.b)))


def check_failed(
    context: Context,
    failed: frozenset[End],
    computed: Hops,
    hops: Hops,
    failure: str,
    findings: Findings,
    check: Check = FAILED,
) -> None:
    """Compare next hops while the links of some ends fail on purpose; `computed` are those of this program."""
    check_next_hops(context, context.expected_routes(failed), hops, check, failure, findings)
    # The time of a loss is not computed, only its consequence.
    if check is FAILED:
        check_same_hops(computed, hops, AGREE_FAILED, failure, findings)
