"""Cables of a lab that are made to fail, and repaired.

The kernel keeps what has failed, as the group of the link at the switch's end (see `links.Group`), so that every
process of the lab knows it. A cable without carrier is down at that end: the other one sees no carrier and keeps what
it has, such as a server its addresses. A cable that fails silently drops all packets that arrive at either end, and
neither end sees a change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from ailb_gen.errors import UsageError
from ailb_gen.lab.kernel import links
from ailb_gen.lab.links import Group, links_locked, state_line
from ailb_gen.lab.namespaces import batch, output
from ailb_gen.lab.plan import Plan
from ailb_gen.network.cable_words import cables_named
from ailb_gen.network.fabric import End

# The table of nftables, in the namespaces of both ends, with a chain for every silent cable.
TABLE = "netdev ailb"


class Kind(Enum):
    """The kinds of cable failures: without carrier, or silent."""

    CARRIER = Group.FAILED
    SILENT = Group.SILENT


@dataclass(frozen=True, slots=True)
class Fault:
    """A cable that has failed; `a` is the switch's end, of a cable between switches the leaf's."""

    kind: Kind
    a: End
    b: End

    def __str__(self) -> str:
        return f"{self.a} - {self.b}: {'no carrier' if self.kind is Kind.CARRIER else 'loses all packets'}"


def fail(plan: Plan, word: str, kind: Kind) -> tuple[Fault, ...]:
    """Let cables fail: of a device, one, or those between two devices, as `cables_named` reads them; returns them.

    Raises UsageError, LabError.
    """
    faults = tuple(Fault(kind, a, b) for a, b in cables_named(_cables(plan), word))
    _set(plan, faults, broken=True)
    return faults


def repair(plan: Plan, word: str | None = None) -> tuple[Fault, ...]:
    """Repair cables, without a word all that have failed; returns what had. Raises UsageError, LabError."""
    meant = None if word is None else set(cables_named(_cables(plan), word))
    faults = tuple(fault for fault in faults_of(plan) if meant is None or (fault.a, fault.b) in meant)
    if meant is not None and not faults:
        raise UsageError(f"{word!r}: it has no failure to repair; see: ailb-gen lab status")
    _set(plan, faults, broken=False)
    return faults


def faults_of(plan: Plan) -> tuple[Fault, ...]:
    """Return what has failed, in the order of the cables. Raises LabError."""
    cables = list(_cables(plan))
    groups = {name: links(name) for name in {a.device for a, _ in cables}}
    return tuple(
        Fault(kind, a, b) for a, b in cables for kind in Kind if groups[a.device][_link(plan, a)].group & kind.value
    )


def _cables(plan: Plan) -> Iterator[tuple[End, End]]:
    yield from ((cable.a, cable.b) for cable in plan.links)
    for server in plan.servers.values():
        yield from ((nic.leaf, End(server.name, nic.nic)) for nic in server.nics.values() if nic.leaf is not None)


def _link(plan: Plan, end: End) -> str:
    switch = plan.switches.get(end.device)
    return switch.ports[end.port].link if switch is not None else end.port


def _set(plan: Plan, faults: Iterable[Fault], broken: bool) -> None:
    chosen: dict[str, list[Fault]] = defaultdict(list)
    filters: dict[str, list[str]] = defaultdict(list)
    for fault in faults:
        chosen[fault.a.device].append(fault)
        if fault.kind is Kind.SILENT:
            for end in (fault.a, fault.b):
                filters[end.device] += _filter(plan, fault, end, broken)
    for name, lines in filters.items():
        output(name, ("nft", "-f", "-"), "\n".join(lines) + "\n")
    with links_locked():
        for name, found in chosen.items():
            groups = {link: one.group for link, one in links(name).items()}
            changed: dict[str, int] = {}
            for fault in found:
                link = _link(plan, fault.a)
                before = changed.get(link, groups[link])
                changed[link] = before | fault.kind.value if broken else before & ~fault.kind.value
            batch([state_line(link, group) for link, group in changed.items()], name)


def _filter(plan: Plan, fault: Fault, end: End, broken: bool) -> Iterator[str]:
    """Yield the statements of nft(8) for one end of a silent cable; its number makes the name of the chain."""
    chain = f"{TABLE} cable{plan.switches[fault.a.device].ports[fault.a.port].cable}"
    if broken:
        yield f"add table {TABLE}"
        hook = f'type filter hook ingress device "{_link(plan, end)}" priority 0; policy drop;'
        yield f"add chain {chain} {{ {hook} }}"
    else:
        yield f"delete chain {chain}"
