"""Known secrets kept out of all output: values that were resolved, out of errors and of the record of a run.

What shows by itself is for `ailb_gen.redact.text`.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import chain
from json import dumps
from threading import Lock
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape, quoteattr

from ailb_gen.redact import MARK


def causes(error: BaseException) -> Iterator[BaseException]:
    """Iterate over an error and all that led to it."""
    waiting: list[BaseException | None] = [error]
    visited: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in visited:
            visited.add(id(one))
            yield one
            # PyEZ keeps the first error under a name of its own.
            waiting += [one.__cause__, one.__context__, getattr(one, "_orig", None)]


class Redactor:
    """Replaces known secrets in text; more can be added at any time and from any thread."""

    __slots__ = ("_lock", "_mark", "_pattern", "_values")

    def __init__(self, *values: str) -> None:
        self._lock = Lock()
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None
        self._mark = MARK
        self.add(*values)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._values)} values>"

    def add(self, *values: str) -> None:
        """Know more secrets, and how they look when something has written them down: quoted, escaped, encoded."""
        with self._lock:
            found = self._values.union(*(_spellings(value) for value in values if value))
            if found == self._values:
                return
            # A character that is in no secret: so the mark neither holds one nor completes one with its neighbors.
            used = frozenset("".join(found))
            sign = next(sign for sign in chain("*#-=~_", map(chr, range(0x2580, 0x110000))) if sign not in used)
            self._mark = 3 * sign
            self._values = found
            self._pattern = re.compile("|".join(map(re.escape, sorted(found, key=lambda value: (-len(value), value)))))

    def __call__(self, text: str) -> str:
        """Return the text without any known secret."""
        with self._lock:
            pattern, mark = self._pattern, self._mark
        return pattern.sub(mark, text) if pattern else text

    def clean(self, error: BaseException) -> None:
        """Take known secrets out of the messages of an error and of its causes, before they are printed."""
        for one in causes(error):
            one.args = tuple(arg if (text := self(str(arg))) == str(arg) else text for arg in one.args)


# A secret may hold bytes that are no UTF-8; Python has them as lone surrogates.
ANY = "surrogatepass"


def _spellings(value: str) -> set[str]:
    """Return a value as programs print it: bare, in Python, JSON, XML, a URL and a shell."""
    encodings = (
        value,
        repr(value)[1:-1],
        ascii(value)[1:-1],
        dumps(value)[1:-1],
        dumps(value, ensure_ascii=False)[1:-1],
        value.replace("\\", "\\\\").replace('"', '\\"'),
        escape(value),
        quoteattr(value)[1:-1],
        quote(value, safe="", errors=ANY),
        quote(value, errors=ANY),
        quote_plus(value, errors=ANY),
        shlex.quote(value),
    )
    return {encoded for encoded in encodings if encoded}
