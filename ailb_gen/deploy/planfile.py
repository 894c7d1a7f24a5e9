"""A plan as JSON: for other programs, and on disk for approval, where a push checks that it still holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ailb_gen import __version__
from ailb_gen.atomic import replace_file
from ailb_gen.deploy.edits import Edit
from ailb_gen.deploy.impact import Impact
from ailb_gen.deploy.inputs import Inputs
from ailb_gen.deploy.planning import HostLook, Look, Plan
from ailb_gen.deploy.wave_order import Wave
from ailb_gen.errors import OutputError, UsageError

# Of the file, and of what other programs get.
FORMAT, JSON_FORMAT = 2, 1


@dataclass(frozen=True, slots=True)
class ApprovedPlan:
    """Data that must not change between plan and push: inputs, configurations and changes of devices, waves.

    `changes` are the digests of what is changed on every device; `version` is that of the program, `digest` identifies
    the file.
    """

    limit: tuple[str, ...]
    min_paths: int
    inputs: str
    fingerprints: Mapping[str, str]
    changes: Mapping[str, str]
    waves: tuple[Wave, ...]
    version: str
    digest: str


def plan_text(inputs: Inputs, plan: Plan, limit: tuple[str, ...], min_paths: int, impact: Impact) -> str:
    """Return a plan for approval as JSON; secrets are replaced, and `change` is the digest of the real commands."""
    traffic = impact.traffic
    body = {
        "format": FORMAT,
        "version": __version__,
        "limit": list(limit),
        "min_paths": min_paths,
        "inputs": inputs.digest,
        "waves": [[wave.name, list(wave.devices)] for wave in plan.waves],
        "traffic": {
            "arriving": list(traffic.arriving),
            "pairs": list(traffic.pairs),
            "sessions": list(traffic.up),
            "waves": {name: list(row) for name, row in traffic.waves.items()},
        },
        "devices": {
            name: {
                "fingerprint": look.fingerprint,
                "change": look.digest,
                "commands": list(look.commands),
                **_touched(impact, name),
            }
            for name, look in plan.changed.items()
        },
    }
    return _json(body) + "\n"


def plan_json(plan: Plan, impact: Impact) -> str:
    """Return a plan as JSON for other programs, as `docs/deploy.md` describes it; secrets are replaced."""
    traffic, times = impact.traffic, ("now", "after")
    body = {
        "format": JSON_FORMAT,
        "changes": bool(plan.changed),
        "devices": {
            name: _device(look) | _touched(impact, name)
            for name, look in plan.found.items()
            if name in plan.changed or (isinstance(look, Look) and look.besides)
        },
        "unchanged": [name for name in plan.found if name not in plan.changed],
        "errors": {name: str(error) for name, error in plan.errors.items()},
        "waves": [{"name": wave.name, "devices": list(wave.devices)} for wave in plan.waves],
        "traffic": {
            "pairs_arriving": dict(zip(times, traffic.arriving, strict=True)),
            "pairs": dict(zip(times, traffic.pairs, strict=True)),
            "sessions_up": dict(zip(times, traffic.up, strict=True)),
            "waves": {name: {"pairs_lost": lost, "highest_load": load} for name, (lost, load) in traffic.waves.items()},
        },
    }
    return _json(body)


def _json(body: Mapping[str, object]) -> str:
    return json.dumps(body, indent=1, ensure_ascii=False)


def _device(look: Look | HostLook) -> dict[str, Any]:
    if isinstance(look, HostLook):
        return {"kind": "server", "commands": list(look.commands)}
    added, removed = look.counts
    return {
        "kind": "switch",
        "commands": list(look.commands),
        "added": added,
        "removed": removed,
        "edits": [_edit(edit) for edit in look.edits],
        "foreign_deletes": [edit.statement for edit in look.foreign],
        "besides": list(look.besides),
    }


def _edit(edit: Edit) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": edit.kind, "statement": edit.statement}
    if edit.kind == "replace":
        row |= {"old": edit.old, "new": edit.new}
    if edit.kind == "remove":
        row["held"] = list(edit.held)
    return row


def _touched(impact: Impact, name: str) -> dict[str, list[str]]:
    touched = impact.devices.get(name)
    return {key: list(getattr(touched, key)) for key in ("sessions", "colors", "servers")} if touched else {}


def write_plan(path: Path, text: str) -> None:
    """Write a plan in one step, readable by its owner only. Raises OutputError."""
    try:
        replace_file(path, text.encode(), 0o600)
    except OSError as error:
        raise OutputError(f"{path}: the plan cannot be written: {error.strerror}") from error


def read_plan(path: Path) -> ApprovedPlan:
    """Read a plan. Raises UsageError."""
    try:
        data = path.read_bytes()
        body: dict[str, Any] = json.loads(data.decode())
        if body["format"] != FORMAT:
            raise UsageError(f"{path}: a plan of another version of this program; plan again")
        return ApprovedPlan(
            tuple(map(str, body["limit"])),
            int(body["min_paths"]),
            str(body["inputs"]),
            {str(name): str(row["fingerprint"]) for name, row in body["devices"].items()},
            {str(name): str(row["change"]) for name, row in body["devices"].items()},
            tuple(Wave(str(name), tuple(map(str, names))) for name, names in body["waves"]),
            str(body["version"]),
            sha256(data).hexdigest(),
        )
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; 'ailb-gen plan -o FILE' writes a plan") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}: not a plan; 'ailb-gen plan -o FILE' writes one") from error


def _cause(plan: ApprovedPlan) -> str:
    """Return what makes another change of the same files and the same configuration."""
    if plan.version != __version__:
        return f"it was planned with version {plan.version} of this program, this is {__version__}"
    return "'own' or 'keep' in the inventory has changed"


def check_plan(approved: ApprovedPlan, inputs: Inputs, plan: Plan) -> None:
    """Make sure that everything is as it was planned. Raises UsageError with everything that is not."""
    wrong = []
    if approved.inputs != inputs.digest:
        wrong.append("the fabric file or the generated files have changed")
    for name, fingerprint in approved.fingerprints.items():
        found = plan.found.get(name)
        if found is None:
            wrong.append(f"{name} cannot be reached any more: {plan.errors.get(name, 'it is not managed')}")
        elif found.fingerprint != fingerprint:
            wrong.append(f"the configuration of {name} has changed")
        elif found.digest != approved.changes[name] and approved.inputs == inputs.digest:
            wrong.append(f"what would be changed on {name} is not what was planned: {_cause(approved)}")
    wrong += [
        f"{name} is to be changed now, and was not when it was planned"
        for name in plan.changed
        if name not in approved.fingerprints
    ]
    if not wrong and approved.waves != plan.waves:
        wrong.append("the order of the devices has changed, because other sessions are up now")
    if wrong:
        raise UsageError("\n".join(["the plan does not hold any more, plan again:", *(f"  {text}" for text in wrong)]))
