"""The checks that `ailb-gen lab check` makes (AILBLxx): what real kernels and BIRD do with the files.

Those up to AILBL14 compare with the intent, those from AILBL21 with this program's own model, and those from AILBL31
look at what happens when links fail.
"""

from __future__ import annotations

from functools import partial

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Severity

LOOK = "Compare `ailb-gen rib` with `ailb-gen lab exec DEVICE -- birdc -s /run/bird/DEVICE.ctl show route all`."
BUG = "See docs/lab-routing.md for known differences. If none applies, one program is wrong: report it with the files."

_of_routes = partial(Check, layer=Layer.LAB_ROUTES)
_of_engines = partial(Check, layer=Layer.LAB_DIFFERENCES)
_of_failures = partial(Check, layer=Layer.LAB_FAILURES)
TRANSLATED = Check(
    "AILBL01",
    "the lab implements every statement that affects routes",
    "the lab does not implement a statement that affects routes",
    "The lab cannot check what it does not implement: a real switch may behave differently.",
    "If the statement is intended, accept it with a waiver: the other checks cover it.",
    severity=Severity.WARNING,
    layer=Layer.LAB_GAPS,
)
RUNNING = Check(
    "AILBL02",
    "every switch and every server of the intent runs in the lab",
    "a switch or a server of the intent does not run in the lab",
    "Nothing is known about a device that does not run.",
    "Check its files with `ailb-gen validate`, and its state with `ailb-gen lab status`.",
    layer=Layer.LAB_DEVICES,
)
ADVERTISED = Check(
    "AILBL03",
    "router advertisements arrive over every link and at every NIC, with the prefixes and lifetimes of the intent",
    "a router advertisement does not arrive, or differs from the intent",
    "Switches find each other by them, and servers form their addresses from them.",
    "Bring a link without carrier up at both ends; else correct `protocols router-advertisement` of the sender.",
    layer=Layer.LAB_LINKS,
)
ADDRESSES = Check(
    "AILBL04",
    "every NIC has formed its EUI-64 address in every prefix of its leaf, and no other; every IRB has its gateways",
    "a NIC lacks an address or has an unexpected one, or a gateway is missing on an IRB",
    "Without its address, a queue pair has no path of its own, or none at all.",
    "Check the advertisements of the leaf (AILBL03), and the server's sysctls and netplan files.",
    layer=Layer.LAB_SERVERS,
)
TABLES = Check(
    "AILBL05",
    "every server's kernel has the rules and tables that the intent specifies",
    "a rule or a table in a server's kernel is missing or wrong",
    "A packet that leaves by another NIC or gateway uses the wrong rail or color.",
    "Correct the netplan file or `ailb-net`; the message names rule and table.",
    layer=Layer.LAB_SERVERS,
)
SESSIONS = Check(
    "AILBL06",
    "every link in service has an established BGP session between the AS numbers of the intent, and no other link has",
    "a BGP session is not established, has other AS numbers, or is unexpected",
    "A link without a session carries nothing; its color moves to the other links of the leaf.",
    "Compare both ends: advertisements, AS numbers, as-lists, groups, and `ailb-gen lab status`.",
    layer=Layer.LAB_SESSIONS,
)
COPIES = _of_routes(
    "AILBL07",
    "every switch has the copies of every prefix that color and backups allow: color, AIGP, AS path, none hidden",
    "a copy of a route is missing, hidden, or has another color, AIGP or AS path than it must",
    "A missing copy is a missing backup; a wrong one attracts packets to the wrong spine.",
    LOOK,
)
NEXT_HOPS = _of_routes(
    "AILBL08",
    "every switch's kernel sends packets to a prefix over exactly the links of its color",
    "a switch's kernel sends packets to a prefix over other links than those of its color",
    "A queue pair on another color's uplink collides with the one that belongs there: both run at half speed.",
    LOOK,
)
TRACED = Check(
    "AILBL09",
    "packets between servers pass the leaf, one spine of the prefix's color, and the other leaf, and arrive",
    "packets between servers take another path than that of the prefix's color, or do not arrive",
    "One pair of GPUs that cannot communicate, or shares a link with another pair, slows the whole job down.",
    "Trace the same pair with `ailb-gen path`, then check the kernel of the last switch that answered.",
    layer=Layer.LAB_PACKETS,
)
NO_VALLEY = _of_routes(
    "AILBL10",
    "a prefix without color that one leaf advertises to every spine is not readvertised by another leaf",
    "a leaf readvertises to a spine a route learned from another",
    "A leaf in the middle of a path takes capacity that belongs to its own servers.",
    "Correct the export policy of the leaf: it must reject the fabric's pool.",
)
MTUS = Check(
    "AILBL11",
    "every port, IRB and NIC has the MTU of the intent, and both ends of a link the same",
    "a port, an IRB or a NIC has another MTU than the intent specifies, or than the other end of its link",
    "A packet that is larger than the next link takes is lost, while small ones, such as those of BGP, arrive.",
    "Correct the mtu statement of the switch, or `mtu:` of the server's netplan file.",
    layer=Layer.LAB_LINKS,
)
LARGE = Check(
    "AILBL12",
    "packets as large as the MTUs of both NICs allow arrive, in every color, without fragmentation",
    "packets are lost that the MTUs of both NICs allow",
    "RDMA stalls on the first full packet, although pings, sessions and traceroutes look right.",
    "Correct the MTU of a link on the way, or that of the NIC: AILBL11 names those that are not the intent's.",
    layer=Layer.LAB_PACKETS,
)
BFD = Check(
    "AILBL13",
    "every established session has BFD as the intent specifies: up, with its interval and timeout",
    "BFD of a session is missing, down, unexpected, or has another interval or timeout than the intent specifies",
    "Without BFD, a link that loses packets silently stays in use until the hold time of BGP is over: 90 seconds.",
    "Correct `bfd-liveness-detection` of the group at both ends.",
    layer=Layer.LAB_SESSIONS,
)
MULTIPATH = Check(
    "AILBL14",
    "every group with links of the fabric has multipath",
    "a group with links of the fabric lacks multipath",
    "A switch uses one link of such a group at a time; BIRD, which merges the paths of all groups or none, shows more.",
    "Add `multipath multiple-as` to the group.",
    layer=Layer.LAB_GAPS,
)
AGREE_SESSIONS = Check(
    "AILBL21",
    "BIRD and this program have the same sessions",
    "BIRD and this program do not have the same sessions",
    "Two programs read the same files and disagree: one is wrong about what the fabric will do.",
    BUG,
    layer=Layer.LAB_SESSION_DIFFERENCES,
)
AGREE_RIB = _of_engines(
    "AILBL22",
    "BIRD and this program have the same paths, attribute by attribute",
    "BIRD and this program have different paths",
    "Two programs computed the same files and disagree: one is wrong about the routes of the switches.",
    BUG,
)
AGREE_HOPS = _of_engines(
    "AILBL23",
    "kernels and this program have the same next hops from every switch",
    "a kernel and this program have different next hops",
    "Two programs computed the same files and disagree: one is wrong about where packets will go.",
    BUG,
)
FAILED = _of_failures(
    "AILBL31",
    "while links or spines are down, packets use the remaining links of the color, else all of its backups",
    "while links or spines are down, packets do not use the remaining links of the color, or all of its backups",
    "A failure that affects more than the failed link slows down or stops every job.",
    LOOK,
)
AGREE_FAILED = _of_engines(
    "AILBL32",
    "while links or spines are down, kernels and this program have the same next hops",
    "while links or spines are down, a kernel and this program have different next hops",
    "Two programs computed the same failure and disagree: one is wrong about where packets will go.",
    BUG,
)
REPAIRED = _of_failures(
    "AILBL33",
    "after a failure is repaired, and after links flap, every kernel has the next hops that it had before",
    "after a failure is repaired, or after links flap, a kernel has other next hops than before",
    "The behavior of the fabric must not depend on past failures.",
    "Check the sessions of the switch with `ailb-gen lab status`, then run the check again.",
)
ONE_WAY = _of_failures(
    "AILBL34",
    "a link with BFD that loses packets in one direction goes down, and packets use the remaining links",
    "a link with BFD that loses packets in one direction stays in use",
    "With carrier, only BFD detects it: until BGP does, after 90 seconds, every packet in that direction is lost.",
    "Check BFD at both ends (AILBL13): `ailb-gen lab exec DEVICE -- birdc -s /run/bird/DEVICE.ctl show bfd sessions`.",
)
RECOLORED = _of_failures(
    "AILBL35",
    "while two prefixes of a leaf exchange their colors, other leaves follow, and flows continue",
    "while two prefixes of a leaf exchange their colors, packets do not follow, or flows are interrupted",
    "Colors change when spines are added or drained: jobs must not be affected.",
    LOOK,
)
