"""`ailb-gen simulate`: how fast jobs run on a fabric, by load balancer, packet by packet or as fluid."""

from __future__ import annotations

import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import WIDTH, say, warn
from ailb_gen.cli.fleet import PAGES
from ailb_gen.cli.live import progress
from ailb_gen.cli.steady import steady, write_now
from ailb_gen.cli.visible import painter, show
from ailb_gen.errors import UsageError
from ailb_gen.signals import Signals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from ailb_gen.api.simulate import SimulationReport
    from ailb_gen.cli.reports import Target

SCENARIO = Annotated[
    Path, typer.Argument(help="A scenario file; with ARTIFACTS, the fabric file.", metavar="SCENARIO|FABRIC")
]
ARTIFACTS = Annotated[Path | None, typer.Argument(help="The directory of generated files.", metavar="ARTIFACTS")]
OUT = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Directory for results; default: print a table only.", metavar="DIR"),
]
SET = Annotated[
    list[str] | None, typer.Option("--set", help="Replace a value of the scenario; repeatable.", metavar="PATH=VALUE")
]
SEEDS = Annotated[int | None, typer.Option("--seeds", min=1, max=10_000, help="Simulate seeds 1 to this.")]
LEVEL = Annotated[
    Literal["packet", "flow"] | None, typer.Option("--level", help="Simulate packets, or flows as fluid.")
]
EXECUTOR = Annotated[str, typer.Option("--executor", help="processes, serial or dask:ADDRESS.", metavar="HOW")]
PROCESSES = Annotated[int | None, typer.Option("-j", "--jobs", min=1, max=256, help="Processes; default: all cores.")]
COLLECTIVE = Annotated[
    str | None, typer.Option("--collective", help="The collective, such as all-reduce or all-to-all.")
]
SIZE = Annotated[
    str | None,
    typer.Option("--bytes", help="Size of the collective as nccl-tests counts it, such as 1G.", metavar="SIZE"),
]
BALANCER = Annotated[
    str | None,
    typer.Option(
        "--balancer",
        help="Load balancers to compare.",
        metavar="NAME,NAME,...",
        autocompletion=complete.balancer,
    ),
]
FAIL = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        help="What fails, and when: DEVICE:PORT, DEVICE:DEVICE or a switch.",
        metavar="LINK[@TIME]",
        autocompletion=complete.device,
    ),
]
PAIRS = Annotated[
    int | None,
    typer.Option(
        "--queue-pairs", min=1, max=128, help="Queue pairs per connection; default: one per address of a NIC."
    ),
]
HTML = ("html",)


def simulate(
    scenario: SCENARIO,
    artifacts: ARTIFACTS = None,
    out: OUT = None,
    settings: SET = None,
    seeds: SEEDS = None,
    level: LEVEL = None,
    collective: COLLECTIVE = None,
    size: SIZE = None,
    balancer: BALANCER = None,
    fail: FAIL = None,
    queue_pairs: PAIRS = None,
    reports: PAGES = None,
    executor: EXECUTOR = "processes",
    jobs: PROCESSES = None,
) -> None:
    """Simulate traffic on a fabric, packet by packet or as flows.

    Takes a scenario file, or one collective on the files of a fabric.

    Exit codes: 0 done, 2 bad input, 3 the environment failed, 130 interrupted (what is known is written).
    """
    from ailb_gen.api.inputs import check_executor
    from ailb_gen.api.points import Execution
    from ailb_gen.api.simulate import COMPARED, simulate_collective
    from ailb_gen.api.simulate import simulate as run
    from ailb_gen.cli.reports import check_place, targets

    check_executor(executor)
    if out is not None:
        check_place("-o", out, [scenario, artifacts])
    where = targets(reports or [], [scenario, artifacts, out], HTML)
    words = list(settings or [])
    words += [f"seeds={seeds}"] if seeds is not None else []
    words += [f"level={level}"] if level is not None else []
    given = {
        "--collective": collective,
        "--bytes": size,
        "--balancer": balancer,
        "--fail": fail,
        "--queue-pairs": queue_pairs,
    }
    signals = Signals()
    how = Execution(executor, jobs, progress, warn, say, partial(stoppable, signals))
    if artifacts is None:
        for name, value in given.items():
            if value is not None:
                raise UsageError(f"{name} goes with FABRIC and ARTIFACTS; a scenario file says it itself")
        report = run(scenario, words, out=out, charts=bool(where), execution=how)
    elif size is None:
        raise UsageError("--bytes is missing: the size of the collective, such as 1G")
    else:
        balancers = balancer.split(",") if balancer else COMPARED
        report = simulate_collective(
            scenario,
            artifacts,
            size,
            collective or "all-reduce",
            words,
            balancers=balancers,
            failures=fail or (),
            queue_pairs=queue_pairs,
            out=out,
            charts=bool(where),
            execution=how,
        )
    with steady():
        _show(report, where, out)
    if signals():
        raise typer.Exit(128 + signals.numbers[0])


def _show(report: SimulationReport, where: Sequence[Target], out: Path | None) -> None:
    """Print the comparison, and write the reports."""
    from ailb_gen.cli.reports import write_reports

    show(report.table(painter()))
    if equal := report.tie():
        show(textwrap.fill(equal, WIDTH) + "\n")
    for line in report.doubts:
        warn(line)
    write_reports(where, {"html": report.html})
    if report.interrupted:
        kept = f"; {out} holds the results so far; run the same command to continue" if out is not None else ""
        say(f"these results are partial: {report.finished} of {len(report.rows)} points are finished{kept}")


def stoppable(signals: Signals, stop: Callable[[], None]) -> AbstractContextManager[object]:
    """Let the first signal end points in order, by calling `stop`, and the second one the program."""

    def on_signal(count: int) -> None:
        if count > 1:
            raise KeyboardInterrupt
        stop()
        write_now("stopping: what is known so far is kept; once more to end at once")

    signals.on_signal = on_signal
    return signals.handled()
