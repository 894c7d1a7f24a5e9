"""Damage to load balancing: the forwarding table's policy, and dynamic load balancing."""

from __future__ import annotations

from tests.mutations.edits import deactivate, delete, everywhere, insert, replace
from tests.mutations.kind import kind
from tests.mutations.spots import switch

TABLE = "routing-options > forwarding-table"
PFE_LB = "policy-options > policy-statement PFE-LB"
DLB = "forwarding-options > enhanced-hash-key > ecmp-dlb"
FLOWLET = f"{DLB} > flowlet"
REASSIGNMENT = f"{FLOWLET} > reassignment"

KINDS = (
    kind("pfe-lb-missing", "the policy for load balancing is not defined", delete(switch(PFE_LB)), "AILB406 AILB208"),
    kind("pfe-lb-not-used", "the forwarding table has no policy", delete(switch(f"{TABLE} > export *")), "AILB406"),
    kind(
        "pfe-lb-inactive",
        "the forwarding table's policy is inactive",
        deactivate(switch(f"{TABLE} > export *")),
        "AILB406",
    ),
    kind(
        "pfe-lb-other",
        "the forwarding table has another policy",
        replace(switch(f"{TABLE} > export *"), "PFE-LB", "FABRIC-OUT"),
        "AILB406 AILB208",
    ),
    kind("per-packet-missing", "the policy does not balance", delete(switch(f"{PFE_LB} > then > *")), "AILB406"),
    kind(
        "per-packet-other",
        "the policy chooses one path per prefix",
        replace(switch(f"{PFE_LB} > then > *"), "load-balance per-packet", "accept"),
        "AILB406",
    ),
    kind(
        "per-packet-rejected",
        "the policy balances, and keeps all routes out of the forwarding table",
        insert(switch(f"{PFE_LB} > then"), "            reject;"),
        "AILB406",
    ),
    kind(
        "per-packet-and-another",
        "the policy balances some routes in another way",
        insert(switch(PFE_LB), "        term other {\n            then load-balance random;\n        }"),
        "AILB406",
    ),
    kind(
        "per-packet-random",
        "the policy balances at random",
        replace(switch(f"{PFE_LB} > then > *"), "per-packet", "random"),
        "AILB406",
    ),
    kind(
        "fast-reroute-missing",
        "a link that fails waits for BGP",
        delete(switch(f"{TABLE} > ecmp-fast-reroute")),
        "AILB406",
    ),
    kind("forwarding-table-missing", "the forwarding table has default settings", delete(switch(TABLE)), "AILB406"),
    kind("dlb-removed", "one switch has no dynamic load balancing", delete(switch("forwarding-options")), "AILB407"),
    kind("dlb-inactive", "dynamic load balancing is inactive on one switch", deactivate(switch(DLB)), "AILB407"),
    kind("dlb-no-flowlet", "one switch has no flowlets", delete(switch(FLOWLET)), "AILB407"),
    kind(
        "dlb-per-packet",
        "one switch balances per packet",
        replace(switch(FLOWLET), r"(?s)flowlet \{.*\}", "per-packet;"),
        "AILB407",
    ),
    kind(
        "dlb-assigned-flow",
        "one switch assigns flows once",
        replace(switch(FLOWLET), r"(?s)flowlet \{.*\}", "assigned-flow;"),
        "AILB407",
    ),
    kind(
        "dlb-interval",
        "one switch has another inactivity interval",
        replace(switch(f"{FLOWLET} > inactivity-interval *"), r"\d+", "30000"),
        "AILB407",
    ),
    kind(
        "dlb-no-interval",
        "one switch has the default inactivity interval",
        delete(switch(f"{FLOWLET} > inactivity-interval *")),
        "AILB407",
    ),
    kind(
        "dlb-table-size",
        "one switch has another flowset table size",
        replace(switch(f"{FLOWLET} > flowset-table-size *"), r"\d+", "256"),
        "AILB407",
    ),
    kind(
        "dlb-reassignment",
        "one switch has another threshold for reassigning",
        replace(switch(f"{REASSIGNMENT} > prob-threshold *"), r"\d+", "90"),
        "AILB407",
    ),
    kind(
        "dlb-quality",
        "one switch has another quality delta",
        replace(switch(f"{REASSIGNMENT} > quality-delta *"), r"\d+", "2"),
        "AILB407",
    ),
    kind("dlb-no-reassignment", "one switch does not reassign", delete(switch(REASSIGNMENT)), "AILB407"),
    kind(
        "dlb-sampling",
        "one switch has another sampling rate",
        replace(switch(f"{DLB} > sampling-rate *"), r"\d+", "10000"),
        "AILB407",
    ),
    kind(
        "dlb-ipv4", "one switch balances IPv4", replace(switch(f"{DLB} > ether-type > ipv6"), "ipv6", "ipv4"), "AILB407"
    ),
    kind("dlb-no-ether-type", "one switch balances no IPv6", delete(switch(f"{DLB} > ether-type")), "AILB407"),
    kind(
        "dlb-per-packet-all",
        "all switches balance per packet, the intent says flowlet",
        everywhere(switch(FLOWLET), r"(?s)flowlet \{.*\}", "per-packet;"),
        "AILB407",
    ),
)
