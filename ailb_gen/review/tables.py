"""The tables of a review, for its text and its comment: a title, the heads of columns, rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ailb_gen.review.changes import DeviceGroup
from ailb_gen.review.impact import ChangeImpact, WaveImpact
from ailb_gen.review.model import Review, open_findings
from ailb_gen.wording import counted, some

# More rows are counted.
SHOWN = 40


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `names` are the columns whose cells hold names from files."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: frozenset[int] = frozenset()

    @property
    def shown(self) -> Sequence[Sequence[str]]:
        """The rows that people read."""
        return self.rows[:SHOWN]

    @property
    def left_out(self) -> str:
        """The sentence about the other rows; empty without any."""
        left = len(self.rows) - SHOWN
        return f"{left:,} more; the report as JSON lists all." if left > 0 else ""


def facts(review: Review) -> Iterator[str]:
    """Yield the sentences about the extent of a change."""
    changes = review.changes
    if review.missing:
        yield f"No comparison: {review.missing}. All findings count as new"
    elif not changes and not any(review.cables):
        yield "No device and no cable changes"
    else:
        roles = Counter(change.role or "device" for change in changes)
        which = ", ".join(counted(count, role) for role, count in roles.items()) or "no device"
        yield f"Changes: {which}"
        come, go = map(len, review.cables)
        if come or go:
            yield f"Cables: {come:,} added, {go:,} removed"
    if review.before is not None and review.gone is not None:
        new, gone = len(open_findings(review.new)), len(open_findings(review.gone))
        word = review.before.sentence().partition(":")[0]
        yield f"Findings: {new:,} new, {gone:,} gone, {review.kept:,} as before; before the change: {word}"
    if review.impact is not None:
        yield from _traffic(review.impact)


def _traffic(impact: ChangeImpact) -> Iterator[str]:
    """Yield the sentences about sessions and traffic."""
    traffic = impact.traffic
    yield f"Sessions: {impact.sessions:,} touched; {traffic.up[0]:,} up before, {traffic.up[1]:,} after"
    pairs = [f"{some_:,} of {all_:,}" for some_, all_ in zip(traffic.arriving, traffic.pairs, strict=True)]
    yield f"Reachable leaf-prefix pairs: {pairs[0]} before, {pairs[1]} after"
    if impact.trouble:
        yield f"No order of changes keeps a path: {impact.trouble}"


def group_title(group: DeviceGroup) -> str:
    """Return how many devices change how: `512 leaves: +12 -12 statements each`."""
    change = group.example
    noun = "lines" if change.files else "statements"
    many = counted(len(group.changes), change.role or "device")
    if change.kind != "changed":
        return f"{many}: {change.kind}"
    added, removed = change.counts
    each = " each" if len(group.changes) > 1 else ""
    return f"{many}: +{added:,} -{removed:,} {noun}{each}"


def wave_table(impact: ChangeImpact, colors: Collection[str]) -> Table:
    """Return the waves of a push: the sessions that each touches, and the paths left while its devices are away.

    `colors` are all of the fabric.
    """
    head = ("wave", "devices", "sessions", "colors", "servers", "paths left", "colors left", "pairs lost", "load")
    rows = [_wave_row(row, impact, {*colors}) for row in impact.waves]
    return Table("Waves of a push", head, rows, frozenset({0, 3}))


def _wave_row(row: WaveImpact, impact: ChangeImpact, every: set[str]) -> tuple[str, ...]:
    lost, load = impact.traffic.waves.get(row.wave.name, (None, None))
    colors = {*row.colors_touched}
    words = f"all {len(every)}" if colors == every and len(every) > 1 else ", ".join(row.colors_touched)
    cut = f"; then none between {' and '.join(row.cut)}" if row.cut else ""
    return (
        row.wave.name,
        f"{len(row.wave.devices):,}",
        f"{row.sessions:,}",
        words,
        f"{row.servers:,}",
        f"{row.paths[1]} of {row.paths[0]}{cut}",
        f"{row.colors[1]} of {row.colors[0]}",
        f"{lost:,}" if lost is not None else "",
        f"{load:.2f}" if load is not None else "",
    )


def load_table(impact: ChangeImpact) -> Table:
    """Return the loads of links that change, as multiples of the highest load before."""
    rows = [(_load(row.before), _load(row.after), f"{len(row.links):,}", some(row.links)) for row in impact.loads]
    title = f"Loads of links: the highest {impact.highest[0]:.2f} before, {impact.highest[1]:.2f} after"
    return Table(title, ("before", "after", "links", "which"), rows, frozenset({3}))


def _load(value: float | None) -> str:
    return f"{value:.2f}" if value is not None else "no session"


def cable_table(review: Review) -> Table:
    """Return the cables that come and go."""
    rows = [("added", name) for name in review.cables[0]] + [("removed", name) for name in review.cables[1]]
    return Table("Cables", ("change", "cable"), rows, frozenset({1}))


def tables(review: Review) -> tuple[Table, ...]:
    """Return the tables that have rows, but for the changes of devices."""
    found = [cable_table(review)]
    if review.impact is not None:
        context = review.report.context
        colors = [color.name for color in context.expected.colors] if context is not None else ()
        found += [wave_table(review.impact, colors), load_table(review.impact)]
    return tuple(table for table in found if table.rows)
