"""A terminal: what a person sees of the bytes that a program writes, with the styles of every character.

It knows what this program uses, and fails for anything else: line ends, carriage return, SGR, and Erase in Display from
the cursor.
"""

from __future__ import annotations

import re

TOKEN = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|([\r\n\t])|([^\x00-\x1f\x7f]+)|(.)", re.DOTALL)
# A character and its style, as parameter of SGR.
Cell = tuple[str, str]


class Screen:
    """Rows of cells without end; a row that is full is continued in the next one."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: list[list[Cell]] = [[]]
        self.row = self.column = 0
        self.style = ""

    def write(self, text: str) -> None:
        """Show what a program writes."""
        for found in TOKEN.finditer(text):
            number, final, control, shown, other = found.groups()
            assert other is None, f"not known: {other!r}"
            if final == "m":
                self.style = "" if number in ("", "0") else number
            elif final == "J":
                assert number in ("", "0")
                del self.rows[self.row + 1 :]
                del self.rows[self.row][self.column :]
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self._down()
            elif control == "\t":
                self._put(" " * (8 - self.column % 8))
            else:
                assert final is None, f"not known: {found[0]!r}"
                self._put(shown)

    def resize(self, width: int) -> None:
        """Break rows anew that are too long; the cursor stays on its character, as in most terminals."""
        rows: list[list[Cell]] = []
        for number, row in enumerate(self.rows):
            start = len(rows)
            rows += [row[at : at + width] for at in range(0, max(len(row), 1), width)]
            if number == self.row:
                place = start + self.column // width
        self.width, self.rows, self.row, self.column = width, rows, place, self.column % width

    def lines(self, color: bool = False) -> list[str]:
        """Return what is seen, with SGR sequences if color is asked for."""
        shown = ["".join(_styled(row) if color else [cell for cell, _ in row]).rstrip() for row in self.rows]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def _put(self, text: str) -> None:
        for character in text:
            if self.column == self.width:
                self._down()
            row = self.rows[self.row]
            row += [(" ", "")] * (self.column - len(row))
            row[self.column : self.column + 1] = [(character, self.style)]
            self.column += 1

    def _down(self) -> None:
        self.row, self.column = self.row + 1, 0
        if self.row == len(self.rows):
            self.rows.append([])


def _styled(row: list[Cell]) -> list[str]:
    parts, before = [], ""
    for character, style in row:
        if style != before:
            parts.append(("\x1b[0m" if before else "") + (f"\x1b[{style}m" if style else ""))
        parts.append(character)
        before = style
    return [*parts, "\x1b[0m"] if before else parts
