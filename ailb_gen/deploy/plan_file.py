"""A plan as JSON: for other programs, and on disk for approval, where a push checks that it still holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ailb_gen.atomic import replace_file
from ailb_gen.deploy.artifacts import Inputs
from ailb_gen.deploy.device_diff import ServerDiff, SwitchDiff, edit_row
from ailb_gen.deploy.impact import PushImpact, SwitchImpact
from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.errors import OutputError, PlanError
from ailb_gen.version import __version__
from ailb_gen.wording import among

# Of the file, and of what other programs get.
FORMAT, JSON_FORMAT = 3, 1
# The keys of the file that hold digests of the rest: one for each part, one for all.
PARTS, WHOLE = "digests", "digest"
# More parts of a plan that was edited are counted.
SHOWN = 9
# Older programs may have shown the same.
FREE = "version"


@dataclass(frozen=True, slots=True)
class ApprovedPlan:
    """Data that must not change between plan and push: inputs, configurations and changes of devices, waves.

    `changes` are the digests of what is changed on every device, `parts` those of everything that the file shows;
    `version` is that of the program, `digest` identifies the file, `content` is all of it.
    """

    limit: tuple[str, ...]
    min_paths: int
    inputs: str
    fingerprints: Mapping[str, str]
    changes: Mapping[str, str]
    waves: tuple[Wave, ...]
    version: str
    digest: str
    parts: Mapping[str, str]
    content: bytes
    file: Path


def plan_text(inputs: Inputs, plan: Plan, limit: Sequence[str], min_paths: int, impact: PushImpact) -> str:
    """Return a plan for approval as JSON, bound to what it shows by digests of every part and of all.

    Secrets are replaced; `change` is the digest of the real commands.
    """
    body = _body(inputs, plan, limit, min_paths, impact)
    whole = body | {PARTS: _parts(body)}
    return _json(whole | {WHOLE: _digest(whole)}) + "\n"


def _body(inputs: Inputs, plan: Plan, limit: Sequence[str], min_paths: int, impact: PushImpact) -> dict[str, Any]:
    traffic = impact.traffic
    return {
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
            # Rounded: two computations may differ in the last digit.
            "waves": {name: [lost, round(load, 3)] for name, (lost, load) in traffic.waves.items()},
        },
        "devices": {
            name: {
                "fingerprint": look.fingerprint,
                "change": look.digest,
                "commands": list(look.commands),
                **({"files": dict(look.files)} if isinstance(look, ServerDiff) else {}),
                **_touched(impact, name),
            }
            for name, look in plan.changed.items()
        },
    }


def _parts(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of every part of a plan: of every key, and of every key of every device."""
    rows = body["devices"].items()
    found = {key: _digest(value) for key, value in body.items() if key != "devices"}
    return found | {f"{key} of {name}": _digest(value) for name, row in rows for key, value in row.items()}


