"""Model of a study: cases to simulate, published numbers, claims as predicates, calibrated parameters, figures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ailb_gen.progress import Progress, quiet
from ailb_gen.study.quantities import Quantity, Statistics
from ailb_gen.study.spread import Outcome, half_width

if TYPE_CHECKING:
    from ailb_gen.errors import Place
    from ailb_gen.intent.load import Intent
    from ailb_gen.sim.point import ExtraMeasurement

# Of a published number: only compared; used to set a parameter; or said in advance with parameters set on other rows.
Role = Literal["compared", "calibrated", "predicted"]


@dataclass(frozen=True, slots=True)
class Case:
    """Something that is simulated, once per seed: a scenario as its file would say it, without a sweep.

    In the charts of a report it is one of a group, by the name that it has there; by default both are in its name, the
    group in front of the last comma. With `may_be_cut`, flows without a path are a result.
    """

    name: str
    scenario: Mapping[str, Any]
    extras: Mapping[str, ExtraMeasurement] = field(default_factory=dict)
    chart: tuple[str, str] | None = None
    may_be_cut: bool = False
    # Where a file of the user has parts of the scenario.
    places: Mapping[tuple[str | int, ...], Place] = field(default_factory=dict)

    @property
    def charted(self) -> tuple[str, str]:
        """The group, empty for none, and the name there."""
        group, _, name = self.name.rpartition(", ")
        return self.chart or (group, name)


@dataclass(frozen=True, slots=True)
class SeedSpread:
    """A quantity over the seeds that have it; `half` is that of the confidence interval of the mean."""

    mean: float
    least: float
    most: float
    count: int = 1
    half: float = 0.0


class NotSimulatedError(LookupError):
    """A quick or interrupted study lacks this case; a claim about it has no verdict."""


@dataclass(frozen=True, slots=True, eq=False)
class CaseResults:
    """The statistics of every case that was simulated, in the order of its seeds; `whole` has those left out, too.

    Compared by identity, so that what is computed from them can be kept.
    """

    points: Mapping[str, Sequence[Statistics]]
    whole: CaseResults | None = None

    def of(self, case: str) -> Sequence[Statistics]:
        """Return the statistics of every seed of a case. Raises NotSimulatedError."""
        if case not in self.points:
            raise NotSimulatedError(case)
        return self.points[case]

    def without(self, place: int) -> CaseResults:
        """Return the results without one seed of every case that has several."""
        kept = {
            case: [point for number, point in enumerate(points) if number != place] if len(points) > 1 else points
            for case, points in self.points.items()
        }
        return CaseResults(kept, self.whole or self)

    def values(self, case: str, of: Callable[[Statistics], float | None]) -> list[float]:
        """Return a quantity of every seed of a case that has it. Raises NotSimulatedError."""
        return [value for point in self.of(case) if (value := of(point)) is not None]

    def spread(self, case: str, of: Callable[[Statistics], float | None]) -> SeedSpread | None:
        """Return mean, range and confidence interval of a quantity over the seeds of a case; None without any."""
        values = self.values(case, of)
        if not values:
            return None
        mean = math.fsum(values) / len(values)
        return SeedSpread(mean, min(values), max(values), len(values), half_width(values))

    def mean(self, case: str, of: Callable[[Statistics], float | None]) -> float:
        """Return the mean of a quantity over the seeds of a case; NaN without any, with which no comparison holds."""
        found = self.spread(case, of)
        return math.nan if found is None else found.mean


@dataclass(frozen=True, slots=True)
class Published:
    """A number of the source for a case and a quantity; None: ours alone, the source has none.

    Ours reproduces it if it deviates by no more than the tolerance, a share.
    """

    case: str
    quantity: str
    value: float | None
    role: Role = "compared"
    tolerance: float = 0.1


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """Whether a claim holds here, the numbers that show it, and the reasons whose conditions are met."""

    outcome: Outcome
    shown: str
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the source as a predicate; `reasons` are those for which it may not hold."""

    text: str
    check: Callable[[CaseResults], ClaimVerdict]
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RowReason:
    """Why rows of these cases and quantities (globs) are outside their tolerance, if `applies` to a case's results."""

    text: str
    cases: Sequence[str]
    quantities: Sequence[str]
    applies: Callable[[str, CaseResults], bool]

    def explains(self, row: Published) -> bool:
        """Return whether it is about a row."""
        pairs = ((row.case, self.cases), (row.quantity, self.quantities))
        return all(any(fnmatchcase(name, pattern) for pattern in patterns) for name, patterns in pairs)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A parameter that was set so that some rows come out; all other rows are predictions."""

    name: str
    value: str
    rows: str


@dataclass(frozen=True, slots=True)
class LineFigure:
    """A figure of lines, such as CDFs or load over time: points (x, y) by name."""

    name: str
    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    log_x: bool = False


@dataclass(frozen=True, slots=True)
class BarFigure:
    """A figure of bars with the range over seeds: a spread per group (under the axis) and name (in the legend)."""

    name: str
    title: str
    y: str
    bars: Mapping[str, Mapping[str, SeedSpread]]
    log_y: bool = False


Figure = LineFigure | BarFigure


@dataclass(frozen=True, slots=True)
class SummaryTable:
    """A further table of a summary, headings first, with its title."""

    title: str
    table: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Summary:
    """Output of a study without published numbers: a table, headings first, further ones, and conclusions."""

    table: Sequence[Sequence[str]]
    conclusions: Sequence[str]
    more: Sequence[SummaryTable] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """A body of measurements and how it is repeated.

    `intents` are fabric files by name, as text, read, or where they are; their trees are generated as NAME/files, texts
    are NAME/fabric.yaml. With `summary` nothing is compared. `text` and `notes` are Markdown: the experiment and the
    assumptions; the deviations and their causes. A scenario's other files are in `folder`. In a report, `chart_note` is
    above the charts of the simulations. `scope` says what a quick study tests and leaves out, empty for a full one.
    """

    name: str
    title: str
    source: str
    text: str
    cases: Sequence[Case]
    quantities: Sequence[Quantity]
    published: Sequence[Published]
    claims: Sequence[Claim] = ()
    row_reasons: Sequence[RowReason] = ()
    calibrated: Sequence[Calibrated] = ()
    figures: Callable[[CaseResults], Sequence[Figure]] = lambda results: ()
    notes: str = ""
    intents: Mapping[str, str | Path | Intent] = field(default_factory=dict)
    summary: Callable[[CaseResults], Summary] | None = None
    folder: Path = Path()
    chart_note: str = ""
    scope: str = ""

    def digest(self) -> str:
        """Return the SHA-256 of simulations, published numbers and prose: a page with another one is stale."""
        about = {
            "cases": [[case.name, case.scenario] for case in self.cases],
            "intents": {name: _written(intent) for name, intent in self.intents.items()},
            "published": [[row.case, row.quantity, row.value, row.role, row.tolerance] for row in self.published],
            "claims": [[claim.text, *claim.reasons] for claim in self.claims],
            "row_reasons": [[one.text, *one.cases, *one.quantities] for one in self.row_reasons],
            "text": [self.title, self.source, self.text, self.notes],
            "calibrated": [[one.name, one.value, one.rows] for one in self.calibrated],
        }
        return sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _written(intent: str | Path | Intent) -> str:
    return str(intent) if isinstance(intent, str | Path) else intent.digest


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """Scope of a study: `quick` for seconds instead of minutes; seeds per case, None: the study's own choice.

    `progress` is that of what follows the simulations.
    """

    quick: bool = False
    seeds: int | None = None
    file: Path | None = None
    progress: Progress = quiet
