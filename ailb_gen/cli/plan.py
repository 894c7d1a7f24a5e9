"""`ailb-gen plan`: look at the switches, show what a push would do, and write it down for approval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.console import fabric_file, progress, table
from ailb_gen.cli.fleet import (
    ACCEPT,
    ARTIFACTS,
    DRIVER,
    FABRIC,
    INVENTORY,
    JOBS,
    LIMIT,
    UNVERIFIED,
    Driver,
    access,
    trust,
)
from ailb_gen.cli.output import steady
from ailb_gen.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ailb_gen.deploy.blast import Touched, Traffic
    from ailb_gen.deploy.prospect import Prospect

MIN_PATHS = Annotated[
    int, typer.Option("--min-paths", min=0, help="Paths that any two leaves keep while spines are changed.")
]


@steady()
def plan(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    inventory: INVENTORY = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Write the plan, for 'deploy --plan'.", metavar="FILE")
    ] = None,
    limit: LIMIT = None,
    min_paths: MIN_PATHS = 1,
    driver: DRIVER = Driver.napalm,
    jobs: JOBS = 32,
    accept_new_hostkeys: ACCEPT = False,
    brief: Annotated[bool, typer.Option("--brief", help="Count statements instead of showing them.")] = False,
    allow_unverified: UNVERIFIED = False,
) -> None:
    """Show what a push would change, in which order, and what it touches; nothing is changed.

    Exit codes: 0 done, 2 bad input, 3 a device that is to be changed cannot be looked at.
    """
    from ailb_gen.deploy.blast import touched, traffic
    from ailb_gen.deploy.desk import desk
    from ailb_gen.deploy.planfile import plan_text, write_plan

    reach = access(driver, jobs, accept_new_hostkeys)
    with desk(fabric_file(fabric), artifacts, inventory, limit or [], reach, trust(allow_unverified)) as on:
        with progress("looking", len(on.roles)) as advance:
            found = on.prospect(on.file_aim, min_paths, advance, besides=True)
        after = found.scene.after({name: look.after for name, look in found.changes.items()})
        effects = {name: touched(after, look) for name, look in found.changes.items()}
        seen = traffic(found.scene, after, found.waves, any(one.sessions or one.colors for one in effects.values()))
        show(found, effects, seen, brief)
        if out is not None:
            write_plan(out, plan_text(on.inputs, found, tuple(limit or ()), min_paths, effects, seen))
            where = f" -i {inventory}" if inventory is not None else ""
            where += " --allow-unverified" if allow_unverified else ""
            typer.echo(f"\nPlan written to {out}: ailb-gen deploy {fabric} {artifacts}{where} --plan {out}")
        for error in found.errors.values():
            typer.echo(f"ailb-gen: {error}", err=True)
        if any(name in on.picked for name in found.errors):
            raise typer.Exit(ExitCode.ENVIRONMENT)


def show(found: Prospect, effects: Mapping[str, Touched], seen: Traffic, brief: bool) -> None:
    """Print a plan: every change, the waves, what is touched and what traffic sees."""
    changes = found.changed
    if not changes:
        told = f"{len(found.found)} devices have what their files say"
        lost = f"{told}; {len(found.errors)} could not be looked at."
        typer.echo(lost if found.errors else f"Nothing to do: {told}.")
        show_besides(found)
        return
    if not brief:
        for name, look in changes.items():
            typer.echo(f"{name}:")
            for command in look.commands:
                typer.echo(f"  {'-' if command.startswith(('delete ', 'removed ')) else '+'} {command}")
            typer.echo("")
    show_besides(found)
    show_waves(found, effects, seen)
    figures = (
        ("sessions up", *seen.up),
        ("leaf to prefix pairs that arrive", *(f"{a} of {b}" for a, b in zip(seen.arriving, seen.pairs, strict=True))),
    )
    typer.echo(table("The fabric by its configurations", ("what", "now", "after"), figures), nl=False)


def show_besides(found: Prospect) -> None:
    """Print what acts on switches besides their files, after this push as well."""
    for name, look in found.looks.items():
        if look.besides:
            typer.echo(f"Besides its file, and left alone by a push, {name} has what changes the fabric:")
            typer.echo("".join(f"  ! {text}\n" for text in look.besides))


def show_waves(found: Prospect, effects: Mapping[str, Touched] | None = None, seen: Traffic | None = None) -> None:
    """Print the waves, with what they touch where that is known."""
    changes = found.changed
    rows = []
    for number, wave in enumerate(found.waves, 1):
        commands = sum(len(changes[name].commands) for name in wave.members if name in changes)
        row: list[object] = [number, wave.name, len(wave.members), commands]
        if effects is not None and seen is not None:
            touch = [effects[name] for name in wave.members if name in effects]
            row += [
                sum(len(one.sessions) for one in touch),
                ", ".join(sorted({color for one in touch for color in one.colors})) or "-",
                len({server for one in touch for server in one.servers}),
                _away(seen, wave.name),
            ]
        rows.append(row)
    more = ("sessions", "colors", "servers", "traffic while away") if effects is not None else ()
    typer.echo(table("Waves", ("wave", "what", "devices", "commands", *more), rows))


def _away(seen: Traffic, wave: str) -> str:
    if wave not in seen.waves:
        return "-"
    lost, load = seen.waves[wave]
    return f"{lost} pairs lost, links carry up to {load:.2f} times as much"
