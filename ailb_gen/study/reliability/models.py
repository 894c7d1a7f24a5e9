"""The keys of a what-if file about failures over months."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PlainValidator

from ailb_gen.sim.scenario.scalars import SomeShare, positive, quantity_schema, with_unit
from ailb_gen.sim.scenario.traffic import Count, FileName
from ailb_gen.study.reliability.elements import KINDS
from ailb_gen.validation import Int, Model

# In seconds.
DURATIONS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "y": 31_557_600}
SECONDS_PER_HOUR = 3600
read_duration = with_unit("duration", DURATIONS, "s, min, h, d or y", "8h")

Duration = Annotated[int, PlainValidator(read_duration), quantity_schema(DURATIONS, "30s")]
SomeDuration = Annotated[int, PlainValidator(read_duration), positive("duration"), quantity_schema(DURATIONS, "8h", 1)]


class Rates(Model):
    """How often elements of a kind fail, and how long their repair takes. Give `mtbf` or `afr`."""

    mtbf: SomeDuration | None = Field(None, description="mean time between failures of an element")
    afr: SomeShare | None = Field(None, description="failures of an element per year, such as 2%")
    mttr: SomeDuration | None = Field(None, description="mean time to repair; default: 'mttr' of all kinds")


def _of_kind(name: str) -> Rates:
    kind = KINDS[name]
    default = "they do not fail" if kind.mtbf_h is None else f"MTBF {kind.mtbf_h:,.0f} h, {kind.source}"
    return Field(default_factory=Rates, description=f"{kind.text}; default: {default}")


class ElementRates(Model):
    """The rates of all kinds of elements."""

    links: Rates = _of_kind("links")
    optics: Rates = _of_kind("optics")
    leaves: Rates = _of_kind("leaves")
    spines: Rates = _of_kind("spines")
    nics: Rates = _of_kind("nics")


class CheckpointPart(Model):
    """Checkpoints of the job. What was done after the last one is lost when the job stops."""

    write: SomeDuration = Field(description="time for writing one, in which the job waits")
    restart: Duration = Field(description="time from a failure, or the repair that ends it, until the job goes on")
    every: SomeDuration | None = Field(None, description="work between two; default: what loses the least (Young 1974)")


class Reliability(Model):
    """Failures over months: what is left of the job's time, and what the fabric costs."""

    months: Annotated[Int, Field(ge=1, le=120)] = Field(12, description="of operation")
    draws: Annotated[Int, Field(ge=1, le=10_000)] = Field(100, description="of the months, for percentiles of days")
    mttr: SomeDuration = Field(description="mean time to repair an element")
    checkpoints: CheckpointPart
    elements: ElementRates = Field(default_factory=ElementRates, description="rates by kind of element")
    spines: Annotated[tuple[Count, ...], Field(min_length=1, max_length=16)] | None = Field(
        None, description="numbers of spines to compare; default: that of the fabric"
    )
    prices: FileName | None = Field(
        None, description="CSV: item (name, description or category in 'export bom'), price, watts"
    )
    media: Literal["smf", "mmf", "dac", "aoc"] = Field("smf", description="of the cables, for optics and prices")
