"""What was counted and measured, as findings and figures of the checks of acceptance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ailb_gen.accept.counters import SUSPICIOUS, Readings
from ailb_gen.accept.expected import PortDeviation, compare_ports
from ailb_gen.accept.flows import AcceptFlow
from ailb_gen.accept.nccl_tests import NcclRun, spread
from ailb_gen.accept.traffic import TrafficCounts
from ailb_gen.checks.families.acceptance import ARRIVALS, JOB, MARKS, PORTS, SHARES
from ailb_gen.checks.model import Check, Findings
from ailb_gen.network.fabric import End, Network
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import counted, some

# Equal runs differ by less: the guide's three runs are one line in its figure.
MOST_SPREAD = 0.05
# A color that has less than this share of the mean of all is one that servers do not use. A server that uses one of C
# colors adds (C - 1) / N of the mean to it, where N servers share the leaf: this share of that is one, too.
LEAST_SHARE = 0.5
# Octets that sessions and the like send on an uplink during a job, at most.
IDLE_BYTES = 1 << 20


def port_results(
    found: Findings,
    routing: Routing,
    flows: Sequence[AcceptFlow],
    counts: TrafficCounts,
    readings: Readings,
    payload: int,
) -> None:
    """Report lost and late packets by path, and the ports that have not carried what was sent through them."""
    by_path: dict[tuple[str, str, str], list[AcceptFlow]] = defaultdict(list)
    for flow in flows:
        by_path[flow.source.leaf.device, flow.target.leaf.device, flow.color].append(flow)
    lost_colors = set()
    for (leaf, other, color), row in sorted(by_path.items()):
        found.look(ARRIVALS, len(row))
        sent, received, late = (
            sum(numbers.get(flow.number, 0) for flow in row) for numbers in (counts.sent, counts.received, counts.late)
        )
        lossy = [flow for flow in row if counts.received.get(flow.number, 0) < counts.sent.get(flow.number, 0)]
        if lossy:
            lost_colors.add(color)
            of = f"{sent - received:,} of {sent:,} packets to {other} in color {color} are lost"
            found.add(ARRIVALS, leaf, f"{of}: {some([f'{one.source.end} to {one.target.end}' for one in lossy])}")
        if late:
            found.add(ARRIVALS, leaf, f"{late:,} of {received:,} packets to {other} in color {color} come out of order")
    compared = compare_ports(routing, flows, counts, readings, payload)
    found.look(PORTS, compared.compared)
    for one in compared.deviations:
        device = one.crossing.ports[0].device
        found.add(PORTS, device, port_message(one, lost_colors), part=one.crossing.ports[0].port)
    total = sum(counts.sent.values())
    found.figure(ARRIVALS, "packets received of those sent", f"{sum(counts.received.values()):,} of {total:,}")
    found.figure(PORTS, "counters that agree to the packet", f"{compared.agreeing:,} of {compared.compared:,}")
    uncounted(found, PORTS, compared.uncounted, readings)
    _loads(found, routing.graph.network, readings)


def uncounted(found: Findings, check: Check, ends: Iterable[End], readings: Readings) -> None:
    """Report ports of devices that were read, but gave no numbers."""
    for end in ends:
        if end.device in readings.devices:
            reason = "no counters of this run: the device shows none, or they were cleared meanwhile; run accept again"
            found.add(check, end.device, f"{end.port} has {reason}", part=end.port)


def port_message(one: PortDeviation, lost_colors: set[str]) -> str:
    """Return a line about a port that counted other packets than were sent its way."""
    ports, colors = " and ".join(end.port for end in one.crossing.ports), some(list(one.colors))
    verb = "sent" if one.crossing.output else "received"
    to = f" (to {some(list(one.receivers))})" if one.receivers else ""
    text = f"{ports}{to} has {verb} {one.counted:,} of {one.expected:,} packets of color {colors}"
    if lost_colors.isdisjoint(one.colors):
        return f"{text}, and all arrive: they take another way, as with a wrong color or without the session"
    if one.senders:
        senders, device = some(list(map(str, one.senders))), one.crossing.ports[0].device
        why = "" if one.counted else ", as without a route of the color"
        return f"{text} that {senders} sent: lost on a cable there or in {device}{why}"
    return f"{text}: lost in {one.crossing.ports[0].device} itself, as without carrier or route"


def marks(found: Findings, readings: Readings) -> None:
    """Report the counters of NICs that show congestion or loss."""
    for end, row in sorted(readings.suspicious.items()):
        found.look(MARKS)
        for name, value in row.items():
            if value:
                text = f"{value:,} {SUSPICIOUS[name]}" if value > 0 else f"{SUSPICIOUS[name]}: counted anew meanwhile"
                found.add(MARKS, end.device, f"{end.port}: {text}", part=end.port)


def _loads(found: Findings, network: Network, readings: Readings) -> None:
    """Show how evenly the uplinks of the leaf that is worst are loaded."""
    peaks = {}
    for leaf, row in uplink_bytes(network, readings).items():
        sizes = [size for sizes in row.values() for size in sizes]
        if sum(sizes):
            peaks[leaf] = max(sizes) * len(sizes) / sum(sizes)
    if peaks:
        worst = max(peaks, key=lambda leaf: peaks[leaf])
        found.figure(PORTS, "busiest uplink over the mean of its leaf", f"{peaks[worst]:.3f} ({worst})")


def uplink_bytes(network: Network, readings: Readings) -> Mapping[str, Mapping[str, list[int]]]:
    """Return the octets that every leaf has sent on its uplinks, by leaf and color."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for cable in network.links:
        if cable.a in readings.ports:
            found[cable.a.device][cable.color].append(readings.ports[cable.a].output_bytes)
    return found


