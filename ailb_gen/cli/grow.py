"""`ailb-gen grow`: stripes, rails, spines and servers added in the fabric file, with what is new and what to do."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import visible
from ailb_gen.cli.console import echo_changes, echo_json, echo_table, notify, notify_written
from ailb_gen.cli.live import progress
from ailb_gen.cli.options import DRY_RUN, FABRIC, JSON, output_option
from ailb_gen.cli.steady import steady
from ailb_gen.cli.verb import Verb, Verbs
from ailb_gen.wording import counted, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ailb_gen.api.grow import GrowthResult
    from ailb_gen.intent.growth import Unit
    from ailb_gen.review.growth import GrowthState

app = typer.Typer(
    cls=Verbs, name="grow", help="Add stripes, rails, spines or servers in the fabric file.", no_args_is_help=True
)

COUNT = Annotated[int, typer.Option("--by", min=1, max=4096, help="Add so many.")]
CHANGES = Annotated[
    bool, typer.Option("--allow-changes", help="Also where existing devices get other numbers, cables or colors.")
]
RDMA = Annotated[
    list[str] | None,
    typer.Option("--rdma", help="RDMA device of a new NIC, where hosts.rdma lists them; repeat it.", metavar="NAME"),
]
CABLES = Annotated[Path | None, output_option("new cables", "FILE")]


@app.command("stripe", cls=Verb)
def stripe(
    fabric: FABRIC,
    count: COUNT = 1,
    output: CABLES = None,
    allow_changes: CHANGES = False,
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Add stripes at the end.

    Comments, order and form of the file stay. Refused when existing devices would change.
    """
    _grow(fabric, "stripe", count, output, allow_changes, dry_run, as_json)


@app.command("rail", cls=Verb)
def rail(
    fabric: FABRIC,
    count: COUNT = 1,
    rdma: RDMA = None,
    output: CABLES = None,
    allow_changes: CHANGES = False,
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Add a leaf to every stripe, and a NIC to every server.

    Not to stripes that say their own number of rails. Overrides keep the numbers and ports of existing leaves.
    """
    _grow(fabric, "rail", count, output, allow_changes, dry_run, as_json, rdma or ())


@app.command("spine", cls=Verb)
def spine(
    fabric: FABRIC,
    count: COUNT = 1,
    output: CABLES = None,
    allow_changes: CHANGES = False,
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Add spines at the end.

    The number of colors and their step are written out where existing links would get other colors.
    """
    _grow(fabric, "spine", count, output, allow_changes, dry_run, as_json)


@app.command("server", cls=Verb)
def server(
    fabric: FABRIC,
    count: COUNT = 1,
    output: CABLES = None,
    allow_changes: CHANGES = False,
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Add servers to every stripe.

    By count, or by name where a larger count would rename or recable existing servers. In a CSV file, rows are added.
    """
    _grow(fabric, "server", count, output, allow_changes, dry_run, as_json)


def _grow(
    fabric: Path,
    unit: Unit,
    count: int,
    output: Path | None,
    allow_changes: bool,
    dry_run: bool,
    as_json: bool,
    rdma: Sequence[str] = (),
) -> None:
    from ailb_gen.api.grow import grow
    from ailb_gen.cli.reports import check_place
    from ailb_gen.report.write import write_bytes

    if output is not None:
        check_place("-o", output, [fabric])
    result = grow(fabric, unit, count, rdma=rdma, allow_changes=allow_changes, warn=notify)
    # Before anything is written: it may take a while, and be interrupted.
    states = () if visible.output.quiet and not as_json else result.states(progress)
    if output is not None and not dry_run:
        write_bytes(output, result.cabling().encode(), "list of cables")
    if not dry_run:
        result.write()
    # A full disk there does not hide that the files are written.
    with steady(must_be_read=False):
        if as_json:
            echo_json(_json(fabric, unit, count, result, states, not dry_run))
        else:
            _show(unit, count, result)
            _show_states(states)
        if dry_run:
            notify(f"{fabric}: not written, because of --dry-run")
        elif not as_json:
            _show_steps(fabric, result, output)


def _show(unit: Unit, count: int, result: GrowthResult) -> None:
    """Print what changes in the files, and what is new in the fabric."""
    from ailb_gen.design.addition import lines

    echo_changes(result.diff().removesuffix("\n").split("\n"))
    if not visible.output.quiet:
        typer.echo()
        every = " in every stripe" if unit == "server" else ""
        echo_table(f"{counted(count, unit)} more{every}", ("what", "value"), list(lines(result.addition)))


def _show_states(states: Sequence[GrowthState]) -> None:
    """Print the waves of the pushes, with what is up and lost behind each; warn where something is lost."""
    rows = [
        (one.push, one.wave.name, some(one.wave.devices), f"{one.sessions:,}", len(one.lost) or "nothing")
        for one in states
    ]
    if rows:
        typer.echo()
        echo_table("Pushes, computed from the files", ("push", "wave", "devices", "sessions", "lost"), rows)
    for one in states:
        if one.lost:
            notify(f"push {one.push}, behind the wave {one.wave.name!r}, is lost: {some(one.lost)}")


def _show_steps(fabric: Path, result: GrowthResult, output: Path | None) -> None:
    """Print in which order the larger fabric is installed, so that nothing that runs loses packets."""
    more, file = result.addition, shlex.quote(str(fabric))
    cables = counted(len(more.cables), "new cable")
    steps = [*_cells(result), f"plug in {cables}: {output}" if output else f"plug in {cables}; -o FILE lists them"]
    if more.switches:
        access = f"give {counted(len(more.switches), 'new switch')} management access"
        # Without management addresses in the fabric file there is nothing to boot them by.
        by_ztp = all(one.management is not None for one in result.design.switches)
        command = f"ailb-gen export ztp {file} --ssh-key FILE -o DIR"
        steps.append(f"{access}, such as by ZTP: {command}" if by_ztp else f"{access}, by their console")
    steps += [
        f"ailb-gen generate {file} -o ARTIFACTS",
        f"ailb-gen validate {file} ARTIFACTS",
    ]
    for limit in result.pushes():
        place = f"{file} ARTIFACTS {limit}".rstrip()
        steps += [f"ailb-gen plan {place}", f"ailb-gen deploy {place}"]
    notify_written([edit.file for edit in result.edits], steps)


def _cells(result: GrowthResult) -> Iterator[str]:
    """Yield what people may fill in of new servers, a line for each file."""
    found: dict[tuple[Path, tuple[str, ...]], list[str]] = {}
    for one in result.empty:
        found.setdefault((one.file, one.columns), []).append(one.server)
    for (file, columns), servers in found.items():
        yield f"fill in {', '.join(columns)} of {some(servers)} in {file}, as in the other rows"


def _json(
    fabric: Path, unit: Unit, count: int, result: GrowthResult, states: Sequence[GrowthState], written: bool
) -> dict[str, object]:
    from ailb_gen.design.addition import changes, lines

    return {
        "fabric": str(fabric),
        "unit": unit,
        "count": count,
        "written": written,
        "files": [str(edit.file) for edit in result.edits],
        "diff": result.diff(),
        "new": dict(lines(result.addition)),
        "changes": dict(changes(result.addition)),
        "pushes": [*result.pushes()],
        "states": [
            {
                "push": one.push,
                "wave": one.wave.name,
                "devices": [*one.wave.devices],
                "sessions": one.sessions,
                "lost": [*one.lost],
            }
            for one in states
        ],
        "cables": [cable._asdict() for cable in result.addition.cables],
    }
