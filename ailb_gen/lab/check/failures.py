"""Let links of a lab fail, and judge next hops meanwhile and after the repair.

Rounds in which every leaf loses one uplink, two failures at once, links that lose what leaves send, links that flap.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import AGREE_FAILED, BFD, FAILED, ONE_WAY, REPAIRED
from ailb_gen.checks.model import Check, Findings
from ailb_gen.lab.check.agree import computed_hops, disagreements
from ailb_gen.lab.check.asked import AskedRoutes, Gone
from ailb_gen.lab.check.liveness import wanted
from ailb_gen.lab.check.measured import Hops
from ailb_gen.lab.check.routes import compare_next_hops, told
from ailb_gen.lab.faults import Kind
from ailb_gen.network.fabric import End
from ailb_gen.routing.graph import Graph

# How long next hops must be unchanged to count as final, and how long that may take: a session that was refused is
# tried again within 5 s. Seconds.
QUIET_S, PATIENCE_S, PAUSE_S = 9.0, 45.0, 0.1
# How often more a loss in one direction is tried that nobody noticed.
TRIES_MORE = 3
# How often a link that flaps goes down, and how long it stays down and up. Seconds.
FLAPS, FLAP_S = 4, 0.4
OF_FAILURES = (FAILED, AGREE_FAILED, REPAIRED, ONE_WAY)


class Breakable(Protocol):
    """A running lab, as far as it is broken here. Every method raises LabError."""

    def hops(self) -> Hops:
        """Return the next hops of every switch's kernel."""

    def fail(self, ends: Iterable[End], kind: Kind = Kind.CARRIER) -> None:
        """Let the links with some ends fail."""

    def repair(self) -> None:
        """Repair what `fail` let fail."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Links that fail at once, each given by its leaf's end; `words` say which, as a message begins.

    With `flaps` they go down and up so often, and nothing is compared meanwhile. `check` compares with the intent.
    `noticed_s` is how long it may take until both ends know.
    """

    name: str
    words: str
    ends: tuple[End, ...]
    kind: Kind = Kind.CARRIER
    flaps: int = 0
    check: Check = FAILED
    noticed_s: float = 0.0


def failures(context: Context, rounds: int, doubles: int, faults: bool, seed: int) -> Iterator[Failure]:
    """Yield what is to fail: rounds, so many double failures, and, if asked for, one direction and flaps."""
    for number in range(rounds):
        ends = uplinks_of(context, number)
        yield Failure(f"round {number + 1}", f"with {_more(ends)} down", ends)
    for words, ends in double(context, seed)[:doubles]:
        yield Failure(words, f"with {words} down", ends)
    if faults:
        ends = mute_uplinks(context, rounds)
        if ends:
            words, noticed_s = f"with {_more(ends)} losing what leaves send", _noticed_s(context, ends)
            yield Failure("one direction", words, ends, Kind.MUTE, 0, ONE_WAY, noticed_s)
        ends = uplinks_of(context, rounds + 1)
        yield Failure("flaps", f"after {_more(ends)} went down {FLAPS} times", ends, flaps=FLAPS)


def _noticed_s(context: Context, ends: tuple[End, ...]) -> float:
    """Return how long BFD takes by the intent: one end hears nothing, then the other one hears that, or nothing."""
    links, slowest = AskedRoutes(context).links, 0
    for end in ends:
        peer = links[end.device][end.port][0].device
        found = (wanted(context, end.device, peer), wanted(context, peer, end.device))
        slowest = max(slowest, sum(one.timeout_ms for one in found if one is not None))
    return slowest / 1000


def _more(ends: tuple[End, ...]) -> str:
    return f"{ends[0]} and {len(ends) - 1} more uplinks" if len(ends) > 1 else f"{ends[0]}"


def uplinks_of(context: Context, number: int) -> tuple[End, ...]:
    """Return one uplink of every leaf, as the leaf's end: that of a round, another one at the next leaf."""
    rows: dict[str, list[End]] = {}
    for cable in AskedRoutes(context).cables:
        rows.setdefault(cable.a_device, []).append(End(cable.a_device, cable.a_port))
    return tuple(ends[(index + number) % len(ends)] for index, ends in enumerate(rows.values()))


