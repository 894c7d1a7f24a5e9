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
    kind("cos-removed", delete(switch(COS)), "AILB703 AILB701"),
    kind("cos-inactive", deactivate(switch(COS)), "AILB703 AILB701"),
    kind("classifier-removed", delete(switch(f"{COS} > classifiers")), "AILB702"),
    kind("classifier-class-missing", delete(switch(f"{CLASSIFIER} > forwarding-class *")), "AILB701 AILB706 AILB702"),
    kind("classifier-code-missing", delete(switch(CODE_POINTS)), "AILB701 AILB706 AILB702"),
    kind(
        "classifier-code",
        replace(switch(CODE_POINTS), r"points ([01]+)", lambda old: old[:-1] + "1"),
        "AILB701 AILB706 AILB702",
    ),
    kind("classifier-codes-swapped", swap(switch(CODE_POINTS), r"points ([01]+)"), "AILB701 AILB706 AILB702"),
    kind("classifier-loss-priority", replace(switch(CODE_POINTS), "low", "high"), "AILB701 AILB706"),
    kind("classifier-renamed", replace(switch(CLASSIFIER), "mydscp", "olddscp"), "AILB702"),
    kind("class-missing", delete(switch(f"{CLASS} *")), "AILB701 AILB706 AILB702"),
    kind("class-queue", replace(switch(f"{CLASS} *"), r"queue-num (\d)", add(2)), "AILB701 AILB706 AILB702"),
    kind("class-queues-swapped", swap(switch(f"{CLASS} *"), r"queue-num (\d)"), "AILB701 AILB706 AILB702"),
    kind("class-queues-equal", borrow(switch(f"{CLASS} *"), r"queue-num (\d)"), "AILB701 AILB706 AILB702"),
    kind("no-loss-missing", replace(switch(f"{CLASS} NO-LOSS*"), " no-loss", ""), "AILB701"),
    kind("cnp-lossless", replace(switch(f"{CLASS} CNP*"), r"(;)", " no-loss;"), "AILB701 AILB706"),
    kind("pfc-priority-missing", replace(switch(f"{CLASS} NO-LOSS*"), r" pfc-priority \d", ""), "AILB701"),
    kind("pfc-priority-other", replace(switch(f"{CLASS} NO-LOSS*"), r"priority (\d)", "4"), "AILB701"),
    kind("pfc-priority-everywhere", everywhere(switch(f"{CLASS} NO-LOSS*"), r"priority (\d)", "5"), "AILB701"),
    kind("dscp-everywhere", everywhere(switch(CODE_POINTS), "011010", "011100"), "AILB701"),
)

FLOW_CONTROL = (
    kind("pfc-profile-removed", delete(switch(CNP)), "AILB702 AILB703"),
    kind("pfc-watchdog-missing", delete(switch(f"{CNP} > pfc-watchdog")), "AILB704"),
    kind("pfc-input-missing", delete(switch(f"{CNP} > input")), "AILB704"),
    kind("pfc-input-no-pfc", delete(switch(f"{CNP} > input > dscp > code-point * > pfc")), "AILB704"),
    kind(
        "pfc-input-code", replace(switch(f"{CNP} > input > dscp > code-point *"), r"point ([01]+)", "011011"), "AILB704"
    ),
    kind(
        "pfc-input-layer-2",
        replace(
            switch(f"{CNP} > input"),
            r"(?s)dscp \{\s*code-point 011010",
            "ieee-802.1 {\n                    code-point 011",
        ),
        "AILB704",
    ),
    kind("pfc-output-missing", delete(switch(f"{CNP} > output")), "AILB704"),
    kind(
        "pfc-output-queue",
        replace(switch(f"{CNP} > output > * > code-point * > flow-control-queue *"), r"\d", "3"),
        "AILB704",
    ),
    kind("pfc-output-no-queue", delete(switch(f"{CNP} > output > * > code-point * > flow-control-queue *")), "AILB704"),
    kind("pfc-output-code", replace(switch(f"{CNP} > output > * > code-point *"), r"point ([01]+)", "100"), "AILB704"),
)

