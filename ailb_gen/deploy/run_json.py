"""Recorded runs for programs, in the form of `docs/runs.schema.json`."""

from collections.abc import Sequence
from typing import Any

from ailb_gen.deploy.recorded_changes import DeviceUndo, RecordedChange
from ailb_gen.deploy.run_pruning import Pruning
from ailb_gen.deploy.run_summary import RunPart, RunSummary

# The version of the schema.
VERSION = 1


def list_json(directory: str, runs: Sequence[RunSummary], older: int) -> dict[str, Any]:
    """Return a list of runs, the newest first; `older` is how many were left out."""
    return {"version": VERSION, "directory": directory, "runs": [run_json(one) for one in runs], "older": older}


def show_json(one: RunSummary, record: str, changes: dict[str, RecordedChange]) -> dict[str, Any]:
    """Return a run with the commands of every device; `record` is the file of its record."""
    commands = {name: list(change.commands) for name, change in changes.items()}
    return {"version": VERSION, "record": record, **run_json(one), "commands": commands}


def diff_json(run: str, undo: Sequence[DeviceUndo]) -> dict[str, Any]:
    """Return what rolling a run back undoes."""
    devices = {
        one.device: {"outcome": one.end.outcome, "lines": list(one.lines), "blocked_by": one.blocked_by} for one in undo
    }
    return {"version": VERSION, "run": run, "devices": devices}


def prune_json(directory: str, found: Pruning, deleted: Sequence[str]) -> dict[str, Any]:
    """Return which runs a rule names, and those of them that were deleted."""
    return {
        "version": VERSION,
        "directory": directory,
        "would_delete": [one.run for one in found.deleted],
        "bytes": found.bytes,
        "kept": {one.run: reason for one, reason in found.kept},
        "deleted": list(deleted),
    }


def run_json(one: RunSummary) -> dict[str, Any]:
    """Return a run."""
    devices = {
        name: {"outcome": end.outcome, "reason": end.reason, "taken_back_by": end.taken_back_by}
        for name, end in one.devices.items()
    }
    return {
        "run": one.run,
        "state": str(one.state),
        "kind": one.kind,
        "undoes": one.undoes,
        "parts": list(map(_part, one.parts)),
        "ended": one.ended,
        "plan": dict(one.plan),
        "options": dict(one.options),
        "devices": devices,
        "why": one.why,
    }


def _part(part: RunPart) -> dict[str, Any]:
    texts = {key: getattr(part, key) for key in ("verb", "time", "user", "host", "version", "approved")}
    return {**texts, "command": list(part.command)}
