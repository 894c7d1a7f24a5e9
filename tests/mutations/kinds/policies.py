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

VALLEY_FILTER = leaf(f"{OUT} > term no-valley > from > route-filter *")
VALLEY_THEN = leaf(f"{OUT} > term no-valley > then *")
OTHERS_THEN = leaf(f"{OUT} > term others > then *")
LEAF_POLICY = (
    kind(
        "leaf-export-missing", "a leaf's group exports without a policy", delete(leaf(f"{GROUP} > export *")), "AILB308"
    ),
    kind(
        "leaf-export-inactive", "a leaf's export policy is inactive", deactivate(leaf(f"{GROUP} > export *")), "AILB308"
    ),
    kind(
        "leaf-export-other",
        "a leaf's group exports with the forwarding table's policy",
        replace(leaf(f"{GROUP} > export *"), "FABRIC-OUT", "PFE-LB"),
        "AILB308",
    ),
    kind(
        "leaf-export-undefined",
        "a leaf's group exports with a policy that is not there",
        replace(leaf(f"{GROUP} > export *"), "FABRIC-OUT", "FABRIC-0UT"),
        "AILB208 AILB308",
    ),
    kind("leaf-policy-missing", "a leaf's export policy is not defined", delete(leaf(OUT)), "AILB208 AILB308"),
    kind(
        "leaf-policy-inactive",
        "a leaf's export policy is defined but inactive",
        deactivate(leaf(OUT)),
        "AILB208 AILB308",
    ),
    kind(
        "valley-accepted",
        "a leaf passes routes of one spine to another",
        replace(VALLEY_THEN, REJECT, ACCEPT),
        "AILB308",
    ),
    kind(
        "valley-next-policy",
        "a leaf leaves the decision to the default policy",
        replace(VALLEY_THEN, "reject", "next policy"),
        "AILB308",
    ),
    kind(
        "valley-term-missing",
        "a leaf's policy does not reject the pool by itself",
        delete(leaf(f"{OUT} > term no-valley")),
        "AILB308",
    ),
    kind(
        "valley-term-inactive",
        "the term that rejects the pool is inactive",
        deactivate(leaf(f"{OUT} > term no-valley")),
        "AILB308",
    ),
    kind("valley-no-then", "the term that rejects the pool does nothing", delete(VALLEY_THEN), "AILB308"),
    kind(
        "valley-no-from",
        "the term no-valley matches everything",
        delete(leaf(f"{OUT} > term no-valley > from")),
        "AILB308",
    ),
    kind(
        "valley-exact",
        "only the pool itself is rejected, not what is in it",
        replace(VALLEY_FILTER, "orlonger", "exact"),
        "AILB308",
    ),
    kind(
        "valley-upto",
        "only short prefixes of the pool are rejected",
        replace(VALLEY_FILTER, "orlonger", "upto /32"),
        "AILB308",
    ),
    kind("valley-pool", "another pool is rejected", replace(VALLEY_FILTER, "fc00::/16", "fd00::/16"), "AILB308"),
    kind("valley-half", "a small part of the pool is rejected", replace(VALLEY_FILTER, "/16", "/32"), "AILB308"),
    kind(
        "leaf-others-accepted",
        "a leaf exports what is not of the pool",
        replace(OTHERS_THEN, REJECT, ACCEPT),
        "AILB308",
    ),
    kind(
        "leaf-others-missing",
        "what is not of the pool goes by the default policy",
        delete(leaf(f"{OUT} > term others")),
        "AILB308",
    ),
    kind(
        "leaf-terms-reordered",
        "the last term of a leaf's policy is the first",
        swap(leaf(f"{OUT} > term *")),
        "AILB308",
    ),
    kind(
        "leaf-leaks",
        "a leaf passes everything on",
        in_turn(replace(VALLEY_THEN, REJECT, ACCEPT), replace(OTHERS_THEN, REJECT, ACCEPT)),
        "AILB308",
    ),
    kind(
        "leaf-leaks-by-order",
        "a leaf's policy accepts before it rejects",
        in_turn(replace(OTHERS_THEN, REJECT, ACCEPT), swap(leaf(f"{OUT} > term *"))),
        "AILB308",
    ),
)

