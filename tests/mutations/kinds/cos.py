"""Damage to the class of service of switches: classes, PFC, ECN, scheduling, and the ports they are on."""

from __future__ import annotations

from tests.mutations.edits import add, borrow, deactivate, delete, everywhere, insert, replace, swap
from tests.mutations.kind import kind
from tests.mutations.spots import switch

COS = "class-of-service"
CLASSIFIER = f"{COS} > classifiers > dscp mydscp"
CODE_POINTS = f"{CLASSIFIER} > forwarding-class * > loss-priority *"
CLASS = f"{COS} > forwarding-classes > class"
CNP = f"{COS} > congestion-notification-profile > cnp"
PORTS = f"{COS} > interfaces > et-[*]"
MAPS = f"{COS} > scheduler-maps > sm1"
SCHEDULERS = f"{COS} > schedulers"

# A more specific entry takes its port away from `et-*`, and this one has no PFC.
ONE_PORT_WITHOUT_PFC = """\
        et-0/0/1* {
            scheduler-map sm1;
            unit * {
                classifiers {
                    dscp mydscp;
                }
            }
        }"""
ONE_PORT_WITHOUT_CLASSIFIER = """\
        et-0/0/1* {
            congestion-notification-profile cnp;
            scheduler-map sm1;
        }"""

CLASSIFYING = (
    kind("cos-removed", "one switch has no class of service", delete(switch(COS)), "AILB703 AILB701"),
    kind("cos-inactive", "class of service is inactive on one switch", deactivate(switch(COS)), "AILB703 AILB701"),
    kind("classifier-removed", "the classifier is not defined", delete(switch(f"{COS} > classifiers")), "AILB702"),
    kind(
        "classifier-class-missing",
        "the classifier lacks a class",
        delete(switch(f"{CLASSIFIER} > forwarding-class *")),
        "AILB701 AILB706 AILB702",
    ),
    kind(
        "classifier-code-missing",
        "a class of the classifier has no code points",
        delete(switch(CODE_POINTS)),
        "AILB701 AILB706 AILB702",
    ),
    kind(
        "classifier-code",
        "a class has another DSCP",
        replace(switch(CODE_POINTS), r"points ([01]+)", lambda old: old[:-1] + "1"),
        "AILB701 AILB706 AILB702",
    ),
    kind(
        "classifier-codes-swapped",
        "CNPs and data have each other's DSCP",
        swap(switch(CODE_POINTS), r"points ([01]+)"),
        "AILB701 AILB706 AILB702",
    ),
    kind(
        "classifier-loss-priority",
        "data has high loss priority",
        replace(switch(CODE_POINTS), "low", "high"),
        "AILB701 AILB706",
    ),
    kind(
        "classifier-renamed",
        "the ports use a classifier that is not there",
        replace(switch(CLASSIFIER), "mydscp", "olddscp"),
        "AILB702",
    ),
    kind("class-missing", "a class is not defined", delete(switch(f"{CLASS} *")), "AILB701 AILB706 AILB702"),
    kind(
        "class-queue",
        "a class has another queue",
        replace(switch(f"{CLASS} *"), r"queue-num (\d)", add(2)),
        "AILB701 AILB706 AILB702",
    ),
    kind(
        "class-queues-swapped",
        "two classes have each other's queue",
        swap(switch(f"{CLASS} *"), r"queue-num (\d)"),
        "AILB701 AILB706 AILB702",
    ),
    kind(
        "class-queues-equal",
        "two classes have one queue",
        borrow(switch(f"{CLASS} *"), r"queue-num (\d)"),
        "AILB701 AILB706 AILB702",
    ),
    kind(
        "no-loss-missing",
        "the lossless class is not lossless",
        replace(switch(f"{CLASS} NO-LOSS*"), " no-loss", ""),
        "AILB701",
    ),
    kind(
        "cnp-lossless",
        "CNPs are lossless too",
        replace(switch(f"{CLASS} CNP*"), r"(;)", " no-loss;"),
        "AILB701 AILB706",
    ),
    kind(
        "pfc-priority-missing",
        "the lossless class has no PFC priority",
        replace(switch(f"{CLASS} NO-LOSS*"), r" pfc-priority \d", ""),
        "AILB701",
    ),
    kind(
        "pfc-priority-other",
        "the lossless class has another PFC priority",
        replace(switch(f"{CLASS} NO-LOSS*"), r"priority (\d)", "4"),
        "AILB701",
    ),
    kind(
        "pfc-priority-everywhere",
        "all switches use another PFC priority than the hosts",
        everywhere(switch(f"{CLASS} NO-LOSS*"), r"priority (\d)", "5"),
        "AILB701",
    ),
    kind(
        "dscp-everywhere",
        "all switches expect data with another DSCP than the hosts send",
        everywhere(switch(CODE_POINTS), "011010", "011100"),
        "AILB701",
    ),
)

