"""Drift and state as findings, so that every report that `validate` can write can be written of them too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest

from ailb_gen.checks.families.devices import BESIDES, DRIFT, FILES, REACHED, STATE
from ailb_gen.checks.model import Finding, Result, Run
from ailb_gen.deploy.inputs import Inputs
from ailb_gen.deploy.planning import Plan
from ailb_gen.deploy.switch import DeviceError
from ailb_gen.errors import Place


def unreached(errors: Mapping[str, DeviceError], count: int) -> Result:
    """Report the devices that could not be looked at; `count` is how many there are."""
    findings = (Finding(REACHED.id, name, _without(name, str(error))) for name, error in sorted(errors.items()))
    return Result(REACHED, tuple(findings), count)


def _without(name: str, text: str) -> str:
    return text.removeprefix(f"{name}: ")


def drifted(plan_of: Plan, inputs: Inputs) -> Result:
    """Report every command that would bring a switch to what its file says."""
    findings = [
        Finding(DRIFT.id, name, _drift(command), Place(inputs.files[name], line or 1), expected, found)
        for name, look in sorted(plan_of.looks.items())
        for command, line in zip_longest(look.commands, look.lines, fillvalue=0)
        if isinstance(command, str)
        for expected, found in [_sides(command)]
    ]
    return Result(DRIFT, tuple(findings), len(plan_of.looks))


def beside(plan_of: Plan, inputs: Inputs) -> Result:
    """Report what acts on a switch besides its file."""
    findings = [
        Finding(BESIDES.id, name, text, Place(inputs.files[name]))
        for name, look in sorted(plan_of.looks.items())
        for text in look.besides
    ]
    return Result(BESIDES, tuple(findings), len(plan_of.looks))


def edited(plan_of: Plan) -> Result:
    """Report every file of a server that is not as it was generated."""
    findings = [
        Finding(FILES.id, name, f"{path} would be {change}")
        for name, look in sorted(plan_of.hosts.items())
        for change, _, path in (command.partition(" ") for command in look.commands)
    ]
    return Result(FILES, tuple(findings), len(plan_of.hosts))


def _drift(command: str) -> str:
    verb, _, rest = command.partition(" ")
    state = {"set": "is missing", "delete": "is not in the file", "insert": "is in another order"}
    return f"{rest}: {state.get(verb, f'needs {verb}')}"


def _sides(command: str) -> tuple[str, str]:
    verb, _, rest = command.partition(" ")
    return (rest, "") if verb == "set" else ("", rest) if verb == "delete" else (command, "")


def state(differences: Mapping[str, tuple[str, ...]]) -> Result:
    """Report what is not as expected on switches that could be asked."""
    findings = [Finding(STATE.id, name, text) for name, found in sorted(differences.items()) for text in found]
    return Result(STATE, tuple(findings), len(differences))


def run_of(fabric: str, intent: str, artifacts: str, roles: Mapping[str, str], results: Iterable[Result]) -> Run:
    """Return the results as what the reports are made from."""
    return Run(fabric, intent, artifacts, tuple(sorted(roles.items())), tuple(results))
