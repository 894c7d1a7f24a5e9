"""Many points: which are finished already, whether they fit into memory, and spreading the rest over processes."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from multiprocessing.sharedctypes import RawArray

from ailb_gen.errors import NoPathError, UsageError
from ailb_gen.parallel import executor_of
from ailb_gen.sim.memory import available_bytes, least_bytes, needed_bytes, shown_bytes
from ailb_gen.sim.outcome import Progress
from ailb_gen.sim.point import ENTRIES, Point, SimulationRun, run_of, simulate
from ailb_gen.sim.reachable import check_reachable
from ailb_gen.sim.results import PointResult
from ailb_gen.sim.workload import LeastTraffic

# Seconds between two looks at how far the processes are.
LOOK_S = 0.25
# Packets of a flow have 32-bit numbers.
MOST_PACKETS = 2**31 - 1
# Per point on a board: tasks that have ended, ps, events.
FIELDS = 3

Report = Callable[["Board"], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A point that can run: its digest, the number of its tasks, and an estimate of the memory it takes.

    One that is `cut` cannot: some of its flows have no path, and its jobs never end. `one_core` says why it has one
    core if it was to have several.
    """

    point: Point
    digest: str
    tasks: int
    needed_bytes: int
    cut: bool = False
    one_core: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """The executor of points: `executor` and `jobs` as in `parallel.executor_of`, each on so many `cores`.

    `tables`: results have Parquet files; `profiled`: they have a profile for charts.
    """

    executor: str = "processes"
    jobs: int = 1
    cores: int = 1
    tables: bool = True
    profiled: bool = False


class Board:
    """State shared between processes: the order to stop, and the progress of every point."""

    def __init__(self, points: int) -> None:
        self.cells = RawArray(ctypes.c_longlong, 1 + FIELDS * points)

    @property
    def stopping(self) -> bool:
        """Whether all points are to end early."""
        return bool(self.cells[0])

    def stop(self) -> None:
        """Let all points end early."""
        self.cells[0] = 1

    def write(self, number: int, now: Progress) -> None:
        """Note how far a point is."""
        first = 1 + FIELDS * number
        self.cells[first : first + FIELDS] = [now.ended, now.now_ps, now.events]

    def read(self) -> list[tuple[int, int, int]]:
        """Return, per point, tasks that have ended, simulated ps and events."""
        flat = self.cells[1:]
        return list(zip(flat[0::FIELDS], flat[1::FIELDS], flat[2::FIELDS], strict=True))


# The board of a worker process.
_boards: list[Board] = []


def prepare(
    points: Sequence[Point],
    run_here: bool = True,
    advance: Callable[[int], None] = lambda count: None,
    cores: int = 1,
) -> list[Prepared]:
    """Check all points: make their traffic once, and estimate what they need. Raises UsageError, IntentError.

    Traffic that is too large for the memory of this machine is refused before it is made; without `run_here` only
    the memory to make it counts. `advance` gets the number of points that are ready.
    """
    free = available_bytes()
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, point in enumerate(points):
        groups.setdefault((point.recipe, id(point.fabric), point.seed), []).append(number)
    found: dict[int, Prepared] = {}
    for numbers in groups.values():
        first = points[numbers[0]]
        least = first.recipe.least(first.fabric, first.seed)
        parts = least if run_here else [LeastTraffic(one.tasks) for one in least]
        for one in (points[number] for number in numbers):
            _check_fits(one, least_bytes(one.fabric, parts, one.settings, one.level), free)
        traffic = first.recipe.build(first.fabric, first.seed)
        cut = False
        try:
            check_reachable(traffic.fabric or first.fabric, traffic.workload)
        except NoPathError:
            if not all(points[number].may_be_cut for number in numbers):
                raise
            cut = True
        for number in numbers:
            run = run_of(points[number], traffic)
            _check_counts(run)
            why = _one_core(run, cores)
            divided = cores > 1 and not why
            needed = needed_bytes(run.fabric, run.workload, run.settings, run.point.level, divided)
            found[number] = Prepared(run.point, run.digest(), run.workload.count, needed, cut, why)
        advance(len(numbers))
    return [found[number] for number in range(len(points))]


def _one_core(run: SimulationRun, cores: int) -> str:
    """Return why a point has one core only, though it is to have several; empty if it has them."""
    if cores == 1:
        return ""
    if run.point.level == "flow":
        return "rates of flows are computed on one core"
    # Slow to import.
    from ailb_gen.sim.engine.partition import partition  # noqa: PLC0415

    return partition(run.fabric, run.workload, run.settings, cores).why


