"""Facts from CSV files, as overrides of devices by name: management ports of switches, and ports of cables.

What `overrides` of the fabric file say about the same wins.
"""

from collections.abc import Callable
from typing import Any

from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.intent.csv_table import Columns, TableRow, table_rows
from ailb_gen.yamlio import Path, Source

SWITCH_COLUMNS = ("name", "role", "management", "mac", "serial")
CABLE_COLUMNS = ("a_device", "a_port", "b_device", "b_port", "speed", "kind", "color", "rail")
SWITCHES = Columns(SWITCH_COLUMNS, ("name", "role"), "switches", 100_000)
CABLES = Columns(CABLE_COLUMNS, ("a_device", "a_port", "b_device", "b_port", "kind"), "cables", 1_000_000)
ROLES = {"leaf": "leaves", "spine": "spines"}
Overrides = dict[str, Any]


class _Filler:
    """Fills the overrides of a fabric file; what is written there stays."""

    __slots__ = ("overrides", "source", "written")

    def __init__(self, source: Source) -> None:
        self.source, self.overrides = source, source.data.setdefault("overrides", {})
        self.written = frozenset(path for path in source.places if path[:1] == ("overrides",))

    def device(self, group: str, name: str, place: Place) -> Overrides | None:
        """Return the override of a device; None where the fabric file has another thing there, which is told later."""
        found = self.overrides
        path: Path = ("overrides",)
        for step in (group, name):
            if not isinstance(found, dict):
                return None
            path = (*path, step)
            found = found.setdefault(step, {})
            self.source.places.setdefault(path, place)
        return found if isinstance(found, dict) else None

    def put(self, path: tuple[str, str, str], value: object, place: Place) -> None:
        """Set a key of a device, unless the fabric file does."""
        group, name, key = path
        found = self.device(group, name, place)
        if found is not None and key not in found:
            found[key] = value
            self.source.places["overrides", group, name, key] = place

    def port(self, path: tuple[str, str, str], peer: str, port: str, place: Place) -> None:
        """Append a port to those towards a peer, unless the fabric file has them."""
        group, name, key = path
        where: Path = ("overrides", group, name, key, peer)
        found = self.device(group, name, place)
        rows = found.setdefault(key, {}) if found is not None else None
        if isinstance(rows, dict) and where not in self.written:
            self.source.places.setdefault(where, place)
            ports = rows.setdefault(peer, [])
            self.source.places[(*where, len(ports))] = place
            ports.append(port)

    def cable(self, row: TableRow, problems: list[Problem]) -> None:
        """Set leaf and port of a server's NIC, unless the fabric file does; notes a second cable of the NIC."""
        leaf, port, server, nic = (row.cells[column] for column in CABLE_COLUMNS[:4])
        where: Path = ("overrides", "servers", server, "cables", nic)
        found = self.device("servers", server, row.place("b_device"))
        rows = found.setdefault("cables", {}) if found is not None else None
        if not isinstance(rows, dict) or where in self.written:
            return
        if nic in rows:
            first = self.source.places[where].line
            reason = f"{nic} of {server} has two cables; the first is in line {first}"
            problems.append(row.problem("duplicate-key", "b_port", reason))
            return
        rows[nic] = {"leaf": leaf, "port": port}
        columns = {"leaf": "a_device", "port": "a_port"}
        self.source.places |= {(*where, key): row.place(column) for key, column in columns.items()}
        self.source.places[where] = row.place("b_port")


def fill_switches(source: Source, text: str, name: str) -> None:
    """Add addresses, MACs and serials of the CSV file `name` to the overrides in `source`. Raises IntentError."""
    problems: list[Problem] = []
    filler, seen = _Filler(source), dict[str, int]()
    for row in table_rows(text, name, SWITCHES, problems):
        switch, role = row.cells["name"], row.cells["role"]
        if role not in ROLES:
            problems.append(row.problem("wrong-value", "role", f"must be 'leaf' or 'spine', not {role!r}"))
        elif switch in seen:
            reason = f"{switch} is listed twice; the first is in line {seen[switch]}"
            problems.append(row.problem("duplicate-key", "name", reason))
        else:
            filler.device(ROLES[role], switch, row.place("name"))
            for column in SWITCH_COLUMNS[2:]:
                if value := row.cells.get(column):
                    filler.put((ROLES[role], switch, column), value, row.place(column))
        seen.setdefault(switch, row.line)
    if problems:
        raise IntentError(problems)


def fill_cables(source: Source, text: str, name: str) -> None:
    """Add the ports of the cables in the CSV file `name` to the overrides in `source`. Raises IntentError.

    Links of a leaf with a spine have the order of their rows.
    """
    problems: list[Problem] = []
    filler = _Filler(source)
    for row in table_rows(text, name, CABLES, problems):
        leaf, leaf_port, peer, peer_port = (row.cells[column] for column in CABLE_COLUMNS[:4])
        if row.cells["kind"] == "host":
            filler.cable(row, problems)
        elif row.cells["kind"] == "fabric":
            filler.port(("leaves", leaf, "uplinks"), peer, leaf_port, row.place("a_port"))
            filler.port(("spines", peer, "downlinks"), leaf, peer_port, row.place("b_port"))
        else:
            reason = f"must be 'fabric' or 'host', not {row.cells['kind']!r}"
            problems.append(row.problem("wrong-value", "kind", reason))
    if problems:
        raise IntentError(problems)


# Keys of the fabric file with a CSV file of facts, and what reads it.
AS_BUILT: dict[str, Callable[[Source, str, str], None]] = {"management": fill_switches, "cabling": fill_cables}
