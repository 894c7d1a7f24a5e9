"""Send packets between servers of a running lab: traces of pairs, and a packet as large as both NICs allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ailb_gen.addresses import eui64
from ailb_gen.checks.context import Context
from ailb_gen.lab.check.observed import ObservedSize, ObservedTrace
from ailb_gen.lab.check.paths import Pair
from ailb_gen.lab.trace import PacketTrace, Probe, arrive, named, trace
from ailb_gen.network.fabric import End

# How long an answer to a packet that was not answered at first may take. Seconds.
PATIENT_S = 1.5


def send(
    context: Context,
    pairs: Sequence[Pair],
    owners: Mapping[int, str],
    macs: Mapping[End, str],
    mtus: Mapping[str, Mapping[str, int]],
) -> tuple[tuple[ObservedTrace, ...], tuple[ObservedSize, ...]]:
    """Trace pairs of servers that run; where packets arrive, send one as large as the MTUs of both NICs allow.

    `owners` are switches by their addresses, `macs` those of NICs, `mtus` by device and port. Raises LabError.
    """
    seats = {End(cable.b_device, cable.b_port): cable.a_device for cable in context.cabling.hosts}
    probes = []
    for pair in pairs:
        source, target = (
            context.expected.switches[seats[nic]].prefixes[pair.number - 1].value + eui64(macs[nic])
            for nic in (pair.source, pair.target)
        )
        size = min(mtus[nic.device][nic.port] for nic in (pair.source, pair.target))
        probes.append(Probe(pair.source.device, source, target, size=size))
    traced = list(named(_traced([replace(probe, size=0) for probe in probes], trace), owners))
    # Where small packets are lost, large ones say nothing more, and would be waited for.
    arriving = [number for number, (found, _) in enumerate(traced) if not found.end]
    sent = named(_traced([probes[number] for number in arriving], arrive), owners)
    return (
        tuple(ObservedTrace(*pair, hops, found.end) for pair, (found, hops) in zip(pairs, traced, strict=True)),
        tuple(
            ObservedSize(*pairs[number], found.probe.size, f"{' '.join(hops)}: {found.end}" if hops else found.end)
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
