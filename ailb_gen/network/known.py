"""Statements that this program reads, or that change nothing that it computes; it names whatever else stands there.

Only the stanzas that decide about packets and routes are looked at: a statement of `system` does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from ailb_gen.network.bgp import FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.junos.tree import Node

# Word -> what may stand below it: None is anything. `#` is any number, `*` any word that is not listed.
Grammar = dict[str, Union["Grammar", None]]
OTHERS, NUMBER = "*", "#"


def _plain(words: str) -> Grammar:
    return dict.fromkeys(words.split())


NOTHING: Grammar = {}
FAMILY: Grammar = {"inet6": {word: {"aigp": _plain("disable")} for word in ("unicast", "any")}}
# What may not stand beside auto-discovery is named by a check of its own.
DISCOVERY: Grammar = {
    **dict.fromkeys(FORBIDDEN),
    "peer-auto-discovery": {"family": {"inet6": {"ipv6-nd": NOTHING}}, "interface": {OTHERS: _plain("disable")}},
}
SESSION: Grammar = {
    **dict.fromkeys(FORBIDDEN),
    **_plain("description disable export fabric-color import log-updown peer-as peer-as-list traceoptions type"),
    "bfd-liveness-detection": _plain("minimum-interval multiplier"),
    "family": FAMILY,
    "local-as": {NUMBER: NOTHING},
    "multipath": _plain("disable multiple-as"),
}
BGP: Grammar = {
    **SESSION,
    "fabric-advertise": {"route": {OTHERS: _plain("backup-color color")}},
    "global-load-balancing": None,
    "group": {OTHERS: {**SESSION, "dynamic-neighbor": {OTHERS: DISCOVERY}}},
}
PORT: Grammar = {
    **_plain("apply-macro description disable mtu native-vlan-id number-of-sub-ports optics-options speed"),
    # Forward error correction and negotiation decide whether there is light, not where packets go.
    **{word: _plain("auto-negotiation fec no-auto-negotiation") for word in ("ether-options", "gigether-options")},
    "unit": {
        OTHERS: {
            **_plain("apply-macro description disable"),
            "family": {
                "inet": None,
                "inet6": {"address": {OTHERS: NOTHING}, "mtu": None},
                "ethernet-switching": {"interface-mode": None, "vlan": _plain("members")},
            },
        }
    },
}
CLASSIFIER: Grammar = {OTHERS: {"forwarding-class": {OTHERS: {"loss-priority": {OTHERS: _plain("code-points")}}}}}
ATTACHED: Grammar = {"classifiers": _plain("dscp dscp-ipv6")}
CLASS_OF_SERVICE: Grammar = {
    **_plain("dedicated-buffer shared-buffer rewrite-rules traffic-control-profiles"),
    "classifiers": {"dscp": CLASSIFIER, "dscp-ipv6": CLASSIFIER, OTHERS: None},
    "congestion-notification-profile": {
        OTHERS: {
            "pfc-watchdog": None,
            "input": {"dscp": {"code-point": {OTHERS: {"pfc": NOTHING}}}},
            "output": {"ieee-802.1": {"code-point": {OTHERS: _plain("flow-control-queue")}}},
        }
    },
    "drop-profiles": {OTHERS: {"interpolate": _plain("drop-probability fill-level")}},
    "forwarding-classes": {"class": {OTHERS: _plain("no-loss pfc-priority queue-num")}},
    "interfaces": {
        OTHERS: {**_plain("congestion-notification-profile scheduler-map"), **ATTACHED, "unit": {OTHERS: ATTACHED}}
    },
    "scheduler-maps": {OTHERS: {"forwarding-class": {OTHERS: _plain("scheduler")}}},
    "schedulers": {
        OTHERS: {**_plain("drop-profile-map priority transmit-rate"), "explicit-congestion-notification": NOTHING}
    },
}
STANZAS: Grammar = {
    "class-of-service": CLASS_OF_SERVICE,
    "forwarding-options": {"enhanced-hash-key": _plain("ecmp-dlb"), "storm-control-profiles": None},
    "interfaces": {OTHERS: PORT},
    "logical-systems": NOTHING,
    "policy-options": {
        **_plain("as-list as-path as-path-group condition policy-statement"),
        "community": {OTHERS: _plain("members")},
        "prefix-list": {OTHERS: {OTHERS: NOTHING}},
    },
    "protocols": {**_plain("lldp router-advertisement"), "bgp": BGP},
    "routing-instances": _plain("mgmt_junos"),
    "routing-options": {
        "autonomous-system": {NUMBER: NOTHING},
        "forwarding-table": _plain("ecmp-fast-reroute export"),
        "router-id": None,
        "static": None,
    },
    "vlans": {OTHERS: _plain("description l3-interface vlan-id")},
}
# Management and loopback interfaces carry none of the fabric's packets.
PORTS = ("et-", "xe-", "ge-", "irb")


def unread(root: Node) -> Iterator[tuple[str, int]]:
    """Give the statements of a switch's effective tree that are not known, with their lines."""
    for word, below in STANZAS.items():
        node = root.children.get(word)
        if node is None or below is None:
            continue
        for child in node:
            if word != "interfaces" or child.word.startswith(PORTS):
                yield from _unread(child, below, word)
    # A static route of IPv4 leads to the management network.
    for node in root.each("routing-options", "static", "route"):
        if ":" in node.word:
            yield f"routing-options static route {node.word}", node.line


def _unread(node: Node, grammar: Grammar, path: str) -> Iterator[tuple[str, int]]:
    """Look at one statement: the first word that is not known names it."""
    text = f"{path} {node.word}"
    key = node.word
    if key not in grammar:
        key = NUMBER if NUMBER in grammar and key[:1].isdigit() else OTHERS
    if key not in grammar:
        yield text, node.line
        return
    below = grammar[key]
    if below is not None:
        for child in node.children.values():
            yield from _unread(child, below, text)
