"""A JSON document that has an entry per line, as `generate` writes it: read entry by entry, never held as a whole."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from json import JSONDecoder
from typing import Any

# How a list or a value of the document begins, behind the end of a line.
LIST, VALUE = re.compile(r' "([^"\\\x00-\x1f]*)": \[\n'), re.compile(r' "([^"\\\x00-\x1f]*)": ')
FIRST_ENTRY, NEXT_ENTRY, END_OF_LIST, NEXT_KEY, END = "  {", ",\n  {", "\n ]", ",\n", "\n}"


class OtherLayoutError(Exception):
    """The document is laid out differently, or is no JSON: it must be parsed as a whole."""


class WrittenEntries:
    """The lists of a document; `line` is that of the entry being read, `values` what stands alone, with its lines.

    Entries are what `parse_json` makes of them; equal texts in them are one object. There are no other `lists`, and all
    of them must be read for the document to be valid. Raises OtherLayoutError, also while a list is read.
    """

    __slots__ = ("_decode", "_known", "_lists", "_text", "line", "values")

    def __init__(self, text: str, lists: Collection[str]) -> None:
        self._text, self.line = text, 1
        # Names, ports and speeds recur in thousands of entries.
        self._known = dict[str, str]().setdefault
        self._decode = JSONDecoder(object_pairs_hook=self._object).raw_decode
        self._lists: dict[str, tuple[int, int]] = {}
        self.values: list[tuple[Mapping[str, object], int]] = []
        self._find()
        if not self._lists.keys() <= {*lists}:
            raise OtherLayoutError

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        known = self._known
        found = {key: known(value, value) if type(value) is str else value for key, value in pairs}
        if len(found) < len(pairs):
            raise OtherLayoutError
        return found

    def _find(self) -> None:
        """Find where the lists begin, and read the values beside them."""
        text, at, line, keys = self._text, 2, 2, set[str]()
        if not text.startswith("{\n"):
            raise OtherLayoutError
        while True:
            found = LIST.match(text, at)
            if found is not None:
                self._lists[found[1]] = found.end(), line + 1
                # The list may be empty; then its line is.
                at = text.find(END_OF_LIST, found.end() - 1) + len(END_OF_LIST)
                line += text.count("\n", found.start(), at)
            elif (found := VALUE.match(text, at)) is not None:
                value, at = self._scan(found.end())
                self.values.append(({found[1]: value}, line))
                if isinstance(value, list | dict) or "\n" in text[found.end() : at]:
                    raise OtherLayoutError
            if found is None or found[1] in keys or at < found.end():
                raise OtherLayoutError
            keys.add(found[1])
            if text.startswith(END, at) and not text[at + len(END) :].strip(" \t\n\r"):
                return
            if not text.startswith(NEXT_KEY, at):
                raise OtherLayoutError
            at, line = at + len(NEXT_KEY), line + 1

    def _scan(self, at: int) -> tuple[Any, int]:
        """Return the value that begins at a character, and where it ends."""
        try:
            return self._decode(self._text, at)
        except (ValueError, RecursionError) as error:
            raise OtherLayoutError from error

    def of(self, key: str) -> Iterator[Any]:
        """Iterate over the entries of a list, which are objects."""
        if key not in self._lists:
            raise OtherLayoutError
        text, (at, self.line) = self._text, self._lists[key]
        if text.startswith(END_OF_LIST, at):
            return
        if not text.startswith(FIRST_ENTRY, at):
            raise OtherLayoutError
        at += len(FIRST_ENTRY) - 1
        while True:
            start = at
            entry, at = self._scan(start)
            if text.find("\n", start, at) >= 0:
                raise OtherLayoutError
            yield entry
            if text.startswith(END_OF_LIST, at):
                return
            if not text.startswith(NEXT_ENTRY, at):
                raise OtherLayoutError
            at += len(NEXT_ENTRY) - 1
            self.line += 1
