"""The data of a page that traces paths by itself: tables of servers' routing, of FIBs, and of changes by failures.

Texts, prefixes and addresses stand in lists, once; everything else has their indices, NONE for nothing. What reads them
is `templates/report/tracer.js`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.endpoints import interface_identifier
from ailb_gen.forwarding.fib_changes import Entry, entries
from ailb_gen.hosts.lookup import MAIN_TABLE, main_table, table_name
from ailb_gen.hosts.model import ServerProfile, ServerRoute
from ailb_gen.network.fabric import Network
from ailb_gen.report.html.page import Numbered
from ailb_gen.routing.rib import Routing

NONE = -1
# Of a FIB: no route, and a direct one.
FIXED: tuple[Entry, ...] = (None, ())


@dataclass(frozen=True, slots=True)
class Choices:
    """Failures that can be chosen: sessions (indices) whose links are down, then switches that are; in this order.

    `packed` is what they change (see FibChanges), `size` failures each, as compressed JSON.
    """

    links: Sequence[int]
    switches: Sequence[int]
    packed: Sequence[bytes]
    size: int


def path_tables(network: Network, routing: Routing, numbers: Iterable[Prefix], choices: Iterable[Choices]) -> Tables:
    """Return the tables as JSON has them; `numbers` are the prefixes in the order by which changes know them."""
    return _Tables(network, routing, numbers).all(choices)


Tables = dict[str, object]


class _Tables:
    def __init__(self, network: Network, routing: Routing, numbers: Iterable[Prefix]) -> None:
        self.network, self.routing, self.graph = network, routing, routing.graph
        self.texts: Numbered[str] = Numbered()
        self.prefixes: Numbered[Prefix] = Numbered(numbers)
        self.routed = len(self.prefixes.values)
        self.addresses: Numbered[int] = Numbered()
        self.entries: Numbered[Entry] = Numbered(FIXED)
        self.devices: Numbered[str] = Numbered(self.graph.names)

    def all(self, choices: Iterable[Choices]) -> Tables:
        """Return everything; the lists last, when they are complete."""
        found: Tables = {
            "switches": len(self.graph.names),
            "routed": self.routed,
            "classes": self.graph.class_of,
            "classCount": len(self.graph.classes),
            "sessions": [self._session(number) for number in range(len(self.graph.sessions.up))],
            "fib": [self._fib(prefix) for prefix in list(self.prefixes.values)[: self.routed]],
            "unstable": self._unstable(),
            **self._hosts(),
            "own": self._own(),
            "failures": [_choices(one) for one in choices],
        }
        return found | {
            "entries": list(self.entries.values),
            "prefixes": [f"{prefix.value:x}/{prefix.length}" for prefix in self.prefixes.values],
            "addresses": [f"{value:x}" for value in self.addresses.values],
            "devices": list(self.devices.values),
            "texts": list(self.texts.values),
        }

    def _session(self, number: int) -> list[int]:
        """Return both ends: device, port of the cable, interface, color."""
        session = self.graph.sessions.up[number]
        row = []
        for side, end in ((session.a, session.cable.a), (session.b, session.cable.b)):
            device = self.graph.index[side.device]
            color = self.graph.switches[device].groups[side.group].color or ""
            row += [device, self.texts(end.port), self.texts(side.interface), self.texts(color)]
        return row

    def _fib(self, prefix: Prefix) -> list[int]:
        """Return node and entry in turn."""
        found = entries(self.graph, self.routing.state(prefix))
        return [value for node, entry in found.items() for value in (node, self.entries(entry))]

    def _unstable(self) -> list[int]:
        states = ((number, self.routing.state(prefix)) for prefix, number in self.prefixes.values.items())
        return [number for number, state in states if number < self.routed and not state.stable]

    def _hosts(self) -> dict[str, object]:
        profiles: dict[int, int] = {}
        tables: list[object] = []
        hosts = []
        for host in self.network.hosts.values():
            key = id(host.profile)
            if key not in profiles:
                profiles[key] = len(tables)
                tables.append(self._profile(host.profile))
            cables: list[int] = []
            for nic in host.profile.nics:
                end = self.network.attachments.get((host.name, nic))
                cables += [NONE, NONE] if end is None else [self.devices(end.device), self.texts(end.port)]
            hosts.append([host.name, profiles[key], cables])
        return {"profiles": tables, "hosts": hosts}

    def _profile(self, profile: ServerProfile) -> dict[str, object]:
        nics = {name: number for number, name in enumerate(profile.nics)}
        identifiers = [interface_identifier(nic) for nic in profile.nics.values()]
        rules = [
            [rule.priority, self.prefixes(rule.source), NONE if rule.table is None else rule.table, nics[rule.nic]]
            for rule in profile.rules
            if rule.source is not None
        ]
        routes = {table: self._routes(row, nics) for table, row in profile.routes.items()}
        return {
            "nics": list(nics),
            "identifiers": [None if value is None else f"{value:x}" for value in identifiers],
            "rules": rules,
            "tables": {str(table): [table_name(profile, table), row] for table, row in routes.items()},
            "main": [MAIN_TABLE, self._routes(main_table(profile), nics)],
        }

    def _routes(self, rows: Iterable[ServerRoute], nics: dict[str, int]) -> list[int]:
        """Return destination, NIC and gateway in turn."""
        found: list[int] = []
        for route in rows:
            if route.to is not None:
                via = NONE if route.via is None else self.addresses(route.via)
                found += [self.prefixes(route.to), nics[route.nic], via]
        return found

    def _own(self) -> list[list[int]]:
        """Return the addresses of every switch, as far as they are gateways."""
        gateways = self.addresses.values
        rows = []
        for switch in self.graph.switches:
            units = (unit for port in switch.ports.values() for unit in port.units)
            own = {address.value for unit in units for address in unit.addresses}
            rows.append(sorted(gateways[value] for value in own if value in gateways))
        return rows


def _choices(choices: Choices) -> Tables:
    return {
        "links": list(choices.links),
        "switches": list(choices.switches),
        "size": choices.size,
        "packed": [base64.b64encode(part).decode() for part in choices.packed],
    }
