"""Paths as a section: the way of every queue pair between two NICs, with a failure chosen, traced in the page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ailb_gen.checks.context import Context
from ailb_gen.checks.failure_outcomes import CHUNK, packed
from ailb_gen.forwarding.failures import Failure
from ailb_gen.report.html.page import Section
from ailb_gen.report.html.path_tables import Choices, path_tables
from ailb_gen.routing.graph import Graph
from ailb_gen.wording import clean, counted

# Links that can fail in the page where the check of failures has not been over all of them, that many with findings and
# that many more; and leaves.
LINKS = 256
LEAVES = 64
# The room for the arrow of a field's list, in characters.
ARROW = 4


def paths_section(context: Context, marked: Collection[str] = ()) -> Section:
    """Return the section; failures to choose from are all that the check of failures examined, else a sample.

    `marked` are names of devices and links with findings: of these are more in the sample.
    """
    choices = list(_choices(context, marked))
    tables = path_tables(context.network, context.routing, context.fib_changes.numbers, choices)
    tables["artifacts"] = clean(str(context.root))
    graph = context.routing.graph
    values = {
        "servers": len(context.network.hosts),
        "what": _what(context, choices),
        # The widths of the fields: names show whole.
        "longest_server": max((20, *map(len, context.network.hosts))) + ARROW,
        "longest_failure": max((44, *(len(graph.link_name(at)) for at in range(len(graph.sessions.up))))) + ARROW,
    }
    return Section("paths", "Paths", values, tables, uses=("tracer",))


def _choices(context: Context, marked: Collection[str]) -> Iterator[Choices]:
    graph = context.routing.graph
    up = len(graph.sessions.up)
    spines = [graph.index[spine.name] for spine in context.expected.spines if spine.name in graph.index]
    leaves = [graph.index[leaf.name] for leaf in context.expected.leaves if leaf.name in graph.index]
    outcomes = context.kept_outcomes
    if outcomes is not None and outcomes.changes:
        yield Choices(range(up), spines, outcomes.changes, CHUNK)
    else:
        links = range(up) if up <= LINKS else _sample(graph, marked)
        failures = [Failure("", frozenset({at})) for at in links]
        failures += [Failure("", dead=frozenset({device})) for device in spines]
        yield Choices(links, spines, _changes(context, failures), CHUNK)
    if len(leaves) <= LEAVES:
        # A leaf that is down has no sessions; what it would still send itself never gets there.
        sessions = ({entry.session for entry in graph.adjacencies[device]} for device in leaves)
        yield Choices((), leaves, _changes(context, [Failure("", frozenset(row)) for row in sessions]), CHUNK)


def _sample(graph: Graph, marked: Collection[str]) -> list[int]:
    """Return links with findings at them or at their ends, and others at even distances."""
    up = graph.sessions.up
    about = [
        at
        for at, session in enumerate(up)
        if not {session.a.device, session.b.device, graph.link_name(at)}.isdisjoint(marked)
    ]
    both = about[:: max(1, len(about) // LINKS)], range(0, len(up), max(1, len(up) // LINKS))
    return sorted({at for row in both for at in row[:LINKS]})


def _changes(context: Context, failures: Iterable[Failure]) -> list[bytes]:
    rows = [context.fib_changes.after(failure) for failure in failures]
    return [packed(rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK)]


def _what(context: Context, choices: list[Choices]) -> str:
    """Return which failures can be chosen."""
    links, up = sum(len(one.links) for one in choices), len(context.routing.graph.sessions.up)
    switches = sum(len(one.switches) for one in choices)
    some = f"any of the {up:,} fabric links" if links == up else f"a sample of {links:,} of the {up:,} fabric links"
    return f"{some}, {counted(switches, 'switch')}, or the cable of a NIC"
