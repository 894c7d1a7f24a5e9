"""Damage to export and import policies."""

from __future__ import annotations

from tests.mutations.edits import deactivate, delete, in_turn, insert, replace, swap
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, spine

GROUP = "protocols > bgp > group *"
OUT = "policy-options > policy-statement FABRIC-OUT"
IN = "policy-options > policy-statement FABRIC-IN"
POOL = "policy-options > prefix-list fabric-pool"
ACCEPT, REJECT = "accept", "reject"
EXPORTS, VALLEY, IMPORTS = "AILB2", "AILB2 AILB3", "AILB2 AILB3"

VALLEY_FILTER = leaf(f"{OUT} > term no-valley > from > route-filter *")
VALLEY_THEN = leaf(f"{OUT} > term no-valley > then *")
OTHERS_THEN = leaf(f"{OUT} > term others > then *")
LEAF_POLICY = (
    kind(
        "leaf-export-missing", "a leaf's group exports without a policy", delete(leaf(f"{GROUP} > export *")), EXPORTS
    ),
    kind(
        "leaf-export-inactive", "a leaf's export policy is inactive", deactivate(leaf(f"{GROUP} > export *")), EXPORTS
    ),
    kind(
        "leaf-export-other",
        "a leaf's group exports with the forwarding table's policy",
        replace(leaf(f"{GROUP} > export *"), "FABRIC-OUT", "PFE-LB"),
        EXPORTS,
    ),
    kind(
        "leaf-export-undefined",
        "a leaf's group exports with a policy that is not there",
        replace(leaf(f"{GROUP} > export *"), "FABRIC-OUT", "FABRIC-0UT"),
        EXPORTS,
    ),
    kind("leaf-policy-missing", "a leaf's export policy is not defined", delete(leaf(OUT)), EXPORTS),
    kind("leaf-policy-inactive", "a leaf's export policy is defined but inactive", deactivate(leaf(OUT)), EXPORTS),
    kind(
        "valley-accepted", "a leaf passes routes of one spine to another", replace(VALLEY_THEN, REJECT, ACCEPT), VALLEY
    ),
    kind(
        "valley-next-policy",
        "a leaf leaves the decision to the default policy",
        replace(VALLEY_THEN, "reject", "next policy"),
        VALLEY,
    ),
    kind(
        "valley-term-missing",
        "a leaf's policy does not reject the pool by itself",
        delete(leaf(f"{OUT} > term no-valley")),
        VALLEY,
    ),
    kind(
        "valley-term-inactive",
        "the term that rejects the pool is inactive",
        deactivate(leaf(f"{OUT} > term no-valley")),
        VALLEY,
    ),
    kind("valley-no-then", "the term that rejects the pool does nothing", delete(VALLEY_THEN), VALLEY),
    kind(
        "valley-no-from",
        "the term no-valley matches everything",
        delete(leaf(f"{OUT} > term no-valley > from")),
        VALLEY,
    ),
    kind(
        "valley-exact",
        "only the pool itself is rejected, not what is in it",
        replace(VALLEY_FILTER, "orlonger", "exact"),
        VALLEY,
    ),
    kind(
        "valley-upto",
        "only short prefixes of the pool are rejected",
        replace(VALLEY_FILTER, "orlonger", "upto /32"),
        VALLEY,
    ),
    kind("valley-pool", "another pool is rejected", replace(VALLEY_FILTER, "fc00::/16", "fd00::/16"), VALLEY),
    kind("valley-half", "a small part of the pool is rejected", replace(VALLEY_FILTER, "/16", "/32"), VALLEY),
    kind(
        "leaf-others-accepted", "a leaf exports what is not of the pool", replace(OTHERS_THEN, REJECT, ACCEPT), EXPORTS
    ),
    kind(
        "leaf-others-missing",
        "what is not of the pool goes by the default policy",
        delete(leaf(f"{OUT} > term others")),
        EXPORTS,
    ),
    kind(
        "leaf-terms-reordered", "the last term of a leaf's policy is the first", swap(leaf(f"{OUT} > term *")), EXPORTS
    ),
    kind(
        "leaf-leaks",
        "a leaf passes everything on",
        in_turn(replace(VALLEY_THEN, REJECT, ACCEPT), replace(OTHERS_THEN, REJECT, ACCEPT)),
        VALLEY,
    ),
    kind(
        "leaf-leaks-by-order",
        "a leaf's policy accepts before it rejects",
        in_turn(replace(OTHERS_THEN, REJECT, ACCEPT), swap(leaf(f"{OUT} > term *"))),
        VALLEY,
    ),
)

