"""The tables that load balancers keep, sized for a fabric."""

import numpy as np

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.engine.balancers import glb
from ailb_gen.sim.engine.records import NONE, Ints, Ints32
from ailb_gen.sim.fabric import LEAF, PS_PER_US, Fabric
from ailb_gen.sim.settings import BalancerSettings, Settings


def leaves(fabric: Fabric) -> Ints32:
    """Return the number of every leaf among the leaves, NONE for other nodes, shape (H + S,)."""
    is_leaf = fabric.tier == LEAF
    return np.where(is_leaf, np.cumsum(is_leaf) - 1, NONE).astype(np.int32)


def uplinks(fabric: Fabric) -> Ints32:
    """Return the number of every link among the links of its leaf to switches, NONE for other links, shape (L,)."""
    result = np.full(fabric.link_count, NONE, np.int32)
    found = np.flatnonzero((fabric.tier[fabric.link_source] == LEAF) & (fabric.link_target >= fabric.host_count))
    order = found[np.argsort(fabric.link_source[found], kind="stable")]
    _, first, counts = np.unique(fabric.link_source[order], return_index=True, return_counts=True)
    result[order] = np.arange(len(order)) - np.repeat(first, counts)
    return result


def _parameter(settings: BalancerSettings, name: str) -> float:
    defaults = {one.name: one.default for one in BALANCERS[settings.name].parameters}
    return settings.parameters.get(name, defaults[name])


def tables(fabric: Fabric, settings: Settings) -> Ints:
    """Return the empty tables of a load balancer; what is never used takes no memory."""
    name = settings.balancer.name
    names = {parameter.name for parameter in BALANCERS[name].parameters}
    if name == "conga":
        # By leaf and other leaf: a position, uplinks there, uplinks from there.
        count = int(np.count_nonzero(fabric.tier == LEAF))
        return np.zeros((count, count, 1 + 2 * (1 + int(uplinks(fabric).max(initial=0)))), np.int64)
    if name == "conweave":
        # By link and prefix: until when it is avoided.
        return np.zeros((1, 1, fabric.link_count * fabric.forwarding[0].next_hops.shape[1]), np.int64)
    if "flowset_entries" not in names:
        return np.zeros((1, 1, 1), np.int64)
    # By the first link of a next-hop set: entries.
    rows, columns = len(fabric.set_links), int(_parameter(settings.balancer, "flowset_entries"))
    if name != "glb":
        return np.zeros((1, rows, columns), np.int64)
    # By number: the flood of every link, as many as are under way and one.
    interval = int(_parameter(settings.balancer, "flood_us") * PS_PER_US)
    depth = int(_parameter(settings.balancer, "flood_delay_us") * PS_PER_US) // interval + 3
    return np.zeros((1 + glb.FLOODS, max(rows, depth), max(columns, fabric.link_count)), np.int64)
