"""FIBs, and the nodes that represent switches: shared by forwarding, failures, checks and the emulator."""

from __future__ import annotations

from ailb_gen.network.model import SwitchLoadBalancing
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.solve import EMPTY, LocRib, Selection, State


def node_of(graph: Graph, state: State, device: int) -> int:
    """Return the node of a state that a device belongs to."""
    return graph.alone(device) if device in state.singles else graph.class_of[device]


def nodes_of(graph: Graph, state: State, devices: set[int]) -> list[int]:
    """Return the nodes of a state that stand for some devices, in order."""
    singles = [graph.alone(device) for device in state.singles & devices]
    shared = devices - state.singles
    return sorted([number for number, found in enumerate(graph.classes) if found.members & shared] + singles)


def members_of(graph: Graph, state: State, node: int) -> list[int]:
    """Return the devices that a node of a state stands for, in order."""
    return [graph.device(node)] if graph.is_alone(node) else sorted(graph.classes[node].members - state.singles)


def held(graph: Graph, state: State, device: int) -> LocRib:
    """Return what a device holds of the state's prefix."""
    return state.nodes.get(node_of(graph, state, device), EMPTY)


def installed(balancing: SwitchLoadBalancing, selection: Selection) -> tuple[int, ...]:
    """Return the positions of the best paths that the FIB takes.

    Without a load-balancing policy on the forwarding table Junos installs the active path only, and never more than
    `maximum-ecmp`.
    """
    if balancing.per_packet:
        return selection.best[: balancing.maximum_ecmp]
    return (selection.position,) if selection.best else ()


def fib_entry(graph: Graph, state: State, node: int) -> tuple[int, ...]:
    """Return the positions over which the devices of a node send packets to the state's prefix."""
    rib = state.nodes.get(node)
    if rib is None or not rib.selection.best:
        return ()
    return installed(graph.switches[graph.device(node)].balancing, rib.selection)
