"""What Batfish is known not to know, and what it is known to get wrong: data, so that anything new is seen.

Lines: measured on Batfish 0.36.0. What was read in its source says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MEASURED = "measured"
WORD = r'(?:"[^"]*"|\S+)'
BGP = rf"set (?:groups {WORD} )?protocols bgp (?:group {WORD} )?"


@dataclass(frozen=True, slots=True)
class Known:
    """A kind of line that Batfish does not recognize: a pattern of the `set` command, and why it does not matter."""

    pattern: re.Pattern[str]
    basis: str
    why: str


def _known(pattern: str, basis: str, why: str) -> Known:
    return Known(re.compile(pattern), basis, why)


# The statements of BGP-DPF and of auto-discovery, which the shadow stands for, and others that route nothing.
UNRECOGNIZED = (
    _known(rf"set policy-options as-list {WORD} members ", MEASURED, "AILB203 compares as-lists with the peers"),
    _known(BGP + r"fabric-color ", MEASURED, "the shadow says colors with communities"),
    _known(BGP + r"peer-as-list ", MEASURED, "the shadow has the AS number of every neighbor"),
    _known(
        BGP + rf"dynamic-neighbor {WORD} peer-auto-discovery family inet6 ipv6-nd$",
        MEASURED,
        "the shadow has static neighbors",
    ),
    _known(
        BGP + rf"dynamic-neighbor {WORD} peer-auto-discovery interface ", MEASURED, "the shadow has static neighbors"
    ),
    _known(BGP + rf"fabric-advertise route {WORD}(?: color |$)", MEASURED, "the shadow says it with an export policy"),
    _known(BGP + rf"fabric-advertise route {WORD} backup-color ", MEASURED, "the shadow says it with an export policy"),
    _known(BGP + r"family inet6 unicast aigp$", MEASURED, "the shadow says AIGP with a community"),
    _known(BGP + r"global-load-balancing(?: |$)", MEASURED, "AILB408 judges it; it changes no route"),
    _known(
        r"set routing-options forwarding-table ecmp-fast-reroute$", MEASURED, "AILB406 judges it; it changes no route"
    ),
    _known(r"set interfaces \S+ number-of-sub-ports ", MEASURED, "AILB1xx judges how ports are split"),
    _known(r"set class-of-service ", MEASURED, "AILB7xx judges it; Batfish models no queues"),
    _known(r"set system management-instance$", MEASURED, "management only"),
    _known(r"set interfaces re\d:mgmt-\d ", MEASURED, "management only"),
    _known(r"(?:annotate|edit) |top$", MEASURED, "comments of the set form"),
)
# Interfaces that Batfish takes down whatever their files say, because they carry no traffic (read in its source).
MANAGEMENT = re.compile(r"mgmt|management|fxp0|em0|me0|vme")
# Structures that Batfish reads in part or whose use it does not know.
QOS = "class-of-service"
# "FATAL: 'green' community contains no non-wildcard members in an add action": it takes color:0:1 for a wildcard.
WILDCARD_ADD = re.compile(r"FATAL: '(.+)' community contains no non-wildcard members in an add action")
# What Batfish says that it does not model (read in its source): the shadow shows it, and Batfish does not see it.
NOT_MODELLED = re.compile(
    r"Currently do not support mixed .*multipath.* bgp ?groups on Juniper"
    r"|Unimplemented: prepending both local-as and global-as"
)


def unrecognized(line: str) -> Known | None:
    """Return what is known of a line, in `set` form, that Batfish does not recognize; None for something new."""
    return next((known for known in UNRECOGNIZED if known.pattern.match(line.strip())), None)
