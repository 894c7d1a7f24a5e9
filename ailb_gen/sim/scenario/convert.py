"""Checked models to the plain settings of the engine."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Fabric, Float64
from ailb_gen.sim.scenario.models import (
    BalancerPart,
    Congestion,
    Loss,
    Measure,
    Nics,
    Packets,
    Scenario,
    Switches,
    Transport,
)
from ailb_gen.sim.settings import (
    BalancerSettings,
    CongestionSettings,
    Measurement,
    NicSettings,
    PacketSettings,
    Settings,
    SwitchSettings,
    TransportSettings,
)
from ailb_gen.wording import did_you_mean


def settings_of(scenario: Scenario, fabric: Fabric, base: Settings) -> Settings:
    """Return the settings of a scenario with one balancer; `base` is what the fabric's files say. Raises UsageError."""
    return replace(
        base,
        packets=_packets(scenario.packets),
        switches=_switches(scenario.switches, fabric, base.switches),
        balancer=_balancer(scenario.balancer, base.balancer),
        transport=_transport(scenario.transport),
        congestion=_congestion(scenario.congestion),
        nics=_nics(scenario.nics),
        measurement=_measurement(scenario.measure),
        until_ps=scenario.until,
    )


def _packets(part: Packets) -> PacketSettings:
    return PacketSettings(part.payload, part.header, part.control)


def _switches(part: Switches, fabric: Fabric, base: SwitchSettings) -> SwitchSettings:
    names = {
        "shared_buffer": "shared_buffer_bytes",
        "egress_alpha": "egress_alpha",
        "ingress_alpha": "ingress_alpha",
        "pfc": "pfc",
        "pause": "pause_bytes",
        "resume_offset": "resume_offset_bytes",
        "headroom": "headroom_bytes",
        "scheduling": "scheduling",
    }
    given: dict[str, Any] = {
        field: getattr(part, key) for key, field in names.items() if getattr(part, key) is not None
    }
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


def _loss(rows: tuple[Loss, ...], fabric: Fabric) -> Float64:
    found = np.zeros(fabric.link_count)
    for row in rows:
        for pattern in row.links:
            found[links_of(fabric, pattern, "switches.loss")] = row.probability
    return found


def links_of(fabric: Fabric, pattern: str, what: str) -> list[int]:
    """Return the directed links whose names match a name or glob. Raises UsageError."""
    found = [number for number, name in enumerate(fabric.link_names) if fnmatchcase(name, pattern)]
    if not found:
        known = f"names are such as {fabric.link_names[0]!r}" if fabric.link_names else "the fabric has no links"
        hint = did_you_mean(pattern, fabric.link_names) or known
        raise UsageError(f"{what}: no link is called {pattern!r}; {hint}")
    return found


def hosts_of(fabric: Fabric, patterns: tuple[str, ...], what: str) -> list[int]:
    """Return the hosts that names and globs say, in their order, each once; all without any. Raises UsageError."""
    if not patterns:
        return list(range(fabric.host_count))
    names = fabric.names[: fabric.host_count]
    found: dict[int, None] = {}
    for pattern in patterns:
        ours = [number for number, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not ours:
            hint = did_you_mean(pattern, names) or f"names are such as {names[0]!r}"
            raise UsageError(f"{what}: no host is called {pattern!r}; {hint}")
        found |= dict.fromkeys(ours)
    return list(found)


def _balancer(parts: tuple[BalancerPart, ...], base: BalancerSettings) -> BalancerSettings:
    """Return the one load balancer of a variant; what is not written is as in the files."""
    if not parts:
        return base
    return BalancerSettings(parts[0].name, dict(base.parameters) | dict(parts[0].parameters))


def _transport(part: Transport) -> TransportSettings:
    return TransportSettings(
        name=part.name,
        window_bytes=part.window,
        message_bytes=part.message,
        reordering_packets=part.reordering,
        nack_interval_ps=part.nack_interval,
        timeout_ps=part.timeout,
        few_packets=part.few_packets,
        timeout_few_ps=part.timeout if part.timeout_few is None else part.timeout_few,
        ends_acknowledged=part.ends_acknowledged,
    )


def _congestion(part: Congestion) -> CongestionSettings:
    return CongestionSettings(
        name=part.name,
        gain=part.gain,
        alpha_interval_ps=part.alpha_interval,
        cut_interval_ps=part.cut_interval,
        increase_interval_ps=part.increase_interval,
        fast_recovery_stages=part.fast_recovery_stages,
        additive_bps=part.additive,
        hyper_bps=part.hyper,
        minimum_bps=part.minimum,
    )


def _nics(part: Nics) -> NicSettings:
    return NicSettings(part.context_cache, part.context_miss, part.message)


def _measurement(part: Measure) -> Measurement:
    if part.load_interval is None:
        return Measurement()
    return Measurement(part.load_interval, part.load_samples)
