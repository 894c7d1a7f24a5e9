"""The checks of failures (AILB5xx): every link, every spine, and a sample of pairs of links."""

from __future__ import annotations

import gc
import pickle
import random
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ailb_gen.checks.model import Check, Finding, Result, Severity, by_place
from ailb_gen.checks.shares import Shares
from ailb_gen.checks.speakers import ALL_COLORS
from ailb_gen.checks.ways import Ways
from ailb_gen.errors import Place
from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failures import Failure, assess
from ailb_gen.layout import CABLING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from ailb_gen.addresses import Prefix
    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.forwarding.failures import Impact
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import Routing

REPAIR = "Look at the prefix with `ailb-gen rib`, and at the way with `ailb-gen path --fail LINK`."
LINK_REACH = Check(
    "AILB501",
    Severity.ERROR,
    "when any single link fails, every leaf still reaches every prefix that a spine can pass on to it",
    "when a single link fails, a leaf loses a prefix that a spine could still pass on to it",
    "One broken cable would stop the job: a prefix has no backup, or the backup does not work.",
    REPAIR,
)
LINK_CALM = Check(
    "AILB502",
    Severity.ERROR,
    "when any single link fails, pairs that did not use it keep their paths",
    "when a single link fails, pairs that did not use it move",
    "Moving flows that nothing happened to reorders their packets and loads other links.",
    REPAIR,
)
LINK_LOAD = Check(
    "AILB503",
    Severity.ERROR,
    "when any single link fails, no link carries more than its even share of what has to move",
    "when a single link fails, a link carries more than its even share",
    "The most loaded link after a failure sets the speed of the job until the repair.",
    "Back up every color with all others, and keep multipath on.",
)
SPINE_REACH = Check(
    "AILB504",
    Severity.ERROR,
    "when any single spine fails, every leaf still reaches every prefix that a spine can pass on to it",
    "when a single spine fails, a leaf loses a prefix that another spine could still pass on to it",
    "A spine that reboots would stop the job.",
    REPAIR,
)
SPINE_LOAD = Check(
    "AILB505",
    Severity.ERROR,
    "when any single spine fails, no link carries more than its even share of what has to move",
    "when a single spine fails, a link carries more than its even share",
    "The most loaded link after a failure sets the speed of the job until the repair.",
    "Back up every color with all others, and keep multipath on.",
)
PAIR_REACH = Check(
    "AILB506",
    Severity.ERROR,
    "when two links fail, of a sample, every leaf still reaches every prefix that a spine can pass on to it",
    "when two links fail, a leaf loses a prefix that a spine could still pass on to it",
    "The second cable fails before the first is repaired, in a fabric of thousands.",
    REPAIR,
)
PAIR_CALM = Check(
    "AILB507",
    Severity.ERROR,
    "when two links fail, of a sample, pairs that did not use them keep their paths",
    "when two links fail, pairs that did not use them move",
    "Moving flows that nothing happened to reorders their packets and loads other links.",
    REPAIR,
)
CHECKS = (LINK_REACH, LINK_CALM, LINK_LOAD, SPINE_REACH, SPINE_LOAD, PAIR_REACH, PAIR_CALM)
# Pairs of links that are looked at: all of them in a small fabric, else a sample.
PAIRS = 64
CHUNK = 64
EXACT = 1e-6


@dataclass(frozen=True, slots=True)
class Verdict:
    """An impact as it is needed here: small enough to come back from another process by the thousand."""

    failure: Failure
    lost: tuple[tuple[int, Prefix, str], ...]
    strayed: tuple[tuple[int, Prefix], ...]
    moved: int
    worst: float
    worst_link: int