TAG = spine(f"{OUT} > term fabric > then > community *")
SENT = f"{OUT} > term fabric > from"
SPINE_POLICY = (
    kind("import-missing", "a spine takes routes without a policy", delete(spine(f"{GROUP} > import *")), IMPORTS),
    kind(
        "import-is-export",
        "a spine takes routes with its export policy",
        replace(spine(f"{GROUP} > import *"), "FABRIC-IN", "FABRIC-OUT"),
        IMPORTS,
    ),
    kind(
        "spine-export-missing", "a spine sends routes without a policy", delete(spine(f"{GROUP} > export *")), EXPORTS
    ),
    kind(
        "spine-export-is-import",
        "a spine sends routes with its import policy",
        replace(spine(f"{GROUP} > export *"), "FABRIC-OUT", "FABRIC-IN"),
        EXPORTS,
    ),
    kind("import-policy-missing", "a spine's import policy is not defined", delete(spine(IN)), IMPORTS),
    kind(
        "leaked-accepted",
        "a spine believes a leaf that leaks",
        replace(spine(f"{IN} > term leaked > then *"), REJECT, ACCEPT),
        IMPORTS,
    ),
    kind("leaked-missing", "a spine does not look for leaked routes", delete(spine(f"{IN} > term leaked")), IMPORTS),
    kind(
        "leaked-inactive", "the term for leaked routes is inactive", deactivate(spine(f"{IN} > term leaked")), IMPORTS
    ),
    kind("leaked-no-from", "a spine rejects everything", delete(spine(f"{IN} > term leaked > from *")), IMPORTS),
    kind(
        "leaked-no-then",
        "a spine does nothing about leaked routes",
        delete(spine(f"{IN} > term leaked > then *")),
        IMPORTS,
    ),
    kind(
        "leaked-color",
        "a spine rejects a color instead of what leaked",
        replace(spine(f"{IN} > term leaked > from *"), "local", "green"),
        IMPORTS,
    ),
    kind(
        "import-reordered", "a spine accepts before it looks for leaked routes", swap(spine(f"{IN} > term *")), IMPORTS
    ),
    kind(
        "import-rejects",
        "a spine takes no routes",
        replace(spine(f"{IN} > term fabric > then *"), ACCEPT, REJECT),
        IMPORTS,
    ),
    kind(
        "import-no-then",
        "a spine neither takes nor refuses the fabric's routes",
        delete(spine(f"{IN} > term fabric > then *")),
        IMPORTS,
    ),
    kind(
        "import-term-missing",
        "a spine's import policy lacks the fabric's term",
        delete(spine(f"{IN} > term fabric")),
        IMPORTS,
    ),
    kind(
        "import-exact",
        "a spine takes only the pool itself",
        replace(spine(f"{IN} > term fabric > from > *"), "orlonger", "exact"),
        IMPORTS,
    ),
    kind("import-any", "a spine takes what is not of the pool", delete(spine(f"{IN} > term fabric > from")), IMPORTS),
    kind(
        "import-others-accepted",
        "a spine takes everything",
        replace(spine(f"{IN} > term others > then *"), REJECT, ACCEPT),
        IMPORTS,
    ),
    kind(
        "import-others-missing",
        "what is not of the pool goes by the default policy",
        delete(spine(f"{IN} > term others")),
        IMPORTS,
    ),
    kind("pool-other", "a spine's pool is another", replace(spine(f"{POOL} > *"), "fc00", "fd00"), VALLEY),
    kind("pool-narrow", "a spine's pool is only one stripe", replace(spine(f"{POOL} > *"), "::/16", ":1::/32"), VALLEY),
    kind("pool-wide", "a spine's pool is everything", replace(spine(f"{POOL} > *"), "fc00::/16", "::/0"), VALLEY),
    kind("pool-empty", "a spine's pool is empty", delete(spine(f"{POOL} > *")), VALLEY),
    kind("pool-missing", "a spine's pool is not defined", delete(spine(POOL)), VALLEY),
    kind("local-not-added", "a spine does not mark what it sends", delete(TAG), VALLEY),
    kind("local-set", "a spine replaces the color by its mark", replace(TAG, "add", "set"), VALLEY),
    kind("local-deleted", "a spine deletes the mark instead of adding it", replace(TAG, "add", "delete"), VALLEY),
    kind("color-added", "a spine adds a color instead of its mark", replace(TAG, "local", "red"), VALLEY),
    kind("color-deleted", "a spine deletes a color too", insert(TAG, " " * 16 + "community delete green;"), VALLEY),
    kind("local-undefined", "the mark is not defined", delete(spine("policy-options > community local *")), VALLEY),
    kind(
        "local-value",
        "the mark has another value on one spine",
        replace(spine("policy-options > community local *"), r"0:(15)", "16"),
        VALLEY,
    ),
    kind(
        "local-is-color",
        "the mark is the community of a color",
        replace(spine("policy-options > community local *"), "0:15", "color:0:1"),
        VALLEY,
    ),
    kind(
        "spine-export-rejects",
        "a spine sends no routes",
        replace(spine(f"{OUT} > term fabric > then > accept"), ACCEPT, REJECT),
        VALLEY,
    ),
    kind(
        "spine-export-no-accept",
        "a spine's policy does not accept",
        delete(spine(f"{OUT} > term fabric > then > accept")),
        VALLEY,
    ),
    kind(
        "spine-export-exact",
        "a spine sends only the pool itself",
        replace(spine(f"{SENT} > prefix-list-filter *"), "orlonger", "exact"),
        VALLEY,
    ),
    kind(
        "spine-export-any-prefix",
        "a spine sends what is not of the pool",
        delete(spine(f"{SENT} > prefix-list-filter *")),
        VALLEY,
    ),
    kind(
        "spine-export-any-protocol",
        "a spine sends what is not from BGP",
        delete(spine(f"{SENT} > protocol bgp")),
        VALLEY,
    ),
    kind(
        "spine-export-direct",
        "a spine sends its own routes only",
        replace(spine(f"{SENT} > protocol bgp"), "bgp", "direct"),
        VALLEY,
    ),
    kind(
        "spine-term-missing",
        "a spine's export policy lacks the fabric's term",
        delete(spine(f"{OUT} > term fabric")),
        VALLEY,
    ),
    kind("spine-reordered", "a spine rejects before it accepts", swap(spine(f"{OUT} > term *")), VALLEY),
    kind(
        "spine-others-accepted",
        "a spine sends everything",
        replace(spine(f"{OUT} > term others > then *"), REJECT, ACCEPT),
        VALLEY,
    ),
    kind(
        "spine-others-missing",
        "what is not of the pool goes by the default policy",
        delete(spine(f"{OUT} > term others")),
        VALLEY,
    ),
)
KINDS = (*LEAF_POLICY, *SPINE_POLICY)
