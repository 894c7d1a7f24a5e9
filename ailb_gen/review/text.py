"""A review for a terminal: changes, new findings, impact, loads, and the verdict last."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.paint import Paint, Style, heading, unpainted
from ailb_gen.report.table import WORDS, finding_lines
from ailb_gen.report.text import WIDTH, wrapped
from ailb_gen.review.model import Review
from ailb_gen.review.tables import Table, facts, group_title, tables
from ailb_gen.wording import aligned, clean, some


def text(review: Review, paint: Paint = unpainted, width: int = WIDTH) -> str:
    """Return the review as text, its prose `width` columns wide."""
    return "\n".join(_lines(review, paint, width)) + "\n"


def _lines(review: Review, paint: Paint, width: int) -> Iterator[str]:
    yield from wrapped(f"Fabric {review.fabric}, compared with {review.base}", width=width)
    yield ""
    for fact in facts(review):
        yield from wrapped(fact, width=width)
    rows = [(group_title(group), some(change.name for change in group.changes)) for group in review.groups]
    changes = Table("Changes by device", ("change", "devices"), rows)
    for table in (changes, *tables(review)) if rows else tables(review):
        yield from _table(table, paint, width)
    yield from finding_lines(review.new, paint, width)
    yield ""
    first, *more = wrapped(review.report.verdict.sentence(), width=width)
    word, _, rest = first.partition(":")
    yield from (f"{paint(word, WORDS[word])}:{rest}", *more)


def _table(table: Table, paint: Paint, width: int) -> Iterator[str]:
    def styled(row: int, column: int, cell: str) -> str:
        # Blanks at the end of a line have no style: they are cut.
        shown = cell.rstrip()
        return heading(row, shown, paint) + cell[len(shown) :]

    cells = [list(table.head), *([clean(cell) for cell in row] for row in table.shown)]
    yield from ("", paint(table.title, Style.HEAD))
    yield from aligned(cells, paint=styled, width=width, breaking=True)
    if table.left_out:
        yield table.left_out