def count(intended: ExpectedFabric, routing: Routing) -> int:
    """Return how many failures are looked at, if nothing is wrong before any of them."""
    links = len(routing.graph.sessions.up)
    return links + len(intended.spines) + min(PAIRS, links * (links - 1) // 2)


def run(
    intended: ExpectedFabric,
    routing: Routing,
    seed: int,
    executor: Executor | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Iterator[Result]:
    """Run all checks of failures; `advance` is called with how many more failures were looked at."""
    graph = routing.graph
    baseline = Baseline(routing, destinations(intended, routing))
    broken = baseline.lost > EXACT
    if broken or not baseline.prefixes:
        reason = "the steady state does not deliver everything (AILB402): failures would say nothing new"
        yield from (Result(check, skipped=reason) for check in CHECKS)
        return
    links = [Failure(_link(graph, at), frozenset({at})) for at in range(len(graph.sessions.up))]
    names = [spine.name for spine in intended.spines if spine.name in graph.index]
    spines = [Failure(name, dead=frozenset({graph.index[name]})) for name in names]
    pairs = [
        Failure(f"{_link(graph, a)} and {_link(graph, b)}", frozenset({a, b}))
        for a, b in sampled_pairs(len(links), PAIRS, seed)
    ]
    ways = Ways(intended)
    judge = _Judge(ways, routing, baseline)
    shares = Shares(intended, ways)
    # With a fabric that is as uneven as it should not be (AILB405) the share of the even one is the measure.
    before = min(shares.highest(), baseline.highest)
    found = list(_assessed(baseline, [*links, *spines, *pairs], executor, advance))
    of_links, of_spines, of_pairs = (
        found[: len(links)],
        found[len(links) : len(links) + len(spines)],
        found[len(links) + len(spines) :],
    )
    yield judge.reach(LINK_REACH, of_links)
    yield judge.calm(LINK_CALM, of_links)
    yield judge.load(LINK_LOAD, of_links, bound(_without_a_link(shares, baseline, of_links), before))
    yield judge.reach(SPINE_REACH, of_spines)
    yield judge.load(SPINE_LOAD, of_spines, bound(shares.without_a_spine(), before))
    yield judge.reach(PAIR_REACH, of_pairs)
    yield judge.calm(PAIR_CALM, of_pairs)


def destinations(intended: ExpectedFabric, routing: Routing) -> dict[int, tuple[Prefix, ...]]:
    """Return the prefixes of every leaf that is there, by device."""
    found = {}
    for leaf in intended.leaves:
        prefixes = tuple(prefix for prefix in leaf.prefixes if prefix in routing.states)
        if leaf.name in routing.graph.index and prefixes:
            found[routing.graph.index[leaf.name]] = prefixes
    return found


def sampled_pairs(count: int, size: int, seed: int) -> list[tuple[int, int]]:
    """Return `size` different pairs of numbers below `count`, or all if there are not more."""
    if count * (count - 1) // 2 <= size:
        return [(a, b) for a in range(count) for b in range(a + 1, count)]
    source = random.Random(seed)  # noqa: S311 - a sample, not a secret
    found: dict[tuple[int, int], None] = {}
    while len(found) < size:
        a, b = sorted(source.sample(range(count), 2))
        found[a, b] = None
    return list(found)


def _link(graph: Graph, number: int) -> str:
    cable = graph.sessions.up[number].cable
    return f"{cable.a} - {cable.b}"


def _assessed(
    baseline: Baseline, failures: Sequence[Failure], executor: Executor | None, advance: Callable[[int], None]
) -> Iterator[Verdict]:
    """Look at every failure, in order; chunks go to the executor if there is one."""
    chunks = [failures[start : start + CHUNK] for start in range(0, len(failures), CHUNK)]
    with TemporaryDirectory(prefix="ailb-gen-") as folder:
        if executor is None or len(chunks) < 2:
            batches: Iterable[list[Verdict]] = (_assess_all(baseline, chunk) for chunk in chunks)
        else:
            # Written once for all chunks: each worker reads it once, and not with every chunk.
            path = Path(folder) / "baseline"
            path.write_bytes(pickle.dumps(baseline, pickle.HIGHEST_PROTOCOL))
            batches = executor.map(partial(assess_stored, path), chunks)
        for batch in batches:
            advance(len(batch))
            yield from batch


def assess_stored(path: Path, failures: Sequence[Failure]) -> list[Verdict]:
    """Look at some failures of the baseline in a file of this program's own."""
    return _assess_all(_stored(path), failures)


@lru_cache(maxsize=1)
def _stored(path: Path) -> Baseline:
    gc.disable()
    baseline = pickle.loads(path.read_bytes())  # noqa: S301 - written by the process that started this one
    if not isinstance(baseline, Baseline):
        raise TypeError(f"{path} holds no baseline")
    return baseline


def _assess_all(baseline: Baseline, failures: Sequence[Failure]) -> list[Verdict]:
    return [_small(assess(baseline, failure)) for failure in failures]


def _small(impact: Impact) -> Verdict:
    worst = (impact.moved, impact.worst, impact.worst_link)
    return Verdict(impact.failure, impact.lost, impact.strayed, *worst)


def _without_a_link(shares: Shares, baseline: Baseline, verdicts: Sequence[Verdict]) -> float:
    """Return the even share after a link failed, as far as it has to be known for what these links carry."""
    worst = max((one for one in verdicts if not one.lost), key=lambda one: one.worst, default=None)
    if worst is None:
        return 0.0
    cable = baseline.graph.sessions.up[min(worst.failure.sessions)].cable
    return shares.without_a_link(worst.worst * baseline.highest - EXACT, cable.a.device)


def bound(after: float, before: float) -> float:
    """Return the highest load that a link may have after a failure, over the highest before; at least as much."""
    return max(1.0, after / before) if before else 1.0


class _Judge:
    """Makes results of verdicts."""

    def __init__(self, ways: Ways, routing: Routing, baseline: Baseline) -> None:
        self.graph = routing.graph
        self.ways, self.intended = ways, ways.intended
        intended = ways.intended
        self.owner = {prefix: int(device) for prefix, device in zip(baseline.prefixes, baseline.owner, strict=True)}
        self.allowed = allowed_colors(intended)
        self.own = {
            prefix: color.value
            for leaf in intended.leaves
            for prefix, color in zip(leaf.prefixes, intended.colors, strict=True)
        }

    def reach(self, check: Check, verdicts: Sequence[Verdict]) -> Result:
        """Tell what is lost though a spine would pass it on over the links that are left."""
        findings, unavoidable = [], 0
        for verdict in verdicts:
            lost = [entry for entry in verdict.lost if self._passed_on(verdict.failure, entry[0], entry[1])]
            unavoidable += len(verdict.lost) - len(lost)
            if lost:
                device, prefix, problem = lost[0]
                more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
                message = f"{verdict.failure.name} fails: {self.graph.names[device]} loses {prefix} ({problem}){more}"
                findings.append(self._finding(check, verdict, message))
        figures = [
            (
                "single failures examined" if check is not PAIR_REACH else "pairs of failures examined",
                str(len(verdicts)),
            ),
            ("losses that no path could avoid", str(unavoidable)),
        ]
        return Result(check, by_place(findings), len(verdicts), tuple(figures))

    def calm(self, check: Check, verdicts: Sequence[Verdict]) -> Result:
        findings = []
        for verdict in verdicts:
            strayed = [entry for entry in verdict.strayed if self._settled(*entry)]
            if strayed:
                device, prefix = strayed[0]
                more = f" and {len(strayed) - 1} more" if len(strayed) > 1 else ""
                name = self.graph.names[device]
                message = f"{verdict.failure.name} fails: {name} moves {prefix}, which did not use it{more}"
                findings.append(self._finding(check, verdict, message))
        moved = max((verdict.moved for verdict in verdicts), default=0)
        return Result(
            check, by_place(findings), len(verdicts), (("most FIB entries that one failure changed", str(moved)),)
        )

    def load(self, check: Check, verdicts: Sequence[Verdict], bound: float) -> Result:
        findings = []
        for verdict in verdicts:
            if verdict.worst > bound + EXACT and not verdict.lost:
                link = _link(self.graph, verdict.worst_link // 2)
                message = f"{verdict.failure.name} fails: {link} carries {verdict.worst:.3f} times what it did"
                findings.append(self._finding(check, verdict, message))
        worst = max((verdict.worst for verdict in verdicts), default=0.0)
        figures = (
            ("worst link load after a failure, as a multiple of before", f"{worst:.3f}"),
            ("highest load allowed, as a multiple", f"{bound:.3f}"),
        )
        return Result(check, by_place(findings), len(verdicts), figures)

    def _finding(self, check: Check, verdict: Verdict, message: str) -> Finding:
        failure = verdict.failure
        if failure.dead:
            return Finding(check.id, failure.name, message)
        cable = self.graph.sessions.up[min(failure.sessions)].cable
        return Finding(check.id, f"{cable.a.device} {cable.a.port}", message, Place(CABLING, cable.line or 1))

    def _settled(self, device: int, prefix: Prefix) -> bool:
        """Tell whether a pair has a path in the prefix's own color, which nothing is preferred to.

        One that lives on backups while that color is drained gets one more when a spine loses the color, too: it then
        passes on a backup of its own.
        """
        leaf, owner = self.graph.names[device], self.graph.names[self.owner[prefix]]
        if not self.intended.drained.missing or leaf not in self.ways.kind_of:
            return True
        return bool(self.ways.pinned(leaf, owner, self.own[prefix]))

    def _passed_on(self, failure: Failure, source: int, prefix: Prefix) -> bool:
        """Tell whether a spine surely passes the prefix on to the source.

        It sends its active route alone, and only over sessions of that route's color: one that has several sessions to
        the origin, each of another color, may send any of them, but for the prefix's own, which AIGP prefers.
        """
        allowed = self.allowed.get(prefix)
        if allowed is None:
            return True
        near, far = self._ways(failure, source, allowed), self._ways(failure, self.owner[prefix], allowed)
        for spine in {peer for peer, _ in far}:
            came = {color for peer, color in far if peer == spine}
            own = self.own[prefix]
            sent = {own} if own in came and self.intended.fabric.aigp else came
            if all((spine, color) in near for color in sent):
                return True
        return False

    def _ways(self, failure: Failure, device: int, allowed: frozenset[str]) -> set[tuple[int, str]]:
        found = set()
        for entry in self.graph.adjacencies[device]:
            color = self.graph.rules[device][entry.own_group].color or ""
            if entry.session not in failure.sessions and entry.peer not in failure.dead and color in allowed:
                found.add((entry.peer, color))
        return found


def allowed_colors(intended: ExpectedFabric) -> dict[Prefix, frozenset[str]]:
    """Return the colors, as values, over which each prefix may travel by the intent."""
    everything = frozenset(color.value for color in intended.colors)
    named = {color.name: color.value for color in intended.colors}
    found = {}
    for leaf in intended.leaves:
        for prefix, color in zip(leaf.prefixes, intended.colors, strict=True):
            backups = everything if color.backup == ALL_COLORS else frozenset({named.get(color.backup, "")})
            found[prefix] = backups | {color.value}
    return found
