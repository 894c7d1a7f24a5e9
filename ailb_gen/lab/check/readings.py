"""What kernels, daemons and advertisements of a lab say, as the plain data of `measured`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ailb_gen.addresses import Prefix, eui64
from ailb_gen.checks.context import Context
from ailb_gen.lab import kernel
from ailb_gen.lab.check.observed import ObservedTrace, Pair
from ailb_gen.lab.namespaces import output
from ailb_gen.lab.trace import PacketTrace, Probe, arrive, named, trace
from ailb_gen.network.fabric import End

# The kernel's own tables, `local` and `main`.
OWN_TABLES = frozenset({255, 254, 0})
TABLE = re.compile(r" table (\d+)")
LINK_LOCAL = Prefix(0xFE80 << 112, 10)
# How long an answer to a packet that was not answered at first may take. Seconds.
PATIENT_S = 1.5


def global_addresses(addresses: Mapping[str, tuple[kernel.KernelAddress, ...]]) -> dict[End, frozenset[int]]:
    """Return the addresses that packets can be sent to, by device and link."""
    found: dict[End, set[int]] = defaultdict(set)
    for name, rows in addresses.items():
        for one in rows:
            if not (LINK_LOCAL.holds(one.value) or one.duplicate or one.tentative):
                found[End(name, one.link)].add(one.value)
    return {end: frozenset(values) for end, values in found.items()}


def rules_of(name: str) -> frozenset[kernel.KernelRule]:
    """Return the rules of a server, but for the kernel's own. Raises LabError."""
    return frozenset(rule for rule in kernel.rules(name) if rule.table not in OWN_TABLES and not rule.others)


def tables_of(name: str) -> dict[int, kernel.KernelRoutes]:
    """Return the routes of all tables of a server, but for the kernel's own. Raises LabError."""
    lines: dict[int, list[str]] = defaultdict(list)
    for line in output(name, ("ip", "-6", "-N", "-o", "route", "show", "table", "all")).splitlines():
        found = TABLE.search(line)
        if found is not None and int(found[1]) not in OWN_TABLES:
            lines[int(found[1])].append(line)
    return {table: kernel.read_routes("\n".join(rows)) for table, rows in lines.items()}


def send(
    context: Context, pairs: Sequence[Pair], owners: Mapping[int, str], macs: Mapping[End, str], mtus: Mapping[End, int]
) -> tuple[tuple[ObservedTrace, ...], tuple[ObservedTrace, ...]]:
    """Trace pairs of servers that run; where packets arrive, send one as large as the MTUs of both NICs allow.

    `owners` are switches by their addresses, `macs` those of NICs, `mtus` those of NICs, too. Raises LabError.
    """
    seats = {End(cable.b_device, cable.b_port): cable.a_device for cable in context.cabling.hosts}
    probes = []
    for pair in pairs:
        nics = (pair.source, pair.target)
        prefixes = (context.expected.switches[seats[nic]].prefixes[pair.number - 1] for nic in nics)
        source, target = (prefix.value + eui64(macs[nic]) for prefix, nic in zip(prefixes, nics, strict=True))
        probes.append(Probe(pair.source.device, source, target, min(mtus[nic] for nic in nics)))
    traced = list(named(_traced([replace(probe, size=0) for probe in probes], trace), owners))
    # Where small packets are lost, large ones say nothing more, and would be waited for.
    arriving = [number for number, (found, _) in enumerate(traced) if not found.end]
    sent = named(_traced([probes[number] for number in arriving], arrive), owners)
    return (
        tuple(ObservedTrace(*pair, hops, found.end) for pair, (found, hops) in zip(pairs, traced, strict=True)),
        tuple(
            ObservedTrace(*pairs[number], hops, found.end, found.probe.size)
            for number, (found, hops) in zip(arriving, sent, strict=True)
        ),
    )


def _traced(probes: list[Probe], send: Callable[..., list[PacketTrace]]) -> list[PacketTrace]:
    """Trace pairs; those without an answer once more, with patience: neighbors were still to be resolved."""
    found = send(probes)
    silent = [number for number, one in enumerate(found) if one.end or None in one.hops]
    again = send([probes[number] for number in silent], timeout_s=PATIENT_S) if silent else []
    for number, one in zip(silent, again, strict=True):
        found[number] = one
    return found
