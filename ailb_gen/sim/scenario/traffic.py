"""The models of the traffic of a scenario: an entry each for a job or a source of flows."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ailb_gen.sim.scenario.scalars import Number, SomeBytes, Time, written
from ailb_gen.validation import Bool, Int, Model, wrong
from ailb_gen.wording import some

Count = Annotated[Int, Field(ge=1, le=1_000_000)]
Percent = Annotated[Number, Field(ge=0, le=100)]
FileName = Annotated[str, Field(min_length=1, max_length=4096)]
CollectiveName = Literal[
    "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "incast", "permutation"
]


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


Hosts = Annotated[tuple[str, ...], BeforeValidator(_several, json_schema_input_type=str | list[str])]


class CollectivePart(Model):
    """A collective, once or several times in a row."""

    kind: CollectiveName
    bytes: SomeBytes = Field(description="as nccl-tests counts the size of this collective")
    algorithm: str | None = Field(None, description="default: the first one of the collective")
    steps: Count = 1
    compute: Time = written("0", "computation before every step")
    hosts: Hosts = Field((), description="names and globs of hosts, in the order of ranks; default: all")
    queue_pairs: Annotated[Int, Field(ge=1, le=128)] | None = Field(
        None, description="of a connection; default: addresses of a host"
    )
    split: Literal["split", "round-robin"] = "split"
    per_server: Count | None = Field(
        None, description="so many ranks in a row share a server; default: as the files say"
    )
    slices: Count = 1
    at_once: Bool | None = None
    rounds: Count | None = None
    shift: Count | None = None


class TrafficPart(Model):
    """One entry of the traffic: exactly one of these."""

    collective: CollectivePart | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = sorted(self.model_fields_set)
        if len(given) != 1:
            known = some(type(self).model_fields)
            raise wrong("conflict", f"an entry holds exactly one of {known}; this one has {some(given)}")
        return self

    @property
    def kind(self) -> str:
        """The name of what the entry holds."""
        return next(iter(self.model_fields_set))

    @property
    def chosen(self) -> Model:
        """What the entry holds."""
        found: Model = getattr(self, self.kind)
        return found
