"""A plan on disk: what was shown to whoever approved it, and by what a push knows that it still holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ailb_gen import __version__
from ailb_gen.atomic import replace_file
from ailb_gen.deploy.wave import Wave
from ailb_gen.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ailb_gen.deploy.impact import Touched, Traffic
    from ailb_gen.deploy.inputs import Inputs
    from ailb_gen.deploy.planning import Plan

FORMAT = 2


@dataclass(frozen=True, slots=True)
class ApprovedPlan:
    """What must not change between plan and push: inputs, the devices' configurations and changes, who is changed when.

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


def plan_text(
    inputs: Inputs,
    plan_of: Plan,
    limit: tuple[str, ...],
    min_paths: int,
    effects: Mapping[str, Touched],
    traffic: Traffic,
) -> str:
    """Write a plan as JSON; commands are shown with secrets replaced, and `change` is the digest of the real ones."""
    devices = {
        name: {
            "fingerprint": look.fingerprint,
            "change": look.digest,
            "commands": list(look.commands),
            **_effects(effects.get(name)),
        }
        for name, look in plan_of.changed.items()
    }
    body = {
        "format": FORMAT,
        "version": __version__,
        "limit": list(limit),
        "min_paths": min_paths,
        "inputs": inputs.digest,
        "waves": [[wave.name, list(wave.members)] for wave in plan_of.waves],
        "traffic": {
            "arriving": list(traffic.arriving),
            "pairs": list(traffic.pairs),
            "sessions": list(traffic.up),
            "waves": {name: list(row) for name, row in traffic.waves.items()},
        },
        "devices": devices,
    }
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _effects(touched: Touched | None) -> dict[str, list[str]]:
    if touched is None:
        return {}
    return {key: list(getattr(touched, key)) for key in ("sessions", "colors", "servers")}


def write_plan(path: Path, text: str) -> None:
    """Write a plan in one step, for nobody else to read. Raises OutputError."""
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
            tuple(Wave(str(name), tuple(map(str, members))) for name, members in body["waves"]),
            str(body["version"]),
            sha256(data).hexdigest(),
        )
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; 'ailb-gen plan -o FILE' writes a plan") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}: not a plan; 'ailb-gen plan -o FILE' writes one") from error


def _why(plan: ApprovedPlan) -> str:
    """Return what makes another change of the same files and the same configuration."""
    if plan.version != __version__:
        return f"it was planned with version {plan.version} of this program, this is {__version__}"
    return "'own' or 'keep' in the inventory has changed"


def check_plan(plan: ApprovedPlan, inputs: Inputs, plan_of: Plan) -> None:
    """Make sure that everything is as it was planned. Raises UsageError with everything that is not."""
    wrong = []
    if plan.inputs != inputs.digest:
        wrong.append("the fabric file or the generated files have changed")
    for name, fingerprint in plan.fingerprints.items():
        found = plan_of.found.get(name)
        if found is None:
            wrong.append(f"{name} cannot be reached any more: {plan_of.errors.get(name, 'it is not managed')}")
        elif found.fingerprint != fingerprint:
            wrong.append(f"the configuration of {name} has changed")
        elif found.digest != plan.changes[name] and plan.inputs == inputs.digest:
            wrong.append(f"what would be changed on {name} is not what was planned: {_why(plan)}")
    changes = plan_of.changed
    wrong += [
        f"{name} is to be changed now, and was not when it was planned"
        for name in changes
        if name not in plan.fingerprints
    ]
    if not wrong and plan.waves != plan_of.waves:
        wrong.append("the order of the devices has changed, because other sessions are up now")
    if wrong:
        raise UsageError("\n".join(["the plan does not hold any more, plan again:", *(f"  {text}" for text in wrong)]))
