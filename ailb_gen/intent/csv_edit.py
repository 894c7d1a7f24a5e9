"""Tables of CSV files edited in place: a row more, or a cell with another value; every other row stays as it is."""

import csv
import io
from collections.abc import Collection

from ailb_gen.errors import UsageError
from ailb_gen.intent.csv_table import SEPARATOR


def add_row(text: str, name: str, cells: dict[str, str]) -> str:
    """Return the text of the CSV file `name` with one row more at its end.

    Raises UsageError for a column that the table lacks.
    """
    columns = _columns(text)
    lacking = [column for column in cells if column not in columns]
    if lacking:
        raise UsageError(f"{name}: the table has no column {lacking[0]}; add it to the header and to every row")
    end = "" if not text or text.endswith(("\n", "\r")) else _newline(text)
    return f"{text}{end}{_row(text, [cells.get(column, '') for column in columns])}{_newline(text)}"


def set_cell(text: str, name: str, line: int, column: int, value: str) -> str:
    """Return the text of the CSV file `name` with another value in a cell: the line counts from 1, the column from 0.

    Blanks around the value stay. Raises UsageError for a row of several lines.
    """
    lines = text.splitlines(keepends=True)
    row = lines[line - 1]
    bare = row.rstrip("\r\n")
    cells = next(csv.reader([bare], delimiter=_separator(text)), [])
    if len(cells) != len(_columns(text)) or bare.count('"') % 2:
        raise UsageError(f"{name}:{line}: cannot change the row in place: it has several lines; edit it by hand")
    old = cells[column]
    cells[column] = old.replace(old.strip(), value) if old.strip() else value
    lines[line - 1] = f"{_row(text, cells)}{row[len(bare) :]}"
    return "".join(lines)


def left_empty(text: str, cells: Collection[str]) -> tuple[str, ...]:
    """Return the columns, without some, in which every row of a table has a value; none of a table without rows."""
    rows = list(csv.reader(io.StringIO(text), delimiter=_separator(text)))[1:]
    columns = _columns(text)
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    if not filled:
        return ()
    return tuple(
        column
        for number, column in enumerate(columns)
        if column not in cells and all(row[number : number + 1] and row[number].strip() for row in filled)
    )


def has_column(text: str, column: str) -> bool:
    """Return whether a table has a column."""
    return column in _columns(text)


def _columns(text: str) -> list[str]:
    return [cell.strip().lower() for cell in next(csv.reader([text.partition("\n")[0]], delimiter=_separator(text)))]


def _separator(text: str) -> str:
    found = SEPARATOR.search(text.partition("\n")[0])
    return found[0] if found else ","


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _row(text: str, cells: list[str]) -> str:
    row = io.StringIO()
    csv.writer(row, delimiter=_separator(text), lineterminator="").writerow(cells)
    return row.getvalue()
