"""Entries of `drain` added to and removed from the text of a fabric file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from pydantic_core import PydanticCustomError

from ailb_gen.errors import UsageError
from ailb_gen.intent.drain import Drain, parse_drain
from ailb_gen.intent.edit import add_items, edit, remove_items
from ailb_gen.wording import did_you_mean, some
from ailb_gen.yamlio import read_yaml

KEY = "drain"


def parse_elements(words: Sequence[str]) -> tuple[Drain, ...]:
    """Return what a user names, each once, in its order. Raises UsageError for what cannot be an entry."""
    found: dict[Drain, None] = {}
    for word in words:
        try:
            found[parse_drain(word.strip())] = None
        except PydanticCustomError as error:
            raise UsageError(error.message()) from error
    return tuple(found)


def add_entries(text: str, file: str, elements: Sequence[Drain]) -> tuple[str, tuple[Drain, ...]]:
    """Return the text with the entries for elements that no entry has out of service yet, and these.

    A file without the key gets a list below it; a single entry without brackets becomes the first of a list in them.
    Raises IntentError for what is no YAML, UsageError for what cannot be edited.
    """
    value, present = _entries(text, file)
    new = tuple(one for one in elements if covering(one, present) is None)
    if not new:
        return text, ()
    if isinstance(value, list):
        return add_items(text, (KEY,), [*map(str, new)], file), new
    before = [] if value is None else [value]
    return edit(text, (KEY,), [*before, *map(str, new)], file), new


def remove_entries(text: str, file: str, elements: Sequence[Drain]) -> str:
    """Return the text without the entries; with the last of a list without brackets its key goes.

    Raises IntentError for what is no YAML, UsageError for an element that is no entry, and what cannot be edited.
    """
    value, present = _entries(text, file)
    for one in elements:
        if one not in present:
            raise UsageError(f"{file}: {str(one)!r} is not drained; {_instead(one, present)}")
    if not isinstance(value, list):
        return edit(text, (KEY,), None, file)
    return remove_items(text, (KEY,), [at for at, one in enumerate(present) if one in elements], file)


def _entries(text: str, file: str) -> tuple[object, tuple[Drain | None, ...]]:
    """Return the value of the key, and its entries; None stands for what is none, which the design will tell."""
    data = read_yaml(text, file).data
    value = data.get(KEY) if isinstance(data, dict) else None
    written = value if isinstance(value, list) else [] if value is None else [value]
    return value, tuple(_parsed(written))


def _parsed(written: Sequence[object]) -> Iterator[Drain | None]:
    for one in written:
        try:
            yield parse_drain(one)
        except PydanticCustomError:
            yield None


def covering(element: Drain, present: Sequence[Drain | None]) -> Drain | None:
    """Return the entry that has an element out of service: the same, or one with a glob for its name."""
    if element in present or set("*?[") & set(element.first):
        return element if element in present else None
    same = (one for one in present if one is not None and one.second == element.second)
    return next((one for one in same if fnmatchcase(element.first, one.first)), None)


def _instead(element: Drain, present: Sequence[Drain | None]) -> str:
    """Return what to do about an element that is no entry."""
    entries = [one for one in present if one is not None]
    by = covering(element, present)
    if by is not None:
        return f"the entry {str(by)!r} has it out of service: undrain that"
    if not entries:
        return "the file has no entry under 'drain'"
    return did_you_mean(str(element), map(str, entries)) or f"the entries are {some(map(str, entries))}"
