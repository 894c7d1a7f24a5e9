"""Tables from CSV files: a header of known columns, then rows of as many cells, within limits."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.textio import text_problem
from ailb_gen.wording import counted, did_you_mean

LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
# Other blanks of Unicode belong to a name, which the intent then refuses.
BLANKS = " \t\r\n"
# A row with all columns that are known has 10,000 characters.
MAX_ROW = 64 * 1024
# Spreadsheets of some countries separate cells by semicolons; no name of a column holds one of these.
SEPARATOR = re.compile(r"[,;\t]")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that a table may have: names, and numbered ones by a pattern, with samples of those as hints.

    A table has all that are `required`, and at most `max_rows` rows, which are called `rows`.
    """

    names: tuple[str, ...]
    required: tuple[str, ...]
    rows: str
    max_rows: int
    numbered: re.Pattern[str] | None = None
    samples: tuple[str, ...] = ()
    shown: str = ""
    most: int = 0

    def knows(self, column: str) -> bool:
        """Return whether a column may be there."""
        return column in self.names or (self.numbered is not None and self.numbered.match(column) is not None)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: its cells by column, and where they stand."""

    file: str
    line: int
    cells: dict[str, str]
    numbers: dict[str, int]

    def place(self, column: str) -> Place:
        """Return the place of a cell."""
        return Place(self.file, self.line, self.numbers[column] + 1)

    def problem(self, code: str, column: str, reason: str, hint: str = "") -> Problem:
        """Make a problem of a cell."""
        return Problem(code, self.place(column), column, reason, hint)


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


def _check_header(header: list[str], file: str, columns: Columns) -> None:
    most = columns.most or len(columns.names)
    if len(header) > most:
        raise csv.Error(f"{len(header):,} columns; there are {most} names for them")
    problems = []
    for number, column in enumerate(header):
        place = Place(file, 1, number + 1)
        if not column:
            problems.append(Problem("unknown-key", place, "", "a column without a name", "delete it, or name it"))
            continue
        if not columns.knows(column):
            hint = did_you_mean(column, [*columns.names, *columns.samples])
            hint = hint or f"known: {columns.shown or ', '.join(columns.names)}"
            problems.append(Problem("unknown-key", place, column, "unknown column", hint))
        if column in header[:number]:
            problems.append(Problem("duplicate-key", place, column, "this column is repeated"))
    problems += [
        Problem("missing-key", Place(file), name, "this column is required and missing")
        for name in columns.required
        if name not in header
    ]
    if problems:
        raise IntentError(problems)


def read_table(text: str, name: str, columns: Columns) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header of the text of the CSV file `name`, and its rows with their lines; cells without blanks around.

    Cells are separated by what separates the first two columns: a comma, a semicolon or a tab. Empty rows are left out.
    Raises IntentError for a text that has no usable header or rows of the wrong length.
    """
    lines = _Lines(text)
    separator = SEPARATOR.search(text.partition("\n")[0])
    reader = csv.reader(lines, strict=True, delimiter=separator[0] if separator else ",")
    rows: list[tuple[int, list[str]]] = []
    problems: list[Problem] = []
    try:
        header = [cell.strip(BLANKS).lower() for cell in next(reader, [])]
        _check_header(header, name, columns)
        lines.size = 0
        for raw in reader:
            lines.size = 0
            if len(rows) + len(problems) == columns.max_rows:
                raise csv.Error(f"there are more than {columns.max_rows:,} {columns.rows}")
            cells = [cell.strip(BLANKS) for cell in raw]
            if not any(cells):
                continue
            if len(cells) != len(header):
                reason = f"the row has {counted(len(cells), 'cell')}, the header {len(header)}"
                problems.append(Problem("csv-row", Place(name, reader.line_num), "", reason))
                continue
            rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise text_problem(name, "csv-row", f"not valid CSV: {error}", reader.line_num or 1) from error
    if problems:
        raise IntentError(problems)
    return header, rows


def table_rows(text: str, name: str, columns: Columns, problems: list[Problem]) -> Iterator[TableRow]:
    """Yield the rows of a table whose required cells are all filled; notes the others. Raises as `read_table` does."""
    header, rows = read_table(text, name, columns)
    numbers = {column: number for number, column in enumerate(header)}
    for line, cells in rows:
        row = TableRow(name, line, dict(zip(header, cells, strict=True)), numbers)
        empty = [column for column in columns.required if not row.cells[column]]
        problems += [row.problem("missing-key", column, "this cell is required and empty") for column in empty]
        if not empty:
            yield row
