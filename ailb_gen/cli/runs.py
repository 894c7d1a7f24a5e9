"""`ailb-gen runs`: who pushed what when, how each device ended, what a rollback undoes, and deleting old records."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.api.runs import runs_of
from ailb_gen.cli import options
from ailb_gen.cli.console import echo, echo_changes, echo_json, echo_table, echo_wrapped, notify
from ailb_gen.cli.deploy import RUN
from ailb_gen.cli.reports import check_place
from ailb_gen.cli.steady import ask
from ailb_gen.cli.verb import Verb, Verbs
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.paint import Style
from ailb_gen.wording import counted, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ailb_gen.deploy.recorded_changes import DeviceUndo
    from ailb_gen.deploy.run_history import StateDirectory
    from ailb_gen.deploy.run_pruning import Pruning
    from ailb_gen.deploy.run_summary import RunPart, RunSummary

app = typer.Typer(
    cls=Verbs, name="runs", help="List, show and delete the records of deploy and rollback.", no_args_is_help=True
)

LAST = Annotated[int, typer.Option("--last", min=1, help="List this many runs, the newest ones.")]
KEEP = Annotated[
    int | None, typer.Option("--keep", min=1, help="Keep this many runs, the newest ones.", metavar="NUMBER")
]
PAGE_FILE = Annotated[Path, options.output_option("report")]
COLUMNS = ("run", "began (UTC)", "by", "what", "approved", "state", "devices")
# Columns of the tables that have a style, and how states and outcomes look.
STATE, OUTCOME = 5, 1
STYLES = {
    "running": Style.WARN,
    "unsettled": Style.FAIL,
    "interrupted": Style.WARN,
    "unreadable": Style.FAIL,
    "done": Style.PASS,
    "incomplete": Style.WARN,
    "rolled back": Style.WARN,
    "confirmed": Style.PASS,
    "needs attention": Style.FAIL,
    "left as it is": Style.WARN,
}


@app.command("list", cls=Verb)
def list_(fabric: options.FABRIC, last: LAST = 20, state: options.STATE = None, as_json: options.JSON = False) -> None:
    """List the runs of a fabric, the newest first.

    Exit codes: 0 done, 2 bad input, 3 a record cannot be read; the others are listed.
    """
    from ailb_gen.deploy.run_json import list_json

    records = runs_of(fabric, state)
    found = records.newest(last)
    older = len(records.state.runs()) - len(found)
    if as_json:
        echo_json(list_json(str(records.state.path), found, max(0, older)))
    elif not found:
        typer.echo(f"{records.state.path}: no run is recorded here.")
    else:
        rows = [_row(one) for one in found]
        echo_table(
            f"Runs in {records.state.path}",
            COLUMNS,
            rows,
            lambda row, column: STYLES.get(rows[row][STATE]) if column == STATE else None,
        )
        if older > 0:
            verb = "is" if older == 1 else "are"
            typer.echo(f"{counted(older, 'older run')} {verb} not listed; --last {len(found) + older} lists all")
        _tell_maintenance(records.state)
    broken = [one.why for one in found if not one.parts and one.why]
    if broken:
        raise OutputError("\n".join(broken))


def _tell_maintenance(state: StateDirectory) -> None:
    """Say which devices a maintenance has out of service. Raises OutputError where its record cannot be read."""
    from ailb_gen.deploy.maintenance_record import maintenances, unfinished_one

    past = unfinished_one(maintenances(state))
    left = past.left() if past is not None else {}
    if past is not None and left:
        rows = ", ".join(f"{name} {text}" for name, text in left.items())
        echo(
            (
                f"maintenance {_short(past.name)}, {past.state}: {rows}; 'ailb-gen maintain --status' has more",
                Style.WARN,
            )
        )


def _row(one: RunSummary) -> tuple[str, ...]:
    first = one.parts[0] if one.parts else None
    began = _time(first.time)[:16] if first is not None else ""
    by = first.user if first is not None else ""
    what = f"{one.kind} of {_short(one.undoes)}" if one.undoes else one.kind
    return _short(one.run), began, by, what, one.approval, str(one.state), one.counts


def _short(run: str) -> str:
    """Return the number of a run, by which every command knows it; runs of older versions have none."""
    number = run.partition("-")[0]
    return number if number.isdecimal() and len(number) < len("20260101") else run


def _time(text: str) -> str:
    return text.replace("T", " ").partition(".")[0]


@app.command("show", cls=Verb)
def show(fabric: options.FABRIC, run: RUN = "", state: options.STATE = None, as_json: options.JSON = False) -> None:
    """Show who started a run and how, and how each device ended.

    Exit codes: 0 done, 2 bad input, 3 the record cannot be read.
    """
    from ailb_gen.deploy.run_json import show_json

    records = runs_of(fabric, state)
    name = records.find(run)
    one, changes = records.summary(name), records.changes(name)
    if as_json:
        echo_json(show_json(one, str(records.state.log(name)), changes))
        return
    echo_wrapped(*_head(one, str(records.state.log(name))))
    rows = []
    for device, end in one.devices.items():
        commands = f"{len(changes[device].commands):,}" if device in changes else "-"
        why = f"taken back by {_short(end.taken_back_by)}" if end.taken_back_by else end.reason
        rows.append((device, end.outcome, commands, why.removeprefix(f"{device}: ")))
    if rows:
        echo_table(
            "Devices",
            ("device", "outcome", "commands", "why"),
            rows,
            lambda row, column: STYLES.get(rows[row][OUTCOME]) if column == OUTCOME else None,
        )


def _head(one: RunSummary, record: str) -> Iterator[tuple[str, Style | None]]:
    """Yield what there is to know of a run beside its devices, as lines."""
    yield f"run {one.run}: {', '.join(filter(None, (one.kind, one.state)))}", Style.HEAD
    facts = [("rolls back", one.undoes), ("why", one.why)]
    for part in one.parts:
        facts += [(part.verb, _part(part)), ("host", part.host), ("command", shlex.join(part.command))]
    signed = f", signed by {one.plan['signer']}" if one.plan.get("signer") else ""
    facts.append(("plan", f"{one.plan['file']}{signed}" if one.plan.get("file") else ""))
    facts.append(("options", ", ".join(f"{key.replace('_', ' ')} {_value(one.options[key])}" for key in one.options)))
    facts += [("last event", f"{_time(one.ended)} UTC" if one.ended else ""), ("record", record)]
    for name, value in facts:
        if value:
            yield f"{name}: {value}", None


def _value(value: object) -> str:
    return " ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _part(part: RunPart) -> str:
    version = f", ailb-gen {part.version}" if part.version else ""
    approved = f", approved: {part.approved}" if part.approved else ""
    return f"{_time(part.time)} UTC by {part.user or 'unknown'}{version}{approved}"


@app.command("diff", cls=Verb)
def diff(fabric: options.FABRIC, run: RUN = "", state: options.STATE = None, as_json: options.JSON = False) -> None:
    """Show what rolling a run back undoes.

    By its record; no device is asked.

    Exit codes: 0 done, 2 bad input, 3 the record cannot be read.
    """
    from ailb_gen.deploy.run_json import diff_json

    records = runs_of(fabric, state)
    name = records.find(run)
    found = records.undo(name)
    if as_json:
        echo_json(diff_json(name, found))
        return
    if not found:
        typer.echo(f"run {name}: nothing is left that a rollback would undo.")
        return
    typer.echo(f"rolling back the run {name} undoes, by its record:")
    for devices, one in _alike(found):
        echo((f"{', '.join(devices)}:", Style.HEAD))
        echo_changes(f"  {line}" for line in _lines(one))


def _alike(found: Sequence[DeviceUndo]) -> Iterator[tuple[list[str], DeviceUndo]]:
    """Yield devices on which the same is undone, in the same way, with one of them."""
    alike: dict[tuple[object, ...], list[DeviceUndo]] = {}
    for one in found:
        alike.setdefault((one.end.outcome, one.blocked_by, one.lines), []).append(one)
    for same in alike.values():
        yield [one.device for one in same], same[0]


def _lines(one: DeviceUndo) -> Iterator[str]:
    if one.end.outcome != "confirmed":
        yield f"! {one.end.outcome}: it may have this change or not; a rollback makes sure that it has not"
    if one.blocked_by:
        yield f"! a rollback is refused here: the run {one.blocked_by} changed it later; roll that back first"
    yield from one.lines or ("! the commands are not in the record",)


@app.command("report", cls=Verb)
def report(fabric: options.FABRIC, output: PAGE_FILE, run: RUN = "", state: options.STATE = None) -> None:
    """Write the HTML report of a run again, from its record.

    It has outcomes, waves, commands and events. The picture, the impact and the configurations side by side are only in
    the report that the command itself writes.

    Exit codes: 0 done, 2 bad input, 3 the record cannot be read, or the report cannot be written.
    """
    from ailb_gen.api.inputs import load
    from ailb_gen.report.write import write

    records = runs_of(fabric, state)
    name = records.find(run)
    check_place("-o", output, [fabric, records.state.log(name)])
    if output.is_dir():
        raise UsageError(f"-o: {output} is a directory; name a file")
    write(output, records.page(name, load(fabric).fabric), private=True)
    notify(f"{output}: report of the run {name}")


@app.command("prune", cls=Verb)
def prune(
    fabric: options.FABRIC,
    keep: KEEP = None,
    older_than: Annotated[str, options.OLDER_THAN] = "",
    state: options.STATE = None,
    dry_run: options.DRY_RUN = False,
    yes: options.YES = False,
    as_json: options.JSON = False,
) -> None:
    """Delete the records of old runs.

    With --keep and --older-than, only those that both name.

    Never deleted: the newest run; runs that are going on, unsettled or interrupted; of each device the last deploy and
    the last rollback whose change is still there; rollbacks of such runs; records that cannot be read.

    Exit codes: 0 done, 2 bad input, 3 a record cannot be read or deleted.
    """
    from ailb_gen.deploy.run_json import prune_json
    from ailb_gen.deploy.run_pruning import PruneRule
    from ailb_gen.deploy.run_pruning import prune as delete

    rule = PruneRule(keep, options.age_s(older_than) if older_than else None)
    records = runs_of(fabric, state)
    if not records.state.path.is_dir():
        raise UsageError(f"{records.state.path}: no run is recorded here; check --state")
    with records.pruning(rule) as found:
        if not as_json:
            _show_pruning(found)
        deleted: list[str] = []
        if found.deleted and not dry_run and _approved(found, yes, as_json):
            deleted = list(delete(records.state, found))
        if as_json:
            echo_json(prune_json(str(records.state.path), found, deleted))
        elif deleted:
            typer.echo(f"{counted(len(deleted), 'run')} deleted.")


def _show_pruning(found: Pruning) -> None:
    if found.kept:
        rows = [(_short(one.run), reason) for one, reason in found.kept]
        echo_table("Kept, although the rule names them", ("run", "why"), rows)
    if not found.deleted:
        typer.echo("No run is to be deleted.")
        return
    echo_table(
        f"To be deleted, {found.bytes / 1e6:,.1f} MB",
        COLUMNS,
        [_row(one) for one in found.deleted],
    )


def _approved(found: Pruning, yes: bool, as_json: bool) -> bool:
    """Ask a person at a terminal. Raises UsageError without one."""
    if yes:
        return True
    if as_json or not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation here; look with --dry-run, then use --yes")
    return ask(f"Delete {some(_short(one.run) for one in found.deleted)}?")
