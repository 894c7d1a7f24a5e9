"""The catalog of studies: published experiments from the files in `data/`, and the study of a user's file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import Field, TypeAdapter

from ailb_gen.study.claims import ClaimOf, Prediction, Reproduction, RowReasonOf, claims_of
from ailb_gen.study.extras import MEASUREMENTS
from ailb_gen.study.model import Calibrated, Case, CaseResults, Claim, Published, Role, Study, StudyOptions
from ailb_gen.study.plots import Plot, PlotSources, figures
from ailb_gen.study.quantities import Quantity
from ailb_gen.study.templates import Axes, Variables, combinations, filled, text
from ailb_gen.study.what_if.study import what_if
from ailb_gen.validation import Model

if TYPE_CHECKING:
    from ailb_gen.sim.point import ExtraMeasurement

FOLDER = Path(__file__).parent / "data"


class CasesOf(Model):
    """Cases of a template, one per combination of the axes; a scenario's `seeds` are those of the option, if given."""

    name: str
    chart: tuple[str, str] | None = Field(None, description="group and name in the charts of a report")
    scope: Literal["always", "full", "quick"] = "always"
    each: Axes = {}
    scenario: dict[str, Any]
    seeds: int | str = Field(1, description="a count, or a variable in braces")
    quick_seeds: int | str = 1
    measure: dict[str, Any] = Field({}, description="measurements with their settings, by name")
    rows: list[str] = Field([], description="quantities that the table shows")


class PublishedOf(Model):
    """Published numbers by case, in the order of the quantities; a list has those of several runs."""

    role: Role = "compared"
    tolerance: float = Field(0.1, description="relative, of every number")
    quantities: list[str]
    values: dict[str, list[int | float | list[float] | None]]


class QuantityOf(Model):
    """A template of quantities: a name and a path."""

    name: str
    path: str
    each: Axes = {}
    fold: str = "first"
    multiply: float = 1
    divide: float = 1
    per: str = Field("", description="path of a number that it is divided by")


class StudyFile(Model):
    """A published experiment."""

    name: str
    title: str
    source: str
    text: str
    notes: str = ""
    axes: dict[str, Any] = Field({}, description="YAML anchors; not read by the program")
    intents: dict[str, str] = Field({}, description="fabric files whose trees are generated, by name")
    quantities: list[QuantityOf]
    cases: list[CasesOf]
    published: list[PublishedOf]
    row_reasons: list[RowReasonOf] = []
    calibrated: list[tuple[str, str, str]] = Field([], description="name, value and the rows that it was set on")
    claims: list[ClaimOf]
    check_published: bool = Field(False, description="claims also show whether they hold for the published numbers")
    reproduction: list[Reproduction] = []
    prediction: Prediction | None = None
    figures: list[Plot] = []


def read_study(name: str, options: StudyOptions) -> Study:
    """Return the study of a file of this package."""
    with (FOLDER / f"{name}.yaml").open(encoding="utf-8") as stream:
        return study_of(StudyFile.model_validate(yaml.load(stream, Loader=yaml.CSafeLoader)), options)


def study_of(file: StudyFile, options: StudyOptions) -> Study:
    """Return the study that a file describes, in the scope of the options."""
    quantities = {quantity.name: quantity for part in file.quantities for quantity in _quantities(part)}
    scope = "quick" if options.quick else "full"
    groups = [part for part in file.cases if part.scope in ("always", scope)]
    expanded = [(part, variables) for part in groups for variables in combinations(part.each, {})]
    published = list(_published(file, expanded))
    values = {(row.case, row.quantity): row.value for row in published if row.value is not None}
    return Study(
        name=file.name,
        title=file.title,
        source=file.source,
        text=file.text,
        cases=[_case(part, variables, options) for part, variables in expanded],
        quantities=tuple(quantities.values()),
        published=published,
        claims=list(_claims(file, quantities, published)),
        row_reasons=[part.reason(quantities) for part in file.row_reasons],
        calibrated=[Calibrated(*row) for row in file.calibrated],
        figures=lambda results: list(figures(file.figures, PlotSources(results, quantities, values))),
        notes=file.notes,
        intents=file.intents,
        folder=FOLDER,
    )


