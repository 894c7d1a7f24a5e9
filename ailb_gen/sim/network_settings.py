"""Queues and buffers from the files, switch by switch and port by port: ECN, PFC, buffers, headroom, MTU.

Files give fill levels in percent of a queue's memory, and no memory. A queue has its port's share, by speed, of the
buffer of a 51.2 Tb/s switch, about 165 MB.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ailb_gen.network.fabric import Network
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.network_balancer import balancer_settings
from ailb_gen.sim.network_ports import PortData, Ports
from ailb_gen.sim.settings import BufferSettings, SimulationSettings

BUFFER_BYTES = 165_000_000
SWITCH_BPS = 51_200_000_000_000
NOT_MARKED = -1
# Statements of buffers that are used, as Junos has them below `class-of-service`.
PARTITION = re.compile(
    r"shared-buffer (ingress|egress) buffer-partition (lossless|lossless-headroom|lossy) "
    r"(percent|dynamic-threshold) ([0-9]{1,3})"
)

Number = TypeVar("Number", np.int64, np.float64, np.bool_)


def network_settings(network: Network, fabric: FabricArrays) -> SimulationSettings:
    """Return the settings that files make: switches and load balancer; all else is the default. Raises UsageError."""
    return SimulationSettings(switches=switch_settings(network, fabric), balancer=balancer_settings(network))


def switch_settings(network: Network, fabric: FabricArrays) -> BufferSettings:
    """Return what class of service and MTUs make of RDMA's data, at every port as its switch's file says.

    A port's classifier is taken for packets that leave there, and marking is linear between the first and the last fill
    level, as the QFX documentation has it. Raises UsageError if servers use different DSCPs.
    """
    ports = Ports(network, fabric)
    count, hosts = fabric.link_count, fabric.host_count
    memory = (fabric.rate_bps.astype(np.float64) * (BUFFER_BYTES / SWITCH_BPS)).astype(np.int64)
    levels = np.full((count, 2), NOT_MARKED, dtype=np.int64)
    probability = np.zeros(count)
    pfc, obeys = np.zeros(count, np.bool_), np.ones(count, np.bool_)
    for link in range(count):
        if fabric.link_source[link] >= hosts:
            levels[link], probability[link] = _marks(ports.data(*ports.end(link)), int(memory[link]))
        if fabric.link_target[link] >= hosts:
            priority = ports.data(*ports.end(int(fabric.link_reverse[link]))).sends
            pfc[link] = priority is not None
            obeys[link] = priority is None or ports.obeys(*ports.end(link), priority)
    marks = bool((levels[:, 0] >= 0).any())
    # Links to hosts pause nothing: hosts take all that comes.
    inside = fabric.link_target >= hosts
    uniform = len(set(pfc[inside].tolist())) < 2
    return BufferSettings(
        **_pools(network, fabric, pfc),
        pfc=bool(pfc.any()) if uniform else pfc,
        obeys_pauses=True if obeys.all() else obeys,
        ecn_min_bytes=levels[:, 0].copy() if marks else None,
        ecn_max_bytes=levels[:, 1].copy() if marks else None,
        ecn_probability=probability if marks else None,
        payload_limit_bytes=np.array([ports.payload_limit(link) for link in range(count)], np.int64),
    )


def _marks(port: PortData, memory: int) -> tuple[tuple[int, int], float]:
    """Return where marking begins and ends in bytes, and its probability there."""
    if port.fill is None:
        return (NOT_MARKED, NOT_MARKED), 0.0
    return (memory * port.fill[0] // 100, memory * port.fill[1] // 100), port.probability / 100


def _pools(network: Network, fabric: FabricArrays, pfc: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return the pools of all switches, and the dynamic threshold of the lossless one.

    That of lossless data where a switch pauses any, else that of lossy data. `dynamic-threshold` n is 2^(n - 7): 1/128
    for 0, 8 for 10. Headroom that no file sets is without limit.
    """
    pausing = set(fabric.link_target[pfc].tolist())
    given = BufferSettings()
    shared = np.zeros(fabric.switch_count, np.int64)
    alpha, headroom = np.zeros(fabric.switch_count), np.full(fabric.switch_count, BUFFER_BYTES, np.int64)
    limited = False
    for number, name in enumerate(fabric.names[fabric.host_count :]):
        words = _partitions(network.switches[name].cos.buffers)
        lossless = number + fabric.host_count in pausing
        of_pool = ("ingress", "lossless", "percent") if lossless else ("egress", "lossy", "percent")
        shared[number] = BUFFER_BYTES * words.get(of_pool, 100) // 100
        power = words.get(("ingress", "lossless", "dynamic-threshold"))
        alpha[number] = given.ingress_alpha if power is None else 2.0 ** (power - 7)
        percent = words.get(("ingress", "lossless-headroom", "percent"))
        limited |= percent is not None
        headroom[number] = BUFFER_BYTES * (100 if percent is None else percent) // 100
    pools: dict[str, Any] = {"shared_buffer_bytes": _one_or_all(shared), "ingress_alpha": _one_or_all(alpha)}
    return pools | {"headroom_pool_bytes": headroom if limited else None}


def _partitions(statements: tuple[str, ...]) -> Mapping[tuple[str, str, str], int]:
    found = (PARTITION.fullmatch(text) for text in statements)
    return {(one[1], one[2], one[3]): int(one[4]) for one in found if one is not None}


def _one_or_all(values: npt.NDArray[Number]) -> Any:  # noqa: ANN401 - a number or the array
    """Return the value that all switches have, else the array."""
    return values[0].item() if len(values) and (values == values[0]).all() else values
