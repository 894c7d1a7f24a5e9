"""Probe prefixes: two leaves announce one each without a color, so that only policies keep others from sending it on.

Routes with a color stay with their color: what leaves would do to others is seen only when links fail, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count, islice

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import Context
from ailb_gen.network.model import Address, FabricRoute, Switch

# Every leaf must be one that could send on what another announces.
PROBERS = 2
LENGTH = 64


def probes(context: Context) -> Mapping[str, Prefix]:
    """Return the leaves that announce a probe, with its prefix: the last unused ones of the pool."""
    pool, used = context.expected.pool, {prefix for leaf in context.expected.leaves for prefix in leaf.prefixes}
    last = (pool.value >> LENGTH) | ((1 << max(0, LENGTH - pool.length)) - 1)
    free = (one for down in count() if (one := Prefix((last - down) << LENGTH, LENGTH)) not in used)
    leaves = [leaf for leaf, _ in context.leaves if leaf.ports.get("irb") and leaf.ports["irb"].units]
    return {leaf.named: prefix for leaf, prefix in zip(islice(leaves, PROBERS), free, strict=False)}


def with_probe(switch: Switch, probe: Prefix) -> Switch:
    """Return a leaf that has an address in the probe prefix on its first IRB, and announces it without a color."""
    irb = switch.ports["irb"]
    first, *others = irb.units
    unit = replace(first, addresses=(*first.addresses, Address(probe.value | 1, probe)))
    ports = {**switch.ports, "irb": replace(irb, units=(unit, *others))}
    return replace(switch, ports=ports, routes=(*switch.routes, FabricRoute(probe, None, None)))
