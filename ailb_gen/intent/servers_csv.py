"""Servers from a CSV file: name, stripe, kind, management address, and per NIC its MAC and leaf port."""

import csv
import re
from collections.abc import Iterator
from typing import Any

from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.textio import text_problem
from ailb_gen.wording import counted, did_you_mean
from ailb_gen.yamlio import Path, Source

PLAIN_COLUMNS = ("name", "stripe", "kind", "management")
NIC_COLUMN = re.compile(r"^(mac|port|rdma|nic)(0|[1-9][0-9]?)$")
STRIPE = re.compile(r"^[0-9]{1,9}$")
LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
# Other blanks of Unicode belong to a name, which the intent then refuses.
BLANKS = " \t\r\n"
# A fabric has at most as many servers; a row with all columns that are known has 10,000 characters.
MAX_ROWS = 100_000
MAX_ROW = 64 * 1024
NIC_KEYS = {"mac": "mac", "port": "port", "rdma": "rdma", "nic": "name"}
# Spreadsheets of some countries separate cells by semicolons; no name of a column holds one of these.
SEPARATOR = re.compile(r"[,;\t]")
MAX_COLUMNS = len(PLAIN_COLUMNS) + 100 * len(NIC_KEYS)


class _Lines:
    """The lines of a text, which raise csv.Error if the row that began when `size` was 0 is too long."""

    __slots__ = ("size", "text")

    def __init__(self, text: str) -> None:
        self.text, self.size = text, 0

    def __iter__(self) -> Iterator[str]:
        for line in LINE.finditer(self.text):
            self.size += line.end() - line.start()
            if self.size > MAX_ROW:
                raise csv.Error(f"a row has more than {MAX_ROW:,} characters")
            yield line[0]


def _check_header(header: list[str], file: str) -> None:
    problems = []
    for number, column in enumerate(header):
        place = Place(file, 1, number + 1)
        if not column:
            problems.append(Problem("unknown-key", place, "", "a column without a name", "delete it, or name it"))
            continue
        if column not in PLAIN_COLUMNS and not NIC_COLUMN.match(column):
            known = [*PLAIN_COLUMNS, *(f"{kind}{i}" for kind in NIC_KEYS for i in range(16))]
            hint = did_you_mean(column, known) or "known: name, stripe, kind, management, macN, portN, rdmaN, nicN"
            problems.append(Problem("unknown-key", place, column, "unknown column", hint))
        if column in header[:number]:
            problems.append(Problem("duplicate-key", place, column, "this column is repeated"))
    if "name" not in header:
        problems.append(Problem("missing-key", Place(file), "name", "this column is required and missing"))
    if problems:
        raise IntentError(problems)


def _row(header: list[str], cells: list[str]) -> dict[str, Any]:
    """Turn a row into the mapping that a server in YAML would be; empty cells are left out."""
    row: dict[str, Any] = {}
    nics: dict[int, dict[str, str]] = {}
    for column, cell in zip(header, cells, strict=True):
        value = cell.strip(BLANKS)
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

    Cells are separated by what separates the first two columns: a comma, a semicolon or a tab. Raises IntentError for
    a text that has no usable header or rows of the wrong length.
    """
    lines = _Lines(text)
    separator = SEPARATOR.search(text.partition("\n")[0])
    reader = csv.reader(lines, strict=True, delimiter=separator[0] if separator else ",")
    rows: list[dict[str, Any]] = []
    problems: list[Problem] = []
    try:
        header = [cell.strip(BLANKS).lower() for cell in next(reader, [])]
        if len(header) > MAX_COLUMNS:
            raise csv.Error(f"{len(header):,} columns; there are {MAX_COLUMNS} names for them")
        _check_header(header, name)
        lines.size = 0
        for cells in reader:
            lines.size = 0
            if len(rows) + len(problems) == MAX_ROWS:
                raise csv.Error(f"there are more than {MAX_ROWS:,} servers")
            place = Place(name, reader.line_num)
            if not any(cell.strip(BLANKS) for cell in cells):
                continue
            if len(cells) != len(header):
                reason = f"the row has {counted(len(cells), 'cell')}, the header {len(header)}"
                problems.append(Problem("csv-row", place, "", reason))
                continue
            where = (*at, len(rows))
            source.places[where] = place
            for number, column in enumerate(header):
                found = NIC_COLUMN.match(column)
                step: Path = ("nics", int(found[2]), NIC_KEYS[found[1]]) if found else (column,)
                source.places[(*where, *step)] = Place(name, reader.line_num, number + 1)
            rows.append(_row(header, cells))
    except csv.Error as error:
        raise text_problem(name, "csv-row", f"not valid CSV: {error}", reader.line_num or 1) from error
    if problems:
        raise IntentError(problems)
    return rows
