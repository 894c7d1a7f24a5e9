"""Check files for statements that a device would refuse to commit, by Juniper's YANG models (AILB9xx)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ailb_gen.checks.context import Context
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import OR
from ailb_gen.checks.model import Check, Finding, Findings, Severity
from ailb_gen.errors import Place
from ailb_gen.junos import check_result as kinds
from ailb_gen.junos.check_result import CheckResult, Violation
from ailb_gen.junos.faults import FEATURE_HINT
from ailb_gen.network.supported_statements import is_read
from ailb_gen.wording import plural

NO_MODELS = "no YANG models were given (--yang DIR or AILB_YANG)"
OWN = f"generated files have this statement, and these models are of a release without it: {FEATURE_HINT}"
LONG = 80  # characters of a word; names are shorter, and what is not one need not be shown whole


def _check_commit(context: Context, findings: Findings) -> None:
    results, checks = context.commit, {*_OF_KIND.values(), UNCHECKED}
    if results is None:
        for check in checks:
            findings.skip(check, NO_MODELS)
        return
    switches = context.network.switches
    found = (one for name, result in results.items() for one in findings_of(result, name, switches[name].file))
    for finding in of_all(list(found)):
        findings.found[finding.check].append(finding)
    for check in checks:
        findings.look(check, len(results))
    findings.figure(MUST, "constraints evaluated", sum(result.evaluated for result in results.values()))


def check_of(violation: Violation) -> Check:
    """Return the check that a violation belongs to."""
    return _OF_KIND[violation.kind]


def statement(path: tuple[str, ...]) -> str:
    """Return the words of a statement as one line."""
    return " ".join(word if len(word) <= LONG else f"{word[: LONG - 1]}…" for word in path)


def message_of(violation: Violation) -> str:
    """Return a violation as text: the statement, why, Juniper's words, the way out."""
    juniper = f" ({violation.juniper})" if violation.juniper else ""
    hint = f"; {OWN if _is_own(violation) else violation.hint}".removesuffix("; ")
    return f"{statement(violation.path)}: {violation.message}{juniper}{hint}"


def _is_own(violation: Violation) -> bool:
    """Return whether the models lack a statement that generated files have."""
    return violation.kind == kinds.UNKNOWN and is_read(violation.path)


def of_all(found: list[Finding]) -> list[Finding]:
    """Return the findings of all devices with what is wrong with the models themselves once, not on every device."""
    models = [one for one in found if one.check == RELEASE.id]
    if len(models) < 2:
        return found
    first = models[0]
    message = f"{first.message} ({len(models)} devices)"
    kept = Finding(first.check, "models", message, first.place)
    return [kept, *(one for one in found if one.check != RELEASE.id)]


def findings_of(result: CheckResult, device: str, file: str) -> Iterator[Finding]:
    """Yield the findings of the commit check of a device; `file` is its configuration, relative to the artifacts."""
    for violation in result.findings:
        place, words = Place(file, violation.line or 1), " ".join(violation.path)
        instead = violation.kind not in (kinds.MUST, kinds.RELEASE, kinds.MISSING)
        yield Finding(
            check_of(violation).id, device, message_of(violation), place, statement=f"{words}{OR}", instead=instead
        )
    for top, count in sorted(result.unmodeled.items()):
        message = f"no model for {top}: {count} {plural('statement', count)} not checked"
        yield Finding(UNCHECKED.id, device, message, Place(file, result.unmodeled_lines.get(top, 1) or 1))
    for one in result.unevaluated:
        message = f"{statement(one.path)}: {one.expression} could not be evaluated: {one.reason}"
        yield Finding(UNCHECKED.id, device, message, Place(file, one.line or 1))


_of_syntax = partial(Check, run=_check_commit, layer=Layer.SYNTAX)
UNKNOWN = _of_syntax(
    "AILB901",
    "every statement exists in Juniper's YANG models",
    "a statement does not exist in Juniper's YANG models",
    "The device refuses the whole configuration at the first unknown statement.",
    "Correct the statement, or use the models of the release that has it.",
)
VALUE = _of_syntax(
    "AILB902",
    "every value has the type, range, length and pattern that the models require, and lists are not too long",
    "a value is not one that the models allow, or a list is too long",
    "The device refuses the whole configuration.",
    "Write a value that the message allows.",
)
MISSING = _of_syntax(
    "AILB903",
    "no statement lacks its value, its name or a part of it",
    "a statement lacks its value, its name or a part of it",
    "The device refuses the whole configuration.",
    "Complete the statement.",
)
DUPLICATE = _of_syntax(
    "AILB904",
    "no single-valued statement has two values, and no address is configured twice in different notations",
    "a single-valued statement has two values, or an address is configured twice",
    "The device keeps the last value, which may not be the intended one.",
    "Delete one of them.",
)
CHOICE = _of_syntax(
    "AILB905",
    "no mutually exclusive statements are configured together",
    "mutually exclusive statements are configured together",
    "The device keeps the last one, which may not be the intended one.",
    "Delete one of them.",
)
MUST = Check(
    "AILB906",
    "every commit constraint of the models holds",
    "a commit constraint does not hold",
    "`commit check` on the device fails with the message shown.",
    "Add or delete what the message names.",
    _check_commit,
    layer=Layer.COMMIT,
)
UNCHECKED = Check(
    "AILB907",
    "everything could be checked: the models cover every hierarchy, and every constraint could be evaluated",
    "something could not be checked: the models do not cover it, or a constraint could not be evaluated",
    "Only the device itself can check these parts.",
    "Use models that have the hierarchy, or run `commit check` on a device.",
    _check_commit,
    Severity.NOTE,
    layer=Layer.COMMIT,
)
RELEASE = Check(
    "AILB908",
    "the YANG models are of a release that has BGP-DPF",
    "the YANG models are of a release without BGP-DPF",
    "An older release refuses every statement that colors sessions and routes: the fabric has no colors on it.",
    "Use the models of the release that the switches run: 25.4R1 or later, or 23.4X100-D4x for the QFX5240.",
    _check_commit,
    layer=Layer.FILES,
)
_OF_KIND = dict.fromkeys(kinds.VALUE_KINDS, VALUE) | {
    kinds.UNKNOWN: UNKNOWN,
    kinds.MISSING: MISSING,
    kinds.DUPLICATE: DUPLICATE,
    kinds.CHOICE: CHOICE,
    kinds.MUST: MUST,
    kinds.RELEASE: RELEASE,
}
