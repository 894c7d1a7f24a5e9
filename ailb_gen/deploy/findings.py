"""Drift and state as findings, so that every report that `validate` can write can be written of them too."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from ailb_gen.checks.families.devices import BESIDES, DRIFT, FILES, NEXT_PUSH, REACHED, STATE
from ailb_gen.checks.model import Finding, Result, Run
from ailb_gen.deploy.context import Context
from ailb_gen.deploy.edits import ADD, REMOVE, REPLACE, Edit, edit_of
from ailb_gen.deploy.planning import HostLook, Look, looks_of
from ailb_gen.deploy.switch import DeviceError, cut
from ailb_gen.errors import Place

# What is found on a switch.
OF_SWITCHES = (DRIFT, BESIDES, NEXT_PUSH)
# So many changes of a device are told.
MOST = 1_000


def unreached(errors: Mapping[str, DeviceError], count: int) -> Result:
    """Report the devices that could not be looked at; `count` is how many there are."""
    rows = [(name, str(error).removeprefix(f"{name}: ")) for name, error in sorted(errors.items())]
    return Result(REACHED, tuple(Finding(REACHED.id, *row) for row in rows), count)


def drift(on: Context, advance: Callable[[int], None] = lambda number: None) -> list[Result]:
    """Compare all switches and the picked servers with their files; of every device only its findings are kept."""

    def keep(look: Look) -> tuple[Finding, ...]:
        return tuple(of_switch(look, on.inputs.files[look.name]))

    switches, hosts = looks_of(on, on.file_aim, keep, advance)
    by_check: dict[str, list[Finding]] = {check.id: [] for check in OF_SWITCHES}
    for _, found in sorted(switches.good.items()):
        for finding in found:
            by_check[finding.check].append(finding)
    errors = unreached({**switches.bad, **hosts.bad}, len(on.roles))
    looked = [Result(check, tuple(by_check[check.id]), len(switches.good)) for check in OF_SWITCHES]
    return [errors, *looked, edited(hosts.good)]


def of_switch(look: Look, file: str) -> Iterator[Finding]:
    """Yield what a switch has besides its file, and every change that would bring it to what its file says.

    A value that differs is one finding. Those above MOST are counted: a device may have any number.
    """
    lines = dict(zip(look.commands, look.lines, strict=False))
    for edit in map(edit_of, look.compact_edits[:MOST]):
        command, *texts = _drift(edit)
        message, expected, found = map(cut, texts)
        yield Finding(DRIFT.id, look.name, message, Place(file, lines.get(command) or 1), expected, found)
    left = len(look.compact_edits) - MOST
    if left > 0:
        yield Finding(DRIFT.id, look.name, f"{left:,} more statements differ; `plan` shows them", Place(file))
    for check, texts in ((BESIDES, [*look.besides]), (NEXT_PUSH, [*look.warnings])):
        yield from (Finding(check.id, look.name, cut(text), Place(file)) for text in texts)


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


def edited(hosts: Mapping[str, HostLook]) -> Result:
    """Report every file of a server that is not as it was generated."""
    findings = [
        Finding(FILES.id, name, f"{path} would be {change}")
        for name, look in sorted(hosts.items())
        for change, _, path in (command.partition(" ") for command in look.commands)
    ]
    return Result(FILES, tuple(findings), len(hosts))


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
