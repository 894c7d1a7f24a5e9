"""`ailb-gen simulate`: how fast jobs run on a fabric, by load balancer, packet by packet or as fluid."""

from __future__ import annotations

import json
import textwrap
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import WIDTH, echo_json, notify, prose_width, room, say, warn
from ailb_gen.cli.live import progress
from ailb_gen.cli.options import CORES, EXECUTOR, FAIL_HELP, FORCE, JSON, PAGES, PROCESSES, SEEDS, output_option
from ailb_gen.cli.project import source_of
from ailb_gen.cli.reports import PAGE_FORMATS, check_place, targets, write_reports
from ailb_gen.cli.steady import steady, write_now
from ailb_gen.cli.visible import painter, show
from ailb_gen.errors import UsageError
from ailb_gen.signals import Signals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ailb_gen.api.points import Execution
    from ailb_gen.api.simulate import SimulationReport
    from ailb_gen.cli.reports import Target

SCENARIO = Annotated[
    Path,
    typer.Argument(
        help="A scenario file; with ARTIFACTS, the fabric file.", metavar="SCENARIO|FABRIC", envvar="AILB_FABRIC"
    ),
]
ARTIFACTS = Annotated[
    Path | None,
    typer.Argument(help="The directory of generated files.", metavar="ARTIFACTS", envvar="AILB_ARTIFACTS"),
]
SET = Annotated[
    list[str] | None, typer.Option("--set", help="Replace a value of the scenario; repeatable.", metavar="PATH=VALUE")
]
LEVEL = Annotated[
    Literal["packet", "flow"] | None, typer.Option("--level", help="Simulate packets, or flows as fluid.")
]
COLLECTIVE = Annotated[
    str | None,
    typer.Option(
        "--collective",
        help=f"The collective: {', '.join(complete.COLLECTIVES)}.",
        metavar="NAME",
        autocompletion=complete.collective,
    ),
]
SIZE = Annotated[
    str | None,
    typer.Option("--bytes", help="Size of the collective as nccl-tests counts it, such as 1G.", metavar="SIZE"),
]
BALANCER = Annotated[
    str | None,
    typer.Option(
        "--balancer",
        help=f"Load balancers to compare: {', '.join(complete.BALANCERS)}.",
        metavar="NAME,NAME,...",
        autocompletion=complete.balancer,
    ),
]
FAIL = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        help=FAIL_HELP,
        metavar="LINK[@TIME][,KEY=VALUE...]",
        autocompletion=complete.device,
    ),
]
PAIRS = Annotated[
    int | None,
    typer.Option(
        "--queue-pairs", min=1, max=128, help="Queue pairs per connection; default: one per address of a NIC."
    ),
]
PLACEMENT = Annotated[
    str | None,
    typer.Option(
        "--placement",
        help="Order in which ranks take servers: in-order, scattered (drawn by the seed; default with ARTIFACTS), or "
        "that of a file: scontrol show hostnames, or a hostfile or rankfile of MPI.",
        metavar="in-order|scattered|FILE",
    ),
]


