"""A run on files of which most are the same now: what of it holds, and what has to be checked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Check, Result
from ailb_gen.checks.reads import parts_of, reasons
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.layout import MANIFEST, SWITCHES
from ailb_gen.network.difference import changed_fields
from ailb_gen.network.fabric import Defect
from ailb_gen.network.model import Switch
from ailb_gen.network.topology import Topology

# Switches that were read before, by file, each with its commit check.
Known = Mapping[str, tuple[Switch, CheckResult]]
# Why a check runs none of whose parts has changed.
FINDINGS = "findings"
CABLES = frozenset({"Network.links", "Network.attachments", "Network.attachment_bps", "Network.rails"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a fabric as a whole is compared with a later run; `other_fabric` is that of the context."""

    switches: tuple[str, ...]
    roles: Mapping[str, str]
    defects: tuple[Defect, ...]
    other_fabric: str


def facts_of(context: Context) -> Facts:
    """Return what a later run compares."""
    network = context.network
    return Facts(tuple(network.switches), dict(network.roles), network.defects, context.other_fabric)


@dataclass(frozen=True, slots=True)
class Before:
    """An earlier run and its files.

    `known`, `profiles` and `tables` are what was read of files that are the same now; `changed` are the paths that are
    not, and `old` the switches that were read of them, by name. `facts` and `results`, by the id of the check, are
    there where the run was of the same intent.
    """

    known: Known
    profiles: Mapping[str, ServerProfile]
    tables: Mapping[str, Topology]
    changed: frozenset[str]
    old: Mapping[str, tuple[Switch, CheckResult]] = field(default_factory=dict)
    facts: Facts | None = None
    results: Mapping[str, Result] = field(default_factory=dict)


NOTHING_BEFORE = Before({}, {}, {}, frozenset())


@dataclass(slots=True)
class TakenOver:
    """What a run takes over from an earlier one, and what it read itself.

    `changed` are the parts of the files that are not the same, `held` the checks whose results were taken over,
    `checked` the others, each with the changed parts that its function reads, and `tables` what was read of the
    lists of cables.
    """

    before: Before
    changed: frozenset[str] = frozenset()
    held: list[str] = field(default_factory=list)
    checked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: Mapping[str, Topology] = field(default_factory=dict)

    def compare(self, context: Context, tables: Mapping[str, Topology]) -> None:
        """Compare the earlier run with what was read now."""
        self.tables, facts = tables, self.before.facts
        self.changed = parts_of(_changed(self.before, facts, context, tables)) if facts is not None else frozenset()

    def results(self, checks: Sequence[Check]) -> Sequence[Result] | None:
        """Return the results of the checks that share a function if they hold, None if it has to run."""
        found = [self.before.results[check.id] for check in checks if check.id in self.before.results]
        why = tuple(dict.fromkeys(reason for check in checks for reason in reasons(check, self.changed)))
        if why or len(found) < len(checks):
            self.checked |= dict.fromkeys((check.id for check in checks), why)
            return None
        if any(result.findings for result in found):
            # Their lines may have moved.
            self.checked |= dict.fromkeys((check.id for check in checks), (FINDINGS,))
            return None
        self.held += [check.id for check in checks]
        return found


def _changed(before: Before, facts: Facts, context: Context, tables: Mapping[str, Topology]) -> Iterator[str]:
    network = context.network
    read = [name for name, switch in network.switches.items() if switch.file not in before.known]
    if facts.switches != tuple(network.switches):
        yield "Network.switches"
    for name in read:
        yield from _of_switch(before.old.get(name), network.switches[name], (context.commit or {}).get(name))
    lists = {*tables} - {*before.tables}
    if lists:
        yield "Context.records"
    # What the lists do not say, descriptions of ports do.
    if lists or (read and not all(_has_cables(tables))):
        yield from CABLES
    if facts.roles != network.roles:
        yield "Network.roles"
    others = {path for path in before.changed - {*tables, MANIFEST} if not path.startswith(f"{SWITCHES}/")}
    if others or not all(host.profile.folder in before.profiles for host in network.hosts.values()):
        yield "Network.hosts"
    if facts.defects != network.defects:
        yield "Network.defects"
    if facts.other_fabric != context.other_fabric:
        yield "Context.root"


def _of_switch(old: tuple[Switch, Any] | None, new: Switch, commit: CheckResult | None) -> Iterator[str]:
    if old is None:
        yield "Network.switches"
        return
    yield from changed_fields(old[0], new)
    if commit is not None and old[1] != commit:
        yield "Context.commit"


def _has_cables(tables: Mapping[str, Topology]) -> Iterator[bool]:
    yield any(table.links for table in tables.values())
    yield any(table.attachments for table in tables.values())