FLOW_CONTROL = (
    kind("pfc-profile-removed", "the PFC profile is not defined", delete(switch(CNP)), "AILB702 AILB703"),
    kind("pfc-watchdog-missing", "nothing ends a PFC storm", delete(switch(f"{CNP} > pfc-watchdog")), "AILB704"),
    kind("pfc-input-missing", "a switch sends no PFC", delete(switch(f"{CNP} > input")), "AILB704"),
    kind(
        "pfc-input-no-pfc",
        "a code point has no PFC",
        delete(switch(f"{CNP} > input > dscp > code-point * > pfc")),
        "AILB704",
    ),
    kind(
        "pfc-input-code",
        "PFC is for another DSCP",
        replace(switch(f"{CNP} > input > dscp > code-point *"), r"point ([01]+)", "011011"),
        "AILB704",
    ),
    kind(
        "pfc-input-layer-2",
        "PFC goes by 802.1p, packets have DSCP only",
        replace(
            switch(f"{CNP} > input"),
            r"(?s)dscp \{\s*code-point 011010",
            "ieee-802.1 {\n                    code-point 011",
        ),
        "AILB704",
    ),
    kind("pfc-output-missing", "a switch heeds no PFC", delete(switch(f"{CNP} > output")), "AILB704"),
    kind(
        "pfc-output-queue",
        "PFC stops another queue",
        replace(switch(f"{CNP} > output > * > code-point * > flow-control-queue *"), r"\d", "3"),
        "AILB704",
    ),
    kind(
        "pfc-output-no-queue",
        "PFC stops no queue",
        delete(switch(f"{CNP} > output > * > code-point * > flow-control-queue *")),
        "AILB704",
    ),
    kind(
        "pfc-output-code",
        "PFC of another priority is heeded",
        replace(switch(f"{CNP} > output > * > code-point *"), r"point ([01]+)", "100"),
        "AILB704",
    ),
)

PORT_COS = (
    kind("cos-ports-removed", "no port has a class of service", delete(switch(f"{COS} > interfaces")), "AILB703"),
    kind(
        "cos-ports-narrow",
        "only one port has a class of service",
        replace(switch(PORTS), r"et-(\*)", "0/0/0"),
        "AILB703",
    ),
    kind(
        "cos-ports-other",
        "ports of another kind have a class of service",
        replace(switch(PORTS), r"(et)-\*", "xe"),
        "AILB703",
    ),
    kind(
        "cos-ports-some",
        "only ports whose number begins with 1 have a class of service",
        replace(switch(PORTS), r"et-(\*)", "0/0/1*"),
        "AILB703",
    ),
    kind(
        "port-no-pfc",
        "the PFC profile is on no port",
        delete(switch(f"{PORTS} > congestion-notification-profile *")),
        "AILB703",
    ),
    kind(
        "port-no-scheduler-map",
        "the scheduler map is on no port",
        delete(switch(f"{PORTS} > scheduler-map *")),
        "AILB703",
    ),
    kind(
        "port-no-classifier",
        "the classifier is on no port",
        delete(switch(f"{PORTS} > unit [*] > classifiers")),
        "AILB703",
    ),
    kind(
        "port-classifier-unit",
        "the classifier is on unit 1",
        replace(switch(f"{PORTS} > unit [*]"), r"unit (\*)", "1"),
        "AILB703",
    ),
    kind(
        "port-other-pfc",
        "the ports' PFC profile is not defined",
        replace(switch(f"{PORTS} > congestion-notification-profile *"), r"profile (cnp)", "pfc-old"),
        "AILB702 AILB703",
    ),
    kind(
        "port-other-scheduler-map",
        "the ports' scheduler map is not defined",
        replace(switch(f"{PORTS} > scheduler-map *"), "sm1", "sm2"),
        "AILB702 AILB703",
    ),
    kind(
        "one-port-without-pfc",
        "one port has no PFC",
        insert(switch(f"{COS} > interfaces"), ONE_PORT_WITHOUT_PFC),
        "AILB703",
    ),
    kind(
        "one-port-without-classifier",
        "one port does not classify",
        insert(switch(f"{COS} > interfaces"), ONE_PORT_WITHOUT_CLASSIFIER),
        "AILB703",
    ),
)