def simulate(
    ctx: typer.Context,
    scenario: SCENARIO,
    artifacts: ARTIFACTS = None,
    out: Annotated[Path | None, output_option("results", "DIR")] = None,
    settings: SET = None,
    seeds: SEEDS = None,
    level: LEVEL = None,
    collective: COLLECTIVE = None,
    size: SIZE = None,
    balancer: BALANCER = None,
    fail: FAIL = None,
    queue_pairs: PAIRS = None,
    placement: PLACEMENT = None,
    reports: PAGES = None,
    as_json: JSON = False,
    force: FORCE = False,
    executor: EXECUTOR = "processes",
    jobs: PROCESSES = None,
    cores: CORES = 1,
) -> None:
    """Simulate traffic on a fabric, packet by packet or as flows.

    Takes a scenario file, or one collective on the files of a fabric.

    Exit codes: 0 done, 1 validation finds errors in the files that decide how packets fare, 2 bad input, 3 the
    environment failed, 130 interrupted (results so far are written).
    """
    from ailb_gen.api.simulate import COMPARED, simulate_collective
    from ailb_gen.api.simulate import simulate as run

    if given_alone(ctx, "scenario", "artifacts"):
        artifacts = None
    if out is not None:
        check_place("-o", out, [scenario, artifacts])
    where = targets(reports or [], [scenario, artifacts, out], PAGE_FORMATS)
    replaced = {"seeds": seeds, "level": level, "placement": _placement(placement, below_here=artifacts is not None)}
    words = [*(settings or []), *(f"{key}={value}" for key, value in replaced.items() if value is not None)]
    given = {
        "--collective": collective,
        "--bytes": size,
        "--balancer": balancer,
        "--fail": fail,
        "--queue-pairs": queue_pairs,
    }
    with stoppable(executor, jobs, cores) as execution:
        if artifacts is None:
            _refuse(given)
            report = run(scenario, words, out=out, charts=bool(where), force=force, execution=execution)
        elif size is None:
            raise UsageError("--bytes is missing: the size of the collective, such as 1G")
        else:
            report = simulate_collective(
                scenario,
                artifacts,
                size,
                collective or "all-reduce",
                words,
                balancers=balancer.split(",") if balancer else COMPARED,
                failures=fail or (),
                queue_pairs=queue_pairs,
                out=out,
                charts=bool(where),
                force=force,
                execution=execution,
            )
        with steady():
            _show(report, where, out, as_json)


def _placement(name: str | None, *, below_here: bool) -> str | None:
    """Return a placement as a value of a scenario, whose files are beside it or, if `below_here`, found from here."""
    if name is None:
        return None
    from ailb_gen.sim.scenario.placement import PLACEMENTS

    # The option's are of the working directory. As JSON, no name is another type in YAML.
    return json.dumps(name if below_here or name in PLACEMENTS else str(Path(name).absolute()))


def _refuse(options: Mapping[str, object]) -> None:
    """Raise UsageError for options that are given, although a scenario file has keys for them."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} goes with FABRIC and ARTIFACTS; a scenario file has a key for it")


def given_alone(ctx: typer.Context, first: str, second: str) -> bool:
    """Return whether the command line gives the first of two arguments, and not the second."""
    return source_of(ctx, first) == "COMMANDLINE" != source_of(ctx, second)


def _show(report: SimulationReport, where: Sequence[Target], out: Path | None, as_json: bool) -> None:
    if as_json:
        body = {
            "interrupted": report.interrupted,
            "variants": [dict(one) for one in report.records],
            "not_simulated": [one.plain() for one in report.left_out],
        }
        echo_json(body)
    else:
        if report.dropping:
            show(textwrap.fill(report.dropping, prose_width()) + "\n")
        show(report.table(painter(), room() or WIDTH))
        if why := report.tie():
            show(textwrap.fill(why, prose_width()) + "\n")
        if report.left_out:
            rows = [
                textwrap.fill(f"{one}", prose_width(), initial_indent="  ", subsequent_indent="    ")
                for one in report.left_out
            ]
            show("\n".join(["Not simulated:", *rows]) + "\n")
    for line in report.doubts:
        warn(line)
    write_reports(where, {"html": report.html})
    if report.interrupted:
        kept = f"; {out} holds the results so far; run the same command to continue" if out is not None else ""
        say(f"these results are partial: {report.finished} of {len(report.rows)} points are finished{kept}")


@contextmanager
def stoppable(executor: str, jobs: int | None, cores: int) -> Iterator[Execution]:
    """Give how points are simulated; leave with the code of the first signal that came meanwhile, if any.

    It ends points in order, the second one the program.
    """
    from ailb_gen.api.points import Execution

    signals = Signals()

    def handled(stop: Callable[[], None]) -> AbstractContextManager[object]:
        def on_signal(count: int) -> None:
            if count > 1:
                raise KeyboardInterrupt
            stop()
            write_now("stopping: results so far are kept; a second signal stops at once")

        signals.on_signal = on_signal
        return signals.handled()

    yield Execution(executor, jobs, cores, progress, warn, notify, handled)
    if signals():
        raise typer.Exit(128 + signals.numbers[0])
