"""Drift and state as findings, so that every report that `validate` can write can be written of them too."""

from collections.abc import Callable, Iterable, Mapping

from ailb_gen.checks.families.devices import BESIDES, DRIFT, FILES, NEXT_PUSH, REACHED, STATE
from ailb_gen.checks.model import Check, Finding, Result, Run
from ailb_gen.deploy.edits import ADD, REMOVE, REPLACE, Edit
from ailb_gen.deploy.inputs import Inputs
from ailb_gen.deploy.planning import Look, Plan
from ailb_gen.deploy.switch import DeviceError
from ailb_gen.errors import Place


def unreached(errors: Mapping[str, DeviceError], count: int) -> Result:
    """Report the devices that could not be looked at; `count` is how many there are."""
    rows = [(name, str(error).removeprefix(f"{name}: ")) for name, error in sorted(errors.items())]
    return Result(REACHED, tuple(Finding(REACHED.id, *row) for row in rows), count)


def drifted(plan: Plan, inputs: Inputs) -> Result:
    """Report every change that would bring a switch to what its file says; a value that differs is one finding."""
    findings = []
    for name, look in sorted(plan.looks.items()):
        lines = dict(zip(look.commands, look.lines, strict=False))
        for edit in look.edits:
            command, message, expected, found = _drift(edit)
            place = Place(inputs.files[name], lines.get(command) or 1)
            findings.append(Finding(DRIFT.id, name, message, place, expected, found))
    return Result(DRIFT, tuple(findings), len(plan.looks))


def _drift(edit: Edit) -> tuple[str, str, str, str]:
    """Return what an edit shows: a command of it, the message, what the file has, and what the switch has."""
    text = edit.statement
    if edit.kind == REPLACE:
        return f"set {text} {edit.new}", f"{text} {edit.old}: expected {edit.new}", edit.new, edit.old
    if edit.kind == ADD:
        return f"set {text}", f"{text}: is missing", text, ""
    if edit.kind == REMOVE:
        return f"delete {text}", f"{text}: is not in the file", "", text
    verb, _, rest = text.partition(" ")
    return text, f"{rest}: is in another order" if verb == "insert" else f"{rest}: needs {verb}", text, ""


def beside(plan: Plan, inputs: Inputs) -> Result:
    """Report what acts on a switch besides its file."""
    return _notices(BESIDES, plan, inputs, lambda look: look.besides)


def shut_out(plan: Plan, inputs: Inputs) -> Result:
    """Report what may keep the next push from a switch."""
    return _notices(NEXT_PUSH, plan, inputs, lambda look: look.warnings)


def _notices(check: Check, plan: Plan, inputs: Inputs, texts: Callable[[Look], Iterable[str]]) -> Result:
    findings = [
        Finding(check.id, name, text, Place(inputs.files[name]))
        for name, look in sorted(plan.looks.items())
        for text in texts(look)
    ]
    return Result(check, tuple(findings), len(plan.looks))


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


def run_of(
    fabric: str,
    intent: str,
    artifacts: str,
    roles: Mapping[str, str],
    results: Iterable[Result],
    notes: tuple[str, ...] = (),
) -> Run:
    """Return the results as what the reports are made from; `notes` stand beside the verdict."""
    return Run(fabric, intent, artifacts, tuple(sorted(roles.items())), tuple(results), notes=notes)
