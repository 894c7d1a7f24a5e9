"""Points of a simulation: their progress, and how they are run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from ailb_gen.api.points import Execution, _counted
from ailb_gen.errors import UsageError


class Bar:
    def __init__(self) -> None:
        self.done, self.steps = 0, [""]

    def __call__(self, count: int) -> None:
        self.done += count

    def step(self, name: str) -> None:
        self.steps.append(name)

    def stage(self, name: str, total: int) -> None:
        assert (total, self.done) == (30, 0)
        self.steps.append(name)


def test_a_point_has_at_least_one_core() -> None:
    assert Execution(cores=64).processes == 1
    for cores in (0, -1):
        with pytest.raises(UsageError, match=rf"cores: must be at least 1, not {cores}"):
            Execution(cores=cores)


def test_compiling_is_the_step_until_there_are_events() -> None:
    cells: list[tuple[int, int, int]] = []
    bar, board = Bar(), SimpleNamespace(read=lambda: cells)

    @contextmanager
    def progress(what: str, total: int) -> Iterator[Bar]:
        assert (what, total) == ("simulating", 30)
        yield bar

    todo: list[Any] = [SimpleNamespace(tasks=10), SimpleNamespace(tasks=20)]
    with _counted(progress, todo, "compiling the engine, once") as told:
        cells = [(0, 0, 0), (0, 0, 0)]
        told(board)  # type: ignore[arg-type]
        assert bar.steps[-1] == "compiling the engine, once"
        cells = [(4, 2_000_000_000, 500), (0, 0, 0)]
        told(board)  # type: ignore[arg-type]
        assert bar.steps[-1] == "2.000 ms", "the time left is guessed from now on, and so is the rate"
        cells = [(5, 3_000_000_000, 500), (0, 0, 0)]
        told(board)  # type: ignore[arg-type]
    assert bar.steps[-1] == "3.000 ms, 0 events/s"
    assert bar.done == 5
