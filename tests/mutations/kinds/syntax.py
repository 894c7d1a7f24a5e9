"""Damage that a commit on the switch would refuse: syntax, unknown statements, values of the wrong type or range."""

from __future__ import annotations

from tests.mutations.edits import delete, insert, replace, rewrite
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, switch, text

CONF = "switches/*.conf"
UNREADABLE = "AILB0 AILB9"
COMMIT = "AILB9"
GROUP = "protocols > bgp > group *"

TEXT = (
    kind("brace-missing", "a closing brace is missing", delete(text(CONF, r"^ +\}\n")), UNREADABLE),
    kind(
        "brace-extra",
        "there is one closing brace too many",
        replace(text(CONF, r"^    \}\n"), r"(?s).+", "    }\n    }\n"),
        UNREADABLE,
    ),
    kind(
        "brace-open-missing",
        "an opening brace is missing",
        replace(text(CONF, r"^ +\S.* \{\n"), r" \{", ""),
        UNREADABLE,
    ),
    kind("semicolon-missing", "a semicolon is missing", replace(text(CONF, r"^ +\S.*;\n"), r"(;)$", ""), UNREADABLE),
    kind(
        "quote-open",
        "a quote is not closed",
        replace(text(CONF, r'description ".*";'), r'(";)', ";"),
        UNREADABLE,
        ("jvd",),
    ),
    kind("comment-open", "a comment is not closed", replace(text(CONF, r"/\*.*\*/"), r"( \*/)", ""), UNREADABLE),
    kind("truncated", "a file ends in the middle", rewrite(CONF, lambda old: old[: len(old) // 2]), UNREADABLE),
    kind(
        "merge-conflict",
        "a merge was not resolved",
        replace(text(CONF, r"^protocols \{\n"), r"(?s)\A()", "<<<<<<< HEAD\n"),
        UNREADABLE,
    ),
)

STATEMENTS = (
    kind(
        "keyword-typo",
        "a keyword is misspelled",
        replace(switch(f"{GROUP} > multipath"), "multipath", "multipaht"),
        COMMIT,
    ),
    kind(
        "keyword-typo-interface",
        "a keyword of an interface is misspelled",
        replace(switch("interfaces > et-* > mtu *"), "mtu", "mtuu"),
        COMMIT,
    ),
    kind(
        "keyword-typo-policy",
        "a keyword of a policy is misspelled",
        replace(switch("policy-options > policy-statement *"), "policy-statement", "policy-statment"),
        COMMIT,
    ),
    kind(
        "keyword-typo-color",
        "fabric-color is misspelled",
        replace(switch(f"{GROUP} > fabric-color *"), "fabric-color", "fabric-colour"),
        COMMIT,
    ),
    kind(
        "keyword-typo-cos",
        "a keyword of the class of service is misspelled",
        replace(switch("class-of-service > schedulers > s1 > explicit-*"), "explicit", "implicit"),
        COMMIT,
    ),
    kind(
        "statement-unknown",
        "there is a statement that Junos does not know",
        insert(switch("routing-options"), "    load-balance rdma;"),
        COMMIT,
    ),
    kind(
        "statement-elsewhere",
        "a statement is at a level where it does not belong",
        insert(switch("system"), "    fabric-color green;"),
        COMMIT,
    ),
    kind("value-missing", "a value is missing", replace(switch("interfaces > et-* > mtu *"), r"( \d+)", ""), COMMIT),
    kind(
        "value-missing-color",
        "a color is missing",
        replace(leaf("protocols > bgp > fabric-advertise > route * > color *"), r"color( \w+)", ""),
        COMMIT,
    ),
    kind("type-mtu", "an MTU is a word", replace(switch("interfaces > et-* > mtu *"), r"\d+", "jumbo"), COMMIT),
    kind(
        "type-as",
        "an AS is a word",
        replace(switch("routing-options > autonomous-system *"), r"(\d+)", "sixty"),
        COMMIT,
    ),
    kind(
        "type-address",
        "an address is no address",
        replace(leaf("interfaces > irb > unit * > family inet6 > address *"), r"::1", "::g"),
        COMMIT,
    ),
    kind(
        "type-router-id",
        "a router-id is no IPv4 address",
        replace(switch("routing-options > router-id *"), r"\.(\d+);", "777"),
        COMMIT,
    ),
    kind(
        "type-code-point",
        "a code point is not binary",
        replace(switch("class-of-service > classifiers > dscp * > * > loss-priority *"), r"points ([01]+)", "21x"),
        COMMIT,
    ),
    kind(
        "enum-type",
        "a group's type is no word that Junos knows",
        replace(switch(f"{GROUP} > type external"), "external", "externall"),
        COMMIT,
    ),
    kind(
        "enum-mode",
        "an interface mode is no word that Junos knows",
        replace(leaf("interfaces > et-* > unit 0 > family * > interface-mode trunk"), "trunk", "tagged"),
        COMMIT,
    ),
    kind("range-mtu", "an MTU is out of range", replace(switch("interfaces > et-* > mtu *"), r"\d+", "99999"), COMMIT),
    kind(
        "range-vlan",
        "a VLAN id is out of range",
        replace(leaf("vlans > vn* > vlan-id *"), r"\d+", "5000"),
        "AILB9 AILB1",
    ),
    kind(
        "range-queue",
        "a queue is out of range",
        replace(switch("class-of-service > forwarding-classes > class *"), r"queue-num (\d)", "12"),
        "AILB9 AILB7",
    ),
    kind(
        "range-multiplier",
        "a BFD multiplier is out of range",
        replace(switch(f"{GROUP} > bfd-liveness-detection > multiplier *"), r"\d+", "0"),
        COMMIT,
    ),
    kind(
        "range-interval",
        "a BFD interval is out of range",
        replace(switch(f"{GROUP} > bfd-liveness-detection > minimum-interval *"), r"\d+", "9000000"),
        COMMIT,
    ),
    kind(
        "range-as",
        "an AS is out of range",
        replace(switch("routing-options > autonomous-system *"), r"(\d+)", "5000000000"),
        COMMIT,
    ),
    kind(
        "range-pfc",
        "a PFC priority is out of range",
        replace(switch("class-of-service > forwarding-classes > class NO-LOSS*"), r"priority (\d)", "9"),
        "AILB9 AILB7",
    ),
    kind(
        "range-sampling",
        "a sampling rate is out of range",
        replace(switch("forwarding-options > * > ecmp-dlb > sampling-rate *"), r"\d+", "99999999"),
        COMMIT,
    ),
    kind(
        "group-twice",
        "a group stands twice",
        replace(leaf(f"{GROUP} > local-as *"), r"(?s).+", lambda old: old + old.replace(";", "0;")),
        "AILB9 AILB2",
    ),
    kind(
        "constraint-prefix",
        "an advertised prefix is not the interface's",
        replace(leaf("protocols > router-advertisement > interface irb.* > prefix *"), r"(fc00)", "fcff"),
        "AILB9 AILB1",
    ),
    kind(
        "apply-groups",
        "a group is applied that is not there",
        insert(switch("protocols"), "    apply-groups missing;"),
        UNREADABLE,
    ),
    kind(
        "interface-name",
        "an interface's name is none",
        replace(switch("interfaces > et-*"), r"et-(0)/", "x"),
        "AILB9 AILB0",
    ),
    kind(
        "community-garbled",
        "a community is none",
        replace(switch("policy-options > community *"), r"members \S+;", "members color:;"),
        "AILB9 AILB3",
    ),
    kind(
        "as-list-garbled",
        "an AS list is none",
        replace(switch("policy-options > as-list *"), r"members (\S+);", "all-leaves"),
        "AILB9 AILB2",
    ),
)
KINDS = (*TEXT, *STATEMENTS)
