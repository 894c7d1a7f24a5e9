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
from ailb_gen.layout import CABLING, MANIFEST, SWITCHES, TOPOLOGY
from ailb_gen.network.difference import changed_fields
from ailb_gen.network.fabric import Defect
from ailb_gen.network.model import Switch
from ailb_gen.network.rails import without_gpus
from ailb_gen.network.read import NO_LISTS, CableLists

# Switches that were read before, by file, each with its commit check.
Known = Mapping[str, tuple[Switch, CheckResult]]
# Why a check runs none of whose parts has changed.
FINDINGS = "findings"
CABLES = frozenset({"Network.links", "Network.attachments", "Network.attachment_bps", "Network.rails"})


@dataclass(frozen=True, slots=True)
class FabricFacts:
    """What of a fabric as a whole is compared with a later run; `named` is the fabric that the manifest is of.

    `without_gpus` are servers (see `ailb_gen.network.rails`).
    """

    switches: tuple[str, ...]
    roles: Mapping[str, str]
    defects: tuple[Defect, ...]
    named: str | None
    without_gpus: frozenset[str]


def facts_of(context: Context) -> FabricFacts:
    """Return what a later run compares."""
    network = context.network
    switches, roles = tuple(network.switches), dict(network.roles)
    return FabricFacts(switches, roles, network.defects, context.of_manifest, without_gpus(network))


@dataclass(frozen=True, slots=True)
class Before:
    """An earlier run and its files.

    `known`, `profiles` and `lists` are what was read of files that are the same now; `changed` are the paths that are
    not, and `old` the switches that were read of them, by name. `facts` and `results`, by the id of the check, are
    there where the run was of the same intent. `entries` are those that a manifest would have of the files now.
    """

    known: Known
    profiles: Mapping[str, ServerProfile]
    lists: CableLists | None
    changed: frozenset[str]
    old: Mapping[str, tuple[Switch, CheckResult]] = field(default_factory=dict)
    facts: FabricFacts | None = None
    results: Mapping[str, Result] = field(default_factory=dict)
    entries: Mapping[str, str] = field(default_factory=dict)


NOTHING_BEFORE = Before({}, {}, None, frozenset())


@dataclass(slots=True)
class TakenOver:
    """What a run takes over from an earlier one, and what it read itself.

    `changed` are the parts of the files that are not the same, `held` the checks whose results were taken over,
    `checked` the others, each with the changed parts that its function reads, and `lists` what was read of the
    lists of cables.
    """

    before: Before
    changed: frozenset[str] = frozenset()
    held: list[str] = field(default_factory=list)
    checked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lists: CableLists = NO_LISTS

    def compare(self, context: Context, lists: CableLists) -> None:
        """Compare the earlier run with what was read now."""
        self.lists, facts = lists, self.before.facts
        self.changed = parts_of(_changed(self.before, facts, context, lists)) if facts is not None else frozenset()

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


def _changed(before: Before, facts: FabricFacts, context: Context, lists: CableLists) -> Iterator[str]:
    network = context.network
    read = [name for name, switch in network.switches.items() if switch.file not in before.known]
    if facts.switches != tuple(network.switches):
        yield "Network.switches"
    for name in read:
        yield from _of_switch(before.old.get(name), network.switches[name], (context.commit or {}).get(name))
    if before.lists is None:
        yield "Context.records"
    # What the lists do not say, descriptions of ports do.
    if before.lists is None or (read and lists.merged is None):
        yield from CABLES
    if facts.roles != network.roles:
        yield "Network.roles"
    others = {path for path in before.changed - {TOPOLOGY, CABLING, MANIFEST} if not path.startswith(f"{SWITCHES}/")}
    if others or not all(host.profile.folder in before.profiles for host in network.hosts.values()):
        yield "Network.hosts"
        if facts.without_gpus != without_gpus(network):
            yield "Network.without_gpus"
    if facts.defects != network.defects:
        yield "Network.defects"
    if facts.named != context.of_manifest:
        yield "Context.root"


def _of_switch(old: tuple[Switch, Any] | None, new: Switch, commit: CheckResult | None) -> Iterator[str]:
    if old is None:
        yield "Network.switches"
        return
    yield from changed_fields(old[0], new)
    if commit is not None and old[1] != commit:
        yield "Context.commit"
