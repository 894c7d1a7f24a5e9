"""Check every single failure of a link or a spine, and a sample of pairs of links (AILB5xx)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import EXACT, Context
from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.expected_switches import ALL_COLORS
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.layout import CABLING

if TYPE_CHECKING:
    # Their arrays take long to import, and after most changes no failures are computed.
    from ailb_gen.checks.expected_loads import ExpectedLoads
    from ailb_gen.forwarding.baseline import Baseline
    from ailb_gen.forwarding.failures import Failure, Impact


def _check_failures(context: Context, findings: Findings) -> None:
    outcomes = context.failure_outcomes
    if outcomes is None:
        for check in (LINK_REACH, LINK_CALM, LINK_LOAD, SPINE_REACH, SPINE_LOAD, PAIR_REACH, PAIR_CALM):
            findings.skip(check, "prefixes are unreachable without failures (AILB402); failures were not simulated")
        return
    baseline, loads = context.baseline, context.loads
    judge = _Judge(context, baseline, findings)
    # With a fabric that is as uneven as it should not be (AILB405) the share of the even one is the measure.
    before = min(loads.highest(), baseline.highest)
    judge.reach(LINK_REACH, outcomes.links)
    judge.calm(LINK_CALM, outcomes.links)
    judge.load(LINK_LOAD, outcomes.links, bound(_without_a_link(loads, baseline, outcomes.links), before))
    judge.reach(SPINE_REACH, outcomes.spines)
    judge.load(SPINE_LOAD, outcomes.spines, bound(loads.without_a_spine(), before))
    judge.reach(PAIR_REACH, outcomes.pairs, "double failures tested")
    judge.calm(PAIR_CALM, outcomes.pairs)


def _without_a_link(loads: ExpectedLoads, baseline: Baseline, verdicts: Sequence[Impact]) -> float:
    """Return the even share after a link failed, as far as it is needed for what these links carry."""
    worst = max((one for one in verdicts if not one.lost), key=lambda one: one.worst, default=None)
    if worst is None:
        return 0.0
    cable = baseline.graph.sessions.up[min(worst.failure.sessions)].cable
    return loads.without_a_link(worst.worst * baseline.highest - EXACT, cable.a.device)


def bound(after: float, before: float) -> float:
    """Return the highest load that a link may have after a failure, over the highest before; at least as much."""
    return max(1.0, after / before) if before else 1.0


class _Judge:
    """Converts verdicts into findings."""

    def __init__(self, context: Context, baseline: Baseline, findings: Findings) -> None:
        self.context, self.baseline, self.findings = context, baseline, findings
        self.graph = context.routing.graph

    @cached_property
    def owner(self) -> Mapping[Prefix, int]:
        """The device of every prefix."""
        rows = zip(self.baseline.prefixes, self.baseline.owner, strict=True)
        return {prefix: int(device) for prefix, device in rows}

    @cached_property
    def own(self) -> Mapping[Prefix, str]:
        """The color of every prefix, as a value."""
        expected = self.context.expected
        return {
            prefix: color.value
            for leaf in expected.leaves
            for prefix, color in zip(leaf.prefixes, expected.colors, strict=True)
        }

    @cached_property
    def allowed(self) -> Mapping[Prefix, frozenset[str]]:
        """The colors, as values, over which every prefix may travel."""
        return allowed_colors(self.context.expected)

    def reach(self, check: Check, verdicts: Sequence[Impact], examined: str = "single failures tested") -> None:
        """Find prefixes that are lost though a spine would pass them on over the links that are left."""
        unavoidable = 0
        for verdict in verdicts:
            lost = [entry for entry in verdict.lost if self._passed_on(verdict.failure, entry[0], entry[1])]
            unavoidable += len(verdict.lost) - len(lost)
            if lost:
                device, prefix, problem = lost[0]
                more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
                self._add(check, verdict, f"{self.graph.names[device]} loses {prefix} ({problem}){more}")
        self.findings.look(check, len(verdicts))
        self.findings.figure(check, examined, len(verdicts))
        if unavoidable:
            self.findings.figure(check, "unavoidable losses, not counted (no cabled path left)", unavoidable)

    def calm(self, check: Check, verdicts: Sequence[Impact]) -> None:
        """Find pairs of a leaf and a prefix that move though they did not use what failed."""
        for verdict in verdicts:
            strayed = [entry for entry in verdict.strayed if self._settled(*entry)]
            if strayed:
                device, prefix = strayed[0]
                more = f" and {len(strayed) - 1} more" if len(strayed) > 1 else ""
                self._add(check, verdict, f"{self.graph.names[device]} reroutes {prefix}, which did not use it{more}")
        self.findings.look(check, len(verdicts))
        moved = max((verdict.moved for verdict in verdicts), default=0)
        self.findings.figure(check, "most FIB entries changed by a failure", moved)

    def load(self, check: Check, verdicts: Sequence[Impact], bound: float) -> None:
        """Find links that carry more than `bound` times what the most loaded link did."""
        for verdict in verdicts:
            if verdict.worst > bound + EXACT and not verdict.lost:
                link = self.graph.link_name(verdict.worst_link // 2)
                self._add(check, verdict, f"{link} carries {verdict.worst:.3f} times its previous load")
        self.findings.look(check, len(verdicts))
        worst = max((verdict.worst for verdict in verdicts), default=0.0)
        name = "peak link load after a failure / before"
        self.findings.figure(check, name, f"{worst:.3f} (even share: {bound:.3f})")

    def _add(self, check: Check, verdict: Impact, consequence: str) -> None:
        failure = verdict.failure
        message = f"{failure.name} fails: {consequence}"
        if failure.dead:
            self.findings.add(check, failure.name, message)
            return
        cable = self.graph.sessions.up[min(failure.sessions)].cable
        self.findings.add(check, cable.a.device, message, Place(CABLING, cable.line or 1), part=cable.a.port)

    def _settled(self, device: int, prefix: Prefix) -> bool:
        """Return whether a pair has a path in the prefix's own color, which nothing is preferred to.

        One that lives on backups while that color is drained gets one more when a spine loses the color, too: it then
        passes on a backup of its own.
        """
        paths = self.context.paths
        leaf, owner = self.graph.names[device], self.graph.names[self.owner[prefix]]
        if self.context.expected.drained.whole or leaf not in paths.kind_of:
            return True
        return bool(paths.pinned(leaf, owner, self.own[prefix]))

    def _passed_on(self, failure: Failure, source: int, prefix: Prefix) -> bool:
        """Return whether a spine surely passes the prefix on to the source.

        It sends its active route alone, and only over sessions of that route's color: one that has several sessions to
        the origin, each of another color, may send any of them, but for the prefix's own, which AIGP prefers.
        """
        allowed = self.allowed.get(prefix)
        if allowed is None:
            return True
        near, far = self._links(failure, source, allowed), self._links(failure, self.owner[prefix], allowed)
        for spine in {peer for peer, _ in far}:
            received = {color for peer, color in far if peer == spine}
            own = self.own[prefix]
            sent = {own} if own in received and self.context.fabric.aigp else received
            if all((spine, color) in near for color in sent):
                return True
        return False

    def _links(self, failure: Failure, device: int, allowed: frozenset[str]) -> set[tuple[int, str]]:
        found = set()
        for entry in self.graph.adjacencies[device]:
            color = self.graph.rules[device][entry.own_group].color or ""
            if entry.session not in failure.sessions and entry.peer not in failure.dead and color in allowed:
                found.add((entry.peer, color))
        return found


def allowed_colors(expected: ExpectedFabric) -> dict[Prefix, frozenset[str]]:
    """Return the colors, as values, over which each prefix may travel by the intent."""
    everything = frozenset(color.value for color in expected.colors)
    named = {color.name: color.value for color in expected.colors}
    found = {}
    for leaf in expected.leaves:
        for prefix, color in zip(leaf.prefixes, expected.colors, strict=True):
            backups = everything if color.backup == ALL_COLORS else frozenset({named.get(color.backup, "")})
            found[prefix] = backups | {color.value}
    return found


REPAIR = "Inspect the prefix with `ailb-gen rib`, and the path with `ailb-gen path --fail LINK`."
_of_failures = partial(Check, run=_check_failures, layer=Layer.TRAFFIC)
LINK_REACH = _of_failures(
    "AILB501",
    "when any single link fails, every leaf reaches every prefix that a spine can still advertise to it",
    "when a single link fails, a leaf loses a prefix that a spine could still advertise to it",
    "A single broken cable would stop the job: a prefix has no backup, or its backup does not work.",
    REPAIR,
)
LINK_CALM = _of_failures(
    "AILB502",
    "when any single link fails, pairs of leaf and prefix that did not use it keep their paths",
    "when a single link fails, pairs of leaf and prefix that did not use it are rerouted",
    "Rerouting flows that the failure does not affect reorders their packets and loads other links.",
    REPAIR,
)
LINK_LOAD = _of_failures(
    "AILB503",
    "when any single link fails, no link carries more than its even share of the rerouted traffic",
    "when a single link fails, a link carries more than its even share of the rerouted traffic",
    "The most loaded link after a failure sets the speed of the job until the repair.",
    "Back up every color with all others, and keep multipath on.",
)
SPINE_REACH = _of_failures(
    "AILB504",
    "when any single spine fails, every leaf reaches every prefix that another spine can still advertise to it",
    "when a single spine fails, a leaf loses a prefix that another spine could still advertise to it",
    "A spine that reboots would stop the job.",
    REPAIR,
)
SPINE_LOAD = _of_failures(
    "AILB505",
    "when any single spine fails, no link carries more than its even share of the rerouted traffic",
    "when a single spine fails, a link carries more than its even share of the rerouted traffic",
    "The most loaded link after a failure sets the speed of the job until the repair.",
    "Back up every color with all others, and keep multipath on.",
)
PAIR_REACH = _of_failures(
    "AILB506",
    "when two links fail (sampled), every leaf reaches every prefix that a spine can still advertise to it",
    "when two links fail, a leaf loses a prefix that a spine could still advertise to it",
    "In a fabric of thousands of cables, a second one fails before the first is repaired.",
    REPAIR,
)
PAIR_CALM = _of_failures(
    "AILB507",
    "when two links fail (sampled), pairs of leaf and prefix that did not use them keep their paths",
    "when two links fail, pairs of leaf and prefix that did not use them are rerouted",
    "Rerouting flows that the failure does not affect reorders their packets and loads other links.",
    REPAIR,
)
