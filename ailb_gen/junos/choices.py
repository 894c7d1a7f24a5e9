"""Statements that exclude each other: of a group, only those are inherited that the device's own leave room for.

Source: the `choice` statements of Juniper's YANG models (24.4R1-EVO), those of access and optics aside.
"""

from __future__ import annotations

from collections.abc import Collection

from ailb_gen.junos.grammar import one_line

# Any word that is no case of its own and no attribute: the value that stands alone (`metric 10`, `metric add 5`).
BARE = "*"

# The words of the block around, and the cases; several words of one case with `+`.
_TABLE = """
    aigp-adjust: add | divide | multiply | subtract
    area: nssa | stub
    as-path-calc-length community-count: equal | orhigher | orlower
    as-path-expand: aspath | last-as
    authentication: keychain | md5 | multi-active-md5 | simple-password
    buffer-size: percent | remainder | shared | temporal | *
    color color2 local-preference metric2 metric3 metric4 preference preference2 tag tag2: add | subtract | *
    condition: if-route-exists | route-active-on
    csnp-interval: disable | *
    defaults route: active | passive
    defaults route: brief | full
    definition: spf | strict-spf
    df-election-granularity: per-esi | per-esi-vlan | per-evi
    dlb ecmp-dlb: assigned-flow | flowlet | per-packet
    esi: all-active | single-active
    ethernet-switching: inner-vlan | inner-vlan-id-list | vlan
    excess-rate: percent | proportion
    filter: input | input-list
    filter: output | output-list
    flow-server: version | version-ipfix | version9
    global-load-balancing: helper-only | load-balancer-only
    hash-mode: layer2-header | layer2-payload | gtp-header-offset
    if-exceeding: bandwidth-limit | bandwidth-percent
    interface interfaces/* interface-range: flexible-vlan-tagging | stacked-vlan-tagging | vlan-tagging
    interface interfaces/* interface-range: hierarchical-scheduler | no-per-unit-scheduler + per-unit-scheduler
    interface: link-protection | node-link-protection
    maximum-paths maximum-prefixes maximum-routes: log-only | threshold
    metric: add | aigp | effective-aigp | expression | igp | minimum-effective-aigp | minimum-igp | subtract | *
    metric-out: effective-aigp | igp | minimum-effective-aigp | minimum-igp | *
    neighbor interface: authentication | authentication-key
    next-hop: discard | next-table | peer-address | reject | self
    policer: if-exceeding | if-exceeding-pps
    protocol-master transport: inet | inet6
    rib routing-options: maximum-paths | maximum-routes
    route: discard | next-hop | next-table | receive | reject
    shaping-rate guaranteed-rate delay-buffer-rate: percent | *
    three-color-policer: single-rate | two-rate
    then: accept | discard | reject
    then: policer | three-color-policer
    then: count | traffic-class-count
    traffic-engineering: bgp | bgp-igp | bgp-igp-both-ribs | mpls-forwarding
    transmit-rate: percent | remainder | *
    transmit-rate: exact | rate-limit
    unit: inner-vlan-id-swap-ranges | vlan-id | vlan-id-list | vlan-id-range | vlan-tags
    unit: multipoint | point-to-point
    vlan-tags: inner | inner-list | inner-range
    vlans vlan: vlan-id | vlan-id-list | vlan-tags
"""
# Words that exclude themselves with `no-` in front.
_PAIRS = """
    accept-data accounting advertise-peer-as allow-subnet-mismatch auto-negotiation autonomous
    bfd-liveness-detection binary-data check-zero compress-configuration-files control-word core-dump dad-disable
    ecmp-fast-reroute evpn fast-lookup-filter flow-control gratuitous-arp-reply gratuitous-arp-request
    indirect-next-hop inet inet6 install install-to-fib interface-mib ipv6-path-mtu-discovery keepalives link-mtu
    longest-match loopback managed-configuration mtu-discovery on-link optimize other-stateful-configuration
    path-mtu-discovery per-unit-scheduler precision-timers preempt readvertise reauthentication record redirects
    resolve retain saved-core-context source-filtering source-quench stamp summaries syslog traps tunnel-termination
    world-readable
"""
_NEGATED = frozenset(_PAIRS.split())
_EXCEPT = "-except"
_OPPOSITES = {"enable": "disable", "disable": "enable"}


def _cases() -> dict[str, list[dict[str, int]]]:
    """Return for every block its choices: word to the number of its case."""
    made: dict[str, list[dict[str, int]]] = {}
    for line in _TABLE.strip().splitlines():
        blocks, _, cases = line.partition(": ")
        words = {
            word: number for number, case in enumerate(cases.split("|")) for word in case.replace("+", " ").split()
        }
        for block in blocks.split():
            made.setdefault(block, []).append(words)
    return made


CHOICES = _cases()


def excluded(parent: str, block: str, word: str, taken: Collection[str]) -> bool:
    """Return whether one of the words taken in a block leaves no room for another one.

    `parent` is as what the grammar knows the block, `block` its last word.
    """
    if not taken:
        return False
    if not _opposites(word).isdisjoint(taken):
        return True
    line = one_line(parent, block) if parent != block else one_line("", block)
    attributes = line[2] if line is not None else {}
    if line is not None and line[1] and word not in attributes and not attributes.keys() >= set(taken):
        # The value in front of the attributes of a one-line statement.
        return True
    for cases in (*CHOICES.get(parent, ()), *(CHOICES.get(block, ()) if block != parent else ())):
        own = _case(cases, word, attributes)
        others = {_case(cases, other, attributes) for other in taken} - {None}
        if own is not None and others and own not in others:
            return True
    return False


def _case(cases: dict[str, int], word: str, attributes: Collection[str]) -> int | None:
    return cases.get(word) if word in cases or word in attributes else cases.get(BARE)


def _opposites(word: str) -> set[str]:
    found = {_OPPOSITES.get(word, ""), word.removesuffix(_EXCEPT) if word.endswith(_EXCEPT) else word + _EXCEPT}
    if word in _NEGATED:
        found.add(f"no-{word}")
    elif word[:3] == "no-" and word[3:] in _NEGATED:
        found.add(word[3:])
    return found