SCHEDULING = (
    kind(
        "scheduler-map-removed",
        "the scheduler map is not defined",
        delete(switch(f"{COS} > scheduler-maps")),
        "AILB702 AILB703",
    ),
    kind(
        "scheduler-map-class-missing",
        "a class has no scheduler",
        delete(switch(f"{MAPS} > forwarding-class *")),
        "AILB705 AILB706",
    ),
    kind(
        "scheduler-map-swapped",
        "two classes have each other's scheduler",
        swap(switch(f"{MAPS} > forwarding-class *"), r"scheduler (.+);"),
        "AILB705 AILB706",
    ),
    kind(
        "scheduler-map-undefined",
        "a class's scheduler is not defined",
        replace(switch(f"{MAPS} > forwarding-class *"), r"scheduler (.+);", "s9"),
        "AILB702",
    ),
    kind(
        "scheduler-removed",
        "a scheduler is not defined",
        delete(switch(f"{SCHEDULERS} > *")),
        "AILB702 AILB705 AILB706",
    ),
    kind(
        "ecn-missing",
        "data is not marked with ECN",
        delete(switch(f"{SCHEDULERS} > s1 > explicit-congestion-notification")),
        "AILB705",
    ),
    kind(
        "ecn-inactive",
        "ECN is inactive",
        deactivate(switch(f"{SCHEDULERS} > s1 > explicit-congestion-notification")),
        "AILB705",
    ),
    kind(
        "drop-profile-not-used",
        "ECN has no drop profile",
        delete(switch(f"{SCHEDULERS} > s1 > drop-profile-map *")),
        "AILB705",
    ),
    kind(
        "drop-profile-undefined",
        "ECN's drop profile is not defined",
        replace(switch(f"{SCHEDULERS} > s1 > drop-profile-map *"), r"dp1", "dp2"),
        "AILB702",
    ),
    kind(
        "drop-profile-high-only",
        "the drop profile is for high loss priority only",
        replace(switch(f"{SCHEDULERS} > s1 > drop-profile-map *"), r"loss-priority (any)", "high"),
        "AILB705",
    ),
    kind("drop-profile-removed", "the drop profile is missing", delete(switch(f"{COS} > drop-profiles")), "AILB702"),
    kind(
        "drop-profile-level",
        "marking starts at another fill level",
        replace(switch(f"{COS} > drop-profiles > dp1 > interpolate > fill-level *"), r"\[ (\d+)", "30"),
        "AILB705",
    ),
    kind(
        "drop-profile-full-level",
        "everything is marked at another fill level",
        replace(switch(f"{COS} > drop-profiles > dp1 > interpolate > fill-level *"), r"(\d+) \]", "70"),
        "AILB705",
    ),
    kind(
        "drop-profile-probability",
        "not everything is marked in a full queue",
        replace(switch(f"{COS} > drop-profiles > dp1 > interpolate > drop-probability *"), r"(\d+) \]", "20"),
        "AILB705",
    ),
    kind(
        "drop-profile-backwards",
        "fill levels are backwards",
        replace(switch(f"{COS} > drop-profiles > dp1 > interpolate > fill-level *"), r"55 90", "90 55"),
        "AILB705",
    ),
    kind(
        "cnp-priority-missing",
        "CNPs have no priority",
        delete(switch(f"{SCHEDULERS} > s2-cnp > priority *")),
        "AILB706",
    ),
    kind(
        "cnp-priority-low",
        "CNPs have low priority",
        replace(switch(f"{SCHEDULERS} > s2-cnp > priority *"), "strict-high", "low"),
        "AILB706",
    ),
    kind(
        "cnp-rate-missing", "CNPs have no rate", delete(switch(f"{SCHEDULERS} > s2-cnp > transmit-rate *")), "AILB706"
    ),
    kind(
        "cnp-rate-other",
        "CNPs may use everything",
        replace(switch(f"{SCHEDULERS} > s2-cnp > transmit-rate *"), r"percent (\d+)", "95"),
        "AILB706",
    ),
)
KINDS = (*CLASSIFYING, *FLOW_CONTROL, *PORT_COS, *SCHEDULING)
