"""`ailb-gen plan`: read the switches, show what a push would do, and write it down for approval."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import fleet, options
from ailb_gen.cli.console import echo, echo_changes, echo_table, prose_width, report
from ailb_gen.cli.live import progress
from ailb_gen.cli.reports import check_place, page_files, subject_of, write_page
from ailb_gen.cli.steady import steady
from ailb_gen.cli.verb import Verb
from ailb_gen.errors import AilbError, ExitCode, OutputError
from ailb_gen.paint import Style
from ailb_gen.selection import limit_without
from ailb_gen.wording import counted, some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ailb_gen.api.connect import Connection
    from ailb_gen.deploy.device_diff import Edit, ServerDiff, SwitchDiff
    from ailb_gen.deploy.impact import PushImpact
    from ailb_gen.deploy.planning import Plan

# As Terraform's -detailed-exitcode has it.
CHANGES = 2


class Detailed(Verb):
    """A command whose exit code shows findings with `--exit-code`: a wrong option must not look like one."""

    def refused(self, args: list[str], error: Exception) -> None:
        """Give what is wrong with the arguments the exit code of bad input."""
        # And so it is with Click's errors.
        if "--exit-code" in args and getattr(error, "exit_code", 0) == CHANGES:
            vars(error)["exit_code"] = int(ExitCode.FINDINGS)


@steady()
def plan(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    inventory: options.INVENTORY = None,
    out: Annotated[Path | None, options.output_option("plan", "FILE", "--out")] = None,
    limit: options.LIMIT = None,
    min_paths: options.MIN_PATHS = 1,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    accept_new_hostkeys: options.ACCEPT = False,
    brief: Annotated[bool, typer.Option("--brief", help="Count statements instead of showing them.")] = False,
    as_json: options.JSON = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 0 for no differences, 2 for differences, 1 for bad input.")
    ] = False,
    allow_unverified: options.UNVERIFIED = False,
    reports: options.PAGES = None,
) -> None:
    """Show what a push would change; change nothing.

    Lists every statement, the order of the waves, and what they touch. A plan in a file is for 'deploy --plan'.

    Exit codes: 0 done, 2 bad input, 3 a device that would change cannot be read. With --exit-code: 0 nothing to do, 2
    changes or unmanaged statements that affect the fabric, 1 bad input, 3 as without --exit-code.
    """
    place = fleet.FabricArguments(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys)
    try:
        if out is not None:
            check_place("-o", out, place.inputs)
        pages = page_files(reports, [*place.inputs, out])
        with place.connect(limit, fleet.trust(allow_unverified)) as connection:
            on = connection.context
            found, trouble = _plan(connection, place, min_paths, brief, as_json, out, tuple(limit or ()), pages)
            lost = sorted(found.errors.keys() & on.picked)
            picked = on.picked
            signed = on.inventory.allowed_signers is not None
            different = bool(found.changed) or not on.picked.isdisjoint(found.affected)
    except AilbError as error:
        if not exit_code:
            raise
        # Otherwise bad input would look like changes.
        report(error)
        code = ExitCode.FINDINGS if error.exit_code is ExitCode.BAD_INPUT else error.exit_code
        raise typer.Exit(code) from error
    if out is not None:
        command = place.command("deploy", *["--allow-unverified"] * allow_unverified, "--plan", str(out))
        lines = _unread(out, lost, picked) if lost else [*_to_sign(out, signed), f"Plan written to {out}: {command}"]
        typer.echo("\n".join([*([] if as_json else [""]), *lines]), err=as_json)
    fleet.say_errors(found.errors, picked)
    if trouble:
        raise OutputError(trouble)
    if lost:
        raise typer.Exit(ExitCode.ENVIRONMENT)
    if exit_code and different:
        raise typer.Exit(CHANGES)


def _unread(out: Path, lost: Sequence[str], picked: Collection[str]) -> list[str]:
    """Return what became of a plan while devices cannot be read, and what to do about it."""
    if len(lost) == len(picked):
        return ["No plan was written: no device could be read."]
    hint = f"plan again once they can, or leave them out with {limit_without(lost)}"
    return [f"Plan written to {out} without {counted(len(lost), 'device')} that cannot be read; {hint}"]


def _to_sign(out: Path, signed: bool) -> list[str]:
    """Return the line that says how an approver signs a plan, where a push requires that."""
    from ailb_gen.deploy.approval import HOW

    return [f"A push needs the signature of an approver; {HOW} {out}"] if signed else []


def _plan(
    connection: Connection,
    place: fleet.FabricArguments,
    min_paths: int,
    brief: bool,
    as_json: bool,
    out: Path | None,
    limit: tuple[str, ...],
    pages: Sequence[Path],
) -> tuple[Plan, str]:
    """Plan, show the plan, and write it to files if any are given; return what kept a page from being written."""
    found = connection.plan(min_paths=min_paths, side_by_side=bool(pages), progress=progress)
    if not found.changed and not as_json and out is None and not pages:
        _show_nothing_to_do(found)
        return found, ""
    # Imported when it is needed: it brings all that computes traffic.
    from ailb_gen.deploy.plan_file import plan_json
    from ailb_gen.deploy.report.pages import plan_page

    impact = connection.impact(found)
    if as_json:
        typer.echo(plan_json(found, impact))
    else:
        show(found, impact, brief)
    on = connection.context
    if out is not None and not found.errors.keys() >= on.picked:
        connection.write_plan(found, out, limit=limit, min_paths=min_paths, impact=impact)
    trouble = write_page(pages, lambda: plan_page(subject_of(place, on, "plan"), found, impact)) if pages else ""
    return found, trouble


def _show_nothing_to_do(found: Plan) -> None:
    matching = (
        "1 device matches its file" if len(found.devices) == 1 else f"{len(found.devices):,} devices match their files"
    )
    if found.errors:
        typer.echo(f"{matching}; {len(found.errors)} could not be read.")
    elif found.affected:
        typer.echo(f"Nothing to push: {matching}. Unmanaged statements of {some(found.affected)} affect the fabric:")
    else:
        typer.echo(f"Nothing to do: {matching}.")
    show_unmanaged(found)


def show(found: Plan, impact: PushImpact, brief: bool) -> None:
    """Print a plan: every change, the waves, what is touched and what traffic sees."""
    if not found.changed:
        _show_nothing_to_do(found)
        return
    if not brief:
        for name, look in found.changed.items():
            echo((f"{name}:", Style.HEAD))
            echo_changes(f"  {line}" for line in _lines(look))
            typer.echo("")
    show_unmanaged(found)
    show_changes(found)
    show_waves(found, impact)
    traffic = impact.traffic
    pairs = (f"{some:,} of {all_:,}" for some, all_ in zip(traffic.arriving, traffic.pairs, strict=True))
    figures = (("sessions up", *(f"{count:,}" for count in traffic.up)), ("reachable leaf-prefix pairs", *pairs))
    worse = (traffic.up[1] < traffic.up[0], traffic.arriving[1] < traffic.arriving[0])
    echo_table(
        "The fabric, computed from the configurations",
        ("item", "now", "after"),
        figures,
        lambda row, column: Style.FAIL if column == AFTER and worse[row] else None,
    )


def _lines(look: SwitchDiff | ServerDiff) -> Iterator[str]:
    """Yield the changes of a device line by line."""
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
# The column of a table.
AFTER = 2


def show_changes(found: Plan) -> None:
    """Print how many statements come and go on each switch, and apart what goes that was never this program's."""
    counts = {name: look.counts for name, look in found.changed_switches.items()}
    if counts:
        echo(("Changes: statements added and removed", Style.HEAD))
        for name, (added, removed) in list(counts.items())[:LISTED]:
            typer.echo(f"  {name} +{added:,} -{removed:,}")
        if len(counts) > LISTED:
            typer.echo(f"  and {counted(len(counts) - LISTED, 'more switch')}")
        added, removed = (sum(row[at] for row in counts.values()) for at in (0, 1))
        typer.echo(f"  {counted(len(counts), 'switch')} +{added:,} -{removed:,}\n")
    for name, look in found.changed_switches.items():
        if look.foreign:
            typer.echo(f"{name} has no commit by this program, and would lose statements that others configured:")
            for edit in look.foreign:
                typer.echo(f"  - {edit.statement}{_holding(edit)}")
            typer.echo("")


