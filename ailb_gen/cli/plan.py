"""`ailb-gen plan`: look at the switches, show what a push would do, and write it down for approval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

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
from ailb_gen.errors import AilbError, ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ailb_gen.deploy.edits import Edit
    from ailb_gen.deploy.fleet import Access
    from ailb_gen.deploy.impact import Touched, Traffic
    from ailb_gen.deploy.planning import HostLook, Look, Plan

MIN_PATHS = Annotated[
    int, typer.Option("--min-paths", min=0, help="Paths that any two leaves keep while spines are changed.")
]


# As Terraform's -detailed-exitcode has it.
CHANGES = 2


class Detailed(TyperCommand):
    """A command that says with `--exit-code` what it found: a wrong option must not look like a finding."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - which module has it depends on Typer
        """Parse the arguments; what is wrong with them leaves with the exit code of bad input."""
        detailed = "--exit-code" in args
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # And so it is with Click's errors.
            if detailed and getattr(error, "exit_code", 0) == CHANGES:
                vars(error)["exit_code"] = int(ExitCode.FINDINGS)
            raise


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
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Leave with 0 for nothing to do, 2 for changes, 1 for bad input.")
    ] = False,
    allow_unverified: UNVERIFIED = False,
) -> None:
    """Show what a push would change, in which order, and what it touches; nothing is changed.

    Exit codes: 0 done, 2 bad input, 3 a device that is to be changed cannot be looked at. With --exit-code: 0 nothing
    to do, 2 changes, 1 bad input, 3 as ever.
    """
    from ailb_gen.cli import report

    try:
        reach = access(driver, jobs, accept_new_hostkeys)
        changed = _plan(
            fabric, artifacts, inventory, out, limit or [], min_paths, reach, allow_unverified, brief, as_json
        )
    except AilbError as error:
        if not exit_code:
            raise
        # Otherwise bad input would look like changes.
        report(error)
        code = ExitCode.FINDINGS if error.exit_code is ExitCode.BAD_INPUT else error.exit_code
        raise typer.Exit(code) from error
    if exit_code and changed:
        raise typer.Exit(CHANGES)


def _plan(
    fabric: Path,
    artifacts: Path,
    inventory: Path | None,
    out: Path | None,
    limit: list[str],
    min_paths: int,
    reach: Access,
    allow_unverified: bool,
    brief: bool,
    as_json: bool,
) -> bool:
    """Plan and show it; tell whether there is anything to change. Leaves with 3 where a device cannot be looked at."""
    from ailb_gen.deploy.context import open_context
    from ailb_gen.deploy.impact import touched, traffic
    from ailb_gen.deploy.planfile import plan_text, write_plan
    from ailb_gen.deploy.planview import plan_json
    from ailb_gen.deploy.switch import once

    with open_context(fabric_file(fabric), artifacts, inventory, limit, reach, trust(allow_unverified)) as on:
        with progress("looking", len(on.roles)) as advance:
            found = on.plan_of(on.file_aim, min_paths, advance, besides=True)
        after = found.fabric_model.after({name: look.after for name, look in found.changes.items()})
        effects = {name: touched(after, look) for name, look in found.changes.items()}
        seen = traffic(
            found.fabric_model, after, found.waves, any(one.sessions or one.colors for one in effects.values())
        )
        if as_json:
            typer.echo(plan_json(found, effects, seen))
        else:
            show(found, effects, seen, brief)
        if out is not None:
            write_plan(out, plan_text(on.inputs, found, tuple(limit), min_paths, effects, seen))
            where = f" -i {inventory}" if inventory is not None else ""
            where += " --allow-unverified" if allow_unverified else ""
            told = f"Plan written to {out}: ailb-gen deploy {fabric} {artifacts}{where} --plan {out}"
            typer.echo(told if as_json else f"\n{told}", err=as_json)
        for error in once(found.errors.values()):
            typer.echo(f"ailb-gen: {error}", err=True)
        if any(name in on.picked for name in found.errors):
            raise typer.Exit(ExitCode.ENVIRONMENT)
        return bool(found.changed)


def show(found: Plan, effects: Mapping[str, Touched], seen: Traffic, brief: bool) -> None:
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
            typer.echo("".join(f"  {line}\n" for line in _told(look)))
    show_besides(found)
    show_changes(found)
    show_waves(found, effects, seen)
    figures = (
        ("sessions up", *seen.up),
        ("leaf to prefix pairs that arrive", *(f"{a} of {b}" for a, b in zip(seen.arriving, seen.pairs, strict=True))),
    )
    typer.echo(table("The fabric by its configurations", ("what", "now", "after"), figures), nl=False)


def _told(look: Look | HostLook) -> Iterator[str]:
    """Tell the changes of a device line by line."""
    edits = getattr(look, "edits", ())
    if not edits:
        for command in look.commands:
            yield f"{'-' if command.startswith(('delete ', 'removed ')) else '+'} {command}"
    for edit in edits:
        if edit.kind == "add":
            yield f"+ set {edit.statement}"
        elif edit.kind == "replace":
            yield f"~ {edit.statement}: {edit.old} → {edit.new}"
        elif edit.kind == "remove":
            yield f"- delete {edit.statement}"
            yield from (f"    - {line}" for line in edit.held if line != edit.statement)
        else:
            yield f"~ {edit.statement}"


# More devices are not listed one by one.
LISTED = 40


def show_changes(found: Plan) -> None:
    """Print how many statements come and go on each switch, and apart what goes that was never this program's."""
    counts = {name: look.counts for name, look in found.changes.items()}
    if counts:
        typer.echo("Changes: statements that come and go")
        for name, (added, removed) in list(counts.items())[:LISTED]:
            typer.echo(f"  {name} +{added} -{removed}")
        if len(counts) > LISTED:
            typer.echo(f"  and {len(counts) - LISTED} switches more")
        added, removed = (sum(row[at] for row in counts.values()) for at in (0, 1))
        typer.echo(f"  {len(counts)} switches +{added} -{removed}\n")
    for name, look in found.changes.items():
        if look.foreign:
            typer.echo(f"{name} has no commit of this program, and would lose what somebody else configured:")
            for edit in look.foreign:
                typer.echo(f"  - {edit.statement}{_holding(edit)}")
            typer.echo("")


def _holding(edit: Edit) -> str:
    return f" ({len(edit.held)} statements)" if len(edit.held) > 1 else ""


def refuse_foreign(found: Plan) -> None:
    """Refuse to delete what was never this program's. Raises UsageError."""
    wrong = [f"  {name}: {edit.statement}" for name, look in found.changes.items() for edit in look.foreign]
    if wrong:
        more = [f"  and {len(wrong) - LISTED} more"] if len(wrong) > LISTED else []
        raise UsageError(
            "\n".join(
                [
                    "nothing was changed: a first push would delete what somebody else configured:",
                    *wrong[:LISTED],
                    *more,
                    "name it under 'keep' in the inventory to leave it, or give --allow-foreign-deletes",
                ]
            )
        )


def show_besides(found: Plan) -> None:
    """Print what acts on switches besides their files, after this push as well."""
    for look in found.looks.values():
        if look.besides:
            typer.echo("".join(f"{line}\n" for line in look.told_besides))


def show_waves(found: Plan, effects: Mapping[str, Touched] | None = None, seen: Traffic | None = None) -> None:
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
