"""Which way a packet of a server goes, as the kernel decides it: rules by priority, then the longest prefix.

The main table holds the prefixes that router advertisements put on every NIC, and no default route.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ailb_gen.hosts.model import Rule, ServerProfile, ServerRoute

MAIN_TABLE = 254
# ip-rule(8): the kernel's own rule for the main table.
MAIN_PRIORITY = 32766


@dataclass(frozen=True, slots=True)
class Lookup:
    """The decision for one packet; `route` is None when the destination is unreachable.

    `rule` is None when no rule of the fabric held and the main table decided. `gateway` is None on the link itself.
    """

    rule: Rule | None
    table: int
    table_name: str
    route: ServerRoute | None
    nic: str
    gateway: int | None


def table_name(profile: ServerProfile, table: int) -> str:
    """Return the name of a table in `rt_tables.d`, or its number."""
    if table == MAIN_TABLE:
        return "main"
    return next((entry.name for entry in profile.names if entry.table == table), str(table))


def _best(routes: Iterable[ServerRoute], destination: int) -> ServerRoute | None:
    best: ServerRoute | None = None
    length = -1
    for route in routes:
        if route.to is not None and route.to.length > length and route.to.holds(destination):
            best, length = route, route.to.length
    return best


def main_table(profile: ServerProfile) -> Iterator[ServerRoute]:
    """Iterate over the routes of the main table: those written there, and the prefixes that the leaves announce."""
    for nic in profile.nics.values():
        for route in nic.routes:
            if route.table in (None, MAIN_TABLE) or (not route.text[1] and route.to is not None and route.to.length):
                yield route


def route(profile: ServerProfile, source: int, destination: int) -> Lookup:
    """Return how a server sends a packet; addresses are 128-bit values."""
    for rule in profile.rules:
        if rule.table is None or rule.source is None or not rule.source.holds(source):
            continue
        if rule.priority is not None and rule.priority > MAIN_PRIORITY:
            break
        found = _best(profile.routes.get(rule.table, ()), destination)
        if found is not None:
            return Lookup(rule, rule.table, table_name(profile, rule.table), found, found.nic, found.via)
    found = _best(main_table(profile), destination)
    nic, via = (found.nic, found.via) if found is not None else ("", None)
    return Lookup(None, MAIN_TABLE, "main", found, nic, via)
