"""Simulate points: finished ones are read, the others run, and every result is kept as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ailb_gen.api.inputs import processes
from ailb_gen.errors import UsageError
from ailb_gen.optional import without_extra
from ailb_gen.progress import Progress, Warn, quiet, unheeded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ailb_gen.sim.point import Point
    from ailb_gen.sim.results import PointResult
    from ailb_gen.sim.sweep import Board, Options, Prepared


@dataclass(frozen=True, slots=True)
class Simulated:
    """The results of points: `known` are statistics by digest, `profiles` those of the points that have one.

    `interrupted`: the run was ended early.
    """

    prepared: Sequence[Prepared]
    known: Mapping[str, Mapping[str, Any]]
    interrupted: bool
    profiles: Mapping[str, Mapping[str, Any]]


def need_engine(command: str, extra: str = "sim", others: Sequence[str] = ()) -> None:
    """Refuse to begin without the packages of the engine, and `others`, of an extra. Raises MissingExtraError.

    Everything that can be wrong about the arguments is reported before.
    """
    from importlib.util import find_spec

    for name in ("numba", "pyarrow", *others):
        if find_spec(name) is None:
            raise without_extra(command, f"{name} is not installed", extra)


# While points run, its context may call what it is given to end them in order.
Stoppable = Callable[[Callable[[], None]], AbstractContextManager[object]]


def unstoppable(stop: Callable[[], None]) -> AbstractContextManager[object]:
    """Let points run to their end."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Execution:
    """How points are simulated: `executor` is `processes`, `serial` or `dask:ADDRESS`, each point on so many `cores`.

    By default there are as many `jobs` as the cores of this machine are enough for.
    `note` is called with the reasons why a run takes longer than usual. Raises UsageError for less than one core.
    """

    executor: str = "processes"
    jobs: int | None = None
    cores: int = 1
    progress: Progress = quiet
    warn: Warn = unheeded
    note: Warn = unheeded
    stoppable: Stoppable = unstoppable

    def __post_init__(self) -> None:
        if self.cores < 1:
            raise UsageError(f"cores: must be at least 1, not {self.cores}")

    @property
    def processes(self) -> int:
        """How many points are simulated at once."""
        return self.jobs or max(1, processes(None) // self.cores)


def simulated(
    points: Sequence[Point], out: Path | None, options: Options, charted: bool, execution: Execution
) -> Simulated:
    """Simulate the points that are not finished in the directory `out`, and keep each there as soon as it is.

    With `charted`, points without a usable profile are not finished. Raises UsageError, IntentError,
    OutputError, WorkerError.
    """
    from ailb_gen.sim.results import PROFILE, begin, keep, open_results, profile_of
    from ailb_gen.sim.sweep import Board, check_memory, must_compile, pending, prepare, sweep

    progress, note = execution.progress, execution.note
    finished = open_results(out, options.tables) if out is not None else {}
    with progress("preparing", len(points)) as advance:
        run_here = not finished and not options.executor.startswith("dask")
        prepared = prepare(points, run_here, advance, options.cores)
    profiles: dict[str, Mapping[str, Any]] = {}
    if out is not None and charted:
        ours = {one.digest for one in prepared} & finished.keys()
        profiles = {digest: found for digest in ours if (found := profile_of(out, digest)) is not None}
        again = ours - profiles.keys()
        if again:
            note(
                f"{len(again)} of {len(ours)} finished points have no usable data for charts; they are simulated again"
            )
            finished = {digest: found for digest, found in finished.items() if digest not in again}
    todo = pending(prepared, finished)
    check_memory(todo, options)
    most = processes(None)
    if todo and options.cores > most and not options.executor.startswith("dask"):
        execution.warn(f"--cores {options.cores}: there are {most}, so that parts of a point wait for one another")
    single = [one for one in todo if one.one_core]
    if single:
        first = single[0]
        which = f"{len(single)} of {len(todo)} points have one core, such as {first.point.variant}"
        note(f"--cores {options.cores}: {which}: {first.one_core}")
    if out is not None:
        begin(out)
    known: dict[str, Mapping[str, Any]] = dict(finished)
    # No job of these ever ends.
    known |= {one.digest: {"interrupted": False, "jobs": {}} for one in prepared if one.cut}

    def kept(result: PointResult) -> None:
        known[result.digest] = result.statistics
        if PROFILE in result.files:
            profiles[result.digest] = json.loads(result.files[PROFILE])
        if out is not None:
            keep(out, result)

    compiling = ""
    if must_compile(todo):
        from ailb_gen.sim.engine.jit import NOT_KEPT

        compiling = "compiling the engine, once"
        note(f"compiling the engine: up to 2 min{f'; it cannot be cached: {NOT_KEPT}' if NOT_KEPT else ', once'}")
    board = Board(len(todo))
    with execution.stoppable(board.stop), _counted(progress, todo, compiling) as told:
        sweep(todo, options, kept, board, told)
    return Simulated(prepared, known, board.stopping, profiles)


@contextmanager
def _counted(progress: Progress, todo: Sequence[Prepared], first: str) -> Iterator[Callable[[Board], None]]:
    """Report how many tasks have ended, the simulated time and the rate; `first` is done before any of that."""
    from time import monotonic

    from ailb_gen.wording import shown

    total = sum(one.tasks for one in todo)
    reported = before = 0
    began: float | None = None
    with progress("simulating", total) as bar:
        bar.step(first)

        def told(now: Board) -> None:
            nonlocal reported, began, before
            cells = now.read()
            ended = sum(cell[0] for cell in cells)
            events = sum(cell[2] for cell in cells)
            latest = f"{max((cell[1] for cell in cells), default=0) / 1e9:.3f} ms"
            if began is not None:
                bar.step(f"{latest}, {shown((events - before) / max(monotonic() - began, 1e-3))} events/s")
            elif events:
                # Starting and compiling count neither for the rate nor for the time that is left.
                began, before = monotonic(), events
                bar.stage(latest, total)
            bar(ended - reported)
            reported = ended

        yield told
