"""Choose the pairs of NICs whose packets are sent, and compare their paths, and their sizes, with the intent."""

from __future__ import annotations

import random
from collections import defaultdict

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import LARGE, TRACED
from ailb_gen.checks.model import Findings
from ailb_gen.lab.check.expected import ExpectedLabRoutes, host_place, leaf_ports
from ailb_gen.lab.check.observed import Observed, ObservedSize, ObservedTrace, Pair
from ailb_gen.network.fabric import End


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


class PacketPaths:
    """The paths by which packets of queue pairs may go: over any spine of the prefix's color, none within a leaf."""

    def __init__(self, context: Context, routes: ExpectedLabRoutes) -> None:
        self._leaves = {nic: port.device for nic, port in leaf_ports(context).items()}
        self._switches, self._routes = context.expected.switches, routes
        self._spines: dict[tuple[str, int, str], list[str]] = {}

    def expected(self, sent: ObservedTrace | ObservedSize) -> list[tuple[str, ...]]:
        """Return the switches of every path; none if no path is left."""
        near, far = self.leaves(sent)
        if near == far:
            return [()]
        key = (near, sent.pair, far)
        if key not in self._spines:
            prefix = self._switches[far].prefixes[sent.pair - 1]
            self._spines[key] = sorted(self._routes.spines(near, prefix))
        return [(near, spine, far) for spine in self._spines[key]]

    def leaves(self, sent: ObservedTrace | ObservedSize) -> tuple[str, str]:
        """Return the leaves of both NICs."""
        return self._leaves[sent.source], self._leaves[sent.target]


def check_traces(context: Context, routes: ExpectedLabRoutes, observed: Observed, findings: Findings) -> None:
    """Compare traces: up to a spine of the prefix's color and down again; within a leaf none is passed."""
    paths = PacketPaths(context, routes)
    findings.look(TRACED, len(observed.traces))
    wrong: dict[tuple[str, str], list[ObservedTrace]] = defaultdict(list)
    for trace in observed.traces:
        expected = paths.expected(trace)
        if trace.end or trace.hops not in expected:
            wrong[trace.source.device, _text(expected)].append(trace)
    for (server, text), traces in wrong.items():
        first = traces[0]
        message = f"packets of queue pair {first.pair} from {first.source} to {first.target} pass {_path(first.hops)}"
        message += f" and end there: {first.end}" if first.end else ""
        message += f", not {text}" + (f" (and {len(traces) - 1} more pairs)" if len(traces) > 1 else "")
        involves = dict.fromkeys(name for one in traces for name in (*paths.leaves(one), *one.hops, one.target.device))
        place = host_place(context, server)
        subjects = [about.nic(server, first.source.port)]
        findings.add(TRACED, server, message, place, involves=involves, part=first.source.port, subjects=subjects)


def _path(switches: tuple[str, ...]) -> str:
    return " - ".join(switches) or "no switch"


def _text(paths: list[tuple[str, ...]]) -> str:
    return " or ".join(map(_path, paths[:4])) or "anything: no path is left"


def check_sizes(context: Context, routes: ExpectedLabRoutes, observed: Observed, findings: Findings) -> None:
    """Expect packets of the senders' own MTU to arrive; other checks report where small ones are lost, too."""
    paths = PacketPaths(context, routes)
    lost_anyway = {(one.source, one.target, one.pair) for one in observed.traces if one.end}
    wrong: dict[tuple[str, int, str], list[ObservedSize]] = defaultdict(list)
    for one in observed.sizes:
        if (one.source, one.target, one.pair) in lost_anyway:
            continue
        findings.look(LARGE)
        if one.end:
            wrong[one.source.device, one.size, one.end].append(one)
    for (server, size, end), lost in wrong.items():
        first = lost[0]
        message = f"a packet of {size} bytes of queue pair {first.pair} from {first.source} to {first.target} is lost"
        message += f": {end}" + (f" (and {len(lost) - 1} more pairs)" if len(lost) > 1 else "")
        passed = ((*paths.leaves(one), *(name for path in paths.expected(one) for name in path)) for one in lost)
        involves = dict.fromkeys((*(name for names in passed for name in names), *(one.target.device for one in lost)))
        place, subjects = host_place(context, server), [about.nic(server, first.source.port)]
        findings.add(LARGE, server, message, place, involves=involves, part=first.source.port, subjects=subjects)
