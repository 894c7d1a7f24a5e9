"""Choose the pairs of NICs whose packets are sent, and compare their paths, and their sizes, with the intent."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.families.lab import LARGE, TRACED
from ailb_gen.checks.model import Check, Findings
from ailb_gen.lab.check.expected import host_place, leaf_ports
from ailb_gen.lab.check.observed import Observed, ObservedTrace, Pair
from ailb_gen.network.fabric import End
from ailb_gen.wording import counted


def pairs(context: Context, most: int, seed: int) -> tuple[list[Pair], int]:
    """Return the queue pairs between servers on every rail, a sample of at most `most`, and their number."""
    rails: dict[str, list[End]] = defaultdict(list)
    in_service = leaf_ports(context)
    for cable in context.cabling.hosts:
        nic = End(cable.b_device, cable.b_port)
        if nic in in_service:
            rails[cable.rail].append(nic)
    counts = [len(nics) * (len(nics) - 1) for nics in rails.values()]
    colors = len(context.expected.colors)
    total = sum(counts) * colors
    source = random.Random(seed)  # noqa: S311 - a sample
    chosen = range(total) if total <= most else sorted(source.sample(range(total), most))
    return [_pair(list(rails.values()), colors, number) for number in chosen], total


def _pair(rails: list[list[End]], colors: int, number: int) -> Pair:
    number, color = divmod(number, colors)
    for nics in rails:
        count = len(nics) * (len(nics) - 1)
        if number < count:
            source, target = divmod(number, len(nics) - 1)
            return Pair(nics[source], nics[target + (target >= source)], color + 1)
        number -= count
    raise IndexError(number)


class PacketPaths:
    """The paths by which packets of queue pairs may go: over any spine of the prefix's color, none within a leaf."""

    def __init__(self, context: Context, routes: ExpectedRoutes) -> None:
        self._leaves = {nic: port.device for nic, port in leaf_ports(context).items()}
        self._switches, self._routes = context.expected.switches, routes
        self._spines: dict[tuple[str, int, str], list[str]] = {}

    def expected(self, sent: ObservedTrace) -> list[tuple[str, ...]]:
        """Return the switches of every path; none if no path is left."""
        near, far = self.leaves(sent)
        if near == far:
            return [()]
        key = (near, sent.pair, far)
        if key not in self._spines:
            prefix = self._switches[far].prefixes[sent.pair - 1]
            self._spines[key] = sorted(self._routes.spines(near, prefix))
        return [(near, spine, far) for spine in self._spines[key]]

    def leaves(self, sent: ObservedTrace) -> tuple[str, str]:
        """Return the leaves of both NICs."""
        return self._leaves[sent.source], self._leaves[sent.target]


def check_traces(context: Context, routes: ExpectedRoutes, observed: Observed, findings: Findings) -> None:
    """Compare traces: up to a spine of the prefix's color and down again; within a leaf none is passed."""
    paths = PacketPaths(context, routes)
    findings.look(TRACED, len(observed.traces))
    wrong: dict[tuple[str, str], list[ObservedTrace]] = defaultdict(list)
    for trace in observed.traces:
        expected = paths.expected(trace)
        if trace.end or trace.hops not in expected:
            wrong[trace.source.device, _text(expected)].append(trace)
    for (_, text), traces in wrong.items():
        first = traces[0]
        message = f"packets of {_pair_text(first)} pass {_path(first.hops)}"
        message += (f" and end there: {first.end}" if first.end else "") + f", not {text}"
        involves = (name for one in traces for name in (*paths.leaves(one), *one.hops, one.target.device))
        _add(context, TRACED, message, traces, involves, findings)


def check_sizes(context: Context, routes: ExpectedRoutes, observed: Observed, findings: Findings) -> None:
    """Expect packets of the senders' own MTU to arrive; other checks report where small ones are lost, too."""
    paths = PacketPaths(context, routes)
    lost_anyway = {one[:3] for one in observed.traces if one.end}
    sent = [one for one in observed.sizes if one[:3] not in lost_anyway]
    findings.look(LARGE, len(sent))
    wrong: dict[tuple[str, int, str], list[ObservedTrace]] = defaultdict(list)
    for one in sent:
        if one.end:
            end = f"{' '.join(one.hops)}: {one.end}" if one.hops else one.end
            wrong[one.source.device, one.size, end].append(one)
    for (_, size, end), lost in wrong.items():
        message = f"a packet of {size} bytes of {_pair_text(lost[0])} is lost: {end}"
        passed = [name for one in lost for path in ((paths.leaves(one)), *paths.expected(one)) for name in path]
        _add(context, LARGE, message, lost, (*passed, *(one.target.device for one in lost)), findings)


def _add(
    context: Context, check: Check, message: str, sent: list[ObservedTrace], involves: Iterable[str], findings: Findings
) -> None:
    server, nic = sent[0].source.device, sent[0].source.port
    message += f" (and {counted(len(sent) - 1, 'more pair')})" if len(sent) > 1 else ""
    place, subjects = host_place(context, server), [about.nic(server, nic)]
    findings.add(check, server, message, place, involves=dict.fromkeys(involves), part=nic, subjects=subjects)


def _pair_text(sent: ObservedTrace) -> str:
    return f"queue pair {sent.pair} from {sent.source} to {sent.target}"


def _path(switches: tuple[str, ...]) -> str:
    return " - ".join(switches) or "no switch"


def _text(paths: list[tuple[str, ...]]) -> str:
    return " or ".join(map(_path, paths[:4])) or "anything: no path is left"