def _holding(edit: Edit) -> str:
    return f" ({len(edit.held)} statements)" if len(edit.held) > 1 else ""


def show_unmanaged(found: Plan) -> None:
    """Print the unmanaged statements of switches that a push leaves alone, and what may shut out the next one."""
    for look in found.switches.values():
        if look.unmanaged or look.warnings:
            typer.echo("".join(f"{line}\n" for line in look.notices))


def show_waves(found: Plan, impact: PushImpact | None = None) -> None:
    """Print the waves, with what they touch where that is known."""
    changes = found.changed
    rows = []
    for number, wave in enumerate(found.waves, 1):
        commands = sum(len(changes[name].commands) for name in wave.devices)
        touched = _touched(impact, wave.devices) if impact is not None else ()
        rows.append([number, wave.name, f"{len(wave.devices):,}", f"{commands:,}", *touched])
    more = ("sessions", "colors", "servers") if impact is not None else ()
    echo_table("Waves", ("wave", "name", "devices", "commands", *more), rows)
    if impact is not None:
        echo(*_while_away(impact, [wave.name for wave in found.waves]))
    if found.cut:
        cut = dict(found.cut)
        which = _numbered([str(number) for number, wave in enumerate(found.waves, 1) if wave.name in cut])
        one, other = found.cut[0][1]
        text = f"after {which}: no path between {one} and {other}: the old and the new configuration are not compatible"
        echo(*((line, Style.FAIL) for line in fill(text, prose_width()).split("\n")))
    typer.echo("")


def _numbered(numbers: Sequence[str]) -> str:
    return f"waves {', '.join(numbers)}" if len(numbers) > 1 else f"wave {numbers[0]}"


def _touched(impact: PushImpact, names: Iterable[str]) -> tuple[object, ...]:
    """Return how many sessions, which colors and how many servers a wave touches."""
    touched = [impact.devices[name] for name in names if name in impact.devices]
    every = {color for one in impact.devices.values() for color in one.colors}
    colors = {color for one in touched for color in one.colors}
    words = f"all {len(every)}" if colors == every and len(every) > 1 else ", ".join(sorted(colors)) or "-"
    sessions = sum(len(one.sessions) for one in touched)
    return f"{sessions:,}", words, f"{len({server for one in touched for server in one.servers}):,}"


def _while_away(impact: PushImpact, waves: Sequence[str]) -> Iterator[tuple[str, Style | None]]:
    """Yield the lines that say what traffic sees while spines are away, once for all waves with the same."""
    seen: dict[tuple[str, Style | None], list[str]] = {}
    for number, wave in enumerate(waves, 1):
        if wave in impact.traffic.waves:
            lost, load = impact.traffic.waves[wave]
            text = f"{counted(lost, 'pair')} lost, load of links up to {load:.2f} times as high"
            seen.setdefault((text, Style.FAIL if lost else None), []).append(str(number))
    for (text, style), numbers in seen.items():
        lines = fill(f"traffic while the spines of {_numbered(numbers)} are away: {text}", prose_width()).split("\n")
        yield from ((line, style) for line in lines)
