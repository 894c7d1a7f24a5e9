"""The checks that Batfish makes (AILB8xx), a second opinion; `ailb_gen.batfish` runs them when a service is named.

Those up to AILB808 examine the files themselves, those from AILB811 their IPv4 shadow.
"""

from __future__ import annotations

from functools import partial

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Severity

NO_SERVICE = "no Batfish service was given (--batfish HOST)"

READ_AGAIN = "Check the line: it is wrong, or Batfish does not support it yet (see docs/batfish.md)."
LOOK = "Inspect the prefix with `ailb-gen rib`, and see the other findings about this switch."
BUG = "One of the two programs is wrong: report it with both snapshots (`ailb-gen batfish snapshot`)."
DIFFER = (
    "See docs/batfish.md for known differences. If none applies, one program is wrong: report it with both snapshots."
)
_of_files = partial(Check, layer=Layer.BATFISH_FILES)
_of_model = partial(Check, layer=Layer.BATFISH_MODEL)
_of_routes = partial(Check, layer=Layer.BATFISH_ROUTES)
_of_engines = partial(Check, layer=Layer.BATFISH_DIFFERENCES)
PARSED = _of_files(
    "AILB801",
    "Batfish reads the file of every switch as Junos, with the right host name",
    "Batfish cannot read the file of a switch, or reads another format or host name",
    "Batfish cannot check a file that it does not read: its other answers cover only part of the fabric.",
    "Compare with `ailb-gen junos check`. If only Batfish cannot read the file, report it to Batfish.",
)
RECOGNIZED = _of_files(
    "AILB802",
    "Batfish recognizes every line, except those known to be unsupported",
    "Batfish does not recognize a line that it should know",
    "Batfish ignores lines that it does not recognize; in a file edited by hand, it may be a typing error.",
    READ_AGAIN,
    severity=Severity.WARNING,
)
CONVERTED = _of_files(
    "AILB803",
    "Batfish converts every file without warnings, except known false ones",
    "Batfish warns while it converts a file",
    "Devices often refuse or ignore such lines: a VLAN without an ID, a policy that changes nothing.",
    READ_AGAIN,
    severity=Severity.WARNING,
)
DEFINED = _of_files(
    "AILB804",
    "Batfish finds no reference to a policy, list, community, VLAN or interface that is not defined",
    "Batfish finds a reference to something that is not defined",
    "Junos refuses to commit some of these, and silently matches nothing with the others.",
    "Define it, or correct the name.",
)
USED = _of_files(
    "AILB805",
    "Batfish finds no unused definition, except those whose use it does not model",
    "Batfish finds an unused definition",
    "An unused policy is often a missing reference.",
    "Use it where it belongs, or delete it.",
    severity=Severity.WARNING,
)
PORTS = _of_model(
    "AILB806",
    "in Batfish every cabled port is up and has the MTU of the intent",
    "in Batfish a cabled port is down or has another MTU",
    "A port that is down, or too small for the packets, carries nothing.",
    "Correct the intent and generate again.",
)
VLANS = _of_model(
    "AILB807",
    "in Batfish every VLAN has the ports of its servers and the IRB, and no others",
    "in Batfish a VLAN has missing or unexpected ports",
    "A server in the wrong VLAN forms addresses in another leaf's prefixes, and no reply reaches it.",
    "Correct the intent and generate again.",
)
READERS = _of_model(
    "AILB808",
    "Batfish and this program read the same ports, MTUs and VLANs from the files",
    "Batfish and this program read ports, MTUs or VLANs differently",
    "One of them is wrong, so every other answer about that switch is in doubt.",
    BUG,
)
UNDERSTOOD = _of_model(
    "AILB811",
    "Batfish understands every line of the IPv4 shadow",
    "Batfish does not understand a line of the IPv4 shadow",
    "The answers about sessions and routes would describe another fabric.",
    BUG,
)
SHOWN = Check(
    "AILB812",
    "the IPv4 shadow has every statement that affects routes, and Batfish models it",
    "the IPv4 shadow lacks, or Batfish does not model, a statement that affects routes",
    "Batfish cannot check what the shadow leaves out, and the two engines may disagree for that reason alone.",
    "If the statement is intended, accept it with a waiver: the other checks cover it.",
    severity=Severity.WARNING,
    layer=Layer.BATFISH_GAPS,
)
SESSIONS = _of_model(
    "AILB813",
    "in Batfish every cable between switches has an established BGP session, seen from both ends",
    "in Batfish a cable between switches has no established BGP session",
    "A cable without a session carries nothing; its color is moved to the other links of the leaf.",
    "See AILB201, which says what is missing at which end.",
)
OWNERS = _of_model(
    "AILB814",
    "in Batfish no address belongs to two interfaces",
    "in Batfish an address belongs to two interfaces",
    "Two leaves with the same gateway attract each other's packets.",
    "See the checks of addresses (AILB1xx).",
)
PINNED = _of_routes(
    "AILB815",
    "in Batfish prefix k of every leaf is reached from every other over exactly the uplinks of color k",
    "in Batfish a leaf reaches a prefix over other uplinks than those of its color",
    "A queue pair on another color's uplink collides with the one that belongs there: both run at half speed.",
    LOOK,
)
TRANSIT = _of_routes(
    "AILB816",
    "in Batfish every spine has a route to every prefix, only from the leaf that owns it",
    "in Batfish a spine lacks the route to a prefix, or has it from a leaf that does not own it",
    "A leaf that readvertises routes learned from spines becomes a transit as soon as a link fails.",
    "For a missing prefix, see AILB304 and AILB201; the export policy of a leaf must reject the fabric's pool.",
)
LOOPS = _of_routes(
    "AILB817",
    "in Batfish no packet loops, and none is delivered on some of its paths only",
    "in Batfish a packet loops, or is lost on some of its paths",
    "Looping packets fill the links; losses on one of several paths stall a job at random.",
    "Trace the flow with `ailb-gen path`.",
)
SPINE_REACH = _of_routes(
    "AILB818",
    "in Batfish, when a single spine fails, every leaf reaches every prefix over all remaining links",
    "in Batfish, when a single spine fails, a leaf loses a prefix, or a switch has too few next hops",
    "A spine that reboots would stop the job, or put the traffic of all others on a single link.",
    LOOK,
)
LINK_REACH = _of_routes(
    "AILB819",
    "in Batfish, when a single link fails, every leaf reaches every prefix over all remaining links",
    "in Batfish, when a single link fails, a leaf loses a prefix, or a switch has too few next hops",
    "One broken cable would stop the job, or put the traffic of all others on a single link.",
    LOOK,
)
AGREE = _of_engines(
    "AILB821",
    "both engines find the same next hops from every switch in the steady state",
    "the two engines find different next hops in the steady state",
    "Two programs computed the same files and disagree: one of them is wrong about what the fabric will do.",
    DIFFER,
)
AGREE_SPINE = _of_engines(
    "AILB822",
    "both engines find the same next hops from every switch when a single spine fails (sampled in a large fabric)",
    "the two engines find different next hops when a single spine fails",
    "Two programs computed the same failure and disagree: one of them is wrong about what the fabric will do.",
    DIFFER,
)
AGREE_LINK = _of_engines(
    "AILB823",
    "both engines find the same next hops from every switch when a single link fails (sampled)",
    "the two engines find different next hops when a single link fails",
    "Two programs computed the same failure and disagree: one of them is wrong about what the fabric will do.",
    DIFFER,
)
