"""Facts about Junos statements for the reader and the writer.

Most of Junos text explains itself; these tables hold what does not. Source: `junos:cli-feature` and `key` of
Juniper's YANG models, and what devices print. A word may be given with the word that opens the block around it,
`from/interface`, where its meaning depends on that; `local/*` is every other word in such a block.
"""

from __future__ import annotations

from collections.abc import Iterable

# Forms of a statement.
BLOCK = "block"  # `word { … }`, even around a single word
PLUS = "plus"  # `word attribute value;` around a single attribute, braces around more (YANG: oneliner-plus)
LINE = "line"  # all on one line (YANG: oneliner)
VALUES = "values"  # `word [ a b ];` (YANG: leaf-list)
VALUE = "value"  # `word value;`

# Attributes of a one-line statement and how many values each takes.
_COUNT = {"threshold": 1, "log-only": 0, "log-interval": 1}
_ARCHIVE = {"size": 1, "files": 1, "world-readable": 0, "no-world-readable": 0, "no-stamp": 0, "replace": 0, "match": 1}
_FILE = {**_ARCHIVE, "filename": 1, "microsecond-stamp": 0, "stamp": 0, "disable": 0}
_RATE = {"percent": 1, "exact": 0, "remainder": 0, "rate-limit": 0, "temporal": 1, "shared": 0, "burst-size": 1}
_CLASS = {"queue-num": 1, "priority": 1, "policing-priority": 1, "no-loss": 0, "pfc-priority": 1, "restricted-queue": 1}

# Statements that keep a file of their own, with its name; elsewhere `file` is an entry of a list.
_KEEP_FILE = (
    *("ctxt-history", "interface-traceoptions", "output", "packet-capture", "shmlog", "statistics", "store"),
    *("traceoptions", "traffic-statistics", "traffic-statistics-labeled-path"),
)

# The hierarchies at the top of Junos.
HIERARCHIES = frozenset(
    [
        *("access", "access-profile", "accounting-options", "applications", "bridge-domains", "chassis"),
        *("class-of-service", "diameter", "dynamic-profiles", "ethernet-switching-options", "event-options", "fabric"),
        *("firewall", "forwarding-options", "interfaces", "jsrc", "jsrc-partition", "logical-systems", "multi-chassis"),
        *("multicast-snooping-options", "poe", "policy-options", "protocols", "routing-instances", "routing-options"),
        *("security", "services", "session-limit-group", "snmp", "switch-options", "system", "tenants"),
        *("unified-edge", "virtual-chassis", "vlans", "vmhost", "wlan"),
    ]
)
# What else may stand at the top.
TOP = HIERARCHIES | {"apply-groups", "apply-groups-except", "groups", "version"}
# What a heading stands in front of.
STARTS = TOP | {"set"}

# Number of keys behind the word, whether a value may stand before the attributes, and the attributes.
OneLine = tuple[int, bool, dict[str, int]]

