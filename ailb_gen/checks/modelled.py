"""Statements that nothing here computes: an error, unless they are waived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks.model import Check, Severity
from ailb_gen.errors import Place
from ailb_gen.network.consequences import consequence
from ailb_gen.network.model import Unmodelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.findings import Findings
    from ailb_gen.network.model import Switch
    from ailb_gen.network.policy import Term

MODELLED = Check(
    "AILB209",
    Severity.ERROR,
    "every statement is one that this program reads, or one that is known to change nothing that it proves",
    "a statement is not modelled",
    "A statement that is not modelled may switch off what this program proves: the proof holds only without it.",
    "Take the statement out. When it has to stay, try it on a device and accept it until a date, in a waiver file: "
    "`- {id: AILB209, scope: SWITCH STATEMENT, reason: WHY, expires: YYYY-MM-DD}`.",
)


def check_modelled(switch: Switch, collected: Findings) -> None:
    """Name every statement that is neither read nor harmless, with what it is known to do."""
    collected.look(MODELLED)
    for entry in (*switch.unmodelled, *_unknown_terms(switch)):
        scope = f"{switch.named} {entry.statement}"
        message = f"{entry.whole} is not modelled: {consequence(entry.whole)}"
        collected.add(MODELLED, scope, message, Place(switch.file, entry.line or 1))


def _unknown_terms(switch: Switch) -> Iterator[Unmodelled]:
    """Give the conditions and actions that are not evaluated, of the policies that something refers to."""
    used = {name for group in switch.groups for name in (*group.imports, *group.exports)} | switch.balancing.policies
    for policy in switch.policies.values():
        if policy.name in used:
            for term in policy.terms:
                where = " ".join(
                    ("policy-options policy-statement", policy.name, *(("term", term.name) if term.name else ()))
                )
                for text, line in (*term.unknown, *_by_path(switch, term)):
                    yield Unmodelled(f"{where} {text}", f"{where} {text}", line)


def _by_path(switch: Switch, term: Term) -> Iterator[tuple[str, int]]:
    """Name the prefix lists of a term that `apply-path` fills: nothing here computes what is in them."""
    for name in (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters)):
        if name in switch.prefix_lists and switch.prefix_lists[name].by_path:
            yield f"from prefix-list {name} apply-path", switch.prefix_lists[name].line
