"""Statements that this package reads: their values are compared with the intent or used in computations.

A pattern names a statement and everything below it; with `;` at the end nothing may stand below. `a|b` is either word,
`*` any word, `#` a word that begins with a digit, `<port.unit>` a logical interface.
"""

from __future__ import annotations

from ailb_gen.network.bgp import FORBIDDEN

# Filters are read and tried with the packets of the fabric.
FILTER = "filter input|output|input-list|output-list * ;"
# What may not stand beside auto-discovery is named by a check of its own.
BESIDE_DISCOVERY = "|".join(FORBIDDEN)
SESSION = f"""
    {BESIDE_DISCOVERY}
    description|disable|export|fabric-color|import|log-updown|peer-as|peer-as-list|type
    bfd-liveness-detection minimum-interval|multiplier
    family inet6 unicast aigp disable
    local-as # ;
    multipath disable|multiple-as
"""
# Statement above the patterns -> patterns.
READ: dict[str, str] = {
    "chassis": "maximum-ecmp",
    "class-of-service": """
        dedicated-buffer|shared-buffer
        classifiers dscp|dscp-ipv6 * forwarding-class * loss-priority * code-points
        congestion-notification-profile * pfc-watchdog ;
        congestion-notification-profile * input dscp code-point * pfc ;
        congestion-notification-profile * output ieee-802.1 code-point * flow-control-queue
        drop-profiles * interpolate drop-probability|fill-level
        forwarding-classes class * no-loss ;
        forwarding-classes class * pfc-priority|queue-num # ;
        interfaces * congestion-notification-profile|scheduler-map
        interfaces * classifiers dscp|dscp-ipv6
        interfaces * unit * classifiers dscp|dscp-ipv6
        scheduler-maps * forwarding-class * scheduler
        schedulers * drop-profile-map|priority|transmit-rate
        schedulers * explicit-congestion-notification ;
    """,
    "forwarding-options": f"""
        enhanced-hash-key ecmp-dlb
        family inet6 {FILTER}
    """,
    # A unit is written below its port: a device takes `et-0/0/0.0` for it, which is no port of that name.
    "interfaces <port.unit>": ";",
    "interfaces lo0": f"""
        description
        unit * description
        unit * family iso|mpls|inet
        unit * family inet6 address * preferred|primary
        unit * family inet6|any {FILTER}
    """,
    "interfaces *": f"""
        description|disable|mtu|native-vlan-id|number-of-sub-ports|speed
        ether-options|gigether-options auto-negotiation|fec|no-auto-negotiation
        unit * description|disable
        unit * family inet
        unit * family inet6 address * ;
        unit * family inet6 mtu
        unit * family ethernet-switching interface-mode access|trunk ;
        unit * family ethernet-switching vlan members
        unit * family inet6|ethernet-switching {FILTER}
    """,
    # Conditions and actions that are not evaluated are found where a policy is used.
    "policy-options": """
        as-list|community * members
        policy-statement * from|then|to
        policy-statement * term * from|then|to
        prefix-list * apply-path
        prefix-list * * ;
    """,
    "protocols lldp": """
        disable ;
        interface * disable ;
    """,
    # What it says on an interface is compared with the intent, word by word.
    "protocols router-advertisement interface *": """
        prefix * autonomous|no-autonomous|no-on-link|on-link|preferred-lifetime|valid-lifetime
        *
    """,
    "protocols bgp": f"""{SESSION}
        fabric-advertise route * backup-color|color
        global-load-balancing
    """,
    "protocols bgp group *": f"""{SESSION}
        dynamic-neighbor * {BESIDE_DISCOVERY}
        dynamic-neighbor * peer-auto-discovery family inet6 ipv6-nd ;
        dynamic-neighbor * peer-auto-discovery interface * disable
    """,
    "routing-instances": "mgmt_junos ;",
    "routing-options": """
        autonomous-system # ;
        forwarding-table ecmp-fast-reroute ;
        forwarding-table export
        router-id
    """,
    "system": "host-name",
    "vlans *": f"""
        description|l3-interface|vlan-id
        forwarding-options {FILTER}
    """,
}