def mute_uplinks(context: Context, number: int) -> tuple[End, ...]:
    """Return the uplinks of a round that have BFD by the intent: nothing else notices that packets are lost."""
    links = AskedRoutes(context).links
    return tuple(
        end for end in uplinks_of(context, number) if wanted(context, end.device, links[end.device][end.port][0].device)
    )


def double(context: Context, seed: int) -> list[tuple[str, tuple[End, ...]]]:
    """Return all double failures in random order, with their names: two spines, and a spine and a link, by turns.

    At least one spine stays.
    """
    by_spine: dict[str, list[End]] = {}
    for cable in AskedRoutes(context).cables:
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
    first = min(len(spines), len(mixed))
    turns = [row for pair in zip(spines, mixed, strict=False) for row in pair]
    return [*turns, *spines[first:], *mixed[first:]]


def settle(read: Callable[[], Hops], want: Hops, more_s: float = 0.0) -> Hops:
    """Return next hops when they are those that are computed, or when they have not changed for a while.

    `more_s` is how much longer a while is, until a failure is noticed.
    """
    started = changed = time.monotonic()
    found = read()
    while not _same(found, want):
        now = time.monotonic()
        if now - changed > QUIET_S + more_s or now - started > PATIENCE_S:
            break
        time.sleep(PAUSE_S)
        again = read()
        if again != found:
            found, changed = again, time.monotonic()
    return found


def _same(found: Hops, want: Hops) -> bool:
    return all(found[name] == want.get(name, {}) for name in found)


def judge_failure(
    lab: Breakable,
    context: Context,
    failure: Failure,
    before: Hops,
    gone: Gone,
    findings: Findings,
    step: Callable[[str], None],
) -> None:
    """Let links fail, compare, repair, compare; what is `gone` already stays so."""
    step(f"{failure.name}: down")
    try:
        for _ in range(failure.flaps):
            lab.fail(failure.ends)
            time.sleep(FLAP_S)
            lab.repair()
            time.sleep(FLAP_S)
        if not failure.flaps:
            without = gone.with_failed(failure.ends)
            ours = hops_without(context, without.all)
            lab.fail(failure.ends, failure.kind)
            found = settle(lab.hops, ours, failure.noticed_s)
            for _ in range(_tries_more(failure, findings)):
                if _same(found, ours) or _as_intended(context, without.failed, found):
                    break
                # BFD of a busy machine goes down by itself, and notices nothing until it is up again.
                lab.repair()
                settle(lab.hops, before)
                lab.fail(failure.ends, failure.kind)
                found = settle(lab.hops, ours, failure.noticed_s)
            judge_failed(context, without.failed, ours, found, f"{failure.words}: ", findings, failure.check)
    finally:
        lab.repair()
    step(f"{failure.name}: repaired")
    after = settle(lab.hops, before)
    findings.look(REPAIRED, len(before))
    for name, rows in before.items():
        now = after.get(name, {})
        wrong = [str(prefix) for prefix in sorted(rows.keys() | now.keys()) if rows.get(prefix) != now.get(prefix)]
        if wrong:
            # A flap says itself that it is over.
            words = failure.words if failure.flaps else f"repaired {failure.words}"
            findings.add(REPAIRED, name, f"{words}: it has other next hops than before to {told(wrong)}")


def _as_intended(context: Context, failed: frozenset[End], found: Hops) -> bool:
    """Return whether next hops are those of the intent while the links of some ends fail."""
    findings = Findings()
    compare_next_hops(context, AskedRoutes(context, failed), found, ONE_WAY, "", findings)
    return not any(findings.found.values())


def _tries_more(failure: Failure, findings: Findings) -> int:
    """Return how often more a failure is tried that nobody noticed: never if the look has found what BFD lacks."""
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


def judge_failed(
    context: Context,
    failed: frozenset[End],
    ours: Hops,
    found: Hops,
    failure: str,
    findings: Findings,
    check: Check = FAILED,
) -> None:
    """Compare next hops while the links of some ends fail on purpose; `ours` is what this program computes."""
    compare_next_hops(context, AskedRoutes(context, failed), found, check, failure, findings)
    # When a link is out of service is not computed: only what follows.
    if check is FAILED:
        disagreements(ours, found, AGREE_FAILED, failure, findings)