def _quantities(part: QuantityOf) -> Iterator[Quantity]:
    for variables in combinations(part.each, {}):
        name, path = text(part.name, variables), text(part.path, variables)
        yield Quantity(name, path, part.fold, part.multiply, part.divide, part.per)


def _case(part: CasesOf, variables: Variables, options: StudyOptions) -> Case:
    seeds = options.seeds or int(filled(part.quick_seeds if options.quick else part.seeds, variables))
    chart = None if part.chart is None else (text(part.chart[0], variables), text(part.chart[1], variables))
    extras: Mapping[str, ExtraMeasurement] = {
        name: TypeAdapter(MEASUREMENTS[kind]).validate_python(settings)
        for name, measurement in filled(part.measure, variables).items()
        for kind, settings in measurement.items()
    }
    return Case(text(part.name, variables), {**filled(part.scenario, variables), "seeds": seeds}, extras, chart)


def _published(file: StudyFile, expanded: Sequence[tuple[CasesOf, Variables]]) -> Iterator[Published]:
    """Yield the rows of all cases; without a published number they have no value."""
    known: dict[tuple[str, str], tuple[list[float | None], Role, float]] = {}
    for table in file.published:
        for case, values in table.values.items():
            for quantity, value in zip(table.quantities, values, strict=True):
                if value is not None:
                    known[case, quantity] = (
                        list(value) if isinstance(value, list) else [value],
                        table.role,
                        table.tolerance,
                    )
    for part, variables in expanded:
        case = text(part.name, variables)
        for quantity in filled(part.rows, variables):
            several, role, tolerance = known.get((case, quantity), ([None], "compared", 0.0))
            yield from (Published(case, quantity, value, role, tolerance) for value in several)


def _claims(file: StudyFile, quantities: Mapping[str, Quantity], rows: Sequence[Published]) -> Iterator[Claim]:
    published = _as_findings(rows, quantities) if file.check_published else None
    for part in file.claims:
        yield from claims_of(part, quantities, published)
    yield from (part.claim(quantities, rows) for part in file.reproduction)
    if file.prediction is not None:
        yield file.prediction.claim(quantities, rows)


def _as_findings(rows: Sequence[Published], quantities: Mapping[str, Quantity]) -> CaseResults:
    """Return the published numbers as if they had been simulated with one seed."""
    points: dict[str, dict[str, Any]] = {}
    for row in rows:
        point = points.setdefault(row.case, {})
        if row.value is not None:
            quantities[row.quantity].put(point, row.value)
    return CaseResults({case: [point] for case, point in points.items()})


@dataclass(frozen=True, slots=True)
class StudyEntry:
    """A study: its description, whether it reads a file of the user, and the function that makes its data."""

    text: str
    make: Callable[[StudyOptions], Study]
    needs_file: bool = False


PUBLISHED = {
    "scale-unit": "ECMP, flowlets and adaptive routing in a scale unit (Zeltser, 2026)",
    "recovery": "recovery of lost packets by three transports (Li, 2024)",
    "balancers": "DLB, GLB and RLB on Juniper's reference fabric (Juniper, 2025)",
    "queue-pairs": "queue pairs per connection, with 4 and 8 uplinks (Juniper)",
    "hopper": "load balancing by hosts (Nosrati and Ghaderi, 2025)",
    "paths": "Presto, MP-RDMA, PLB, SeqBalance: the order of their results",
    "congestion": "DCQCN, DCTCP, TIMELY, Swift, HPCC, NDP: the order of their results",
}
STUDIES = {name: StudyEntry(text, partial(read_study, name)) for name, text in PUBLISHED.items()} | {
    "what-if": StudyEntry("your own training job: step time by load balancer and failure", what_if, needs_file=True)
}
