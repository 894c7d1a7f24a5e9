"""The pager of the command line, which holds longer output back at `---(more)---` until a key is pressed.

Source: Juniper, CLI User Guide, "Using Keyboard Sequences to Display Command Output", `set cli screen-length`.
"""

from __future__ import annotations

# How many pages, or lines, each key shows.
LINE_KEYS, HALF_KEYS, PAGE_KEYS = "\r\nk\x0e", "\td\x04\x18", " \x06"
END_KEYS, QUIT_KEYS = "G\x05N", "qQ\x03\x0b"
ERASE = f"\r{' ' * 40}\r"


class Pager:
    """Output that is shown a screen at a time; `done` is true when there is no more."""

    def __init__(self, text: str, length: int, width: int) -> None:
        """Take a text for a screen of `length` lines and `width` columns; 0 is no limit."""
        self._lines = text.splitlines(keepends=True)
        self._length, self._width = length, width
        self._at = 0
        self.done = False

    def start(self) -> str:
        """Return the first screen."""
        return self._show(max(self._length - 1, 1) if self._length else self._all())

    def press(self, key: str) -> str:
        """Return the output of a key; an unknown one shows nothing."""
        if key in QUIT_KEYS:
            self.done = True
            return ERASE
        half, page = max(self._length // 2, 1), max(self._length - 1, 1)
        steps = ((LINE_KEYS, 1), (HALF_KEYS, half), (PAGE_KEYS, page), (END_KEYS, self._all()))
        rows = next((rows for keys, rows in steps if key in keys), 0)
        return ERASE + self._show(rows) if rows else ""

    def _show(self, rows: int) -> str:
        """Show as many lines as fit into some rows, one at least."""
        shown: list[str] = []
        while self._at < len(self._lines) and (rows >= self._rows(self._lines[self._at]) or not shown):
            rows -= self._rows(self._lines[self._at])
            shown.append(self._lines[self._at])
            self._at += 1
        self.done = self._at == len(self._lines)
        return "".join(shown) + ("" if self.done else self._prompt(first=len(shown) == self._at))

    def _prompt(self, first: bool) -> str:
        return "---(more)---" if first else f"---(more {100 * self._at // len(self._lines)}%)---"

    def _all(self) -> int:
        return sum(map(self._rows, self._lines))

    def _rows(self, line: str) -> int:
        """Return how many rows a line takes on the screen."""
        return max(-(-len(line.rstrip("\n")) // self._width), 1) if self._width else 1
