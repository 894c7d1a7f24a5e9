"""Checked models to what the engine has: settings, and numbers of the hosts and links that a scenario names.

Fields of settings are named like the keys of the file, with their units.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays, Float64, Int32, Int64
from ailb_gen.sim.scenario.exceptions import with_exceptions, with_other_parameters
from ailb_gen.sim.scenario.models import Congestion, Loss, Scenario, Switches, Transport
from ailb_gen.sim.scenario.names import links_of, matching
from ailb_gen.sim.scenario.placement import servers_by_name
from ailb_gen.sim.scenario.traffic import CollectivePart, TracePart, TrainingPart
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
from ailb_gen.wording import some

# Path MTUs of RDMA in bytes of payload.
RDMA_MTUS = (256, 512, 1024, 2048, 4096)
# The unit at the end of a field's name.
UNIT = re.compile("_(bytes|ps|bps|packets)$")


def settings_of(scenario: Scenario, fabric: FabricArrays, base: SimulationSettings) -> SimulationSettings:
    """Return the settings of a scenario with one balancer; `base` are those of the files. Raises UsageError."""
    transport, measure = scenario.transport, scenario.measure
    balancer = base.balancer
    if scenario.balancer:
        # That of a variant; parameters that are absent are as in the files.
        own = scenario.balancer[0]
        exceptions = {switch: {**given, **own.parameters} for switch, given in balancer.exceptions.items()}
        balancer = BalancerSettings(own.name, {**balancer.parameters, **own.parameters}, exceptions)
    rows = scenario.switches.exceptions
    _refuse_large_packets(scenario, fabric, base.switches)
    switches = with_exceptions(_switches(scenario.switches, fabric, base.switches), rows, fabric)
    packets = PacketSettings(**values(scenario.packets, PacketSettings))
    if transport.name == "receiver-driven":
        _check_trimming(switches, packets.payload_bytes + packets.header_bytes)
    if scenario.level == "packet" and transport.name != "raw":
        _check_timeouts(transport, fabric)
    return replace(
        base,
        packets=packets,
        switches=switches,
        balancer=with_other_parameters(balancer, rows, fabric),
        transport=TransportSettings(**values(transport, TransportSettings)),
        congestion=_congestion(scenario.congestion),
        nics=NicSettings(**values(scenario.nics, NicSettings)),
        measurement=Measurement() if measure.load_interval is None else Measurement(**values(measure, Measurement)),
        until_ps=scenario.until,
    )


def _check_timeouts(transport: Transport, fabric: FabricArrays) -> None:
    """Raise UsageError for a timeout before any acknowledgement can be there: all would be sent again and again."""
    # Two links there, and two back.
    least = 4 * int(fabric.delay_ps.min())
    for name in ("timeout", "timeout_few"):
        given = getattr(transport, name)
        if given is not None and given < least:
            raise UsageError(
                f"transport: {name!r} is {given / PS_PER_US:g} us, and the delays of the shortest round trip are "
                f"{least / PS_PER_US:g} us: every packet would be sent again before its acknowledgement can come"
            )


def _check_trimming(switches: BufferSettings, packet_bytes: int) -> None:
    """Raise UsageError if switches never trim packets, or trim each of them."""
    if np.any(switches.pfc):
        raise UsageError(
            "switches: PFC pauses data before it is trimmed, and the transport receiver-driven needs trimming; write "
            "'switches: {pfc: off}'"
        )
    if switches.shared_buffer_bytes is None:
        return
    room = int(np.min(switches.shared_buffer_bytes * np.minimum(switches.egress_alpha, 1.0)))
    if room < packet_bytes:
        raise UsageError(
            f"switches: 'shared_buffer' and 'egress_alpha' leave {room:,} bytes for a queue, so that the transport "
            f"receiver-driven trims every packet of {packet_bytes:,} bytes that has to wait, without end; allow for at "
            "least one packet"
        )


def _refuse_large_packets(scenario: Scenario, fabric: FabricArrays, base: BufferSettings) -> None:
    """Raise UsageError if packets are larger than a NIC's MTU: RDMA would send smaller ones there."""
    if base.payload_limit_bytes is None:
        return
    small = np.flatnonzero(
        (fabric.link_source < fabric.host_count) & (base.payload_limit_bytes < scenario.packets.payload)
    )
    if len(small):
        most = int(base.payload_limit_bytes[small].min())
        names = some([fabric.link_names[link] for link in small.tolist()])
        fitting = max((size for size in RDMA_MTUS if size <= most), default=0)
        raise UsageError(
            f"the MTU of these NICs takes {most} bytes of RDMA's data in a packet, and packets of "
            f"{scenario.packets.payload} are to be simulated: {names}; RDMA would send {fitting} there: write "
            f"'packets: {{payload: {fitting}}}', which is then that of all NICs"
        )


def _congestion(part: Congestion) -> CongestionSettings:
    """Return the settings of congestion control; DCQCN's parameters may be keys of their own, with units."""
    return CongestionSettings(part.name, (part.dcqcn if part.name == "dcqcn" else {}) | part.parameters)


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
            found[links_of(fabric, pattern)] = row.probability
    return found


def ranks_of(patterns: tuple[str, ...], fabric: FabricArrays) -> Int32:
    """Return the hosts that names and globs say, in their order, each once; those with GPUs without any.

    Raises UsageError.
    """
    names = fabric.names[: fabric.host_count]
    found = [number for pattern in patterns for number in matching(names, pattern, "host")]
    every = [number for number in range(len(names)) if number not in fabric.without_gpus]
    return np.array(list(dict.fromkeys(found)) if patterns else every, dtype=np.int32)


def per_server(part: CollectivePart, fabric: FabricArrays, ranks: Int32) -> int:
    """Return how many ranks in a row are GPUs of one server: as the scenario says, else as the names of hosts do.

    Raises UsageError when the servers differ and the scenario neither names hosts nor says it.
    """
    if part.per_server is not None:
        return part.per_server
    if part.kind in ("incast", "permutation"):
        return 1
    servers = servers_by_name(fabric, ranks)
    counts = Counter(servers)
    numbers = sorted(set(counts.values()))
    if not part.hosts and len(numbers) > 1:
        shown = " and ".join(map(str, numbers))
        hint = "name servers with as many of them under 'hosts', or write 'per_server'"
        raise UsageError(f"{part.kind}: the servers have {shown} NICs, and a collective needs the same number; {hint}")
    together = [name for name, count in counts.items() for _ in range(count)] == servers
    return numbers[0] if together and len(numbers) == 1 else 1


def servers_of(part: TrainingPart | TracePart, fabric: FabricArrays, placed: Int32) -> Int64:
    """Return the numbers of the servers of ranks: as the scenario says, else as the names of hosts do."""
    if part.per_server is not None:
        return np.arange(len(placed), dtype=np.int64) // part.per_server
    names = servers_by_name(fabric, placed)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def addresses(fabric: FabricArrays) -> int:
    """Return how many addresses hosts have, the most that all of them have."""
    return max(1, int(min(np.diff(fabric.first_destination), default=1)))
