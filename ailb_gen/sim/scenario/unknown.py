"""Names of a scenario that its fabric lacks, with their places in the file.

They are looked for when something cannot be used: only then is the fabric needed as it is without failures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ailb_gen.errors import Problem, UsageError
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.failures import FailureNames, random_links
from ailb_gen.sim.scenario.exceptions import named_places
from ailb_gen.sim.scenario.models import Scenario
from ailb_gen.sim.scenario.names import links_of
from ailb_gen.validation import problem_at
from ailb_gen.yamlio import Path, Source

Look = Callable[[], object]


def unknown_names(scenario: Scenario, source: Source, fabric: FabricArrays) -> Iterator[Problem]:
    """Yield what a scenario names and a fabric without failures does not have, by places in the file."""
    for path, look in _looks(scenario, fabric):
        try:
            look()
        except UsageError as error:
            yield problem_at(source, "wrong-value", _written(path, source.data), str(error))


def _looks(scenario: Scenario, fabric: FabricArrays) -> Iterator[tuple[Path, Look]]:
    """Yield where names stand, with what looks them up and raises UsageError."""
    names = FailureNames(fabric)
    for number, failure in enumerate(scenario.failures):
        if failure.name is not None:
            yield ("failures", number, "name"), partial(names.named, failure.name)
        elif isinstance(failure.random, int):
            yield ("failures", number, "random"), partial(random_links, fabric, failure.random, 0)
    for number, row in enumerate(scenario.switches.exceptions):
        for place, pattern in enumerate(row.at):
            yield ("switches", "exceptions", number, "at", place), partial(named_places, row, pattern, fabric)
    for number, loss in enumerate(scenario.switches.loss):
        for place, pattern in enumerate(loss.links):
            yield ("switches", "loss", number, "links", place), partial(links_of, fabric, pattern)


def _written(path: Path, data: Any) -> Path:  # noqa: ANN401 - plain data
    """Return a path as the file has it: without the numbers of entries where it has one entry and no list."""
    found: Path = ()
    for step in path:
        if isinstance(step, str):
            data = data.get(step) if isinstance(data, dict) else None
        elif isinstance(data, list):
            data = data[step]
        else:
            continue
        found = (*found, step)
    return found
