"""`ailb-gen path`: the ways of the queue pairs of a connection, server to server, like a traceroute."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_json, echo_wrapped, room, wrapped
from ailb_gen.cli.options import FAILED, HERE, JSON, TREE
from ailb_gen.cli.routes import routes_of, warn_unsettled
from ailb_gen.errors import ExitCode
from ailb_gen.paint import Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ailb_gen.forwarding.endpoints import Endpoint
    from ailb_gen.forwarding.trace import Hop, PathTrace

# More ways than this beside the one that is taken are only counted.
LISTED = 4
# Columns that are left for the text of a line: where there are fewer, the line is wrapped as a whole.
SHORTEST = 24
FAILS = "    FAILS: "


def path(
    source: Annotated[
        str, typer.Argument(help="SERVER, SERVER:NIC or an address.", metavar="SRC", autocompletion=complete.server)
    ],
    destination: Annotated[
        str, typer.Argument(help="SERVER, SERVER:NIC or an address.", metavar="DST", autocompletion=complete.server)
    ],
    qp: Annotated[int | None, typer.Option("--qp", min=1, help="Only this queue pair.", metavar="K")] = None,
    number: Annotated[
        int, typer.Option("--hash", min=0, help="Hash value that selects one of several next hops.", metavar="NUMBER")
    ] = 0,
    artifacts: TREE = HERE,
    fail: FAILED = None,
    as_json: JSON = False,
) -> None:
    """Follow the queue pairs of a connection, hop by hop.

    Queue pair k goes from the k-th prefix of a NIC to the k-th prefix of the
    other. Exit code 1 when one does not arrive.
    """
    from ailb_gen.addresses import address_value

    ends = [end for end in (source, destination) if address_value(end) is None]
    routes = routes_of(artifacts, fail, servers=[end.partition(":")[0] for end in ends])
    traces = routes.trace(source, destination, qp, number)
    passed = (hop.prefix for path_trace in traces for hop in path_trace.hops)
    warn_unsettled(routes, (prefix for prefix in passed if prefix is not None))
    if as_json:
        echo_json([trace_json(path_trace) for path_trace in traces])
    else:
        echo_wrapped(*_report(traces))
    if any(path_trace.problem for path_trace in traces):
        raise typer.Exit(ExitCode.FINDINGS)


def _name(end: Endpoint) -> str:
    return f"{end.device}{'' if end.certain else '?'}"


def _lines(path_trace: PathTrace) -> Iterator[str]:
    source, target = path_trace.source, path_trace.target
    title = f"queue pair {source.pair}:"
    yield f"{title} {_name(source)} {source.port} {source.text}"
    yield f"{'->':>{len(title)}} {_name(target)} {target.port} {target.text}"
    rows = list(_rows(path_trace))
    width = max(len(device) for _, device, _ in rows)
    rest = room() - len(" 1    ") - width
    for number, device, text in rows:
        first, *more = wrapped(text, rest if rest >= SHORTEST else 0).split("\n")
        yield f"{number:>2}  {device:{width}}  {first}"
        yield from (f"    {'':{width}}  {line}" for line in more)
    if path_trace.problem:
        yield f"{FAILS}{path_trace.problem}"
    if not (source.certain and target.certain):
        yield "    ? one of several servers: the files do not say which MAC address is whose"


def _rows(path_trace: PathTrace) -> Iterator[tuple[object, str, str]]:
    """Yield number, device and text of every line of a way; further lines of a device have neither of the first."""
    from ailb_gen.addresses import address_text

    source, target, lookup = path_trace.source, path_trace.target, path_trace.lookup
    rule = f"rule {lookup.rule.priority}" if lookup.rule is not None else "no rule"
    yield 1, _name(source), f"{rule}, table {lookup.table_name}{'' if lookup.route else ': no route'}"
    if lookup.route is not None:
        via = f"via {address_text(lookup.gateway)} " if lookup.gateway is not None else ""
        yield "", "", f"{via}dev {lookup.nic}"
    for number, hop in enumerate(path_trace.hops, 2):
        yield number, hop.device, f"in {hop.arrived or path_trace.entered}, {_hop_text(hop)}"
        others = [way for at, way in enumerate(hop.ways) if at != hop.taken]
        yield from (("", "", f"or out {way.interface} to {way.peer}") for way in others[:LISTED])
        if len(others) > LISTED:
            yield "", "", f"or one of {len(others) - LISTED} more"
    if not path_trace.problem and target.pair:
        cable = f" from {target.leaf.port}" if target.certain and target.leaf is not None else ""
        yield len(path_trace.hops) + 2, _name(target), f"in {target.port}{cable}"


def _hop_text(hop: Hop) -> str:
    if hop.prefix is None:
        return "no route"
    if not hop.ways:
        return f"{hop.prefix} is direct"
    way = hop.ways[hop.taken]
    return f"out {way.interface} to {way.peer} ({way.color or 'uncolored'})"


def _report(traces: Sequence[PathTrace]) -> Iterator[tuple[str, Style | None]]:
    """Yield the lines of all ways and of what they amount to, in their styles."""
    failed = any(path_trace.problem for path_trace in traces)
    for number, path_trace in enumerate(traces):
        if number:
            yield "", None
        title, *lines = _lines(path_trace)
        yield title, Style.HEAD
        yield from ((line, Style.FAIL if line.startswith(FAILS) else None) for line in lines)
    if len(traces) > 1:
        first, *shared = _summary(traces)
        yield "", None
        yield first, Style.FAIL if failed else Style.PASS
        yield from ((line, Style.WARN) for line in shared)


def _summary(traces: Sequence[PathTrace]) -> Iterator[str]:
    """Return how many arrive, and which share a link between switches: those share its bandwidth."""
    arrived = [path_trace for path_trace in traces if not path_trace.problem]
    yield f"{len(arrived)} of {len(traces)} queue pairs arrive"
    users: dict[tuple[str, str], list[int]] = defaultdict(list)
    for path_trace in arrived:
        for hop in path_trace.hops:
            if hop.ways:
                users[hop.device, hop.ways[hop.taken].interface].append(path_trace.source.pair)
    for (device, interface), pairs in users.items():
        if len(pairs) > 1:
            yield f"{device} {interface} carries queue pairs {', '.join(map(str, pairs))}"


def trace_json(path_trace: PathTrace) -> dict[str, object]:
    """Return a path as JSON has it."""
    lookup = path_trace.lookup
    return {
        "queue_pair": path_trace.source.pair,
        "source": _end_json(path_trace.source),
        "destination": _end_json(path_trace.target),
        "rule": lookup.rule.priority if lookup.rule is not None else None,
        "table": lookup.table_name,
        "nic": lookup.nic,
        "entered": path_trace.entered,
        "hops": [
            {
                "switch": hop.device,
                "in": hop.arrived,
                "prefix": str(hop.prefix) if hop.prefix is not None else None,
                "ways": [{"interface": way.interface, "peer": way.peer} for way in hop.ways],
                "taken": hop.taken if hop.ways else None,
                "color": hop.color,
            }
            for hop in path_trace.hops
        ],
        "problem": path_trace.problem,
    }


def _end_json(end: Endpoint) -> dict[str, object]:
    """Return an end; `address` is null without the NIC's MAC address, `certain` false if another NIC may have it."""
    return {
        "device": end.device,
        "port": end.port,
        "prefix": str(end.prefix),
        "address": end.text if end.known else None,
        "certain": end.certain,
        "cable": str(end.leaf) if end.pair and end.leaf is not None else None,
    }
