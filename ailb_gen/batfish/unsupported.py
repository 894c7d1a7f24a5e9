"""Statements that Batfish does not support or misreads: data, so that anything new is reported.

Lines: measured on Batfish 0.36.0. Facts from its source say so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ailb_gen.routing.route import WELL_KNOWN

MEASURED = "measured"
# Not measured: like a statement that was.
INFERRED = "inferred"
# The version of Batfish on which it was measured.
MEASURED_ON = "0.36.0"
WORD = r'(?:"[^"]*"|\S+)'
BGP = rf"set (?:groups {WORD} )?protocols bgp (?:group {WORD} )?"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A kind of line that Batfish does not recognize: a pattern of the `set` command, and why it does not matter."""

    pattern: re.Pattern[str]
    basis: str
    why: str


def _line(pattern: str, basis: str, why: str) -> Unsupported:
    return Unsupported(re.compile(pattern), basis, why)


# The statements of BGP-DPF and of auto-discovery, which the shadow stands for, and others that route nothing.
UNRECOGNIZED = (
    _line(rf"set policy-options as-list {WORD} members ", MEASURED, "AILB203 compares as-lists with the peers"),
    _line(BGP + r"fabric-color ", MEASURED, "the shadow has communities for colors"),
    _line(BGP + r"peer-as-list ", MEASURED, "the shadow has the AS number of every neighbor"),
    _line(
        BGP + rf"dynamic-neighbor {WORD} peer-auto-discovery family inet6 ipv6-nd$",
        MEASURED,
        "the shadow has static neighbors",
    ),
    _line(
        BGP + rf"dynamic-neighbor {WORD} peer-auto-discovery interface ", MEASURED, "the shadow has static neighbors"
    ),
    _line(BGP + rf"fabric-advertise route {WORD}(?: color |$)", MEASURED, "the shadow has an export policy for it"),
    _line(BGP + rf"fabric-advertise route {WORD} backup-color ", MEASURED, "the shadow has an export policy for it"),
    _line(BGP + r"family inet6 unicast aigp$", MEASURED, "the shadow has a community for AIGP"),
    _line(BGP + r"global-load-balancing(?: |$)", MEASURED, "covered by AILB408; it changes no route"),
    _line(
        r"set routing-options forwarding-table ecmp-fast-reroute$", MEASURED, "covered by AILB406; it changes no route"
    ),
    _line(r"set interfaces \S+ number-of-sub-ports ", MEASURED, "covered by AILB1xx: ports and breakout"),
    _line(r"set class-of-service ", MEASURED, "covered by AILB7xx; Batfish models no queues"),
    _line(r"set system management-instance$", MEASURED, "management only"),
    _line(r"set interfaces re\d:mgmt-\d ", MEASURED, "management only"),
    _line(r"(?:annotate|edit) |top$", MEASURED, "comments of the set form"),
    _line(BGP + rf"neighbor {WORD} fabric-color ", INFERRED, "the shadow has communities for colors"),
    _line(
        BGP + rf"(?:neighbor {WORD} )?graceful-shutdown (?:sender|receiver)(?: |$)",
        INFERRED,
        "the shadow has a community and local preferences",
    ),
)
# Interfaces that Batfish takes down whatever their files say, because they carry no traffic (read in its source).
MANAGEMENT = re.compile(r"mgmt|management|fxp0|em0|me0|vme")
# Structures that Batfish reads in part or whose use it does not know.
QOS = "class-of-service"
# "FATAL: 'green' community contains no non-wildcard members in an add action": it takes color:0:1 for a wildcard.
WILDCARD_ADD = re.compile(r"FATAL: '(.+)' community contains no non-wildcard members in an add action")
# Warnings of Batfish about statements of the shadow that it does not model (read in its source).
NOT_MODELED = re.compile(
    r"Currently do not support mixed .*multipath.* bgp ?groups on Juniper"
    r"|Unimplemented: prepending both local-as and global-as"
)
# Batfish keeps routes with no-export and no-advertise back, and sends on those with other well-known communities.
HONORED = ("no-export", "no-advertise")
SENT_ON = tuple(name for name in WELL_KNOWN if name not in HONORED)


def doubt(version: str) -> str:
    """Return why the known facts of Batfish may not hold for a version; nothing for MEASURED_ON and later ones.

    Builds that are no release say 0.0.0.
    """
    numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    if numbers is None or not any(map(int, numbers.groups())):
        return f"cannot be compared with {MEASURED_ON}, the version of docs/batfish.md: it may support more or less"
    if tuple(map(int, numbers.groups())) < tuple(map(int, MEASURED_ON.split("."))):
        return f"is older than {MEASURED_ON}, the version of docs/batfish.md: it may support less"
    return ""


def unrecognized(line: str) -> Unsupported | None:
    """Return the row of a line, in `set` form, that Batfish does not recognize; None for a new kind."""
    return next((row for row in UNRECOGNIZED if row.pattern.match(line.strip())), None)
