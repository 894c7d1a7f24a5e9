"""Records of runs, written line by line."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from ailb_gen.deploy.push import RunLog
from ailb_gen.deploy.run_history import Event, StateDirectory


def record(state: StateDirectory, run: str, *events: Event) -> None:
    """Record events of a run; those that have a time keep it."""
    with closing(RunLog(state, run, str)) as log:
        for event in events:
            fields: dict[str, Any] = {**event}
            log.write(fields.pop("event"), **fields)


def begun(*devices: str, undoes: str = "", dry: bool = False) -> Event:
    """The head of a record: a deploy, or the rollback of another run."""
    kind = {"kind": "rollback", "undoes": undoes} if undoes else {"kind": "deploy"}
    return {"event": "begin", **kind, "digests": dict.fromkeys(devices, "d"), "options": {"dry_run": dry}}


def wave(*devices: str) -> Event:
    """The begin of a wave."""
    return {"event": "wave", "wave": "w", "devices": list(devices)}


def results(**outcomes: str) -> Event:
    """The end of a wave."""
    return {"event": "results", "wave": "w", "devices": {name: [one, ""] for name, one in outcomes.items()}}
