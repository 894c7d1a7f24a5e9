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
    kind("leaf-export-missing", delete(leaf(f"{GROUP} > export *")), "AILB308"),
    kind("leaf-export-inactive", deactivate(leaf(f"{GROUP} > export *")), "AILB308"),
    kind("leaf-export-other", replace(leaf(f"{GROUP} > export *"), "FABRIC-OUT", "PFE-LB"), "AILB308"),
    kind("leaf-export-undefined", replace(leaf(f"{GROUP} > export *"), "FABRIC-OUT", "FABRIC-0UT"), "AILB208 AILB308"),
    kind("leaf-policy-missing", delete(leaf(OUT)), "AILB208 AILB308"),
    kind("leaf-policy-inactive", deactivate(leaf(OUT)), "AILB208 AILB308"),
    kind("valley-accepted", replace(VALLEY_THEN, REJECT, ACCEPT), "AILB308"),
    kind("valley-next-policy", replace(VALLEY_THEN, "reject", "next policy"), "AILB308"),
    kind("valley-term-missing", delete(leaf(f"{OUT} > term no-valley")), "AILB308"),
    kind("valley-term-inactive", deactivate(leaf(f"{OUT} > term no-valley")), "AILB308"),
    kind("valley-no-then", delete(VALLEY_THEN), "AILB308"),
    kind("valley-no-from", delete(leaf(f"{OUT} > term no-valley > from")), "AILB308"),
    kind("valley-exact", replace(VALLEY_FILTER, "orlonger", "exact"), "AILB308"),
    kind("valley-upto", replace(VALLEY_FILTER, "orlonger", "upto /32"), "AILB308"),
    kind("valley-pool", replace(VALLEY_FILTER, "fc00::/16", "fd00::/16"), "AILB308"),
    kind("valley-half", replace(VALLEY_FILTER, "/16", "/32"), "AILB308"),
    kind("leaf-others-accepted", replace(OTHERS_THEN, REJECT, ACCEPT), "AILB308"),
    kind("leaf-others-missing", delete(leaf(f"{OUT} > term others")), "AILB308"),
    kind("leaf-terms-reordered", swap(leaf(f"{OUT} > term *")), "AILB308"),
    kind("leaf-leaks", in_turn(replace(VALLEY_THEN, REJECT, ACCEPT), replace(OTHERS_THEN, REJECT, ACCEPT)), "AILB308"),
    kind(
        "leaf-leaks-by-order", in_turn(replace(OTHERS_THEN, REJECT, ACCEPT), swap(leaf(f"{OUT} > term *"))), "AILB308"
    ),
)

TAG = spine(f"{OUT} > term fabric > then > community *")
SENT = f"{OUT} > term fabric > from"
SPINE_POLICY = (
    kind("import-missing", delete(spine(f"{GROUP} > import *")), "AILB306 AILB307"),
    kind("import-is-export", replace(spine(f"{GROUP} > import *"), "FABRIC-IN", "FABRIC-OUT"), "AILB306 AILB307"),
    kind("spine-export-missing", delete(spine(f"{GROUP} > export *")), "AILB306 AILB307"),
    kind("spine-export-is-import", replace(spine(f"{GROUP} > export *"), "FABRIC-OUT", "FABRIC-IN"), "AILB306 AILB307"),
    kind("import-policy-missing", delete(spine(IN)), "AILB208 AILB306"),
    kind("leaked-accepted", replace(spine(f"{IN} > term leaked > then *"), REJECT, ACCEPT), "AILB307"),
    kind("leaked-missing", delete(spine(f"{IN} > term leaked")), "AILB307"),
    kind("leaked-inactive", deactivate(spine(f"{IN} > term leaked")), "AILB307"),
    kind("leaked-no-from", delete(spine(f"{IN} > term leaked > from *")), "AILB306 AILB309"),
    kind("leaked-no-then", delete(spine(f"{IN} > term leaked > then *")), "AILB307"),
    kind("leaked-color", replace(spine(f"{IN} > term leaked > from *"), "local", "green"), "AILB307"),
    kind("import-reordered", swap(spine(f"{IN} > term *")), "AILB307 AILB306 AILB309"),
    kind("import-rejects", replace(spine(f"{IN} > term fabric > then *"), ACCEPT, REJECT), "AILB306 AILB309"),
    kind("import-no-then", delete(spine(f"{IN} > term fabric > then *")), "AILB306 AILB309"),
    kind("import-term-missing", delete(spine(f"{IN} > term fabric")), "AILB306 AILB309"),
    kind("import-exact", replace(spine(f"{IN} > term fabric > from > *"), "orlonger", "exact"), "AILB306 AILB309"),
    kind("import-any", delete(spine(f"{IN} > term fabric > from")), "AILB306"),
    kind("import-others-accepted", replace(spine(f"{IN} > term others > then *"), REJECT, ACCEPT), "AILB306"),
    kind("import-others-missing", delete(spine(f"{IN} > term others")), "AILB306"),
    kind("pool-other", replace(spine(f"{POOL} > *"), "fc00", "fd00"), "AILB306 AILB309"),
    kind("pool-narrow", replace(spine(f"{POOL} > *"), "::/16", ":1::/32"), "AILB306 AILB309"),
    kind("pool-wide", replace(spine(f"{POOL} > *"), "fc00::/16", "::/0"), "AILB306"),
    kind("pool-empty", delete(spine(f"{POOL} > *")), "AILB306 AILB309"),
    kind("pool-missing", delete(spine(POOL)), "AILB208 AILB306"),
    kind("local-not-added", delete(TAG), "AILB307"),
    kind("local-set", replace(TAG, "add", "set"), "AILB306 AILB307"),
    kind("local-deleted", replace(TAG, "add", "delete"), "AILB307"),
    kind("color-added", replace(TAG, "local", "red"), "AILB306 AILB307"),
    kind("color-deleted", insert(TAG, " " * 16 + "community delete green;"), "AILB306 AILB307"),
    kind("local-undefined", delete(spine("policy-options > community local *")), "AILB208 AILB307"),
    kind("local-value", replace(spine("policy-options > community local *"), r"0:(15)", "16"), "AILB307"),
    kind(
        "local-is-color", replace(spine("policy-options > community local *"), "0:15", "color:0:1"), "AILB306 AILB307"
    ),
    kind("spine-export-rejects", replace(spine(f"{OUT} > term fabric > then > accept"), ACCEPT, REJECT), "AILB306"),
    kind("spine-export-no-accept", delete(spine(f"{OUT} > term fabric > then > accept")), "AILB306"),
    kind("spine-export-exact", replace(spine(f"{SENT} > prefix-list-filter *"), "orlonger", "exact"), "AILB306"),
    kind("spine-export-any-prefix", delete(spine(f"{SENT} > prefix-list-filter *")), "AILB306"),
    kind("spine-export-any-protocol", delete(spine(f"{SENT} > protocol bgp")), "AILB306"),
    kind("spine-export-direct", replace(spine(f"{SENT} > protocol bgp"), "bgp", "direct"), "AILB306"),
    kind("spine-term-missing", delete(spine(f"{OUT} > term fabric")), "AILB306"),
    kind("spine-reordered", swap(spine(f"{OUT} > term *")), "AILB306"),
    kind("spine-others-accepted", replace(spine(f"{OUT} > term others > then *"), REJECT, ACCEPT), "AILB306"),
    kind("spine-others-missing", delete(spine(f"{OUT} > term others")), "AILB306"),
)
KINDS = (*LEAF_POLICY, *SPINE_POLICY)
