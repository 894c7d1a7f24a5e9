"""The checks of RoCEv2 and MTU as entries of the catalogue."""

from __future__ import annotations

from ailb_gen.checks.model import Check, Severity

REPAIR = "Change the intent's `roce:` and generate again, or give both devices the same statement."

CLASSES = Check(
    "AILB701",
    Severity.ERROR,
    "RDMA's DSCP, and no other, is in one lossless class, with the queue and PFC priority that the intent asks for",
    "RDMA is not in its lossless class, or something else is in it",
    "RDMA in another class is dropped when queues fill; other traffic in the lossless class stops RDMA.",
    REPAIR,
)
REFERENCES = Check(
    "AILB702",
    Severity.ERROR,
    "every class, classifier, scheduler, map and profile that class-of-service refers to is defined",
    "class-of-service refers to something that is not defined",
    "Junos commits a scheduler map with a missing scheduler, and the queue has defaults: no ECN, little bandwidth.",
    "Define what is named, or correct the name.",
)
PORTS = Check(
    "AILB703",
    Severity.ERROR,
    "every port that carries RDMA has the classifier, the scheduler map and the PFC profile",
    "a port that carries RDMA lacks its classifier, scheduler map or PFC profile",
    "One port without PFC is where packets are dropped; go-back-N then costs many times what was lost.",
    "Apply the class of service to the port: an entry of its own hides the one of `et-*`.",
)
PFC = Check(
    "AILB704",
    Severity.ERROR,
    "PFC is sent for exactly the lossless class, and stops exactly its queue",
    "PFC is sent for the wrong class, or stops the wrong queue",
    "A pause for the wrong priority stops nothing, or stops everything else.",
    REPAIR,
)
ECN = Check(
    "AILB705",
    Severity.ERROR,
    "the lossless queue marks packets between the fill levels that the intent asks for",
    "the lossless queue marks packets at other fill levels than the intent asks for",
    "Without marks senders slow down only when PFC stops them, and pauses spread through the fabric.",
    REPAIR,
)
CNP = Check(
    "AILB706",
    Severity.ERROR,
    "congestion notifications have their own strict-high queue with the share that the intent asks for",
    "congestion notifications do not have the queue that the intent asks for",
    "Notifications that wait behind the congestion they report arrive too late.",
    REPAIR,
)
LINKS = Check(
    "AILB707",
    Severity.ERROR,
    "both ends of every link between switches treat RDMA and congestion notifications alike",
    "the two ends of a link treat RDMA or congestion notifications differently",
    "A class that ends in the middle of a path is no class: PFC of one end is ignored by the other.",
    REPAIR,
)
HOSTS = Check(
    "AILB708",
    Severity.ERROR,
    "ailb-qos gives every NIC the DSCP, PFC priority, CNP and ECN settings of the intent and of its leaf",
    "ailb-qos sets something else than the intent, or than the NIC's leaf",
    "A NIC that sends with another DSCP is in no lossless class anywhere; one without PFC overruns its leaf.",
    REPAIR,
)
LINK_MTUS = Check(
    "AILB709",
    Severity.ERROR,
    "both ends of every link between switches have the same MTU",
    "the two ends of a link have different MTUs",
    "Large packets are dropped in one direction only, which looks like a slow link.",
    "Give both ports the same mtu.",
)
MTUS = Check(
    "AILB710",
    Severity.ERROR,
    "every port and IRB has the MTU that the intent asks for",
    "a port or IRB has another MTU than the intent asks for",
    "Packets between hosts that trust the designed MTU are dropped on the one port that is smaller.",
    "Correct the mtu statement, or the intent's `mtu:`.",
)
BUFFERS = Check(
    "AILB711",
    Severity.ERROR,
    "shared and dedicated buffers are those that the intent asks for",
    "buffers differ from those that the intent asks for",
    "Too little headroom drops lossless packets; too much leaves too little for everything else.",
    REPAIR,
)
CHECKS = (CLASSES, REFERENCES, PORTS, PFC, ECN, CNP, LINKS, HOSTS, LINK_MTUS, MTUS, BUFFERS)
