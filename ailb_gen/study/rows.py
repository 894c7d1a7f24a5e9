"""The comparison of a study: published number, ours with its spread over seeds, deviation; and its claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any

from ailb_gen.paint import Paint, Style, heading, unpainted
from ailb_gen.study.model import CaseResults, ClaimVerdict, NotSimulatedError, Published, SeedSpread, Study
from ailb_gen.study.spread import Outcome, decided
from ailb_gen.version import NAME_AND_VERSION
from ailb_gen.wording import aligned, clean, counted, plural

PERCENT = 100
# The width at which text is wrapped.
COLUMNS = 80
NOT_SIMULATED = "not simulated"
VERDICTS = {
    "holds": Style.PASS,
    "does not hold": Style.FAIL,
    "undecided": Style.WARN,
    NOT_SIMULATED: Style.WARN,
}
NOT_EXPLAINED = "not explained"
# What is shown in `cells`.
OURS = "Ours is the mean over seeds with its 95 % confidence interval (Student's t) and the number n of seeds."
# Where a published number is, by whether it is within its tolerance.
PLACES: Mapping[Outcome, str] = {"holds": "within", "does not hold": "outside", "undecided": "undecided"}
# Named cases of a quick run, and of those that it leaves out.
NAMED = 3
# The text of a job that is not done with its work.
ENDLESS = "does not complete"


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A published number next to ours.

    `deviation` is relative with half of its confidence interval, and `outcome` whether it is within the tolerance: None
    where either is missing or zero. Outside, `reasons` are those whose conditions are met.
    """

    published: Published
    ours: SeedSpread | None
    deviation: float | None
    half: float = 0.0
    outcome: Outcome | None = None
    reasons: Sequence[str] = ()

    @property
    def role(self) -> str:
        """The role of the published number, empty if it is only compared."""
        return "" if self.published.role == "compared" else self.published.role


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with its verdict; None: cases that it is about were not simulated."""

    text: str
    verdict: ClaimVerdict | None
    reason: str


def compared(study: Study, results: CaseResults) -> Iterator[ComparedRow]:
    """Yield a row per published number whose case was simulated."""
    quantities = {quantity.name: quantity.of for quantity in study.quantities}
    for published in study.published:
        if published.case not in results.points:
            continue
        ours = results.spread(published.case, quantities[published.quantity])
        if ours is None or not published.value:
            yield ComparedRow(published, ours, None)
            continue
        found = deviation(ours, published.value, published.tolerance)
        about = [one for one in study.row_reasons if found[2] == "does not hold" and one.explains(published)]
        yield ComparedRow(published, ours, *found, [one.text for one in about if one.applies(published.case, results)])


def deviation(ours: SeedSpread, value: float, tolerance: float) -> tuple[float, float, Outcome]:
    """Return the relative deviation of a mean with half of its interval, and whether it is within a tolerance."""
    found, half = ours.mean / value - 1, ours.half / abs(value)
    return found, half, decided(tolerance - abs(found), half, 0, strict=False)


def outside(rows: Sequence[ComparedRow]) -> Mapping[str, Sequence[str]]:
    """Return the rows outside their tolerance, as text, by their reason."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.outcome == "does not hold":
            about = f"{row.published.case}, {row.published.quantity} ({percent(row)})"
            found.setdefault(explained(row), []).append(about)
    return found


def explained(row: ComparedRow) -> str:
    """Return why a row is outside its tolerance, empty for others."""
    return (" ".join(row.reasons) or NOT_EXPLAINED) if row.outcome == "does not hold" else ""


def checked(study: Study, results: CaseResults) -> Iterator[Checked]:
    """Yield the verdict on every claim of a study: first the claims that were tested."""
    yield from sorted(_checked(study, results), key=lambda one: one.verdict is None)


def _checked(study: Study, results: CaseResults) -> Iterator[Checked]:
    for claim in study.claims:
        try:
            verdict = claim.check(results)
        except NotSimulatedError:
            verdict = None
        found = "" if verdict is None else " ".join(verdict.reasons)
        failed = verdict is not None and verdict.outcome == "does not hold"
        yield Checked(claim.text, verdict, found or (NOT_EXPLAINED if failed else ""))


def quick_scope(study: Study, full: Study) -> str:
    """Return which cases and seeds a quick study tests, and which cases of the full one it leaves out."""
    names, everything = ([case.name for case in one.cases] for one in (study, full))
    left = [name for name in everything if name not in names]
    seeds, most = (max((_seeds(case.scenario["seeds"]) for case in one.cases), default=0) for one in (study, full))
    text = (
        f"Quick run: {counted(len(names), 'case')} ({_named(names)}), {up_to(seeds)} {plural('seed', seeds)} per case."
    )
    text += f" Full study: {counted(len(everything), 'case')}, {up_to(most)} {plural('seed', most)}."
    return f"{text} Left out: {_named(left)}." if left else text


def up_to(most: int) -> str:
    """Return a largest number as a bound; one needs none."""
    return f"{most}" if most == 1 else f"up to {most:,}"


def _seeds(seeds: int | Sequence[int]) -> int:
    return seeds if isinstance(seeds, int) else len(seeds)


def _named(names: Sequence[str]) -> str:
    """Return names, the first ones of many; they may hold commas."""
    more = [f"and {len(names) - NAMED} more"] if len(names) > NAMED else []
    return "; ".join([*names[:NAMED], *more])


