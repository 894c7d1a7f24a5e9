"""Damage that a commit on the switch would refuse: syntax, unknown statements, values of the wrong type or range."""

from __future__ import annotations

from tests.mutations.edits import delete, insert, replace, rewrite
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, switch, text

CONF = "switches/*.conf"
GROUP = "protocols > bgp > group *"

TEXT = (
    kind("section-missing", delete(switch("protocols")), "AILB011"),
    kind("markers", insert(switch("protocols"), "<<<<<<< HEAD"), "AILB002"),
    kind("brace-missing", delete(text(CONF, r"^ +\}\n")), "AILB002"),
    kind("brace-extra", replace(text(CONF, r"^    \}\n"), r"(?s).+", "    }\n    }\n"), "AILB002"),
    kind("brace-open-missing", replace(text(CONF, r"^ +\S.* \{\n"), r" \{", ""), "AILB002"),
    kind("semicolon-missing", replace(text(CONF, r"^ +\S.*;\n"), r"(;)$", ""), "AILB002 AILB901"),
    kind("quote-open", replace(text(CONF, r'description ".*";'), r'(";)', ";"), "AILB002", ("jvd",)),
    kind("comment-open", replace(text(CONF, r"/\*.*\*/"), r"( \*/)", ""), "AILB002 AILB208"),
    kind("truncated", rewrite(CONF, lambda old: old[: len(old) // 2]), "AILB002"),
    kind("merge-conflict", replace(text(CONF, r"^protocols \{\n"), r"(?s)\A()", "<<<<<<< HEAD\n"), "AILB002 AILB901"),
)

STATEMENTS = (
    kind("keyword-typo", replace(switch(f"{GROUP} > multipath"), "multipath", "multipaht"), "AILB901"),
    kind("keyword-typo-interface", replace(switch("interfaces > et-* > mtu *"), "mtu", "mtuu"), "AILB901"),
    kind(
        "keyword-typo-policy",
        replace(switch("policy-options > policy-statement *"), "policy-statement", "policy-statment"),
        "AILB901",
    ),
    kind(
        "keyword-typo-color", replace(switch(f"{GROUP} > fabric-color *"), "fabric-color", "fabric-colour"), "AILB901"
    ),
    kind(
        "keyword-typo-cos",
        replace(switch("class-of-service > schedulers > s1 > explicit-*"), "explicit", "implicit"),
        "AILB901",
    ),
    kind("statement-unknown", insert(switch("routing-options"), "load-balance rdma;"), "AILB901"),
    kind("statement-elsewhere", insert(switch("system"), "fabric-color green;"), "AILB901"),
    kind("value-missing", replace(switch("interfaces > et-* > mtu *"), r"( \d+)", ""), "AILB903"),
    kind(
        "value-missing-color",
        replace(leaf("protocols > bgp > fabric-advertise > route * > color *"), r"color( \w+)", ""),
        "AILB903",
    ),
    kind("type-mtu", replace(switch("interfaces > et-* > mtu *"), r"\d+", "jumbo"), "AILB902"),
    kind("type-as", replace(switch("routing-options > autonomous-system *"), r"(\d+)", "sixty"), "AILB902"),
    kind(
        "type-address", replace(leaf("interfaces > irb > unit * > family inet6 > address *"), r"::1", "::g"), "AILB902"
    ),
    kind("type-router-id", replace(switch("routing-options > router-id *"), r"\.(\d+);", "777"), "AILB902"),
    kind(
        "type-code-point",
        replace(switch("class-of-service > classifiers > dscp * > * > loss-priority *"), r"points ([01]+)", "21x"),
        "AILB902 AILB701 AILB706",
    ),
    kind("enum-type", replace(switch(f"{GROUP} > type external"), "external", "externall"), "AILB902"),
    kind(
        "enum-mode",
        replace(leaf("interfaces > et-* > unit 0 > family * > interface-mode trunk"), "trunk", "tagged"),
        "AILB902",
    ),
    kind("range-mtu", replace(switch("interfaces > et-* > mtu *"), r"\d+", "99999"), "AILB902 AILB710"),
    kind("range-vlan", replace(leaf("vlans > vn* > vlan-id *"), r"\d+", "5000"), "AILB902 AILB105"),
    kind(
        "range-queue",
        replace(switch("class-of-service > forwarding-classes > class *"), r"queue-num (\d)", "12"),
        "AILB902 AILB701 AILB706",
    ),
    kind(
        "range-multiplier", replace(switch(f"{GROUP} > bfd-liveness-detection > multiplier *"), r"\d+", "0"), "AILB902"
    ),
    kind(
        "range-interval",
        replace(switch(f"{GROUP} > bfd-liveness-detection > minimum-interval *"), r"\d+", "9000000"),
        "AILB902",
    ),
    kind(
        "range-as", replace(switch("routing-options > autonomous-system *"), r"(\d+)", "5000000000"), "AILB902 AILB202"
    ),
    kind(
        "range-pfc",
        replace(switch("class-of-service > forwarding-classes > class NO-LOSS*"), r"priority (\d)", "9"),
        "AILB902",
    ),
    kind(
        "range-sampling",
        replace(switch("forwarding-options > * > ecmp-dlb > sampling-rate *"), r"\d+", "99999999"),
        "AILB902 AILB407",
    ),
    kind(
        "group-twice",
        replace(leaf(f"{GROUP} > local-as *"), r"(?s).+", lambda old: old + old.replace(";", "0;")),
        "AILB904 AILB202",
    ),
    kind(
        "constraint-prefix",
        replace(leaf("protocols > router-advertisement > interface irb.* > prefix *"), r"(fc00)", "fcff"),
        "AILB906 AILB103",
    ),
    kind("apply-groups", insert(switch("protocols"), "apply-groups missing;"), "AILB002 AILB208"),
    kind("interface-name", replace(switch("interfaces > et-*"), r"et-(0)/", "x"), "AILB901 AILB902 AILB007 AILB109"),
    kind(
        "community-garbled",
        replace(switch("policy-options > community *"), r"members \S+;", "members color:;"),
        "AILB902 AILB301",
    ),
    kind(
        "as-list-garbled",
        replace(switch("policy-options > as-list *"), r"members (\S+);", "all-leaves"),
        "AILB902 AILB203 AILB201",
    ),
)
KINDS = (*TEXT, *STATEMENTS)