TAG = spine(f"{OUT} > term fabric > then > community *")
SENT = f"{OUT} > term fabric > from"
SPINE_POLICY = (
    kind(
        "import-missing",
        "a spine takes routes without a policy",
        delete(spine(f"{GROUP} > import *")),
        "AILB306 AILB307",
    ),
    kind(
        "import-is-export",
        "a spine takes routes with its export policy",
        replace(spine(f"{GROUP} > import *"), "FABRIC-IN", "FABRIC-OUT"),
        "AILB306 AILB307",
    ),
    kind(
        "spine-export-missing",
        "a spine sends routes without a policy",
        delete(spine(f"{GROUP} > export *")),
        "AILB306 AILB307",
    ),
    kind(
        "spine-export-is-import",
        "a spine sends routes with its import policy",
        replace(spine(f"{GROUP} > export *"), "FABRIC-OUT", "FABRIC-IN"),
        "AILB306 AILB307",
    ),
    kind("import-policy-missing", "a spine's import policy is not defined", delete(spine(IN)), "AILB208 AILB306"),
    kind(
        "leaked-accepted",
        "a spine believes a leaf that leaks",
        replace(spine(f"{IN} > term leaked > then *"), REJECT, ACCEPT),
        "AILB307",
    ),
    kind("leaked-missing", "a spine does not look for leaked routes", delete(spine(f"{IN} > term leaked")), "AILB307"),
    kind(
        "leaked-inactive", "the term for leaked routes is inactive", deactivate(spine(f"{IN} > term leaked")), "AILB307"
    ),
    kind(
        "leaked-no-from", "a spine rejects everything", delete(spine(f"{IN} > term leaked > from *")), "AILB306 AILB309"
    ),
    kind(
        "leaked-no-then",
        "a spine does nothing about leaked routes",
        delete(spine(f"{IN} > term leaked > then *")),
        "AILB307",
    ),
    kind(
        "leaked-color",
        "a spine rejects a color instead of what leaked",
        replace(spine(f"{IN} > term leaked > from *"), "local", "green"),
        "AILB307",
    ),
    kind(
        "import-reordered",
        "a spine accepts before it looks for leaked routes",
        swap(spine(f"{IN} > term *")),
        "AILB307 AILB306 AILB309",
    ),
    kind(
        "import-rejects",
        "a spine takes no routes",
        replace(spine(f"{IN} > term fabric > then *"), ACCEPT, REJECT),
        "AILB306 AILB309",
    ),
    kind(
        "import-no-then",
        "a spine neither takes nor refuses the fabric's routes",
        delete(spine(f"{IN} > term fabric > then *")),
        "AILB306 AILB309",
    ),
    kind(
        "import-term-missing",
        "a spine's import policy lacks the fabric's term",
        delete(spine(f"{IN} > term fabric")),
        "AILB306 AILB309",
    ),
    kind(
        "import-exact",
        "a spine takes only the pool itself",
        replace(spine(f"{IN} > term fabric > from > *"), "orlonger", "exact"),
        "AILB306 AILB309",
    ),
    kind("import-any", "a spine takes what is not of the pool", delete(spine(f"{IN} > term fabric > from")), "AILB306"),
    kind(
        "import-others-accepted",
        "a spine takes everything",
        replace(spine(f"{IN} > term others > then *"), REJECT, ACCEPT),
        "AILB306",
    ),
    kind(
        "import-others-missing",
        "what is not of the pool goes by the default policy",
        delete(spine(f"{IN} > term others")),
        "AILB306",
    ),
    kind("pool-other", "a spine's pool is another", replace(spine(f"{POOL} > *"), "fc00", "fd00"), "AILB306 AILB309"),
    kind(
        "pool-narrow",
        "a spine's pool is only one stripe",
        replace(spine(f"{POOL} > *"), "::/16", ":1::/32"),
        "AILB306 AILB309",
    ),
    kind("pool-wide", "a spine's pool is everything", replace(spine(f"{POOL} > *"), "fc00::/16", "::/0"), "AILB306"),
    kind("pool-empty", "a spine's pool is empty", delete(spine(f"{POOL} > *")), "AILB306 AILB309"),
    kind("pool-missing", "a spine's pool is not defined", delete(spine(POOL)), "AILB208 AILB306"),
    kind("local-not-added", "a spine does not mark what it sends", delete(TAG), "AILB307"),
    kind("local-set", "a spine replaces the color by its mark", replace(TAG, "add", "set"), "AILB306 AILB307"),
    kind("local-deleted", "a spine deletes the mark instead of adding it", replace(TAG, "add", "delete"), "AILB307"),
    kind("color-added", "a spine adds a color instead of its mark", replace(TAG, "local", "red"), "AILB306 AILB307"),
    kind(
        "color-deleted",
        "a spine deletes a color too",
        insert(TAG, " " * 16 + "community delete green;"),
        "AILB306 AILB307",
    ),
    kind(
        "local-undefined",
        "the mark is not defined",
        delete(spine("policy-options > community local *")),
        "AILB208 AILB307",
    ),
    kind(
        "local-value",
        "the mark has another value on one spine",
        replace(spine("policy-options > community local *"), r"0:(15)", "16"),
        "AILB307",
    ),
    kind(
        "local-is-color",
        "the mark is the community of a color",
        replace(spine("policy-options > community local *"), "0:15", "color:0:1"),
        "AILB306 AILB307",
    ),
    kind(
        "spine-export-rejects",
        "a spine sends no routes",
        replace(spine(f"{OUT} > term fabric > then > accept"), ACCEPT, REJECT),
        "AILB306",
    ),
    kind(
        "spine-export-no-accept",
        "a spine's policy does not accept",
        delete(spine(f"{OUT} > term fabric > then > accept")),
        "AILB306",
    ),
    kind(
        "spine-export-exact",
        "a spine sends only the pool itself",
        replace(spine(f"{SENT} > prefix-list-filter *"), "orlonger", "exact"),
        "AILB306",
    ),
    kind(
        "spine-export-any-prefix",
        "a spine sends what is not of the pool",
        delete(spine(f"{SENT} > prefix-list-filter *")),
        "AILB306",
    ),
    kind(
        "spine-export-any-protocol",
        "a spine sends what is not from BGP",
        delete(spine(f"{SENT} > protocol bgp")),
        "AILB306",
    ),
    kind(
        "spine-export-direct",
        "a spine sends its own routes only",
        replace(spine(f"{SENT} > protocol bgp"), "bgp", "direct"),
        "AILB306",
    ),
    kind(
        "spine-term-missing",
        "a spine's export policy lacks the fabric's term",
        delete(spine(f"{OUT} > term fabric")),
        "AILB306",
    ),
    kind("spine-reordered", "a spine rejects before it accepts", swap(spine(f"{OUT} > term *")), "AILB306"),
    kind(
        "spine-others-accepted",
        "a spine sends everything",
        replace(spine(f"{OUT} > term others > then *"), REJECT, ACCEPT),
        "AILB306",
    ),
    kind(
        "spine-others-missing",
        "what is not of the pool goes by the default policy",
        delete(spine(f"{OUT} > term others")),
        "AILB306",
    ),
)
KINDS = (*LEAF_POLICY, *SPINE_POLICY)
