"""Telemetry of the switches: the gNMI paths of uplinks and BGP sessions, on Junos OS Evolved.

Paths are OpenConfig's, without keys for "all", as Juniper publishes its sensors (Juniper/telemetry on GitHub,
24.4/24.4R1-EVO/protos: evo-if-oc_render, aftman-cos-oc_render, pfe_qos_egress_qstats, rpd_ni_bgp_oc). Counters of an
interface include pauses (`in-pause-pkts`), and Juniper's own `out-queue` with tail drops, RED drops and peaks of the
buffer; those of a queue are sent and dropped packets and its length. No sensor there has ECN marks or PFC by priority:
servers have them, see docs/how-to/counters.md. BFD, optics and FEC are those of OpenConfig (openconfig-bfd,
openconfig-platform-transceiver, openconfig-if-ethernet); each has a subscription of its own, so that a release without
them still sends the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

# The port of gNMI that IANA assigned, and the one of Juniper's published configurations.
PORT = 9339
# In seconds: counters and states of links; sessions; optics. Switches take multiples of 2 s only ("Guidelines for
# Specifying Data Reporting Intervals" in Juniper's guide of the Junos telemetry interface).
COUNTERS_S, SESSIONS_S, MEDIA_S = 10, 30, 60
STEP_S = 2
# How long collectors show a value that does not come again, in intervals, and at least. Where nothing is said, gnmic
# and Telegraf forget it after 60 s, which is one interval of optics.
KEPT_INTERVALS, KEPT_S = 3, 60

_PEERS = "/network-instances/network-instance/protocols/protocol/bgp/neighbors/neighbor"
SESSIONS = (f"{_PEERS}/state", f"{_PEERS}/afi-safis/afi-safi/state/prefixes")
BFD = "/bfd/interfaces/interface/peers/peer/state"
OPTICS = (
    "/components/component/transceiver/state",
    "/components/component/transceiver/physical-channels/channel/state",
)
FEC = "/interfaces/interface/ethernet/state/counters"


class Sensor(NamedTuple):
    """Paths of all switches that are sampled together, every `interval_s` seconds.

    `measurement` is the one of Telegraf; gnmic names metrics after their paths.
    """

    measurement: str
    paths: tuple[str, ...]
    interval_s: int


class StateNumbers(NamedTuple):
    """Numbers for the words of a state, because Prometheus holds no text; `path` is a regular expression.

    `measurement` and `leaf` are those of Telegraf. A word that is part of another stands behind it.
    """

    name: str
    path: str
    measurement: str
    leaf: str
    numbers: Mapping[str, int]


_LINK = {"LOWER_LAYER_DOWN": 7, "NOT_PRESENT": 6, "DORMANT": 5, "UNKNOWN": 4, "TESTING": 3, "DOWN": 2, "UP": 1}
_BGP = {"ESTABLISHED": 6, "OPENCONFIRM": 5, "OPENSENT": 4, "ACTIVE": 3, "CONNECT": 2, "IDLE": 1}
# The numbers are those of IF-MIB (RFC 2863), BGP4-MIB (RFC 4273) and BFD-TC-STD-MIB (RFC 7330).
STATES = (
    StateNumbers("link", "/state/oper-status$", "links", "oper_status", _LINK),
    StateNumbers("bgp", "/bgp/.*/session-state$", "bgp", "session_state", _BGP),
    StateNumbers(
        "bfd", "/bfd/.*/session-state$", "bfd", "session_state", {"ADMIN_DOWN": 1, "DOWN": 2, "INIT": 3, "UP": 4}
    ),
)


def interface_counters(interface: str = "") -> str:
    """Return the path of the counters of an interface, or of all."""
    key = f"[name={interface}]" if interface else ""
    return f"/interfaces/interface{key}/state/counters"


def queue_counters(interface: str = "") -> str:
    """Return the path of the queues of an interface, or of all."""
    key = f"[interface-id={interface}]" if interface else ""
    return f"/qos/interfaces/interface{key}/output/queues/queue/state"


def link_state(interface: str = "") -> str:
    """Return the path of the operational state of an interface, or of all."""
    key = f"[name={interface}]" if interface else ""
    return f"/interfaces/interface{key}/state/oper-status"


# All, port by port and without keys. Telegraf takes a measurement for each path.
ALL_SENSORS = (
    Sensor("interfaces", (interface_counters(),), COUNTERS_S),
    Sensor("queues", (queue_counters(),), COUNTERS_S),
    Sensor("bgp", SESSIONS[:1], SESSIONS_S),
    Sensor("bgp_prefixes", SESSIONS[1:], SESSIONS_S),
    Sensor("links", (link_state(),), COUNTERS_S),
    Sensor("bfd", (BFD,), SESSIONS_S),
    Sensor("optics", OPTICS[:1], MEDIA_S),
    Sensor("optics_lanes", OPTICS[1:], MEDIA_S),
    Sensor("fec", (FEC,), MEDIA_S),
)


def kept_s(intervals_s: Iterable[int]) -> int:
    """Return for how many seconds collectors show a value, by the intervals at which values come."""
    return max(KEPT_S, KEPT_INTERVALS * max(intervals_s))
