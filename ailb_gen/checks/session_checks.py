"""The checks of BGP sessions as entries of the catalogue."""

from __future__ import annotations

from ailb_gen.checks.filter_checks import FILTERS
from ailb_gen.checks.model import Check, Severity
from ailb_gen.checks.modelled import MODELLED

AGAIN = "Correct the intent and generate again."
UP = Check(
    "AILB201",
    Severity.ERROR,
    "over every cable between switches that is in service a BGP session comes up",
    "a cable between switches has no BGP session, or has one though it is out of service",
    "A cable without a session carries nothing; its color is moved to the other links of the leaf.",
    "The message says what is missing at which end: RA, family inet6, discovery, or the AS number.",
)
AS_NUMBERS = Check(
    "AILB202",
    Severity.ERROR,
    "every switch has the AS number of the plan, the same in all groups; no two leaves share one",
    "an AS number differs from the plan, or two leaves share one",
    "Leaves in one AS drop each other's routes in the loop check; a wrong number is refused by the peers.",
    AGAIN,
)
AS_LISTS = Check(
    "AILB203",
    Severity.ERROR,
    "the as-list of every group admits exactly its neighbors",
    "an as-list lacks a neighbor, or admits others",
    "A list that is too wide lets a cable in the wrong port come up as a session of the wrong color.",
    "List the AS numbers of the group's own neighbors.",
)
BFD = Check(
    "AILB204",
    Severity.ERROR,
    "every group runs BFD with the interval and multiplier that the intent asks for, or none if it asks for none",
    "BFD of a group differs from the intent",
    "Without BFD a link that fails silently is noticed after the hold time: seconds of lost packets.",
    "Change the intent's `bfd:` and generate again.",
)
MULTIPATH = Check(
    "AILB205",
    Severity.ERROR,
    "every group has multipath multiple-as",
    "a group lacks multipath multiple-as",
    "Backups of a prefix come from spines in different AS numbers: without it all its traffic takes one of them.",
    "Add `multipath multiple-as` to the group.",
)
AIGP = Check(
    "AILB206",
    Severity.ERROR,
    "AIGP is on at both ends of every session, or off everywhere if the intent says so",
    "AIGP of a group is not as the intent asks",
    "Junos neither sends nor accepts AIGP unless told: nothing would prefer a prefix's own color over its backups.",
    "Add `family inet6 unicast aigp` to the group.",
)
DISCOVERY = Check(
    "AILB207",
    Severity.ERROR,
    "auto-discovery is in groups of `type external`, without authentication, allow or multihop, once on cabled ports",
    "auto-discovery stands in a group, or on a port, where it must not",
    "The commit fails, or an unplanned neighbor comes up as part of the fabric.",
    "Write the type; take the other statement, or the interface, out of the group.",
)
REFERENCES = Check(
    "AILB208",
    Severity.ERROR,
    "every policy, community, as-list, prefix-list, interface and configuration group that is named is defined",
    "something is named that is not defined",
    "Junos refuses to commit an undefined policy or group; an undefined list matches nothing, silently.",
    "Define what is named, or correct the name.",
)
LLDP = Check(
    "AILB210",
    Severity.ERROR,
    "LLDP runs on every cabled port",
    "a cabled port does not run LLDP",
    "Without it the cabling cannot be compared with the plan remotely.",
    "Add `protocols lldp interface all`, and take `disable` out of `protocols lldp`.",
)
WRITTEN = Check(
    "AILB211",
    Severity.NOTE,
    "local-as and the BFD multiplier of every group are written, not left to what a release has as default",
    "a value is left to the default of the release",
    "A default differs from the intent as soon as the value is changed elsewhere.",
    "Generate the file again.",
)
CHECKS = (UP, AS_NUMBERS, AS_LISTS, BFD, MULTIPATH, AIGP, DISCOVERY, REFERENCES, MODELLED, LLDP, WRITTEN, FILTERS)
