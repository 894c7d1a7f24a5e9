"""`ailb-gen path`: the way of one queue pair, server to server, like a traceroute."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.proof import HERE, Artifacts, Failed, read, routing_of
from ailb_gen.errors import ExitCode

if TYPE_CHECKING:
    from ailb_gen.forwarding.endpoints import Endpoint
    from ailb_gen.forwarding.walk import Hop, Walk
    from ailb_gen.hosts.lookup import Lookup
    from ailb_gen.network.fabric import Network
    from ailb_gen.routing.rib import Routing


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole way: the server's decision, the switches, and whether the packet arrives."""

    source: Endpoint
    target: Endpoint
    pair: int
    lookup: Lookup
    walk: Walk | None
    problem: str


def path(
    source: Annotated[str, typer.Argument(help="SERVER, SERVER:NIC or an address.", metavar="SRC")],
    destination: Annotated[str, typer.Argument(help="SERVER, SERVER:NIC or an address.", metavar="DST")],
    qp: Annotated[int | None, typer.Option("--qp", min=1, help="Only this queue pair.", metavar="K")] = None,
    flow: Annotated[int, typer.Option("--hash", min=0, help="Picks among several next hops.")] = 0,
    artifacts: Artifacts = HERE,
    fail: Failed = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Follow the queue pairs of a connection, hop by hop.

    Exit code 1 when one does not arrive.
    """
    network = read(artifacts)
    routing = routing_of(network, fail)
    traces = [_trace(network, routing, (source, destination), pair, flow) for pair in _pairs(network, source, qp)]
    if as_json:
        typer.echo(json.dumps([_as_json(trace) for trace in traces], indent=1))
    else:
        typer.echo("\n\n".join("\n".join(_lines(trace)) for trace in traces))
    if any(trace.problem for trace in traces):
        raise typer.Exit(ExitCode.FINDINGS)


def _pairs(network: Network, source: str, qp: int | None) -> range:
    """Return the queue pairs to follow: the one that was asked for, else every one of the source's NIC."""
    from ailb_gen.addresses import address_value
    from ailb_gen.forwarding.endpoints import endpoint, pairs_of

    if qp is not None or address_value(source) is not None:
        return range(qp or 1, (qp or 1) + 1)
    return range(1, pairs_of(network, endpoint(network, source, 1)) + 1)


def _trace(network: Network, routing: Routing, ends: tuple[str, str], pair: int, flow: int) -> Trace:
    from ailb_gen.forwarding.endpoints import endpoint, leave
    from ailb_gen.forwarding.walk import walk

    source = endpoint(network, ends[0], pair)
    target = endpoint(network, ends[1], pair, source.rail)
    lookup = leave(network, source, target.address)
    if lookup.route is None:
        return Trace(source, target, pair, lookup, None, f"{source.server} has no route to {target.text}")
    port = network.attachments.get((source.server, lookup.nic))
    if port is None or port.device not in routing.graph.index:
        return Trace(
            source, target, pair, lookup, None, f"{lookup.nic} of {source.server} is cabled to no known switch"
        )
    if lookup.gateway is not None and not _has_address(network, port.device, lookup.gateway):
        return Trace(source, target, pair, lookup, None, f"the gateway is no address of {port.device}")
    found = walk(routing, routing.graph.index[port.device], target.address, flow)
    problem = found.problem
    last = found.hops[-1].device
    if not problem and target.port is not None and target.port.device != last:
        problem = f"arrives at {last}; {target.nic} of {target.server} is cabled to {target.port}"
    return Trace(source, target, pair, lookup, found, problem)


def _has_address(network: Network, switch: str, value: int) -> bool:
    ports = network.switches[switch].ports.values()
    return any(value == address.value for port in ports for unit in port.units for address in unit.addresses)


def _gateway(lookup: Lookup) -> str:
    from ailb_gen.addresses import address_text

    return f"via {address_text(lookup.gateway)} dev {lookup.nic}" if lookup.gateway is not None else f"dev {lookup.nic}"


def _lines(trace: Trace) -> list[str]:
    source, target, lookup = trace.source, trace.target, trace.lookup
    rows = [
        f"queue pair {trace.pair}: {source.server} {source.nic} {source.text}",
        f"           -> {target.server} {target.nic} {target.text}",
    ]
    rule = f"rule {lookup.rule.priority} from {lookup.rule.source}" if lookup.rule is not None else "no rule"
    rows.append(
        f" 1  {source.server}  {rule}, table {lookup.table_name}: {_gateway(lookup) if lookup.route else 'no route'}"
    )
    for number, hop in enumerate(trace.walk.hops if trace.walk is not None else (), 2):
        rows.append(f"{number:2}  {hop.device}  {_hop_text(hop)}")
    if not trace.problem:
        rows.append(f"{len(rows) - 1:2}  {target.server}  {target.nic}")
    return [*rows, f"    FAILS: {trace.problem}"] if trace.problem else rows


def _hop_text(hop: Hop) -> str:
    into = f"in {hop.arrived}, " if hop.arrived else ""
    if hop.prefix is None:
        return f"{into}no route"
    if not hop.ways:
        return f"{into}{hop.prefix} is direct"
    interface, peer = hop.ways[hop.taken]
    more = f", one of {len(hop.ways)} ways" if len(hop.ways) > 1 else ""
    return f"{into}{hop.prefix} out {interface} to {peer} ({hop.color or 'uncolored'}{more})"


def _as_json(trace: Trace) -> dict[str, object]:
    lookup = trace.lookup
    hops = trace.walk.hops if trace.walk is not None else ()
    return {
        "queue_pair": trace.pair,
        "source": {"server": trace.source.server, "nic": trace.source.nic, "address": trace.source.text},
        "destination": {"server": trace.target.server, "nic": trace.target.nic, "address": trace.target.text},
        "rule": lookup.rule.priority if lookup.rule is not None else None,
        "table": lookup.table_name,
        "nic": lookup.nic,
        "hops": [
            {
                "switch": hop.device,
                "in": hop.arrived,
                "prefix": str(hop.prefix) if hop.prefix is not None else None,
                "ways": [{"interface": interface, "peer": peer} for interface, peer in hop.ways],
                "taken": hop.taken if hop.ways else None,
                "color": hop.color,
            }
            for hop in hops
        ],
        "problem": trace.problem,
    }
