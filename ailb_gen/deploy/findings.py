"""Drift and state as findings, so that every report that `validate` can write can be written of them too."""

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
    rows = [(name, str(error).removeprefix(f"{name}: ")) for name, error in sorted(errors.items())]
    return Result(REACHED, tuple(Finding(REACHED.id, *row) for row in rows), count)


def drifted(plan: Plan, inputs: Inputs) -> Result:
    """Report every command that would bring a switch to what its file says."""
    findings = [
        Finding(DRIFT.id, name, message, Place(inputs.files[name], line or 1), expected, found)
        for name, look in sorted(plan.looks.items())
        for command, line in zip_longest(look.commands, look.lines[: len(look.commands)], fillvalue=0)
        for message, expected, found in [_drift(str(command))]
    ]
    return Result(DRIFT, tuple(findings), len(plan.looks))


def _drift(command: str) -> tuple[str, str, str]:
    """Return what a command shows: the message, what the file has, and what the switch has."""
    verb, _, rest = command.partition(" ")
    known = {
        "set": (f"{rest}: is missing", rest, ""),
        "delete": (f"{rest}: is not in the file", "", rest),
        "insert": (f"{rest}: is in another order", command, ""),
    }
    return known.get(verb, (f"{rest}: needs {verb}", command, ""))


def beside(plan: Plan, inputs: Inputs) -> Result:
    """Report what acts on a switch besides its file."""
    findings = [
        Finding(BESIDES.id, name, text, Place(inputs.files[name]))
        for name, look in sorted(plan.looks.items())
        for text in look.besides
    ]
    return Result(BESIDES, tuple(findings), len(plan.looks))


def edited(plan: Plan) -> Result:
    """Report every file of a server that is not as it was generated."""
    findings = [
        Finding(FILES.id, name, f"{path} would be {change}")
        for name, look in sorted(plan.hosts.items())
        for change, _, path in (command.partition(" ") for command in look.commands)
    ]
    return Result(FILES, tuple(findings), len(plan.hosts))


def state(differences: Mapping[str, tuple[str, ...]]) -> Result:
    """Report what is not as expected on switches that could be asked."""
    findings = [Finding(STATE.id, name, text) for name, found in sorted(differences.items()) for text in found]
    return Result(STATE, tuple(findings), len(differences))


def run_of(fabric: str, intent: str, artifacts: str, roles: Mapping[str, str], results: Iterable[Result]) -> Run:
    """Return the results as what the reports are made from."""
    return Run(fabric, intent, artifacts, tuple(sorted(roles.items())), tuple(results))