# One-line statements that can hold several attributes: the word, with the one right before it where that decides.
# `display set` prints a line for each attribute. Read with `one_line`.
_ONELINERS: dict[str, OneLine] = {
    "archive": (0, False, {**_ARCHIVE, "binary-data": 0, "no-binary-data": 0}),
    "arp": (1, False, {"mac": 1, "multicast-mac": 1, "l2-interface": 1, "publish": 0}),
    "autonomous-system": (0, True, {"loops": 1, "asdot-notation": 0, "independent-domain": 0}),
    "buffer-size": (0, True, _RATE),
    "forwarding-classes/class": (1, False, _CLASS),
    "confederation": (0, True, {"members": 1}),
    "csnp-interval": (0, True, {"disable": 0}),
    **{f"{word}/file": (0, True, _FILE) for word in _KEEP_FILE},
    "flag": (1, False, {"send": 0, "receive": 0, "detail": 0, "disable": 0}),
    "hold-time": (0, False, {"up": 1, "down": 1}),
    "keepalives": (0, False, {"interval": 1, "up-count": 1, "down-count": 1}),
    "local-as": (0, True, {"loops": 1, "private": 0, "alias": 0, "no-prepend-global-as": 0}),
    "maximum-paths": (0, True, _COUNT),
    "maximum-prefixes": (0, True, _COUNT),
    "maximum-routes": (0, True, _COUNT),
    "authentication/md5": (1, False, {"key": 1, "start-time": 1}),
    "ndp": (1, False, {"mac": 1, "multicast-mac": 1, "l2-interface": 1, "publish": 0}),
    "ntp/server": (1, False, {"key": 1, "version": 1, "prefer": 0, "routing-instance": 1, "source-address": 1}),
    "shaping-rate": (0, True, _RATE),
    "srgb": (0, False, {"start-label": 1, "index-range": 1}),
    "stub": (0, False, {"default-metric": 1, "summaries": 0, "no-summaries": 0}),
    "teardown": (0, True, {"idle-timeout": 1}),
    "transmit-rate": (0, True, _RATE),
    "unnumbered-address": (0, True, {"preferred-source-address": 1, "destination": 1, "destination-profile": 1}),
    "vlan-tags": (0, False, {"outer": 1, "inner": 1, "inner-range": 1, "inner-list": 1}),
}
# At the top of a piece of text nothing is known of what is around.
_PIECES = {name.rpartition("/")[2]: found for name, found in _ONELINERS.items()}
ONELINER_WORDS = frozenset(_PIECES)

# Words that start an entry of a list, the number of keys behind them, and the form of an entry.
_LISTS: dict[tuple[int, str], str] = {
    (1, BLOCK): """
        apply-macro archive-sites area authentication-key-chain buffer-partition client-list collector
        dynamic-neighbor file firewall/filter flow-server forwarding-class fpc group host inet/address inet6/address
        code-point instance interface interface-range interface-set iso/address
        label-switched-path member member-interface neighbor path peer peer-interface pfe pic pic/port
        policy-options/as-path-group policy-options/damping policy-statement port-mirror-instance prefix prefix-list
        qualified-next-hop radius-server rib rule scheme session-group simple-filter storm-control-profiles
        login/class snmp/community tacplus-server term trap-group unit user view vrrp-group
        vrrp-inet6-group classifiers/dscp classifiers/dscp-ipv6 classifiers/exp classifiers/ieee-802.1
        classifiers/inet-precedence rewrite-rules/dscp rewrite-rules/dscp-ipv6 rewrite-rules/exp
        rewrite-rules/ieee-802.1 firewall/policer inet/filter
    """,
    (1, PLUS): "level route flex-algorithm srlg",
    (1, LINE): """
        as-list code-point-aliases/dscp code-point-aliases/ieee-802.1 contents dynamic-neighbor/interface
        forwarding-classes/class
        from/address from/destination-address from/destination-prefix-list from/interface-set from/prefix-list
        from/source-address from/source-prefix-list install interface-traceoptions/flag ntp/server loss-priority
        member-range peer-auto-discovery/interface policy-options/as-path policy-options/community
        policy-options/condition scheduler-maps/forwarding-class traceoptions/flag
    """,
    (4, LINE): "drop-profile-map",
    (2, LINE): """
        from/prefix-list-filter from/route-filter-list route-filter source-address-filter then/community
    """,
}
# Keys that take a value (CLI reference, route-filter).
WITH_VALUE = frozenset({"upto", "through", "prefix-length-range", "address-mask"})
# What is an object only together with the word behind it (YANG: homogeneous); nothing is called just `family`.
PREFIX = "family"

