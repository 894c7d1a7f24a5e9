"""What kernels, daemons and advertisements of a lab say, as the plain data of `measured`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from ailb_gen.addresses import Prefix
from ailb_gen.lab import kernel
from ailb_gen.lab.advertisements import Advertisement
from ailb_gen.lab.bird.model import RibRoute, SessionState
from ailb_gen.lab.check.observed import (
    ACTIVE,
    HIDDEN,
    INACTIVE,
    ObservedAdvertisement,
    ObservedPath,
    ObservedPrefix,
    ObservedRoute,
    ObservedRule,
)
from ailb_gen.lab.namespaces import output
from ailb_gen.network.fabric import End

# The kernel's own tables, `local` and `main`.
OWN_TABLES = frozenset({255, 254, 0})
TABLE = re.compile(r" table (\d+)")
LINK_LOCAL = Prefix(0xFE80 << 112, 10)


def state_of(session: SessionState) -> str:
    """Return what a session says of itself."""
    return f"{session.state}{f', {session.last_error}' if session.last_error else ''}"


def path_of(port: str, row: RibRoute) -> ObservedPath:
    """Return a path as it came in by a port."""
    found = row.attributes
    status = HIDDEN if found.hidden else ACTIVE if row.active else INACTIVE
    return ObservedPath(port, found.as_path, found.communities, found.aigp, found.local_preference, found.med, status)


def told_of(found: Advertisement) -> ObservedAdvertisement:
    """Return what a router advertisement says."""
    prefixes = (
        ObservedPrefix(one.prefix, one.on_link, one.autonomous, one.valid_s, one.preferred_s) for one in found.prefixes
    )
    return ObservedAdvertisement(found.lifetime_s, tuple(prefixes))


def global_addresses(addresses: Mapping[str, tuple[kernel.KernelAddress, ...]]) -> dict[End, frozenset[int]]:
    """Return the addresses that packets can be sent to, by device and link."""
    found: dict[End, set[int]] = defaultdict(set)
    for name, rows in addresses.items():
        for one in rows:
            if not (LINK_LOCAL.holds(one.value) or one.duplicate or one.tentative):
                found[End(name, one.link)].add(one.value)
    return {end: frozenset(values) for end, values in found.items()}


def rules_of(name: str) -> frozenset[ObservedRule]:
    """Return the rules of a server, but for the kernel's own. Raises LabError."""
    return frozenset(
        ObservedRule(rule.priority, rule.source or Prefix(0, 0), rule.table)
        for rule in kernel.rules(name)
        if rule.table not in OWN_TABLES and not rule.others
    )


def tables_of(name: str) -> dict[int, frozenset[ObservedRoute]]:
    """Return the routes of all tables of a server, but for the kernel's own. Raises LabError."""
    lines: dict[int, list[str]] = defaultdict(list)
    for line in output(name, ("ip", "-6", "-N", "-o", "route", "show", "table", "all")).splitlines():
        found = TABLE.search(line)
        if found is not None and int(found[1]) not in OWN_TABLES:
            lines[int(found[1])].append(line)
    return {
        table: frozenset(
            ObservedRoute(prefix, hop.link, hop.gateway)
            for prefix, hops in kernel.read_routes("\n".join(rows)).items()
            for hop in hops
        )
        for table, rows in lines.items()
    }