PORT_COS = (
    kind("cos-ports-removed", delete(switch(f"{COS} > interfaces")), "AILB703"),
    kind("cos-ports-narrow", replace(switch(PORTS), r"et-(\*)", "0/0/0"), "AILB703"),
    kind("cos-ports-other", replace(switch(PORTS), r"(et)-\*", "xe"), "AILB703"),
    kind("cos-ports-some", replace(switch(PORTS), r"et-(\*)", "0/0/1*"), "AILB703"),
    kind("port-no-pfc", delete(switch(f"{PORTS} > congestion-notification-profile *")), "AILB703"),
    kind("port-no-scheduler-map", delete(switch(f"{PORTS} > scheduler-map *")), "AILB703"),
    kind("port-no-classifier", delete(switch(f"{PORTS} > unit [*] > classifiers")), "AILB703"),
    kind("port-classifier-unit", replace(switch(f"{PORTS} > unit [*]"), r"unit (\*)", "1"), "AILB703"),
    kind(
        "port-other-pfc",
        replace(switch(f"{PORTS} > congestion-notification-profile *"), r"profile (cnp)", "pfc-old"),
        "AILB702 AILB703",
    ),
    kind("port-other-scheduler-map", replace(switch(f"{PORTS} > scheduler-map *"), "sm1", "sm2"), "AILB702 AILB703"),
    kind("one-port-without-pfc", insert(switch(f"{COS} > interfaces"), ONE_PORT_WITHOUT_PFC), "AILB703"),
    kind("one-port-without-classifier", insert(switch(f"{COS} > interfaces"), ONE_PORT_WITHOUT_CLASSIFIER), "AILB703"),
)

SCHEDULING = (
    kind("scheduler-map-removed", delete(switch(f"{COS} > scheduler-maps")), "AILB702 AILB703"),
    kind("scheduler-map-class-missing", delete(switch(f"{MAPS} > forwarding-class *")), "AILB705 AILB706"),
    kind("scheduler-map-swapped", swap(switch(f"{MAPS} > forwarding-class *"), r"scheduler (.+);"), "AILB705 AILB706"),
    kind(
        "scheduler-map-undefined", replace(switch(f"{MAPS} > forwarding-class *"), r"scheduler (.+);", "s9"), "AILB702"
    ),
    kind("scheduler-removed", delete(switch(f"{SCHEDULERS} > *")), "AILB702 AILB705 AILB706"),
    kind("ecn-missing", delete(switch(f"{SCHEDULERS} > s1 > explicit-congestion-notification")), "AILB705"),
    kind("ecn-inactive", deactivate(switch(f"{SCHEDULERS} > s1 > explicit-congestion-notification")), "AILB705"),
    kind("drop-profile-not-used", delete(switch(f"{SCHEDULERS} > s1 > drop-profile-map *")), "AILB705"),
    kind(
        "drop-profile-undefined", replace(switch(f"{SCHEDULERS} > s1 > drop-profile-map *"), r"dp1", "dp2"), "AILB702"
    ),
    kind(
        "drop-profile-high-only",
        replace(switch(f"{SCHEDULERS} > s1 > drop-profile-map *"), r"loss-priority (any)", "high"),
        "AILB705",
    ),
    kind("drop-profile-removed", delete(switch(f"{COS} > drop-profiles")), "AILB702"),
    kind(
        "drop-profile-level",
        replace(switch(f"{COS} > drop-profiles > dp1 > interpolate > fill-level *"), r"\[ (\d+)", "30"),
        "AILB705",
    ),
    kind(
        "drop-profile-full-level",
        replace(switch(f"{COS} > drop-profiles > dp1 > interpolate > fill-level *"), r"(\d+) \]", "70"),
        "AILB705",
    ),
    kind(
        "drop-profile-probability",
        replace(switch(f"{COS} > drop-profiles > dp1 > interpolate > drop-probability *"), r"(\d+) \]", "20"),
        "AILB705",
    ),
    kind(
        "drop-profile-backwards",
        replace(switch(f"{COS} > drop-profiles > dp1 > interpolate > fill-level *"), r"55 90", "90 55"),
        "AILB705",
    ),
    kind("cnp-priority-missing", delete(switch(f"{SCHEDULERS} > s2-cnp > priority *")), "AILB706"),
    kind("cnp-priority-low", replace(switch(f"{SCHEDULERS} > s2-cnp > priority *"), "strict-high", "low"), "AILB706"),
    kind("cnp-rate-missing", delete(switch(f"{SCHEDULERS} > s2-cnp > transmit-rate *")), "AILB706"),
    kind(
        "cnp-rate-other", replace(switch(f"{SCHEDULERS} > s2-cnp > transmit-rate *"), r"percent (\d+)", "95"), "AILB706"
    ),
)
KINDS = (*CLASSIFYING, *FLOW_CONTROL, *PORT_COS, *SCHEDULING)
