"""Every statement of a switch is read, or known to be harmless, or named: an exact grammar of the first two."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from ailb_gen.network.bgp import FORBIDDEN
from ailb_gen.network.harmless import HARMLESS
from ailb_gen.network.model import Unmodelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ailb_gen.junos.tree import Node

# Word -> what may stand below it: None is anything. A key of KINDS stands for all other words of that kind.
Grammar = dict[str, Union["Grammar", None]]
NUMBER, IPV4, SHOW, LOGICAL, OTHERS = "#", "<ipv4>", "<show>", "<port.unit>", "*"
WRITES_FILE = re.compile(r"\|\s*(?:append|save|tee)\b")
KINDS: dict[str, Callable[[str], bool]] = {
    NUMBER: lambda word: word[:1].isdigit(),
    IPV4: lambda word: "." in word and ":" not in word,
    SHOW: lambda word: word.startswith("show ") and WRITES_FILE.search(word) is None,
    LOGICAL: lambda word: "." in word,
    OTHERS: lambda word: True,
}


def _plain(words: str) -> Grammar:
    return dict.fromkeys(words.split())


NOTHING: Grammar = {}
FAMILY: Grammar = {"inet6": {"unicast": {"aigp": _plain("disable")}}}
# What may not stand beside auto-discovery is named by a check of its own.
DISCOVERY: Grammar = {
    **dict.fromkeys(FORBIDDEN),
    "peer-auto-discovery": {"family": {"inet6": {"ipv6-nd": NOTHING}}, "interface": {OTHERS: _plain("disable")}},
}
SESSION: Grammar = {
    **dict.fromkeys(FORBIDDEN),
    **_plain("description disable export fabric-color import log-updown peer-as peer-as-list type"),
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
# Filters are read and tried with the packets of the fabric.
FILTER: Grammar = {"filter": {word: {OTHERS: NOTHING} for word in ("input", "output", "input-list", "output-list")}}
ADDRESSES: Grammar = {"address": {OTHERS: NOTHING}}
UNIT: Grammar = {
    **_plain("description disable"),
    "family": {
        "inet": None,
        "inet6": {**ADDRESSES, "mtu": None, **FILTER},
        "ethernet-switching": {
            "interface-mode": {"access": NOTHING, "trunk": NOTHING},
            "vlan": _plain("members"),
            **FILTER,
        },
    },
}
PORT: Grammar = {
    **_plain("description disable mtu native-vlan-id number-of-sub-ports speed"),
    **{word: _plain("auto-negotiation fec no-auto-negotiation") for word in ("ether-options", "gigether-options")},
    "unit": {OTHERS: UNIT},
}
LOOPBACK: Grammar = {
    "description": None,
    "unit": {
        OTHERS: {
            "description": None,
            "family": {
                **_plain("iso mpls"),
                "inet": None,
                "inet6": {"address": {OTHERS: _plain("preferred primary")}, **FILTER},
                "any": FILTER,
            },
        }
    },
}
CLASSIFIER: Grammar = {OTHERS: {"forwarding-class": {OTHERS: {"loss-priority": {OTHERS: _plain("code-points")}}}}}
ATTACHED: Grammar = {"classifiers": _plain("dscp dscp-ipv6")}
CLASS_OF_SERVICE: Grammar = {
    **_plain("dedicated-buffer shared-buffer"),
    "classifiers": {"dscp": CLASSIFIER, "dscp-ipv6": CLASSIFIER},
    "congestion-notification-profile": {
        OTHERS: {
            "pfc-watchdog": NOTHING,
            "input": {"dscp": {"code-point": {OTHERS: {"pfc": NOTHING}}}},
            "output": {"ieee-802.1": {"code-point": {OTHERS: _plain("flow-control-queue")}}},
        }
    },
    "drop-profiles": {OTHERS: {"interpolate": _plain("drop-probability fill-level")}},
    "forwarding-classes": {
        "class": {OTHERS: {"no-loss": NOTHING, "pfc-priority": {NUMBER: NOTHING}, "queue-num": {NUMBER: NOTHING}}}
    },
    "interfaces": {
        OTHERS: {**_plain("congestion-notification-profile scheduler-map"), **ATTACHED, "unit": {OTHERS: ATTACHED}}
    },
    "scheduler-maps": {OTHERS: {"forwarding-class": {OTHERS: _plain("scheduler")}}},
    "schedulers": {
        OTHERS: {**_plain("drop-profile-map priority transmit-rate"), "explicit-congestion-notification": NOTHING}
    },
}
ANNOUNCED: Grammar = _plain("autonomous no-autonomous no-on-link on-link preferred-lifetime valid-lifetime")
TERM: Grammar = _plain("from then to")
READ: Grammar = {
    "chassis": _plain("maximum-ecmp"),
    "class-of-service": CLASS_OF_SERVICE,
    "forwarding-options": {"enhanced-hash-key": _plain("ecmp-dlb"), "family": {"inet6": FILTER}},
    # A unit is written below its port: a device takes `et-0/0/0.0` for it, which is no port of that name.
    "interfaces": {"lo0": LOOPBACK, LOGICAL: NOTHING, OTHERS: PORT},
    "policy-options": {
        "as-list": {OTHERS: _plain("members")},
        # Conditions and actions that are not evaluated are found where a policy is used.
        "policy-statement": {OTHERS: {**TERM, "term": {OTHERS: TERM}}},
        "community": {OTHERS: _plain("members")},
        "prefix-list": {OTHERS: {OTHERS: NOTHING, "apply-path": None}},
    },
    "protocols": {
        "lldp": {"disable": NOTHING, "interface": {OTHERS: {"disable": NOTHING}}},
        # What it says on an interface is compared with the intent, word by word.
        "router-advertisement": {"interface": {OTHERS: {"prefix": {OTHERS: ANNOUNCED}, OTHERS: None}}},
        "bgp": BGP,
    },
    "routing-instances": {"mgmt_junos": NOTHING},
    "routing-options": {
        "autonomous-system": {NUMBER: NOTHING},
        "forwarding-table": {"ecmp-fast-reroute": NOTHING, "export": None},
        "router-id": None,
    },
    "system": _plain("host-name"),
    "vlans": {OTHERS: {**_plain("description l3-interface vlan-id"), "forwarding-options": FILTER}},
}
# They say something to tools, or are worked out before; groups that do not exist are found by a check of their own.
ANYWHERE = frozenset({"apply-flags", "apply-groups", "apply-groups-except", "apply-macro"})
# Stands for what is below a harmless statement.
HARMLESS_BELOW: Grammar = {}
# So many words behind the one that is not known are shown.
SHOWN = 8


def _merged(patterns: dict[str, str]) -> Grammar:
    """Return READ with the statements that are harmless."""
    whole = _copy(READ)
    for lines in patterns.values():
        for line in lines.split("\n"):
            _add(whole, line.split())
    return whole


def _copy(grammar: Grammar) -> Grammar:
    return {word: None if below is None else _copy(below) for word, below in grammar.items()}


def _add(grammar: Grammar, words: list[str]) -> None:
    """Let everything stand below a pattern's last word."""
    if not words:
        return
    first, *rest = words
    for word in first.split("|"):
        if not rest:
            grammar[word] = HARMLESS_BELOW
            continue
        # A word that is listed beside `*` says all that may stand below it.
        below = grammar.setdefault(word, {})
        if below is not None and below is not HARMLESS_BELOW:
            _add(below, rest)


