"""Points that a command simulates: what is finished is read, the rest runs with progress, and signals end it."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from ailb_gen.cli.console import say
from ailb_gen.cli.live import progress
from ailb_gen.cli.output import shout
from ailb_gen.optional import without_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ailb_gen.sim.point import Point
    from ailb_gen.sim.results import Result
    from ailb_gen.sim.sweep import Board, Options, Prepared

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Simulated:
    """What became of points: `known` are statistics by digest, `caught` the signals that ended the run early.

    `profiles` are by digest, of those that have one.
    """

    prepared: Sequence[Prepared]
    known: Mapping[str, Mapping[str, Any]]
    caught: Sequence[int]
    profiles: Mapping[str, Mapping[str, Any]]


def need_engine(command: str) -> None:
    """Refuse to begin without the extra `sim`. Raises UsageError."""
    from importlib.util import find_spec

    for name in ("numba", "pyarrow"):
        if find_spec(name) is None:
            raise without_extra(command, f"{name} is not installed", "sim")


def simulated(points: Sequence[Point], out: Path | None, options: Options, charted: bool) -> Simulated:
    """Simulate the points that are not finished in the directory `out`, and keep each there as soon as it is.

    With `charted`, points without a usable profile are not finished. Raises UsageError, IntentError, OutputError,
    WorkerError.
    """
    from ailb_gen.sim.results import PROFILE, begin, keep, open_results, profile_of
    from ailb_gen.sim.sweep import Board, check_memory, must_compile, pending, prepare, sweep

    finished = open_results(out, options.tables) if out is not None else {}
    with progress("preparing", len(points)) as advance:
        prepared = prepare(points, run_here=not finished and not options.executor.startswith("dask"), advance=advance)
    profiles: dict[str, Mapping[str, Any]] = {}
    if out is not None and charted:
        ours = {one.digest for one in prepared} & finished.keys()
        profiles = {digest: found for digest in ours if (found := profile_of(out, digest)) is not None}
        again = ours - profiles.keys()
        if again:
            say(f"{len(again)} of {len(ours)} finished points hold no usable data for charts; they are simulated again")
            finished = {digest: found for digest, found in finished.items() if digest not in again}
    todo = pending(prepared, finished)
    check_memory(todo, options)
    if out is not None:
        begin(out)
    known: dict[str, Mapping[str, Any]] = dict(finished)

    def kept(result: Result) -> None:
        known[result.digest] = result.statistics
        if PROFILE in result.files:
            profiles[result.digest] = json.loads(result.files[PROFILE])
        if out is not None:
            keep(out, result)

    if must_compile(todo):
        from ailb_gen.sim.engine.jit import NOT_KEPT

        kept_or_not = f"it cannot be kept for the next time: {NOT_KEPT}" if NOT_KEPT else "it is kept for the next time"
        typer.echo(f"compiling the engine; {kept_or_not}", err=True)
    board = Board(len(todo))
    with _stopping(board) as caught, _progress(todo, board) as told:
        sweep(todo, options, kept, board, told)
    return Simulated(prepared, known, caught, profiles)


@contextmanager
def _stopping(board: Board) -> Iterator[list[int]]:
    """Let the first signal end the points in order, and the second one the program; gives the signals that came."""
    caught: list[int] = []

    def stop(number: int, _: object) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        board.stop()
        shout("stopping: what is known so far is kept; once more to end at once")

    before = {number: signal.getsignal(number) for number in SIGNALS}
    chosen = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    try:
        for number in chosen:
            signal.signal(number, stop)
        yield caught
    finally:
        for number in chosen:
            signal.signal(number, before[number] or signal.SIG_DFL)


@contextmanager
def _progress(todo: Sequence[Prepared], board: Board) -> Iterator[Callable[[Board], None]]:
    """Show how many tasks have ended, the simulated time and the rate, on a terminal only."""
    from time import monotonic

    began = monotonic()
    shown = 0
    with progress("simulating", sum(one.tasks for one in todo)) as bar:

        def told(now: Board) -> None:
            nonlocal shown
            cells = now.read()
            ended = sum(cell[0] for cell in cells)
            events = sum(cell[2] for cell in cells)
            latest = max((cell[1] for cell in cells), default=0)
            rate = events / max(monotonic() - began, 1e-3)
            bar.step(f"{latest / 1e9:.3f} ms, {rate / 1e6:.2f} M events/s")
            bar(ended - shown)
            shown = ended

        yield told