def _digest(value: object) -> str:
    """Return the SHA-256 of the canonical form of a JSON value: sorted keys, ASCII, no blanks."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def plan_json(plan: Plan, impact: PushImpact) -> str:
    """Return a plan as JSON for other programs, as `docs/deploy.md` describes it; secrets are replaced."""
    traffic, times, cut = impact.traffic, ("now", "after"), dict(plan.cut)
    body = {
        "format": JSON_FORMAT,
        "changes": bool(plan.changed),
        "besides": bool(plan.affected),
        "devices": {
            name: _device(look) | _touched(impact, name)
            for name, look in plan.devices.items()
            if name in plan.changed or (isinstance(look, SwitchDiff) and (look.unmanaged or look.warnings))
        },
        "unchanged": [name for name in plan.devices if name not in plan.changed],
        "errors": {name: str(error) for name, error in plan.errors.items()},
        "waves": [
            {"name": wave.name, "devices": list(wave.devices), "no_path": list(cut.get(wave.name, ()))}
            for wave in plan.waves
        ],
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


def _device(look: SwitchDiff | ServerDiff) -> dict[str, Any]:
    if isinstance(look, ServerDiff):
        return {"kind": "server", "commands": list(look.commands)}
    added, removed = look.counts
    return {
        "kind": "switch",
        "commands": list(look.commands),
        "added": added,
        "removed": removed,
        "edits": [edit_row(edit) for edit in look.edits],
        "foreign_deletes": [edit.statement for edit in look.foreign],
        "besides": list(look.unmanaged),
        "warnings": list(look.warnings),
    }


def _touched(impact: PushImpact, name: str) -> dict[str, list[str]]:
    touched = impact.devices.get(name)
    return impact_row(touched) if touched is not None else {}


def impact_row(touched: SwitchImpact) -> dict[str, list[str]]:
    """Return the impact on a switch as JSON has it."""
    return {key: list(getattr(touched, key)) for key in ("sessions", "colors", "servers")}


def write_plan(path: Path, text: str) -> None:
    """Write a plan in one step, readable by its owner only. Raises OutputError."""
    try:
        replace_file(path, text.encode(), 0o600)
    except OSError as error:
        raise OutputError(f"{path}: the plan cannot be written: {error.strerror}") from error


def read_plan(path: Path) -> ApprovedPlan:
    """Read a plan; make sure that every part is what its digests say. Raises PlanError with the parts that are not."""
    try:
        return parse_plan(path.read_bytes(), path)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}; 'ailb-gen plan -o FILE' writes a plan"
        raise PlanError("plan-unreadable", path, reason) from error


def parse_plan(data: bytes, path: Path) -> ApprovedPlan:
    """Read a plan that came from a file, as `read_plan` does. Raises PlanError."""
    try:
        body: dict[str, Any] = json.loads(data.decode(), object_pairs_hook=_unique)
        if body["format"] != FORMAT:
            raise PlanError("plan-unreadable", path, "a plan of another version of this program; plan again")
        digest, parts = body.pop(WHOLE), body.pop(PARTS)
        found = _parts(body)
        wrong = [part for part in {**found, **parts} if found.get(part) != parts.get(part)]
        if not wrong and digest != _digest(body | {PARTS: parts}):
            wrong = ["the digest of the whole file"]
        if wrong:
            listed = wrong if len(wrong) <= SHOWN else [*wrong[:SHOWN], f"and {len(wrong) - SHOWN} more"]
            shown = "".join(f"\n  {part}" for part in listed)
            reason = f"edited since it was planned, plan again; what differs from its digest:{shown}"
            raise PlanError("plan-edited", path, reason)
        return ApprovedPlan(
            _texts(body["limit"]),
            _at_least_0(body["min_paths"]),
            str(body["inputs"]),
            {str(name): str(row["fingerprint"]) for name, row in body["devices"].items()},
            {str(name): str(row["change"]) for name, row in body["devices"].items()},
            tuple(Wave(str(name), tuple(map(str, names))) for name, names in body["waves"]),
            str(body["version"]),
            sha256(data).hexdigest(),
            found,
            data,
            path,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PlanError("plan-unreadable", path, "not a plan; 'ailb-gen plan -o FILE' writes one") from error


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("not a list of texts")
    return tuple(value)


def _at_least_0(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("min_paths is not a number from 0 on")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; one with a key twice shows people something else than programs. Raises ValueError."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _cause(plan: ApprovedPlan) -> str:
    """Return why the same files and configuration give another change."""
    if plan.version != __version__:
        return f"it was planned with version {plan.version} of this program, this is {__version__}"
    return "'own' or 'keep' in the inventory has changed"


def check_plan(approved: ApprovedPlan, inputs: Inputs, plan: Plan, impact: Callable[[], PushImpact]) -> None:
    """Make sure that everything is as it was planned, and that the plan shows what would be pushed.

    Raises PlanError with everything that is not. `impact` is computed when all else holds.
    """
    wrong = ["the fabric file or the generated files have changed"] if approved.inputs != inputs.digest else []
    reasons: dict[str, list[str]] = {}
    for name in dict.fromkeys((*approved.fingerprints, *plan.changed)):
        reason = _difference(name, approved, plan, approved.inputs == inputs.digest)
        if reason:
            reasons.setdefault(reason, []).append(name)
    wrong += [f"{among(names)}: {reason}" for reason, names in reasons.items()]
    if not wrong and approved.waves != plan.waves:
        wrong.append("waves: another order than planned: other sessions are up, or the plan was edited")
    if not wrong:
        now = _parts(_body(inputs, plan, approved.limit, approved.min_paths, impact()))
        differing = [part for part in {**now, **approved.parts} if now.get(part) != approved.parts.get(part)]
        wrong += [_unlike(part) for part in differing if part != FREE]
    if wrong:
        reason = "\n".join(["the plan is out of date, plan again:", *(f"  {text}" for text in wrong)])
        raise PlanError("plan-outdated", approved.file, reason)


def _difference(name: str, approved: ApprovedPlan, plan: Plan, same_files: bool) -> str:
    """Return how a device is not as it was planned; empty if it is."""
    fingerprint, found = approved.fingerprints.get(name), plan.devices.get(name)
    if fingerprint is None:
        return "to be changed now, and was not in the plan"
    if found is None:
        error = plan.errors.get(name)
        return f"cannot be reached any more: {error.common if error is not None else 'it is not managed'}"
    if found.fingerprint != fingerprint:
        return "the configuration has changed"
    if found.digest != approved.changes[name] and same_files:
        return f"the change is not the planned one: {_cause(approved)}"
    if name not in plan.changed and same_files:
        return "would not be changed: 'limit' of the plan leaves it out"
    return ""


def _unlike(part: str) -> str:
    if part == "traffic":
        return "traffic: the impact of the push is not that of the plan, because other switches changed"
    return f"{part}: the plan differs from the push"
