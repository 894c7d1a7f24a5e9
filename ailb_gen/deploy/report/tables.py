"""The tables of a plan and of a run: what needs a look first, what is touched, how devices ended, the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.deploy.impact import Impact
from ailb_gen.deploy.planning import Plan
from ailb_gen.deploy.report.changes import foreign_of
from ailb_gen.deploy.report.trace import Trace
from ailb_gen.deploy.report.waves import STYLES, seconds
from ailb_gen.deploy.wave import Outcome
from ailb_gen.report.html.page import Section
from ailb_gen.wording import clean

# So many lines of a record are shown, the first and the last ones.
LINES = 2_000
REFUSED, UNSETTLED = "refused", "unsettled"
ENDED = {**STYLES, REFUSED: "fail", UNSETTLED: "fail"}
# What comes first in the table of outcomes.
ORDER = (Outcome.ATTENTION, Outcome.ROLLED_BACK, REFUSED, Outcome.AS_IS, Outcome.CONFIRMED, Outcome.UNTOUCHED)


@dataclass(frozen=True, slots=True)
class Notice:
    """What needs a look before the rest: a title, and lines by device."""

    title: str
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    style: str = "warn"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a device ended, why, and what verification found on it."""

    device: str
    outcome: str
    style: str
    reason: str
    differences: tuple[str, ...]


def notices_section(plan: Plan, mask: Callable[[str], str], drawn: bool) -> Section | None:
    """Return the section of what needs a look first; None if nothing does. `drawn` is whether the page has devices."""
    errors = {name: (str(error).removeprefix(f"{name}: "),) for name, error in plan.errors.items()}
    besides = {name: look.besides for name, look in plan.looks.items() if look.besides}
    warned = {name: look.warnings for name, look in plan.looks.items() if look.warnings}
    notices = [
        Notice("These devices could not be read", _rows(errors, mask), "fail"),
        Notice("These switches have no commit of this program, and would lose what others configured",
               _rows(foreign_of(plan), mask)),
        Notice("These switches have, besides their files, what changes the fabric; a push leaves it alone",
               _rows(besides, mask)),
        Notice("The next push may not reach these switches", _rows(warned, mask)),
    ]  # fmt: skip
    found = [notice for notice in notices if notice.rows]
    return (
        Section("notices", "Look at this first", {"notices": found, "drawn": drawn}, uses=("push",)) if found else None
    )


def _rows(texts: Mapping[str, Iterable[str]], mask: Callable[[str], str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, tuple(clean(mask(text)) for text in lines)) for name, lines in texts.items())


def impact_section(plan: Plan, impact: Impact) -> Section:
    """Return the section of figures: what is up and arrives, and what is touched on each switch."""
    traffic = impact.traffic
    pairs = (f"{some:,} of {every:,}" for some, every in zip(traffic.arriving, traffic.pairs, strict=True))
    figures = [
        ("BGP sessions up", *(f"{count:,}" for count in traffic.up)),
        ("leaf-to-prefix pairs that arrive", *pairs),
    ]
    touched = [
        (name, len(one.sessions), ", ".join(one.colors), len(one.servers))
        for name, one in impact.devices.items()
        if one.sessions or one.colors or one.servers
    ]
    waves = [
        (wave.name, len(wave.devices), lost, f"{load:.2f}")
        for wave in plan.waves
        if wave.name in traffic.waves
        for lost, load in (traffic.waves[wave.name],)
    ]
    values = {"figures": figures, "touched": touched, "waves": waves}
    return Section("impact", "Impact", values, uses=("push",))


def outcomes_section(ended: Iterable[Ended]) -> Section:
    """Return the section of how every device ended."""
    rows = sorted(ended, key=lambda row: _rank(row.outcome))
    counts = Counter(row.outcome for row in rows)
    values = {"rows": rows, "counts": list(counts.items())}
    return Section("outcomes", "Devices", values, uses=("push",))


def _rank(outcome: str) -> int:
    return ORDER.index(outcome) if outcome in ORDER else len(ORDER)


def endings(trace: Trace, refused: Mapping[str, str], mask: Callable[[str], str]) -> Iterator[Ended]:
    """Give how every device ended; `refused` are those that the first check found."""
    left = set(trace.past.left.devices)
    for name in dict.fromkeys((*trace.devices, *refused)):
        outcome, reason = trace.outcomes.get(name, ("", ""))
        if name in refused:
            outcome, reason = REFUSED, refused[name]
        if name in left and outcome != Outcome.ATTENTION:
            # The record breaks off in the middle of its change.
            outcome, reason = UNSETTLED, trace.reasons.get(name, "")
        outcome = outcome or ("accepts the change" if trace.past.dry and trace.checks else Outcome.UNTOUCHED)
        differences = tuple(clean(mask(text)) for text in trace.differences.get(name, ()))
        yield Ended(
            name, outcome, ENDED.get(outcome, "pass"), clean(mask(reason.removeprefix(f"{name}: "))), differences
        )


def record_section(trace: Trace, file: str, mask: Callable[[str], str]) -> Section:
    """Return the section of the record: what happened when."""
    lines = trace.lines
    left_out = max(0, len(lines) - LINES)
    kept = lines if not left_out else (*lines[: LINES // 2], *lines[-LINES // 2 :])
    # A date and a time may stand below each other.
    rows = [
        (seconds(line.at), line.time.replace("T", " "), clean(line.wave), clean(mask(line.text)), line.wrong)
        for line in kept
    ]
    return Section("record", "Record", {"rows": rows, "left_out": left_out, "file": clean(file)}, uses=("push",))
