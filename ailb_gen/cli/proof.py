"""What `rib`, `fib` and `path` share: reading an artifact directory, failed links, prefixes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from ailb_gen.addresses import Prefix
    from ailb_gen.junos.tree import Node
    from ailb_gen.network.fabric import Network
    from ailb_gen.routing.rib import Routing

Artifacts = Annotated[
    Path,
    typer.Option("-C", "--artifacts", help="The directory of generated files.", metavar="DIR", envvar="AILB_ARTIFACTS"),
]
Failed = Annotated[
    list[str] | None,
    typer.Option("--fail", help="A link that is down, SWITCH:PORT, or a dead switch; several.", metavar="LINK"),
]
HERE = Path()


def nothing(written: Node, tree: Node) -> int:
    """Look at nothing in a switch's tree."""
    return 0


def read(artifacts: Path) -> Network:
    """Read an artifact directory; says on standard error when something in it could not be used."""
    from ailb_gen.network.read import read_network

    network = read_network(artifacts, nothing).network
    if network.faults:
        count = len(network.faults)
        typer.echo(f"{count} problem{'s' if count > 1 else ''} in the files; 'ailb-gen validate' lists them", err=True)
    return network


def routing_of(network: Network, failed: list[str] | None) -> Routing:
    """Compute the routes with some links and switches down. Raises UsageError for what is neither."""
    from ailb_gen.intent.messages import did_you_mean
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import Routing

    graph = Graph(network)
    ends = {}
    for number, session in enumerate(graph.sessions.up):
        for end in (session.cable.a, session.cable.b):
            ends[str(end)] = number
    down: set[int] = set()
    for word in failed or []:
        if word in ends:
            down.add(ends[word])
        elif word in graph.index:
            down.update(entry.session for entry in graph.adjacencies[graph.index[word]])
        else:
            hint = did_you_mean(word, [*ends, *graph.names]) or "SWITCH:PORT of a link with a session, or SWITCH"
            raise UsageError(f"--fail {word!r}: there is no such link or switch; {hint}")
    return Routing(network, frozenset(down), graph)


def device_of(routing: Routing, name: str) -> int:
    """Return the index of a switch. Raises UsageError."""
    from ailb_gen.intent.messages import did_you_mean

    if name in routing.graph.index:
        return routing.graph.index[name]
    known = routing.graph.names
    hint = did_you_mean(name, known) or f"there are {len(known)}: {', '.join(known[:4])} ..."
    raise UsageError(f"{name!r}: no switch of the files is called that; {hint}")


def prefixes_of(routing: Routing, text: str | None) -> tuple[Prefix, ...]:
    """Return the prefixes that a text picks: one, those within it, or those that hold an address. Raises UsageError."""
    from ailb_gen.addresses import address_value, interface_value

    if text is None:
        return routing.prefixes
    value, wide = address_value(text), interface_value(text)
    if value is None and wide is None:
        raise UsageError(f"{text!r}: not an IPv6 address or prefix")
    if value is not None:
        found = [prefix for prefix in routing.prefixes if prefix.holds(value)]
    else:
        found = [prefix for prefix in routing.prefixes if wide is not None and wide[1].contains(prefix)]
    if not found:
        raise UsageError(f"{text}: no switch has a prefix there; 'ailb-gen rib SWITCH' lists all")
    return tuple(found)
