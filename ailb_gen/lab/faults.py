"""Cables of a lab that are made to fail, and repaired.

The kernel keeps what has failed, as the group of the link at the switch's end (see `links.Group`), so that every
process of the lab knows it. A cable without carrier is down at that end: the other one sees no carrier and keeps what
it has, such as a server its addresses. A cable that fails silently drops all packets that arrive at either end, or at
one of them, and neither end sees a change.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from ailb_gen.errors import UsageError
from ailb_gen.lab.kernel import KernelLink, links
from ailb_gen.lab.links import LinkGroup, links_locked, state_line
from ailb_gen.lab.namespaces import batch, output
from ailb_gen.lab.plan import LabPlan
from ailb_gen.network.fabric import End
from ailb_gen.network.links import cables_named

# The table of nftables, in the namespaces of both ends, with a chain for every silent cable.
TABLE = "netdev ailb"


class FaultKind(Enum):
    """The kinds of cable failures: without carrier, silent, or silent in one direction, as the switch's end sees it."""

    CARRIER = LinkGroup.FAILED
    SILENT = LinkGroup.SILENT
    MUTE = LinkGroup.MUTE
    DEAF = LinkGroup.DEAF


@dataclass(frozen=True, slots=True)
class CableFault:
    """A cable that has failed; `a` is the switch's end, of a cable between switches the leaf's."""

    kind: FaultKind
    a: End
    b: End

    def __str__(self) -> str:
        return f"{self.a} - {self.b}: {WORDS[self.kind].format(a=self.a, b=self.b)}"

    def losing_ends(self) -> tuple[End, ...]:
        """Return the ends at which packets that arrive are dropped."""
        return {FaultKind.SILENT: (self.a, self.b), FaultKind.MUTE: (self.b,), FaultKind.DEAF: (self.a,)}.get(
            self.kind, ()
        )


WORDS = {
    FaultKind.CARRIER: "no carrier",
    FaultKind.SILENT: "drops all packets",
    FaultKind.MUTE: "drops all packets from {a}",
    FaultKind.DEAF: "drops all packets from {b}",
}


def fail(plan: LabPlan, word: str, kind: FaultKind) -> tuple[CableFault, ...]:
    """Let cables fail: of a device, one, or those between two devices, as `cables_named` reads them; returns them.

    Raises UsageError, LabError.
    """
    return fail_cables(plan, cables_named(plan.cables(), word), kind)


def fail_one_way(plan: LabPlan, word: str) -> tuple[CableFault, ...]:
    """Let cables lose the packets of the device that `word` begins with; returns them. Raises UsageError, LabError."""
    sender = re.split("[: ]", word, maxsplit=1)[0]
    cables = cables_named(plan.cables(), word)
    return tuple(
        fault
        for kind, mute in ((FaultKind.MUTE, True), (FaultKind.DEAF, False))
        for fault in fail_cables(plan, [(a, b) for a, b in cables if (a.device == sender) == mute], kind)
    )


def fail_cables(plan: LabPlan, cables: Iterable[tuple[End, End]], kind: FaultKind) -> tuple[CableFault, ...]:
    """Let cables fail, each given as `Fault` has it; returns them. Raises LabError."""
    faults = tuple(CableFault(kind, a, b) for a, b in cables)
    _set(plan, faults, broken=True)
    return faults


def repair(plan: LabPlan, word: str | None = None) -> tuple[CableFault, ...]:
    """Repair cables, without a word all that have failed; returns the faults. Raises UsageError, LabError."""
    faults = repair_cables(plan, None if word is None else cables_named(plan.cables(), word))
    if word is not None and not faults:
        raise UsageError(f"{word!r} has no failure to repair; see: ailb-gen lab status")
    return faults


def repair_cables(plan: LabPlan, cables: Iterable[tuple[End, End]] | None = None) -> tuple[CableFault, ...]:
    """Repair cables, without any all that have failed; returns the faults. Raises LabError."""
    meant = None if cables is None else set(cables)
    faults = tuple(fault for fault in faults_of(plan) if meant is None or (fault.a, fault.b) in meant)
    _set(plan, faults, broken=False)
    return faults


def cables_at(plan: LabPlan, ends: Iterable[End]) -> tuple[tuple[End, End], ...]:
    """Return the cables with some ends."""
    chosen = set(ends)
    return tuple(cable for cable in plan.cables() if not chosen.isdisjoint(cable))


def faults_of(plan: LabPlan, observed: Mapping[str, Mapping[str, KernelLink]] | None = None) -> tuple[CableFault, ...]:
    """Return the faults, in the order of the cables; `observed` are the links of all switches, if known already.

    Raises LabError.
    """
    cables = list(plan.cables())
    if observed is None:
        observed = {name: links(name) for name in {a.device for a, _ in cables}}
    return tuple(
        CableFault(kind, a, b)
        for a, b in cables
        for kind in FaultKind
        if observed[a.device][plan.link(a)].group & kind.value
    )


def _set(plan: LabPlan, faults: Iterable[CableFault], broken: bool) -> None:
    chosen: dict[str, list[CableFault]] = defaultdict(list)
    filters: dict[str, list[str]] = defaultdict(list)
    for fault in faults:
        chosen[fault.a.device].append(fault)
        for end in fault.losing_ends():
            filters[end.device] += _filter(plan, fault, end, broken)
    for name, lines in filters.items():
        output(name, ("nft", "-f", "-"), "\n".join(lines) + "\n")
    with links_locked():
        for name, found in chosen.items():
            groups = {link: one.group for link, one in links(name).items()}
            changed: dict[str, int] = {}
            for fault in found:
                link = plan.link(fault.a)
                before = changed.get(link, groups[link])
                changed[link] = before | fault.kind.value if broken else before & ~fault.kind.value
            batch([state_line(link, group) for link, group in changed.items()], name)


def _filter(plan: LabPlan, fault: CableFault, end: End, broken: bool) -> Iterator[str]:
    """Yield the statements of nft(8) for one end of a silent cable; its number makes the name of the chain."""
    number = plan.switches[fault.a.device].ports[fault.a.port].cable
    chain = f"{TABLE} {fault.kind.name.lower()}{number}"
    if broken:
        yield f"add table {TABLE}"
        hook = f'type filter hook ingress device "{plan.link(end)}" priority 0; policy drop;'
        yield f"add chain {chain} {{ {hook} }}"
    else:
        yield f"delete chain {chain}"
