"""Damage by what was added: statements that nobody planned, beside all that were."""

from __future__ import annotations

from tests.mutations.edits import Edit, insert, replace
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, spine, switch

BGP, GROUP = "protocols > bgp", "protocols > bgp > group *"
OUT, IN = "policy-options > policy-statement FABRIC-OUT", "policy-options > policy-statement FABRIC-IN"
UPLINK = "interfaces > et-* > unit 0 > family inet6"
MEANS = "class-of-service"


def _in_family(statement: str) -> Edit:
    return replace(switch(UPLINK), r"family inet6(;)", f" {{ {statement} }}")


POLICIES = (
    kind(
        "added-static-accepted", insert(leaf(OUT), "term static {\nfrom protocol static;\nthen accept;\n}"), "AILB308"
    ),
    kind("added-color-accepted", insert(leaf(OUT), "term c {\nfrom community orange;\nthen accept;\n}"), "AILB308"),
    kind(
        "added-one-prefix-accepted",
        insert(leaf(OUT), "term one {\nfrom {\nroute-filter fc00:2:2:1::/64 exact;\n}\nthen accept;\n}"),
        "AILB308",
    ),
    kind("added-import-on-leaf", insert(leaf(GROUP), "import FABRIC-OUT;"), "AILB306"),
    kind(
        "added-import-preference",
        replace(spine(f"{IN} > term fabric > then *"), "then accept", "then {\n local-preference 200;\n accept;\n }"),
        "AILB306",
    ),
    kind(
        "added-import-strip",
        replace(spine(f"{IN} > term fabric > then *"), "then accept", "then {\n community delete red;\n accept;\n }"),
        "AILB306",
    ),
    kind("added-export-metric", insert(spine(f"{OUT} > term fabric > then"), "metric 5;"), "AILB306"),
    kind("added-export-prepend", insert(spine(f"{OUT} > term fabric > then"), "as-path-prepend 64999;"), "AILB209"),
    kind(
        "added-term-behind",
        replace(
            switch(f"{OUT} > term others"),
            r"(?s)\}\n()$",
            "        term late {\n            from protocol bgp;\n            then accept;\n        }\n",
        ),
        "AILB311",
    ),
    kind("added-second-prefix", insert(spine("policy-options > prefix-list fabric-pool"), "2001:db8::/32;"), "AILB306"),
)
ROUTING = (
    kind("added-bgp-disable", insert(switch(BGP), "disable;"), "AILB201"),
    kind("added-hold-time", insert(switch(GROUP), "hold-time 3;"), "AILB209"),
    kind(
        "added-prefix-limit",
        insert(switch(f"{GROUP} > family inet6 > unicast"), "accepted-prefix-limit {\nmaximum 1;\n}"),
        "AILB209",
    ),
    kind(
        "added-bfd-receive",
        insert(switch(f"{GROUP} > bfd-liveness-detection"), "minimum-receive-interval 20000;"),
        "AILB209",
    ),
    kind("added-static", insert(leaf("routing-options"), "static {\nroute fc00:2::/32 discard;\n}"), "AILB209"),
    kind("added-martians", insert(switch("routing-options"), "martians fc00::/16 orlonger;"), "AILB209"),
    kind("added-ospf3", insert(switch("protocols"), "ospf3 {\narea 0.0.0.0 {\ninterface all;\n}\n}"), "AILB209"),
    kind(
        "added-hash",
        insert(switch("forwarding-options > enhanced-hash-key"), "inet6 {\nno-ipv6-destination-address;\n}"),
        "AILB209",
    ),
    kind("added-mode", insert(switch("forwarding-options > enhanced-hash-key > ecmp-dlb"), "per-packet;"), "AILB407"),
    kind(
        "added-quantization",
        insert(
            switch("forwarding-options > enhanced-hash-key > ecmp-dlb"),
            "egress-quantization {\nmin 1;\nmax 99;\nrate-weightage 0;\n}",
        ),
        "AILB407",
    ),
    kind(
        "added-maximum-ecmp",
        replace(leaf("interfaces"), r"^()interfaces", "chassis {\n    maximum-ecmp 1;\n}\n"),
        "AILB406",
    ),
)
PORTS = (
    kind("added-filter", _in_family("filter { input DROP; }"), "AILB212"),
    kind("added-rpf", _in_family("rpf-check;"), "AILB209"),
    kind("added-inet6-mtu", _in_family("mtu 1280;"), "AILB710"),
    kind(
        "added-hold-time-port",
        insert(switch("interfaces > et-*", having="facing"), "hold-time up 60000 down 60000;"),
        "AILB209",
    ),
    kind(
        "added-vlan-filter", insert(leaf("vlans > vn*"), "forwarding-options {\nfilter {\ninput DROP;\n}\n}"), "AILB212"
    ),
)
CLASSES = (
    kind(
        "added-rewrite",
        insert(switch(f"{MEANS} > interfaces > et-* > unit *"), "rewrite-rules {\ndscp x;\n}"),
        "AILB209 AILB702",
    ),
    kind("added-shaping", insert(switch(f"{MEANS} > interfaces > et-*"), "shaping-rate 1g;"), "AILB209"),
    kind(
        "added-fixed-class", insert(switch(f"{MEANS} > interfaces > et-* > unit *"), "forwarding-class CNP;"), "AILB209"
    ),
    kind("added-buffer", insert(switch(f"{MEANS} > schedulers > s1"), "buffer-size percent 1;"), "AILB209"),
    kind("added-outbound", insert(switch(MEANS), "host-outbound-traffic {\nforwarding-class NO-LOSS;\n}"), "AILB209"),
)
KINDS = (*POLICIES, *ROUTING, *PORTS, *CLASSES)