@dataclass(frozen=True, slots=True)
class Level:
    """What may stand below a statement: by word, by kind of word, and for all others; None is anything."""

    words: dict[str, Level | None]
    kinds: tuple[tuple[Callable[[str], bool], Level | None], ...] = ()
    others: Level | None = None


# Stand for a word that is not known, and for what is below a harmless statement.
UNKNOWN, SAID = Level({}), Level({})


def _level(grammar: Grammar) -> Level:
    """Return a grammar as what is looked up once for every word."""
    below = {
        word: SAID if rest is HARMLESS_BELOW else None if rest is None else _level(rest)
        for word, rest in grammar.items()
    }
    kinds = tuple((KINDS[kind], below[kind]) for kind in KINDS if kind in below and kind != OTHERS)
    return Level(dict.fromkeys(ANYWHERE) | below, kinds, below.get(OTHERS, UNKNOWN))


KNOWN = _level(_merged(HARMLESS))


@dataclass(frozen=True, slots=True)
class Judged:
    """The statements of a switch that nothing here reads: those that are harmless, as text, and those that may not be.

    What is harmless is there to be compared with what the intent asks for.
    """

    unmodelled: tuple[Unmodelled, ...]
    harmless: frozenset[str]


def judged(root: Node) -> Judged:
    """Sort out the statements of an effective tree."""
    harmless: list[str] = []
    unmodelled: list[Unmodelled] = []
    _judge(root, KNOWN, (), unmodelled, harmless)
    return Judged(tuple(unmodelled), frozenset(harmless))


def _judge(above: Node, level: Level, path: tuple[str, ...], unmodelled: list[Unmodelled], harmless: list[str]) -> None:
    """Look at the statements below one: the first word that is not known names a statement."""
    known, kinds, others = level.words, level.kinds, level.others
    for word, node in above.children.items():
        below = known.get(word, UNKNOWN)
        if below is UNKNOWN:
            below = next((rest for fits, rest in kinds if fits(word)), others) if kinds else others
        if below is None:
            continue
        if below is UNKNOWN:
            text = " ".join((*path, word))
            unmodelled.append(Unmodelled(text, " ".join((text, *_rest(node))), node.line))
        elif below is SAID:
            harmless.extend(" ".join((*path, *words)) for words in node.paths())
        elif node.children:
            _judge(node, below, (*path, word), unmodelled, harmless)


def _rest(node: Node) -> Iterator[str]:
    """Give the words that follow, as far as there is one statement alone."""
    for _ in range(SHOWN):
        if len(node.children) != 1:
            return
        node = next(iter(node.children.values()))
        yield node.word
