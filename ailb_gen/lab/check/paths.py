"""Choose the pairs of NICs that are traced, and judge the ways that their packets took."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import port_override
from ailb_gen.checks.families.lab import NO_VALLEY, TRACED
from ailb_gen.checks.model import Findings
from ailb_gen.errors import Place
from ailb_gen.lab.check.asked import AskedRoutes
from ailb_gen.lab.check.measured import Measured, SeenTrace
from ailb_gen.lab.check.routes import bgp_place
from ailb_gen.layout import NETPLAN
from ailb_gen.network.fabric import End
from ailb_gen.wording import some


class Pair(NamedTuple):
    """A queue pair between two NICs of one rail; `number` counts the prefixes from 1."""

    source: End
    target: End
    number: int


def leaf_of(context: Context) -> dict[End, str]:
    """Return the leaf of every NIC whose cable is in service."""
    return {
        End(cable.b_device, cable.b_port): cable.a_device
        for cable in context.cabling.hosts
        if not port_override(context.expected, End(cable.a_device, cable.a_port)).disabled
    }


def pairs(context: Context, most: int, seed: int) -> tuple[list[Pair], int]:
    """Return the queue pairs between servers on every rail, a sample of at most so many, and how many there are."""
    rails: dict[str, list[End]] = defaultdict(list)
    leaves = leaf_of(context)
    for cable in context.cabling.hosts:
        nic = End(cable.b_device, cable.b_port)
        if nic in leaves:
            rails[cable.rail].append(nic)
    counts = [len(nics) * (len(nics) - 1) for nics in rails.values()]
    colors = len(context.expected.colors)
    total = sum(counts) * colors
    chosen = range(total) if total <= most else sorted(random.Random(seed).sample(range(total), most))  # noqa: S311
    return [_pair(list(rails.values()), colors, number) for number in chosen], total


def _pair(rails: list[list[End]], colors: int, number: int) -> Pair:
    """Return the pair with a number, of all of them in order."""
    number, color = divmod(number, colors)
    for nics in rails:
        count = len(nics) * (len(nics) - 1)
        if number < count:
            source, target = divmod(number, len(nics) - 1)
            return Pair(nics[source], nics[target + (target >= source)], color + 1)
        number -= count
    raise IndexError(number)


def judge_traces(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Judge the traces: up to a spine of the prefix's color and down again; within a leaf none is passed."""
    leaves, switches = leaf_of(context), context.expected.switches
    findings.look(TRACED, len(seen.traces))
    wrong: dict[tuple[str, str], list[SeenTrace]] = defaultdict(list)
    spines: dict[tuple[str, int, str], frozenset[str]] = {}
    for trace in seen.traces:
        near, far = leaves[trace.source], leaves[trace.target]
        if near != far:
            key = (near, trace.pair, far)
            if key not in spines:
                want = asked.at_leaf(near, switches[far].prefixes[trace.pair - 1])
                spines[key] = frozenset(asked.links[near][port][0].device for port in want.allowed)
            right: list[tuple[str, ...]] = [(near, spine, far) for spine in sorted(spines[key])]
        else:
            right = [()]
        if trace.end or trace.hops not in right:
            wrong[trace.source.device, _text(right)].append(trace)
    for (server, text), traces in wrong.items():
        first = traces[0]
        found = " - ".join(first.hops) or "no switch"
        message = f"packets of queue pair {first.pair} from {first.source} to {first.target} pass {found}"
        message += f" and end there: {first.end}" if first.end else ""
        message += f", not {text}" + (f" (and {len(traces) - 1} more pairs)" if len(traces) > 1 else "")
        host = context.network.hosts.get(server)
        place = Place(f"{host.profile.folder}/{NETPLAN}") if host is not None else None
        involves = dict.fromkeys(
            name for one in traces for name in (leaves[one.source], leaves[one.target], *one.hops, one.target.device)
        )
        subjects = [about.nic(server, first.source.port)]
        findings.add(TRACED, server, message, place, involves=involves, part=first.source.port, subjects=subjects)


def _text(right: list[tuple[str, ...]]) -> str:
    if not right:
        return "anything: no way is left"
    return " or ".join(" - ".join(one) or "no switch" for one in right[:4])


def judge_probes(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Judge probes: a prefix without color comes to spines from the leaf that announces it, and from no other."""
    if seen.unprobed:
        findings.skip(NO_VALLEY, seen.unprobed)
    for source, places in seen.probed.items():
        findings.look(NO_VALLEY, len(context.expected.leaves) - 1)
        senders: dict[str, list[End]] = defaultdict(list)
        for end, sender in _senders(asked, places):
            if sender != source and sender in seen.devices:
                senders[sender].append(end)
        for sender, ends in senders.items():
            message = f"sends a prefix of {source} that it learned from a spine on to {some(map(str, ends))}"
            involves = dict.fromkeys(end.device for end in ends)
            findings.add(NO_VALLEY, sender, message, bgp_place(context, sender), involves=involves)


def _senders(asked: AskedRoutes, places: Mapping[str, frozenset[str]]) -> Iterator[tuple[End, str]]:
    """Yield the ends of spines where the probe prefix came in, with the leaf at the other end."""
    spines = {spine.name for spine in asked.ways.expected.spines}
    for spine, ports in places.items():
        for port in sorted(ports) if spine in spines else ():
            link = asked.links.get(spine, {}).get(port)
            if link is not None:
                yield End(spine, port), link[0].device
