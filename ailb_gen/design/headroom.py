"""How far a fabric can grow: tried with the design itself, so that each limit is the one that `grow` tells."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ailb_gen.design.build import DesignBuilder
from ailb_gen.design.larger import written
from ailb_gen.design.model import Design
from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.growth import UNITS, Unit, grown, growth
from ailb_gen.intent.load import Intent


@dataclass(frozen=True, slots=True)
class Headroom:
    """How far a fabric can grow by a unit.

    `step` is the smallest number that is not refused at once for its colors; `most` is how many more fit, in steps.
    `refused` is what keeps one step more from being added: the errors of `grow`. Where no value of the file adds
    any, step and most are 0 and nothing is refused.
    """

    unit: Unit
    step: int
    most: int
    refused: tuple[Problem, ...]


def headroom(intent: Intent, design: Design, unit: Unit) -> Headroom:
    """Return how far a fabric, which has this design, can grow by a unit, in any of the ways in which `grow` writes it.

    What fails for a number is taken to fail for larger ones: pools, ports and sizes only become scarcer.
    """
    if not growth(intent, unit, 1):
        return Headroom(unit, 0, 0, ())
    step = smallest_step(intent, unit)
    refusal = cache(lambda steps: _refusal(intent, design, unit, steps * step))
    most = _largest(lambda steps: not refusal(steps))
    return Headroom(unit, step, most * step, refusal(most + 1))


def smallest_step(intent: Intent, unit: Unit) -> int:
    """Return the smallest number by which a fabric grows that is not refused at once for its colors."""
    if unit != "spine":
        return 1
    colors = len(intent.fabric.spines) * intent.fabric.links_per_spine
    # More spines must divide among the colors: at the latest with as many more as there are colors.
    return next((n for n in range(1, colors + 1) if _started(intent, unit, n)), 1)


def every_headroom(intent: Intent, design: Design) -> tuple[Headroom, ...]:
    """Return the room of a fabric, which has this design, by unit."""
    return tuple(headroom(intent, design, unit) for unit in UNITS)


def _largest(fits: Callable[[int], bool]) -> int:
    """Return the largest number for which a condition holds that fails for some number and all larger ones."""
    high = 1
    while fits(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _started(intent: Intent, unit: Unit, number: int) -> bool:
    """Return whether what is checked before numbers are handed out allows so many more."""
    try:
        builder = DesignBuilder(grown(intent, growth(intent, unit, number)))
    except IntentError:
        return False
    return not builder.problems.errors


def _refusal(intent: Intent, design: Design, unit: Unit, number: int) -> tuple[Problem, ...]:
    """Return the errors of a fabric with so many units more; none if one of the ways to write it has a design."""
    refusal = IntentError([])
    for way in written(intent, design, unit, number):
        if isinstance(way, IntentError):
            refusal = way
            continue
        try:
            DesignBuilder(grown(intent, way)).parts()
        except IntentError as error:
            refusal = error
        else:
            return ()
    return tuple(problem for problem in refusal.problems if problem.severity == "error")
