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
    kind("pfe-lb-missing", delete(switch(PFE_LB)), "AILB406 AILB208"),
    kind("pfe-lb-not-used", delete(switch(f"{TABLE} > export *")), "AILB406"),
    kind("pfe-lb-inactive", deactivate(switch(f"{TABLE} > export *")), "AILB406"),
    kind("pfe-lb-other", replace(switch(f"{TABLE} > export *"), "PFE-LB", "FABRIC-OUT"), "AILB406 AILB208"),
    kind("per-packet-missing", delete(switch(f"{PFE_LB} > then > *")), "AILB406"),
    kind("per-packet-other", replace(switch(f"{PFE_LB} > then > *"), "load-balance per-packet", "accept"), "AILB406"),
    kind("per-packet-rejected", insert(switch(f"{PFE_LB} > then"), "reject;"), "AILB406"),
    kind("per-packet-and-another", insert(switch(PFE_LB), "term other {\nthen load-balance random;\n}"), "AILB406"),
    kind("per-packet-random", replace(switch(f"{PFE_LB} > then > *"), "per-packet", "random"), "AILB406"),
    kind("fast-reroute-missing", delete(switch(f"{TABLE} > ecmp-fast-reroute")), "AILB406"),
    kind("forwarding-table-missing", delete(switch(TABLE)), "AILB406"),
    kind("dlb-removed", delete(switch("forwarding-options")), "AILB407"),
    kind("dlb-inactive", deactivate(switch(DLB)), "AILB407"),
    kind("dlb-no-flowlet", delete(switch(FLOWLET)), "AILB407"),
    kind("dlb-per-packet", replace(switch(FLOWLET), r"(?s)flowlet \{.*\}", "per-packet;"), "AILB407"),
    kind("dlb-assigned-flow", replace(switch(FLOWLET), r"(?s)flowlet \{.*\}", "assigned-flow;"), "AILB407"),
    kind("dlb-interval", replace(switch(f"{FLOWLET} > inactivity-interval *"), r"\d+", "30000"), "AILB407"),
    kind("dlb-no-interval", delete(switch(f"{FLOWLET} > inactivity-interval *")), "AILB407"),
    kind("dlb-table-size", replace(switch(f"{FLOWLET} > flowset-table-size *"), r"\d+", "256"), "AILB407"),
    kind("dlb-reassignment", replace(switch(f"{REASSIGNMENT} > prob-threshold *"), r"\d+", "90"), "AILB407"),
    kind("dlb-quality", replace(switch(f"{REASSIGNMENT} > quality-delta *"), r"\d+", "2"), "AILB407"),
    kind("dlb-no-reassignment", delete(switch(REASSIGNMENT)), "AILB407"),
    kind("dlb-sampling", replace(switch(f"{DLB} > sampling-rate *"), r"\d+", "10000"), "AILB407"),
    kind("dlb-ipv4", replace(switch(f"{DLB} > ether-type > ipv6"), "ipv6", "ipv4"), "AILB407"),
    kind("dlb-no-ether-type", delete(switch(f"{DLB} > ether-type")), "AILB407"),
    kind("dlb-per-packet-all", everywhere(switch(FLOWLET), r"(?s)flowlet \{.*\}", "per-packet;"), "AILB407"),
)