def job_results(found: Findings, server: str, job: str, runs: Sequence[NcclRun], predicted: float | str) -> None:
    """Report whether a job computed correctly and equally fast, with its bus bandwidth beside the predicted one."""
    found.look(JOB, len(runs))
    averages, largest = spread([run.average for run in runs]), spread([run.rows[-1].busbw for run in runs])
    wrong = sum(run.wrong for run in runs)
    if wrong:
        found.add(JOB, server, f"{job}: {wrong:,} wrong values: memory, a GPU or a NIC corrupts data")
    if averages.share > MOST_SPREAD:
        values = ", ".join(f"{run.average:.2f}" for run in runs)
        found.add(
            JOB,
            server,
            f"{job}: {len(runs)} runs differ by {averages.share:.1%}, over {MOST_SPREAD:.0%}: {values} GB/s",
        )
    found.figure(JOB, f"{job}: average bus bandwidth of {counted(len(runs), 'run')}", averages)
    found.figure(JOB, f"{job}: bus bandwidth at {runs[0].rows[-1].size:,} bytes", largest)
    text = (
        predicted if isinstance(predicted, str) else f"{predicted:.2f} GB/s; measured {_share(largest.mean, predicted)}"
    )
    found.figure(JOB, f"{job}: predicted by simulate for that size", text)


def _share(measured: float, predicted: float) -> str:
    return f"{measured / predicted:.1%} of it" if predicted else "more than nothing"


def share_results(found: Findings, network: Network, job: str, readings: Readings, runs: Sequence[NcclRun]) -> None:
    """Report leaves that have sent a job unevenly by color, and servers whose NCCL says that it has no plug-in."""
    for host in sorted({host for run in runs for host in run.without_plugin}):
        found.add(SHARES, host, f"{job}: NCCL did not load its network plug-in: all queue pairs use one color")
    uncounted(found, SHARES, (cable.a for cable in network.links if cable.a not in readings.ports), readings)
    peaks = {}
    for leaf, row in sorted(uplink_bytes(network, readings).items()):
        sizes = {color: sum(octets) for color, octets in row.items()}
        mean = sum(sizes.values()) / len(sizes)
        if max(sizes.values()) < IDLE_BYTES or len(sizes) < 2:
            continue
        found.look(SHARES)
        idle = [color for color, size in sizes.items() if size < LEAST_SHARE * mean]
        most = max(sizes, key=lambda color: sizes[color])
        peaks[leaf] = sizes[most] / mean
        share = f"{job}: {sizes[most] / sum(sizes.values()):.0%} of its octets are of color {most}"
        servers = sorted({server for (server, _), end in network.attachments.items() if end.device == leaf})
        if idle:
            found.add(SHARES, leaf, f"{share}, few or none of {some(idle)}")
        elif peaks[leaf] > 1 + LEAST_SHARE * (len(sizes) - 1) / max(1, len(servers)):
            reason = f"{1 / len(sizes):.0%} would be even: one of {some(servers)} sends on that color only"
            found.add(SHARES, leaf, f"{share}, {reason}, as without the NCCL plug-in")
    if peaks:
        worst = max(peaks, key=lambda leaf: peaks[leaf])
        text = f"{peaks[worst]:.3f} ({worst}, worst of {len(peaks)})"
        found.figure(SHARES, f"{job}: busiest color over the mean of its leaf", text)
    elif not runs[0].without_plugin:
        found.skip(SHARES, f"{job} sent next to nothing over uplinks: its servers share leaves")
