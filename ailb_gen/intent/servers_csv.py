"""Servers from a CSV file: name, stripe, kind, management address, and per NIC its MAC and leaf port."""

import re
from typing import Any

from ailb_gen.errors import Place
from ailb_gen.intent.csv_table import Columns, read_table
from ailb_gen.yamlio import Path, Source

PLAIN_COLUMNS = ("name", "stripe", "kind", "management")
NIC_COLUMN = re.compile(r"^(mac|port|rdma|nic)(0|[1-9][0-9]?)$")
STRIPE = re.compile(r"^[0-9]{1,9}$")
NIC_KEYS = {"mac": "mac", "port": "port", "rdma": "rdma", "nic": "name"}
COLUMNS = Columns(
    names=PLAIN_COLUMNS,
    required=("name",),
    rows="servers",
    # A fabric has at most as many servers.
    max_rows=100_000,
    numbered=NIC_COLUMN,
    samples=tuple(f"{kind}{i}" for kind in NIC_KEYS for i in range(16)),
    shown="name, stripe, kind, management, macN, portN, rdmaN, nicN",
    most=len(PLAIN_COLUMNS) + 100 * len(NIC_KEYS),
)


def _row(header: list[str], cells: list[str]) -> dict[str, Any]:
    """Turn a row into the mapping that a server in YAML would be; empty cells are left out."""
    row: dict[str, Any] = {}
    nics: dict[int, dict[str, str]] = {}
    for column, value in zip(header, cells, strict=True):
        found = NIC_COLUMN.match(column)
        if not value:
            continue
        if found:
            nics.setdefault(int(found[2]), {})[NIC_KEYS[found[1]]] = value
        else:
            row[column] = int(value) if column == "stripe" and STRIPE.match(value) else value
    if nics:
        row["nics"] = dict(sorted(nics.items()))
    return row


def read_servers(text: str, name: str, at: Path, source: Source) -> list[dict[str, Any]]:
    """Read servers from the text of the CSV file `name`; records the place of every cell in `source` under `at`.

    Raises IntentError as `read_table` does.
    """
    header, rows = read_table(text, name, COLUMNS)
    result: list[dict[str, Any]] = []
    for line, cells in rows:
        where = (*at, len(result))
        source.places[where] = Place(name, line)
        for number, column in enumerate(header):
            found = NIC_COLUMN.match(column)
            step: Path = ("nics", int(found[2]), NIC_KEYS[found[1]]) if found else (column,)
            source.places[(*where, *step)] = Place(name, line, number + 1)
        result.append(_row(header, cells))
    return result
