"""Compute times of a job from a table of measured ones: CSV with a row per operation of a GPU.

Times are those of a microbatch, in us; `count` says how many of the operation the model has, in all stages together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.csv_table import Columns, TableRow, table_rows
from ailb_gen.sim.fabric import PS_PER_US
from ailb_gen.textio import text_problem

FORWARD, BACKWARD, COUNT = "forward_us", "backward_us", "count"
COLUMNS = Columns(
    ("operation", COUNT, FORWARD, BACKWARD), ("operation", FORWARD, BACKWARD), "operations", max_rows=100_000
)
_TIME = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_COUNT = re.compile(r"[1-9][0-9]{0,6}")


@dataclass(frozen=True, slots=True)
class MeasuredTimes:
    """The times of a model on a GPU, of all its operations, in ps."""

    forward: Fraction
    backward: Fraction

    def of_stage(self, pipeline: int) -> tuple[int, int]:
        """Return the times of a forward and a backward pass in ps, with operations spread evenly over the stages."""
        return round(self.forward / pipeline), round(self.backward / pipeline)


def read_times(text: str, file: str) -> MeasuredTimes:
    """Return the sums of a table. Raises IntentError with all that is wrong."""
    problems: list[Problem] = []
    rows = list(table_rows(text, file, COLUMNS, problems))
    if not rows and not problems:
        raise text_problem(file, "missing-key", "the table has no operation")
    sums = {column: Fraction(0) for column in (FORWARD, BACKWARD)}
    for row in rows:
        count = _cell(row, COUNT, _COUNT, "a whole number from 1 on", problems) if row.cells.get(COUNT) else Fraction(1)
        for column in sums:
            sums[column] += count * PS_PER_US * _cell(row, column, _TIME, "a time in us, such as 752.5", problems)
    if problems:
        raise IntentError(problems)
    return MeasuredTimes(sums[FORWARD], sums[BACKWARD])


def _cell(row: TableRow, column: str, form: re.Pattern[str], wanted: str, problems: list[Problem]) -> Fraction:
    """Return the number of a cell; 0 with a problem."""
    text = row.cells.get(column, "")
    if form.fullmatch(text):
        return Fraction(text)
    problems.append(row.problem("wrong-type", column, f"{text[:40]!r} is not {wanted}"))
    return Fraction(0)
