"""The report of a run from its record alone, at any time later."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from ailb_gen.deploy.recorded_changes import RecordedChange, recorded_changes
from ailb_gen.deploy.report.pages import AlikeDevices, Ending, PageSubject, alike_section, run_page
from ailb_gen.deploy.report.trace import trace_of
from ailb_gen.deploy.run_history import RecordedRun, StateDirectory
from ailb_gen.deploy.run_summary import RunSummary, refused
from ailb_gen.deploy.servers.files import FileChange
from ailb_gen.deploy.side_by_side import SideBySideRow
from ailb_gen.intent.models import Fabric
from ailb_gen.wording import clean

# Of the recorded commands: what takes something away, statements of switches and files of servers.
TAKES = ("delete", FileChange.REMOVED)


def recorded_page(state: StateDirectory, summary: RunSummary, intent: Fabric) -> str:
    """Return the report of a run: its outcomes, waves, commands and record. Raises OutputError.

    The picture, the impact and the configurations beside each other are not in the record.
    """
    past = RecordedRun(summary.run, state.events(summary.run))
    changes = recorded_changes(state, past.run)
    first = summary.parts[0] if summary.parts else None
    facts = (
        ("Command", shlex.join(first.command) if first is not None else ""),
        ("User", "@".join(filter(None, (first.user, first.host))) if first is not None else ""),
        ("State", str(summary.state)),
    )
    subject = PageSubject(intent, f"run {past.run}", facts, str)
    section = alike_section(_alike(changes), len(changes)) if changes else None
    ending = Ending(refused(past), summary.why)
    return run_page(subject, trace_of(past), str(Path(state.log(past.run))), ending, None, None, section)


def _alike(changes: Mapping[str, RecordedChange]) -> Iterator[AlikeDevices]:
    """Yield the devices with the same commands, as rows of what comes (right) and what goes (left)."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, change in changes.items():
        found.setdefault(change.commands, []).append(name)
    for commands, names in found.items():
        rows = tuple(_row(command) for command in commands)
        removed = sum(row.kind == "-" for row in rows)
        server = not any(command.startswith(("set ", "delete ")) for command in commands)
        yield AlikeDevices(tuple(names), rows, len(rows) - removed, removed, server)


def _row(command: str) -> SideBySideRow:
    takes = command.partition(" ")[0] in TAKES
    return SideBySideRow("-" if takes else "+", 0, clean(command) if takes else "", "" if takes else clean(command))
