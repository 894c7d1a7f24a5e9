"""What `rib`, `fib` and `path` share: reading an artifact directory, what is down, devices and prefixes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import say
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ailb_gen.addresses import Prefix
    from ailb_gen.forwarding.trace import View
    from ailb_gen.junos.tree import Node
    from ailb_gen.network.fabric import End, Network
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import Routing

Artifacts = Annotated[
    Path,
    typer.Option("-C", "--artifacts", help="The directory of generated files.", metavar="DIR", envvar="AILB_ARTIFACTS"),
]
Failed = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        help="Assume this failure: DEVICE:PORT, DEVICE:DEVICE or a switch; repeatable.",
        metavar="LINK",
        autocompletion=complete.device,
    ),
]
HERE = Path()
# So many problems are worth a line each.
TOLD = 3


def nothing(written: Node, tree: Node) -> int:
    """Look at nothing in a switch's tree."""
    return 0


def view(artifacts: Path, failed: list[str] | None) -> View:
    """Read an artifact directory and compute the routes with some cables and switches down.

    Says on standard error what in the files could not be used. Raises UsageError for what is neither.
    """
    from ailb_gen.forwarding.trace import View
    from ailb_gen.network.read import read_network
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import Routing

    network = read_network(artifacts, nothing).network
    warn_of(doubts(network))
    graph = Graph(network)
    down, dead, nics = outage(graph, failed)
    return View(network, Routing(network, graph=graph.without(down)), dead, nics)


def outage(graph: Graph, failed: list[str] | None) -> tuple[frozenset[int], frozenset[str], frozenset[tuple[str, str]]]:
    """Return the sessions, the switches and the NICs (server, NIC) that are down. Raises UsageError."""
    network = graph.network
    sessions = {(session.cable.a, session.cable.b): number for number, session in enumerate(graph.sessions.up)}
    dead = frozenset(word for word in failed or [] if word in network.switches)
    cables = {ends for word in failed or [] if word not in dead for ends in cables_of(network, word)}
    cables |= {ends for ends in _cables(network) if not dead.isdisjoint({ends[0].device, ends[1].device})}
    nics = frozenset((b.device, b.port) for _, b in cables if b.device not in network.switches)
    # A cable without a session carries nothing that could be lost.
    return frozenset(sessions[ends] for ends in cables if ends in sessions), dead, nics


def warn_unsettled(routing: Routing, prefixes: Iterable[Prefix]) -> None:
    """Warn on standard error of prefixes whose routes do not converge: what is shown is one state of many."""
    restless = (prefix for prefix in dict.fromkeys(prefixes) if not routing.state(prefix).stable)
    warn_of(f"the routes of {prefix} do not converge; this is one state of many" for prefix in restless)


def warn_of(doubts: Iterable[str]) -> None:
    """Print the first few warnings to standard error, and how many more there are."""
    lines = list(doubts)
    for line in lines[:TOLD]:
        say(f"warning: {line}")
    if len(lines) > TOLD:
        say(f"warning: {len(lines) - TOLD} more; 'ailb-gen validate' lists all")


def doubts(network: Network) -> Iterator[str]:
    """Yield what makes the answer less than the truth: files that are missing, or that could not be read."""
    yield from (f"{defect.place or defect.scope}: {defect.message}" for defect in network.defects)
    faulty = {defect.scope for defect in network.defects}
    for name in _without_file(network):
        if name not in faulty:
            yield f"{name}: cables lead there, but it has no usable file: it is as if it were down"


def _without_file(network: Network) -> list[str]:
    """Return the switches that cables lead to and that have no usable file."""
    known = {end.device for end in network.link_ends()}
    known |= {end.device for end in network.attachments.values()}
    return sorted(known - network.switches.keys())


def _cables(network: Network) -> Iterator[tuple[End, End]]:
    """Yield both ends of every cable; to a server the switch comes first."""
    from ailb_gen.network.fabric import End

    yield from ((cable.a, cable.b) for cable in network.links)
    yield from ((end, End(*nic)) for nic, end in network.attachments.items())


def cables_of(network: Network, word: str) -> list[tuple[End, End]]:
    """Return the cables that a word means: see `cables_named`. Raises UsageError."""
    from ailb_gen.network.cable_words import cables_named

    return cables_named(_cables(network), word, "--fail")


def device_of(found: View, name: str) -> int:
    """Return the index of a switch. Raises UsageError."""
    from ailb_gen.wording import did_you_mean, some

    if name in found.switches:
        raise UsageError(f"{name!r}: this switch is down (--fail)")
    graph = found.routing.graph
    if name in graph.index:
        return graph.index[name]
    if name in found.network.hosts:
        raise UsageError(f"{name!r}: this is a server, on {_leaves(found.network, name)}; name a switch")
    defect = next((defect.message for defect in found.network.defects if defect.scope == name), "")
    if defect or name in _without_file(found.network):
        reason = f": {defect}" if defect else ""
        raise UsageError(f"{name!r}: there is no usable file of this switch{reason}")
    hint = did_you_mean(name, graph.names) or f"there are {len(graph.names)}: {some(graph.names)}"
    raise UsageError(f"{name!r}: no switch of the files is called that; {hint}")


def _leaves(network: Network, server: str) -> str:
    leaves: Iterable[str] = (end.device for (name, _), end in network.attachments.items() if name == server)
    return ", ".join(dict.fromkeys(leaves)) or "no known switch"


def prefixes_of(routing: Routing, text: str | None) -> tuple[Prefix, ...]:
    """Return the prefixes that a text picks: those within it, else those around it. Raises UsageError."""
    from ailb_gen.addresses import BITS, Prefix, address_value, interface_value

    if text is None:
        return routing.prefixes
    value, wide = address_value(text), interface_value(text)
    if value is not None:
        wide = value, Prefix(value, BITS)
    if wide is None:
        raise UsageError(f"{text!r}: not an IPv6 address or prefix")
    within = tuple(prefix for prefix in routing.prefixes if wide[1].contains(prefix))
    around = tuple(prefix for prefix in routing.prefixes if prefix.contains(wide[1]))
    if not within and not around:
        raise UsageError(f"{text}: no switch has a prefix there; 'ailb-gen fib SWITCH' lists all")
    return within or around
