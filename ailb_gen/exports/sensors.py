"""Telemetry of the switches: the gNMI paths of uplinks and BGP sessions, on Junos OS Evolved.

Paths are OpenConfig's, without keys for "all", as Juniper publishes its sensors (Juniper/telemetry on GitHub,
24.4/24.4R1-EVO/protos: evo-if-oc_render, aftman-cos-oc_render, pfe_qos_egress_qstats, rpd_ni_bgp_oc). Counters of an
interface include pauses (`in-pause-pkts`), and Juniper's own `out-queue` with tail drops, RED drops and peaks of the
buffer; those of a queue are sent and dropped packets and its length. No sensor there has ECN marks or PFC by priority:
servers have them, see docs/how-to/counters.md.
"""

from __future__ import annotations

# The port of gNMI that IANA assigned, and the one of Juniper's published configurations.
PORT = 9339
# In seconds: counters, and the state of sessions.
COUNTERS_S, SESSIONS_S = 10, 30

_PEERS = "/network-instances/network-instance/protocols/protocol/bgp/neighbors/neighbor"
SESSIONS = (f"{_PEERS}/state", f"{_PEERS}/afi-safis/afi-safi/state/prefixes")


def interface_counters(interface: str = "") -> str:
    """Return the path of the counters of an interface, or of all."""
    key = f"[name={interface}]" if interface else ""
    return f"/interfaces/interface{key}/state/counters"


def queue_counters(interface: str = "") -> str:
    """Return the path of the queues of an interface, or of all."""
    key = f"[interface-id={interface}]" if interface else ""
    return f"/qos/interfaces/interface{key}/output/queues/queue/state"
