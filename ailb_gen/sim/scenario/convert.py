"""Checked models to the plain settings of the engine: fields are named like the keys of the file, with their units."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ailb_gen.sim.fabric import FabricArrays, Float64
from ailb_gen.sim.scenario.members import links_of
from ailb_gen.sim.scenario.models import BalancerPart, Loss, Scenario, Switches
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    Measurement,
    NicSettings,
    PacketSettings,
    SimulationSettings,
    TransportSettings,
)
from ailb_gen.validation import Model

# The unit at the end of a field's name.
UNIT = re.compile("_(bytes|ps|bps|packets)$")


def settings_of(scenario: Scenario, fabric: FabricArrays, base: SimulationSettings) -> SimulationSettings:
    """Return the settings of a scenario with one balancer; `base` are those of the files. Raises UsageError."""
    transport, measure = scenario.transport, scenario.measure
    few = transport.timeout if transport.timeout_few is None else transport.timeout_few
    return replace(
        base,
        packets=PacketSettings(**values(scenario.packets, PacketSettings)),
        switches=_switches(scenario.switches, fabric, base.switches),
        balancer=_balancer(scenario.balancer, base.balancer),
        transport=TransportSettings(**values(transport, TransportSettings) | {"timeout_few_ps": few}),
        congestion=CongestionSettings(**values(scenario.congestion, CongestionSettings)),
        nics=NicSettings(**values(scenario.nics, NicSettings)),
        measurement=Measurement() if measure.load_interval is None else Measurement(**values(measure, Measurement)),
        until_ps=scenario.until,
    )


def values(part: Model, kind: type[Any]) -> dict[str, Any]:
    """Return the fields of a dataclass that a part of a file has, by the field's name; keys may lack its unit."""
    keys = type(part).model_fields
    names = {one.name: one.name if one.name in keys else UNIT.sub("", one.name) for one in fields(kind)}
    return {name: getattr(part, key) for name, key in names.items() if key in keys}


def _switches(part: Switches, fabric: FabricArrays, base: BufferSettings) -> BufferSettings:
    """Return the settings of switches; keys that are absent are as in the files."""
    given = {name: value for name, value in values(part, BufferSettings).items() if value is not None}
    if part.shared_buffer == "infinite":
        given["shared_buffer_bytes"] = None
    count = fabric.link_count
    if part.ecn == "off":
        given |= {"ecn_min_bytes": None, "ecn_max_bytes": None, "ecn_probability": None}
    elif part.ecn is not None:
        given["ecn_min_bytes"] = np.full(count, part.ecn.min, dtype=np.int64)
        given["ecn_max_bytes"] = np.full(count, part.ecn.max, dtype=np.int64)
        given["ecn_probability"] = np.full(count, part.ecn.probability)
    if part.loss:
        given["loss_probability"] = _loss(part.loss, fabric)
    return replace(base, **given)


def _loss(rows: tuple[Loss, ...], fabric: FabricArrays) -> Float64:
    found = np.zeros(fabric.link_count)
    for row in rows:
        for pattern in row.links:
            found[links_of(fabric, pattern, "switches.loss")] = row.probability
    return found


def _balancer(parts: tuple[BalancerPart, ...], base: BalancerSettings) -> BalancerSettings:
    """Return the one load balancer of a variant; parameters that are absent are as in the files."""
    if not parts:
        return base
    return BalancerSettings(parts[0].name, dict(base.parameters) | dict(parts[0].parameters))