def number(value: float) -> str:
    """Return four digits, all of a whole number below a billion."""
    if value == int(value) and abs(value) < 10**9:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def brief(half: float) -> str:
    """Return half of an interval with two digits."""
    return f"{half:,.0f}" if half >= 10 else f"{half:.2g}"


def with_half(value: str, half: str) -> str:
    """Return a number with half of its confidence interval, unless that is too small to be shown."""
    return f"{value} ± {half}" if half.strip("0.,%") not in ("", "nan") else value


def spread_text(found: SeedSpread | None) -> str:
    """Return a mean with its confidence interval, and the number of seeds where they differ."""
    if found is None:
        return "-"
    if found.half == 0:
        return number(found.mean)
    return f"{with_half(number(found.mean), brief(found.half))} (n = {found.count})"


def percent(row: ComparedRow) -> str:
    """Return a deviation in percent, with its confidence interval."""
    if row.deviation is None:
        return "-"
    return f"{with_half(f'{row.deviation * PERCENT:+.1f}', f'{row.half * PERCENT:.1f}')} %"


def deviation_text(row: ComparedRow) -> str:
    """Return a deviation in percent, and whether it is within the tolerance."""
    if row.outcome is None:
        return "-"
    at = " at" if row.outcome == "undecided" else ""
    return f"{percent(row)}, {PLACES[row.outcome]}{at} {row.published.tolerance * PERCENT:g} %"


def cells(row: ComparedRow) -> list[str]:
    """Return published number, ours and deviation as text."""
    value = row.published.value
    return ["-" if value is None else number(value), spread_text(row.ours), deviation_text(row)]


def verdict_text(one: Checked) -> str:
    """Return the outcome of a claim, or `not simulated`."""
    return NOT_SIMULATED if one.verdict is None else one.verdict.outcome


def study_table(study: Study, results: CaseResults, paint: Paint = unpainted, width: int = COLUMNS) -> str:
    """Return the rows of a study as a table of `width` columns by case, and its claims; or its own summary."""
    lines = [paint(clean(study.title), Style.HEAD), *_wrapped(study.scope, "", width), ""]
    if study.summary is not None:
        summary = study.summary(results)
        lines += _summary_lines(summary.table, paint, width)
        for part in summary.more:
            lines += ["", *(paint(line, Style.HEAD) for line in _wrapped(clean(part.title), "", width)), ""]
            lines += _summary_lines(part.table, paint, width)
        for sentence in summary.conclusions:
            lines += ["", *_wrapped(clean(sentence), "", width)]
    else:
        rows = list(compared(study, results))
        lines += _row_lines(rows, paint, width)
        for reason, about in outside(rows).items():
            lines += [
                "",
                *_wrapped(f"outside the tolerance: {'; '.join(about)}", "", width),
                *_wrapped(reason, "  ", width),
            ]
        for one in checked(study, results):
            word, numbers = verdict_text(one), f" ({one.verdict.shown})" if one.verdict is not None else ""
            first, *more = _wrapped(f"{word}: {one.text}{numbers}", "", width)
            lines += [
                "",
                paint(word, VERDICTS[word]) + first.removeprefix(word),
                *more,
                *_wrapped(one.reason, "  ", width),
            ]
    return "\n".join(lines) + "\n"


def _summary_lines(table: Sequence[Sequence[str]], paint: Paint, width: int) -> list[str]:
    """Return the lines of a table, with the jobs that do not end in the style of a failure."""

    def styled(row: int, column: int, text: str) -> str:
        broken = row > 0 and ENDLESS in table[row][column]
        return paint(text, Style.FAIL) if broken else heading(row, text, paint)

    table = [[clean(cell) for cell in row] for row in table]
    return aligned(table, paint=styled, width=width, breaking=True) if len(table) > 1 else ["no results"]


def _row_lines(rows: Sequence[ComparedRow], paint: Paint, width: int) -> list[str]:
    """Return the lines of a table, the name of a case above its rows: it is too long to stand beside the columns."""
    if not rows:
        return ["no results"]
    lines: list[Sequence[str]] = [["", "published", "ours", "deviation"]]
    for row in rows:
        role = f" ({row.role})" if row.role else ""
        lines.append([f"  {row.published.quantity}{role}", *cells(row)])
    # The row of every line: a wrapped row has several.
    numbers: list[int] = []

    def styled(row: int, column: int, text: str) -> str:
        numbers.extend([row] * (column == 0))
        return heading(row, text, paint)

    shown, case = [], ""
    for number, line in zip(numbers, aligned(lines, numbers=True, paint=styled, width=width), strict=True):
        if number > 0 and rows[number - 1].published.case != case:
            case = rows[number - 1].published.case
            shown += _wrapped(case, "", width)
        shown.append(line)
    return shown


def _wrapped(text: str, first: str, width: int) -> list[str]:
    return wrap(text, width, initial_indent=first, subsequent_indent="  ", break_on_hyphens=False)


def record(study: Study, results: CaseResults, interrupted: bool) -> dict[str, Any]:
    """Return the content of `study.json`: rows, claims, calibration, and the statistics of every point."""
    return {
        "program": NAME_AND_VERSION,
        "study": study.name,
        "digest": study.digest(),
        "interrupted": interrupted,
        "rows": [
            asdict(row) | {"outcome": None if row.outcome is None else PLACES[row.outcome]}
            for row in compared(study, results)
        ],
        "claims": [asdict(one) for one in checked(study, results)],
        "calibrated": [asdict(one) for one in study.calibrated],
        "summary": None if study.summary is None else asdict(study.summary(results)),
        "points": {case: list(points) for case, points in results.points.items()},
    }