# Statements that open no list.
_FORMS = {
    BLOCK: """
        add-path aggregate aggregated-devices aggregated-ether-options aigp alarm archival
        authentication-key-chains auto-discovery-mspw auto-export backup-selection bfd bfd-liveness-detection bgp
        bgp-error-tolerance bmp certificates chained-composite-next-hop chassis classifiers class-of-service
        clear-text code-point-aliases commit congestion-notification-profile connectivity-fault-management console
        dcbx detection-time disk-partition dlb drop-profiles duplicate-mac-detection ecmp-alb ecmp-dlb
        chained-composite-next-hop/ingress chained-composite-next-hop/transit
        egress-quantization enhanced-hash-key esi ether-options ether-type ethernet-switching event-options evpn
        evpn-vxlan extension-service extensions fabric-advertise fate-sharing firewall flow-control-options flowlet
        forwarding-cache forwarding-classes forwarding-options forwarding-table ftp gigether-options
        global-load-balancing graceful-restart graceful-switchover grpc hash-key helpers host-outbound-traffic
        igmp-snooping inet inet-mvpn inet-vpn inet6 inet6-vpn inner-vlan input interface-mac-limit interface-routes
        interfaces internet-options interpolate isis iso kernel-options l2-learning l2circuit l2vpn label-range
        labeled-unicast lacp lag-dlb layer2-control ldp-synchronization license lldp lldp-med local-bias login
        long-lived loss-priority-maps mac-table-size management-ethernet mpls mstp multicast multihop multipath
        name-resolution neighbor-discovery netconf ntp/authentication notification openconfig output overrides
        packet-forwarding-options password-options peer-auto-discovery pem per-esi pfc-watchdog pim policy-options
        ports prefix-limit processes protocols pseudowire-status-tlv reassignment redundancy request-response
        resolution resource-monitor rewrite-rules rib-groups rip root-authentication route-record
        router-advertisement routing-instances routing-options rstp sampling scheduler-maps schedulers scripts
        security services sflow shared-buffer signaling snmp ssh ssl statistics switch-options symmetric-hash system
        system-defaults telemetry telnet thresholds traceoptions traffic-control-profiles traffic-engineering
        traffic-manager transport trap-options tunnel-services unicast unit/classifiers v3 vlans vpls vrrp vstp vxlan
        web-management chassis/alarm certificates/local interfaces/* local/* ethernet-switching/vlan filter/from
        hash-mode inet/accounting input/dscp input/ieee-802.1 instance/vlan labeled-unicast/rib
        layer2 node-detection output/ieee-802.1 protocols/ldp protocols/oam
        protocols/ospf protocols/ospf3 protocols/rsvp rpf-check system/accounting system/archival system/ntp
        system/syslog unit/filter inet6/filter mpls/filter
    """,
    PLUS: """
        backup-spf-options fast-reroute from node-segment overload policy-statement/from policy-statement/to
        ports/console post-convergence-lfa protect-core rsvp/load-balance shortcuts source-packet-routing spf-options
        isis/traffic-engineering ospf/traffic-engineering routing-options/multipath then to
        use-post-convergence-lfa
    """,
    LINE: """
        aigp-adjust domain-id explicit-null family filter/input filter/output node-protection
        proxy-arp reject remove-private srgb-label-range then/load-balance vrf-target
        dynamic-label-range static-label-range then/as-path-expand
    """,
    VALUES: """
        apply-groups apply-groups-except authentication-order ciphers code-points color-import-policy domain-search
        evpn-esi export extended-vni-list flow-control-queue fpcs from/as-path from/community from/destination-port
        from/dscp from/forwarding-class from/interface from/loss-priority from/neighbor from/next-header
        from/next-hop from/policy from/port from/precedence from/protocol from/source-port from/tag
        from/traffic-class icmp-code icmp-type igp-instance import import-rib include-all include-any inner-list
        instance-export instance-import interpolate/drop-probability interpolate/fill-level macs members nlri
        permissions policy route/community route/next-hop ssm-groups system/name-server to/as-path to/community
        to/interface to/neighbor to/next-hop to/protocol trusted-key vlan-id-list vrf-export vrf-import
    """,
    VALUE: """
        backup-color bridge-priority cost default-lifetime description device-count domain-name drop-profile
        encrypted-password fabric-color flowset-table-size inactivity-interval interface-mode l3-interface
        label-allocation local-address max-advertisement-interval max-connections maximum-ecmp
        min-advertisement-interval minimum-interval mtu multiplier native-vlan-id number-of-sub-ports peer-as
        peer-as-list prob-threshold quality-delta queue-num router-id sampling-rate scheduler speed
        system/host-name time-zone type vlan-id
        bfd-liveness-detection/neighbor class/forwarding-class from/family from/rib
        from/route-type interfaces/*/congestion-notification-profile interfaces/*/scheduler-map lacp/periodic
        loopback/filter scheduler-maps/scheduler then/class then/dscp
        then/forwarding-class then/log then/loss-priority then/policer unit/encapsulation user/class user/uid
        vlans/l3-interface vrf-target/export vrf-target/import
    """,
}

