"""Queues and buffers from the files: ECN, PFC, and the class of RDMA's data, per egress port.

Files give fill levels in percent of a queue's memory, and no memory. A queue has its port's share, by speed, of the
buffer of a 51.2 Tb/s switch, about 165 MB.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.network.cos import ClassOfService
from ailb_gen.network.fabric import Network
from ailb_gen.network.port_qos import PortQos, Treatment, port_entry, qos_of
from ailb_gen.sim.fabric import PS_PER_S, FabricArrays, Int64
from ailb_gen.sim.network_balancer import balancer_settings
from ailb_gen.sim.settings import BufferSettings, SimulationSettings
from ailb_gen.wording import some

BUFFER_BYTES = 165_000_000
SWITCH_BPS = 51_200_000_000_000
# A packet at either end may be under way when a pause takes effect, in addition to those on the cable.
LARGEST_PACKET_BYTES = 9216
NOT_MARKED = -1


def network_settings(network: Network, fabric: FabricArrays) -> SimulationSettings:
    """Return the settings that files make: switches and load balancer; all else is the default. Raises UsageError."""
    return SimulationSettings(switches=switch_settings(network, fabric), balancer=balancer_settings(network))


def switch_settings(network: Network, fabric: FabricArrays) -> BufferSettings:
    """Return the settings that the class of service has for the class of RDMA's data.

    A port's classifier is taken for packets that leave there, and marking is linear between the first and the last fill
    level, as the QFX documentation has it. Raises UsageError if servers use different DSCPs, or if some ports send PFC
    for that class and others do not.
    """
    dscp = data_dscp(network)
    found = _treatments(network, fabric, dscp)
    bits = fabric.rate_bps.astype(np.float64)
    memory = (bits * (BUFFER_BYTES / SWITCH_BPS)).astype(np.int64)
    levels = np.full((fabric.link_count, 2), NOT_MARKED, dtype=np.int64)
    probability = np.zeros(fabric.link_count)
    for link, (treatment, _) in found.items():
        levels[link], probability[link] = _marks(treatment, int(memory[link]))
    marks = bool((levels[:, 0] >= 0).any())
    lossless = _lossless(fabric, {link: pausing for link, (_, pausing) in found.items()})
    shared, alpha = _pool(network) if lossless else (BUFFER_BYTES, None)
    given = BufferSettings()
    return BufferSettings(
        shared_buffer_bytes=shared,
        ingress_alpha=given.ingress_alpha if alpha is None else alpha,
        pfc=lossless,
        headroom_bytes=_headroom(fabric) if lossless else 0,
        ecn_min_bytes=levels[:, 0].copy() if marks else None,
        ecn_max_bytes=levels[:, 1].copy() if marks else None,
        ecn_probability=probability if marks else None,
    )


def data_dscp(network: Network) -> int | None:
    """Return the DSCP with which servers send RDMA's data; None if their files do not say. Raises UsageError."""
    users: dict[int, list[str]] = defaultdict(list)
    for host in network.hosts.values():
        setting = host.profile.qos.get("traffic_class") if host.profile.qos is not None else None
        if setting is not None and isinstance(setting.value, int):
            # The two lowest bits of the traffic class are ECN's (RFC 3168).
            users[setting.value >> 2].append(host.name)
    if len(users) > 1:
        rows = "; ".join(f"{dscp} at {some(users[dscp])}" for dscp in sorted(users))
        raise UsageError(f"servers send RDMA's data with different DSCPs: {rows}; the simulator has one class for it")
    return next(iter(users), None)


def _treatments(
    network: Network, fabric: FabricArrays, dscp: int | None
) -> Mapping[int, tuple[Treatment | None, bool]]:
    """Return, for every link from a switch, what happens to RDMA's data there and whether the port sends PFC for it."""
    known: dict[tuple[str, int], tuple[Treatment | None, bool]] = {}
    found = {}
    for link in np.flatnonzero(fabric.link_source >= fabric.host_count).tolist():
        name = fabric.names[fabric.link_source[link]]
        cos = network.switches[name].cos
        entry = port_entry(cos, fabric.link_names[link].partition(":")[2])
        key = name, id(entry)
        if key not in known:
            known[key] = _treatment(qos_of(cos, entry), dscp)
        found[link] = known[key]
    return found


def _treatment(qos: PortQos, dscp: int | None) -> tuple[Treatment | None, bool]:
    treatment = qos.of(dscp) if dscp is not None else next(iter(qos.lossless), None)
    if treatment is None:
        return None, False
    stopped = {(pause.priority, pause.queue) for pause in qos.pauses}
    return treatment, treatment.no_loss and treatment.pfc and (treatment.pfc_priority, treatment.queue) in stopped


def _marks(treatment: Treatment | None, memory: int) -> tuple[tuple[int, int], float]:
    """Return where marking begins and ends in bytes, and its probability there."""
    rows = (treatment.fill, treatment.probability) if treatment is not None and treatment.ecn else ((), ())
    fill, probability = map(_percents, rows)
    if not fill or not probability:
        return (NOT_MARKED, NOT_MARKED), 0.0
    return (memory * fill[0] // 100, memory * fill[-1] // 100), probability[-1] / 100


def _percents(words: Iterable[str]) -> list[int]:
    return [int(word) for word in words if word.isascii() and word.isdigit()]


def _lossless(fabric: FabricArrays, pausing: Mapping[int, bool]) -> bool:
    """Return whether ports send PFC for RDMA's data. Raises UsageError if only some do."""
    if len(set(pausing.values())) < 2:
        return any(pausing.values())
    without = [fabric.link_names[link] for link, sends in pausing.items() if not sends]
    switches = dict.fromkeys(name.partition(":")[0] for name in without)
    raise UsageError(
        f"PFC for RDMA's data is on at {len(pausing) - len(without)} switch ports and off at {len(without)}, of "
        f"{some(switches)}: {some(without)}; the simulator enables it on all ports or none"
    )


def _pool(network: Network) -> tuple[int, float | None]:
    """Return the shared pool of lossless classes and its dynamic threshold, None if no file sets it.

    `dynamic-threshold` n is 2^(n - 7): 1/128 for 0, 8 for 10. Raises UsageError if switches differ.
    """
    users: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, switch in network.switches.items():
        users[_lossless_statements(switch.cos)].append(name)
    if len(users) > 1:
        rows = "; ".join(f"{', '.join(words) or 'nothing'} at {some(names)}" for words, names in users.items())
        raise UsageError(f"switches have different lossless buffers: {rows}; the simulator has the same for all")
    values = {word.split()[0]: int(word.split()[1]) for word in next(iter(users), ())}
    alpha = 2.0 ** (values["dynamic-threshold"] - 7) if "dynamic-threshold" in values else None
    return BUFFER_BYTES * values.get("percent", 100) // 100, alpha


def _lossless_statements(cos: ClassOfService) -> tuple[str, ...]:
    start = "shared-buffer ingress buffer-partition lossless "
    words = (text.removeprefix(start) for text in cos.buffers if text.startswith(start))
    return tuple(word for word in words if word.split()[-1].isdigit() and len(word.split()) == 2)


def _headroom(fabric: FabricArrays) -> int:
    """Return the bytes that can arrive after a pause was sent: a round trip on the cable, and packets at both ends."""
    inside = fabric.link_target >= fabric.host_count
    flying: Int64 = fabric.rate_bps[inside] // 8 * (2 * fabric.delay_ps[inside]) // PS_PER_S
    return int(flying.max(initial=0)) + 2 * LARGEST_PACKET_BYTES
