"""A plan as JSON for other programs; `docs/deploy.md` says what is in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ailb_gen.deploy.planning import Look

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ailb_gen.deploy.edits import Edit
    from ailb_gen.deploy.impact import Touched, Traffic
    from ailb_gen.deploy.planning import HostLook, Plan

FORMAT = 1


def plan_json(found: Plan, effects: Mapping[str, Touched], traffic: Traffic) -> str:
    """Return what a push would do; secrets are replaced."""
    body = {
        "format": FORMAT,
        "changes": bool(found.changed),
        "devices": {
            name: _device(look, effects.get(name))
            for name, look in found.found.items()
            if name in found.changed or (isinstance(look, Look) and look.besides)
        },
        "unchanged": [name for name in found.found if name not in found.changed],
        "errors": {name: str(error) for name, error in found.errors.items()},
        "waves": [{"name": wave.name, "devices": list(wave.members)} for wave in found.waves],
        "traffic": {
            "pairs_arriving": dict(zip(("now", "after"), traffic.arriving, strict=True)),
            "pairs": dict(zip(("now", "after"), traffic.pairs, strict=True)),
            "sessions_up": dict(zip(("now", "after"), traffic.up, strict=True)),
            "waves": {name: {"pairs_lost": lost, "highest_load": load} for name, (lost, load) in traffic.waves.items()},
        },
    }
    return json.dumps(body, indent=1, ensure_ascii=False)


def _device(look: Look | HostLook, touched: Touched | None) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": "switch" if isinstance(look, Look) else "server", "commands": list(look.commands)}
    if isinstance(look, Look):
        added, removed = look.counts
        row |= {
            "added": added,
            "removed": removed,
            "edits": [_edit(edit) for edit in look.edits],
            "foreign_deletes": [edit.statement for edit in look.foreign],
            "besides": list(look.besides),
        }
    if touched is not None:
        row |= {key: list(getattr(touched, key)) for key in ("sessions", "colors", "servers")}
    return row


def _edit(edit: Edit) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": edit.kind, "statement": edit.statement}
    if edit.kind == "replace":
        row |= {"old": edit.old, "new": edit.new}
    if edit.kind == "remove":
        row["held"] = list(edit.held)
    return row