# Word, or word with the one around it, to the number of keys and the form.
FORMS: dict[str, tuple[int, str]] = {
    **{word: (keys, LINE) for word, (keys, _, _) in _ONELINERS.items() if word != "flag"},
    **{word: (0, form) for form, words in _FORMS.items() for word in words.split()},
    **{word: row for row, words in _LISTS.items() for word in words.split()},
}

_ORDERED = """
    apply-groups apply-groups-except as-path-expand as-path-prepend authentication-order export import import-policy
    import-rib input-list instance-export instance-import name-server output-list policy vrf-export vrf-import
"""
# Words whose entries or values count in their order, and whether each is written with the word again
# (`insert term b before term a`).
FIRST_COUNTS = dict.fromkeys(_ORDERED.split(), False) | dict.fromkeys(("rule", "term"), True)

# All words of these tables: others are names and values to the readers, which take any of them alike.
KEYWORDS = frozenset(
    {part for word in (*FORMS, *_ONELINERS) for part in word.split("/")}
    | {word for _, _, attributes in _ONELINERS.values() for word in attributes}
    | STARTS
    | WITH_VALUE
    | FIRST_COUNTS.keys()
    | {PREFIX}
)


def form_of(parent: str, word: str) -> tuple[int, str]:
    """Return how many keys stand behind a word inside a block, and its form; an empty one if it is not known."""
    return FORMS.get(f"{parent}/{word}") or FORMS.get(word) or FORMS.get(f"{parent}/*") or (0, "")


def one_line(before: str, word: str) -> OneLine | None:
    """Return what a one-line statement may hold, None for another; `before` is the word right in front of it."""
    if word not in ONELINER_WORDS:
        return None
    return _ONELINERS.get(f"{before}/{word}") or _ONELINERS.get(word) if before else _PIECES[word]


def step(parent: str, keys: int, word: str) -> tuple[str, int]:
    """Go one word down: return as what the tables know the place behind it, and how many keys are still to come.

    A name that the user gave is never taken for a keyword: in `term term`, the second one is a key.
    """
    if keys:
        return parent, int(keys == 1 and word in WITH_VALUE) or keys - 1
    return inside(parent, word), 0 if parent == PREFIX else form_of(parent, word)[0]


def place_of(path: Iterable[str]) -> tuple[str, int]:
    """Return as what the tables know the place behind a path, and how many keys are still to come there."""
    parent, keys = "", 0
    for word in path:
        parent, keys = step(parent, keys, word)
    return parent, keys


def inside(parent: str, word: str) -> str:
    """Return as what the tables know the block that a word opens: names of the user's own are those around them."""
    if word in FORMS or f"{parent}/{word}" in FORMS:
        return word
    return f"{parent}/*" if f"{parent}/*" in FORMS else parent


def is_wildcard(word: str) -> bool:
    """Return whether a word stands for many, as in groups and constraints: `<*>`, `<et-*>`."""
    return word[:1] == "<" and word[-1:] == ">"
