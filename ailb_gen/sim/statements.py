"""Tables of the statements of switches, and variables of servers, that decide how packets fare: what becomes of each.

A pattern names a statement and everything below it; of several that fit, the longest counts. `a|b` is either word, `*`
any word, `#` a word that begins with a digit. What is in no table here, and not among the harmless ones of
`ailb_gen/network/statements.py`, is not simulated either: it is listed, with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto


class Fate(Enum):
    """What becomes of a statement in a simulation."""

    # Its value is used, or it leads to one that is.
    SIMULATED = auto()
    # No packet of a job fares differently because of it.
    NO_EFFECT = auto()
    # Packets of a real fabric may fare differently because of it.
    LEFT_OUT = auto()
    # The same, but only after a failure.
    AFTER_FAILURES = auto()


@dataclass(frozen=True, slots=True)
class Group:
    """Patterns with one fate, and the reason: what is simulated instead, or why there is no effect."""

    fate: Fate
    reason: str
    patterns: str


SWITCHES = (
    Group(
        Fate.SIMULATED,
        "class, PFC, marking and buffers of RDMA's data, by port",
        """
        class-of-service classifiers dscp|dscp-ipv6
        class-of-service code-point-aliases
        class-of-service congestion-notification-profile * input dscp code-point * pfc
        class-of-service congestion-notification-profile * output ieee-802.1 code-point * flow-control-queue
        class-of-service drop-profiles * interpolate
        class-of-service forwarding-classes class
        class-of-service interfaces * congestion-notification-profile|scheduler-map
        class-of-service interfaces * classifiers dscp|dscp-ipv6
        class-of-service interfaces * unit * classifiers dscp|dscp-ipv6
        class-of-service scheduler-maps * forwarding-class * scheduler
        class-of-service schedulers * drop-profile-map|explicit-congestion-notification
        class-of-service shared-buffer ingress buffer-partition lossless percent|dynamic-threshold
        class-of-service shared-buffer ingress buffer-partition lossless-headroom percent
        class-of-service shared-buffer egress buffer-partition lossy percent
        """,
    ),
    Group(
        Fate.SIMULATED,
        "load balancing, by switch",
        """
        forwarding-options enhanced-hash-key ecmp-dlb flowlet inactivity-interval|flowset-table-size
        forwarding-options enhanced-hash-key ecmp-dlb flowlet reassignment quality-delta|prob-threshold
        forwarding-options enhanced-hash-key ecmp-dlb per-packet|assigned-flow|ether-type|sampling-rate
        forwarding-options enhanced-hash-key ecmp-dlb egress-quantization min|max|rate-weightage
        protocols bgp global-load-balancing
        """,
    ),
    Group(
        Fate.SIMULATED,
        "cables, MTUs, sessions and routes, as validation computes them",
        """
        chassis maximum-ecmp
        interfaces * disable|mtu|number-of-sub-ports|speed|native-vlan-id
        interfaces * unit * disable
        interfaces * unit * family inet6 address|mtu
        interfaces * unit * family ethernet-switching interface-mode|vlan
        policy-options as-list|community|policy-statement|prefix-list
        protocols bgp
        protocols router-advertisement interface
        routing-options autonomous-system|router-id
        routing-options forwarding-table export
        vlans * l3-interface|vlan-id
        """,
    ),
    Group(
        Fate.NO_EFFECT,
        "names, texts, management and IPv4",
        """
        interfaces <port.unit>
        interfaces * description
        interfaces * unit * description
        interfaces * unit * family inet
        interfaces lo0
        protocols bgp log-updown|description
        protocols bgp group * log-updown|description
        protocols bgp group * neighbor * log-updown|description
        protocols lldp
        routing-instances mgmt_junos
        system host-name
        vlans * description
        """,
    ),
    Group(
        Fate.LEFT_OUT,
        "a pause lasts until the port may send again, however long that takes",
        "class-of-service congestion-notification-profile * pfc-watchdog",
    ),
    Group(
        Fate.LEFT_OUT,
        "acknowledgements are served first, without a limit; data in the order that the scenario says",
        "class-of-service schedulers * priority|transmit-rate|shaping-rate|buffer-size",
    ),
    Group(
        Fate.LEFT_OUT,
        "queues have the one pool of the data's kind, and nothing of their own",
        """
        class-of-service dedicated-buffer
        class-of-service shared-buffer
        """,
    ),
    Group(
        Fate.LEFT_OUT,
        "filters let everything pass",
        """
        forwarding-options family * filter
        interfaces * unit * family * filter
        vlans * forwarding-options filter
        """,
    ),
    Group(
        Fate.LEFT_OUT,
        "hashes spread flows evenly, whatever fields and seed the switch uses",
        """
        forwarding-options enhanced-hash-key
        forwarding-options hash-key
        """,
    ),
    Group(
        Fate.LEFT_OUT,
        "a cable has no errors and no delay of error correction",
        "interfaces * ether-options|gigether-options auto-negotiation|fec|no-auto-negotiation",
    ),
    Group(
        Fate.AFTER_FAILURES,
        "what fails goes down at both ends, and all FIBs change after `detection`, whatever BFD's times",
        """
        interfaces * hold-time
        protocols bgp bfd-liveness-detection
        protocols bgp group * bfd-liveness-detection
        protocols bgp group * neighbor * bfd-liveness-detection
        routing-options forwarding-table ecmp-fast-reroute
        """,
    ),
)
# Variables of jobs in `nccl.env`: patterns of whole names and values. Others are listed unless they are harmless
# (`ailb_gen/hosts/harmless.py`).
VARIABLES = (
    (
        Fate.LEFT_OUT,
        re.compile(r"NCCL_(?:ALGO|PROTO|CROSS_NIC|PXN_DISABLE|(?:MIN|MAX)_(?:NCHANNELS|CTAS)|(?:LL_|LL128_)?BUFFSIZE)"),
        re.compile(r".*"),
        "rings and their queue pairs are those of the scenario",
    ),
    (Fate.SIMULATED, re.compile(r"NCCL_IB_SPLIT_DATA_ON_QPS"), re.compile(r"1"), ""),
    (
        Fate.NO_EFFECT,
        re.compile(
            r"NCCL_NET_PLUGIN|NCCL_NET|NCCL_IB_ADDR_FAMILY|NCCL_SOCKET_\w+|NCCL_NSOCKS_PERTHREAD|UCX_\w+|\w+_PATH"
        ),
        re.compile(r".*"),
        "",
    ),
)
