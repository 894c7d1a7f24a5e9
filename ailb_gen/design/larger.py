"""A fabric with more stripes, rails, spines or servers: written so that it leaves what is there as it is."""

from collections.abc import Iterator
from dataclasses import dataclass

from ailb_gen.design.addition import Addition, addition
from ailb_gen.design.build import build
from ailb_gen.design.colors import step_of
from ailb_gen.design.model import Design
from ailb_gen.design.pins import pins
from ailb_gen.errors import IntentError, Problem, UsageError
from ailb_gen.intent.growth import Unit, ValueEdit, grown, ways
from ailb_gen.intent.load import Intent

Edits = tuple[ValueEdit, ...]


@dataclass(frozen=True, slots=True)
class LargerFabric:
    """A larger fabric: the values that make it so, its design with its warnings, and what it has in addition."""

    edits: Edits
    design: Design
    addition: Addition
    warnings: tuple[Problem, ...]


def larger(intent: Intent, before: Design, unit: Unit, count: int, also: Edits = ()) -> LargerFabric:
    """Return a larger fabric: the first way to write it that leaves what is there as it is, else the plain one.

    `before` is the design of the intent; `also` are values that change in every way. Raises IntentError for a fabric
    that would be too large, UsageError where no key of the file makes it larger.
    """
    refusal: IntentError | None = None
    changing: LargerFabric | None = None
    for way in written(intent, before, unit, count, also):
        if isinstance(way, IntentError):
            refusal = way
            continue
        try:
            design, warnings = build(grown(intent, way))
        except IntentError as error:
            refusal = error
            continue
        found = LargerFabric(way, design, addition(before, design), warnings)
        if found.addition.keeps_all:
            return found
        changing = changing or found
    if changing is None:
        raise refusal or UsageError(f"{intent.source.file}: every stripe says its own 'rails'; edit these by hand")
    return changing


def written(intent: Intent, before: Design, unit: Unit, count: int, also: Edits = ()) -> Iterator[Edits | IntentError]:
    """Yield ways to grow, each followed by itself with overrides that pin what is there, or by why it has none.

    Where all ways are refused, the last one tells what is scarce; the plain one may only meet what was pinned before.
    """
    names = {server.name for server in before.servers}
    for way in ways(intent, unit, count, (len(before.colors), step_of(intent.fabric)), names):
        edits = (*way, *also)
        yield edits
        try:
            pinned = pins(before, grown(intent, edits))
        except IntentError as error:
            yield error
            continue
        if pinned:
            yield (*edits, *pinned)
