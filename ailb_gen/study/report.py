"""The report of a study: claims first, published numbers next to ours, figures, and charts of the simulations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from statistics import median_low

from ailb_gen.report.html.charts import charts_of
from ailb_gen.report.html.markup import prose
from ailb_gen.report.html.page import Page, Section, Status, html
from ailb_gen.report.html.plots import Bar, Bars, Lines, Plot, PlotLine
from ailb_gen.report.html.scales import Axis
from ailb_gen.report.html.simulated import chart_sections, charts_section
from ailb_gen.sim.profile import Profile
from ailb_gen.study.model import CaseResults, Figure, LineFigure, SeedSpread, Study
from ailb_gen.study.rows import (
    NOT_SIMULATED,
    OURS,
    Checked,
    ComparedRow,
    cells,
    checked,
    compared,
    explained,
    up_to,
    verdict_text,
)
from ailb_gen.wording import some

# Cases of a chart at most; the table has all.
CASES = 40
# Columns that every table of numbers has.
ALWAYS = 5
# Of a verdict: its class, and its plural.
VERDICTS = {
    "holds": ("pass", "hold"),
    "does not hold": ("fail", "do not hold"),
    "undecided": ("warn", "undecided"),
    NOT_SIMULATED: ("warn", "not simulated"),
}


def study_page(
    study: Study, results: CaseResults, profiles: Mapping[str, Sequence[Profile]], command: str, interrupted: bool
) -> str:
    """Return the report as HTML; `profiles` are those of the seeds of each case."""
    claims, rows = list(checked(study, results)), list(compared(study, results))
    sections = [
        *_claims(study, results, claims),
        *_numbers(study, results, rows),
        *_figures(study.figures(results)),
        *chart_sections(_groups(study, profiles), study.chart_note),
        _about(study, results),
    ]
    seeds = max(map(len, results.points.values()), default=0)
    partial = "interrupted; only finished cases are included" if interrupted else ""
    facts = (
        ("Command", command),
        ("Source", study.source.replace("*", "").replace("`", "")),
        ("Scope", study.scope),
        ("Cases", f"{len(results.points)} of {len(study.cases)}"),
        ("Seeds", f"{up_to(seeds)} per case"),
        ("Partial", partial),
        ("Digest", study.digest()),
    )
    status, verdict = _verdict(study, results, claims)
    verdict = f"Quick run. {verdict}" if study.scope else verdict
    shown = tuple(fact for fact in facts if fact[1])
    return html(Page(study.title, "warn" if partial else status, verdict, shown, tuple(sections)))


def _verdict(study: Study, results: CaseResults, claims: Sequence[Checked]) -> tuple[Status, str]:
    if study.summary is not None:
        conclusions = study.summary(results).conclusions
        return "info", " ".join(conclusions[:2]) or "No results."
    found = [verdict_text(one) for one in claims]
    if not found:
        return "info", "Published numbers next to ours."
    counts = [
        f"{found.count(word)} {word if found.count(word) == 1 else several}"
        for word, (_, several) in VERDICTS.items()
        if word in found
    ]
    whole = found.count("holds") == len(found)
    text = "All claims hold." if whole else f"Of {len(found)} claims {', '.join(counts)}."
    return ("pass" if whole else "warn"), text


def _claims(study: Study, results: CaseResults, claims: Sequence[Checked]) -> Iterator[Section]:
    conclusions = study.summary(results).conclusions if study.summary is not None else ()
    if not claims and not conclusions:
        return
    rows = [
        (
            VERDICTS[verdict_text(one)][0],
            verdict_text(one),
            one.text,
            one.verdict.shown if one.verdict else "",
            one.reason,
        )
        for one in claims
    ]
    title = "Published claims" if claims else "Conclusions"
    tested = [row for row in rows if row[1] != NOT_SIMULATED]
    left = rows[len(tested) :]
    yield Section("claims", title, {"rows": tested, "left": left, "conclusions": conclusions})


def _numbers(study: Study, results: CaseResults, rows: Sequence[ComparedRow]) -> Iterator[Section]:
    more: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = []
    if study.summary is not None:
        summary = study.summary(results)
        headings, *lines = summary.table
        note = "Mean over seeds, with the range (minimum to maximum) where seeds differ."
        table = {"note": note, "headings": headings, "rows": lines}
        more = [(part.title, part.table[0], part.table[1:]) for part in summary.more]
    else:
        about = [(row.published.case, row.published.quantity, *cells(row), row.role, explained(row)) for row in rows]
        headings = ("case", "quantity", "published", "ours", "deviation", "role", "reason")
        # Role and reason only where some row has one.
        used = [place for place, name in enumerate(headings) if place < ALWAYS or any(line[place] for line in about)]
        table = {
            "note": f"{OURS} Charts show the range (minimum to maximum).",
            "headings": [headings[place] for place in used],
            "rows": [[line[place] for place in used] for line in about],
        }
    yield charts_section("numbers", "Results", {**table, "more": more, "charts": charts_of(_side_by_side(rows))})


def _side_by_side(rows: Sequence[ComparedRow]) -> Iterator[Bars]:
    """Yield a chart per quantity: published numbers of every case, and ours with its range.

    Several published numbers, such as those of several runs, are a range around the middle one.
    """
    for quantity in dict.fromkeys(row.published.quantity for row in rows):
        known: dict[str, tuple[list[float], SeedSpread]] = {}
        for row in rows:
            value, ours = row.published.value, row.ours
            if row.published.quantity == quantity and value is not None and ours is not None:
                known.setdefault(row.published.case, ([], ours))[0].append(value)
        if known:
            text = f"{CASES} of {len(known)} cases." if len(known) > CASES else ""
            bars: dict[str, dict[str, Bar | None]] = {
                case: {"published": Bar(median_low(values), min(values), max(values)), "ours": _bar(ours)}
                for case, (values, ours) in islice(known.items(), CASES)
            }
            yield Bars(quantity, Axis(""), bars, text)


def _bar(spread: SeedSpread) -> Bar:
    return Bar(spread.mean, spread.least, spread.most)


def plot_of(figure: Figure) -> Plot:
    """Return a figure of a study as a chart."""
    if isinstance(figure, LineFigure):
        lines = [PlotLine(name, points) for name, points in figure.lines.items()]
        return Lines(figure.title, Axis(figure.x, log=figure.log_x), Axis(figure.y), lines)
    bars: dict[str, dict[str, Bar | None]] = {
        group: {name: _bar(spread) for name, spread in inside.items()} for group, inside in figure.bars.items()
    }
    return Bars(figure.title, Axis(figure.y, log=figure.log_y), bars)


def _figures(figures: Sequence[Figure]) -> Iterator[Section]:
    if figures:
        charts = charts_of(map(plot_of, figures))
        yield charts_section("figures", "Figures", {"note": "", "groups": [("", charts)]})


def _groups(study: Study, profiles: Mapping[str, Sequence[Profile]]) -> dict[str, dict[str, Sequence[Profile]]]:
    """Return the profiles of the cases that have any, by group and by name there."""
    found: dict[str, dict[str, Sequence[Profile]]] = {}
    for case in study.cases:
        group, name = case.charted
        if profiles.get(case.name):
            found.setdefault(group, {})[name] = profiles[case.name]
    # Cases without a group are called by their names.
    return {group or some(inside): inside for group, inside in found.items()}


def _about(study: Study, results: CaseResults) -> Section:
    values = {
        "text": prose(study.text),
        "notes": prose(study.notes) if study.notes else "",
        "calibrated": [(one.name, one.value, one.rows) for one in study.calibrated],
        "compares": study.summary is None,
        "cases": [(case.name, len(results.points.get(case.name, ()))) for case in study.cases],
    }
    return Section("about", "Method", values)