def _check_counts(run: SimulationRun) -> None:
    """Raise UsageError for a flow of more packets than the engine counts."""
    payload = run.settings.packets.payload_bytes
    largest = int(run.workload.amount[run.workload.flows()].max(initial=0))
    if run.point.level == "packet" and largest > payload * MOST_PACKETS:
        raise UsageError(
            f"{run.point.variant}, seed {run.point.seed}: a flow of {shown_bytes(largest)} has more than "
            f"{MOST_PACKETS:,} packets of {payload:,} bytes; simulate fewer bytes, or --level flow"
        )


def check_memory(prepared: Sequence[Prepared], options: Options) -> None:
    """Refuse points that do not fit into what memory is free. Raises UsageError with the estimate."""
    free = available_bytes()
    if free is None or options.executor.startswith("dask") or not prepared:
        return
    largest = max(prepared, key=lambda one: one.needed_bytes)
    together = 1 if options.executor == "serial" else min(options.jobs, len(prepared))
    _check_fits(largest.point, largest.needed_bytes, free)
    if together * largest.needed_bytes > free:
        fitting = free // largest.needed_bytes
        raise UsageError(
            f"{together} points at once need about {shown_bytes(together * largest.needed_bytes)} of memory, and "
            f"{shown_bytes(free)} are free; use -j {fitting}"
        )


def _check_fits(point: Point, needed: int, free: int | None) -> None:
    if free is not None and needed > free:
        other = ", larger packets, or --level flow" if point.level == "packet" else ", or fewer queue pairs"
        raise UsageError(
            f"{point.variant}, seed {point.seed}: it needs about {shown_bytes(needed)} of memory, and "
            f"{shown_bytes(free)} are free; simulate fewer hosts or bytes{other}"
        )


def sweep(
    prepared: Sequence[Prepared], options: Options, keep: Callable[[PointResult], None], board: Board, report: Report
) -> None:
    """Simulate points; `keep` is given each as soon as it is finished, or cut short because the board says stop.

    `report` is called several times a second. Raises UsageError and WorkerError.
    """
    count = len(prepared)
    jobs = min(options.jobs, count)
    with executor_of(options.executor, jobs, count, 2, _prepare_worker, (board,)) as executor:
        if executor is not None:
            _spread(executor, prepared, options, keep, board, report)
            return
        for number, one in enumerate(prepared):
            result = _simulated(number, one.point, options, board, lambda: report(board))
            if result is not None:
                keep(result)
            report(board)


def must_compile(prepared: Sequence[Prepared]) -> bool:
    """Return whether an engine has to be compiled first, which takes up to 2 minutes. Slow to import."""
    from ailb_gen.sim.engine.jit import is_compiled  # noqa: PLC0415

    return any(not is_compiled(ENTRIES[level]) for level in {one.point.level for one in prepared})


def _spread(
    executor: Executor,
    prepared: Sequence[Prepared],
    options: Options,
    keep: Callable[[PointResult], None],
    board: Board,
    report: Report,
) -> None:
    running: set[Future[PointResult | None]] = {
        executor.submit(_simulated, number, one.point, options) for number, one in enumerate(prepared)
    }
    while running:
        done, running = wait(running, LOOK_S, FIRST_COMPLETED)
        for future in done:
            found = future.result()
            if found is not None:
                keep(found)
        report(board)
        if board.stopping:
            # What has not begun will not; workers of a cluster see no board.
            running = {future for future in running if not future.cancel()}


def _prepare_worker(board: Board) -> None:
    gc.disable()
    _boards[:] = [board]


def _simulated(
    number: int,
    point: Point,
    options: Options,
    board: Board | None = None,
    report: Callable[[], None] = lambda: None,
) -> PointResult | None:
    """Simulate a point, or return None when it is too late to begin; the board is by default that of the process."""
    board = board or next(iter(_boards), None)
    if board is None:
        return simulate(point, None, options.tables, options.profiled, options.cores)
    if board.stopping:
        return None

    def watch(now: Progress) -> bool:
        board.write(number, now)
        report()
        return not board.stopping

    return simulate(point, watch, options.tables, options.profiled, options.cores)


def pending(prepared: Sequence[Prepared], finished: Mapping[str, object]) -> list[Prepared]:
    """Return the points that are not finished, and can run, each once."""
    return list({one.digest: one for one in prepared if one.digest not in finished and not one.cut}.values())
