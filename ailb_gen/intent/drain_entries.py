"""Entries of `drain` and `graceful_shutdown` added to and removed from the text of a fabric file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pydantic_core import PydanticCustomError

from ailb_gen.errors import UsageError
from ailb_gen.intent.drain import IN_SHUTDOWN, Drain, parse_drain, parse_spine
from ailb_gen.intent.edit import add_items, edit, remove_items
from ailb_gen.wording import did_you_mean, some
from ailb_gen.yamlio import read_yaml


@dataclass(frozen=True, slots=True)
class DrainKey:
    """A key with entries: how one is read, what an element in it is called, and the option of its verbs."""

    name: str
    parse: Callable[[object], Drain]
    state: str
    option: str = ""


DRAIN = DrainKey("drain", parse_drain, "drained")
SHUTDOWN = DrainKey("graceful_shutdown", parse_spine, IN_SHUTDOWN, "--graceful-shutdown")
OTHER = {DRAIN: SHUTDOWN, SHUTDOWN: DRAIN}


def parse_elements(words: Sequence[str], key: DrainKey = DRAIN) -> tuple[Drain, ...]:
    """Return what a user names, each once, in its order. Raises UsageError for what cannot be an entry."""
    found: dict[Drain, None] = {}
    for word in words:
        try:
            found[key.parse(word.strip())] = None
        except PydanticCustomError as error:
            raise UsageError(error.message()) from error
    return tuple(found)


def add_entries(
    text: str, file: str, elements: Sequence[Drain], key: DrainKey = DRAIN
) -> tuple[str, tuple[Drain, ...]]:
    """Return the text with the entries for elements that no entry has out of service yet, and these.

    A file without the key gets a list below it; a single entry without brackets becomes the first of a list in them.
    Entries of the other key that a new one stands for go.
    Raises IntentError for what is no YAML, UsageError for what cannot be edited.
    """
    value, present = _entries(text, file, key)
    new = tuple(one for one in elements if covering(one, present) is None)
    if not new:
        return text, ()
    if isinstance(value, list):
        text = add_items(text, (key.name,), [*map(str, new)], file)
    else:
        before = [] if value is None else [value]
        text = edit(text, (key.name,), [*before, *map(str, new)], file)
    moved = [one for one in _entries(text, file, OTHER[key])[1] if one is not None and covering(one, new) is not None]
    return (_without(text, file, moved, OTHER[key]) if moved else text), new


def remove_entries(text: str, file: str, elements: Sequence[Drain], key: DrainKey = DRAIN) -> str:
    """Return the text without the entries; with the last of a list without brackets its key goes.

    Raises IntentError for what is no YAML, UsageError for an element that is no entry, and what cannot be edited.
    """
    present = _entries(text, file, key)[1]
    for one in elements:
        if one not in present:
            other = OTHER[key]
            hint = _instead(one, present, key)
            if covering(one, _entries(text, file, other)[1]) is not None:
                hint = f"it is {other.state}: {'add' if other.option else 'leave out'} {SHUTDOWN.option}"
            raise UsageError(f"{file}: {str(one)!r} is not {key.state}; {hint}")
    return _without(text, file, elements, key)


def _without(text: str, file: str, elements: Sequence[Drain], key: DrainKey) -> str:
    """Return the text without entries that the key has."""
    value, present = _entries(text, file, key)
    if not isinstance(value, list):
        return edit(text, (key.name,), None, file)
    return remove_items(text, (key.name,), [at for at, one in enumerate(present) if one in elements], file)


def _entries(text: str, file: str, key: DrainKey) -> tuple[object, tuple[Drain | None, ...]]:
    """Return the value of the key, and its entries; None stands for what is none, which the design will tell."""
    data = read_yaml(text, file).data
    value = data.get(key.name) if isinstance(data, dict) else None
    written = value if isinstance(value, list) else [] if value is None else [value]
    return value, tuple(_parsed(written, key))


def _parsed(written: Sequence[object], key: DrainKey) -> Iterator[Drain | None]:
    for one in written:
        try:
            yield key.parse(one)
        except PydanticCustomError:
            yield None


def covering(element: Drain, present: Sequence[Drain | None]) -> Drain | None:
    """Return the entry that has an element out of service: the same, or one with a glob for its name."""
    if element in present or set("*?[") & set(element.first):
        return element if element in present else None
    same = (one for one in present if one is not None and one.second == element.second)
    return next((one for one in same if fnmatchcase(element.first, one.first)), None)


def _instead(element: Drain, present: Sequence[Drain | None], key: DrainKey) -> str:
    """Return what to do about an element that is no entry."""
    entries = [one for one in present if one is not None]
    by = covering(element, present)
    if by is not None:
        return f"the entry {str(by)!r} has it out of service: undrain that"
    if not entries:
        return f"the file has no entry under '{key.name}'"
    return did_you_mean(str(element), map(str, entries)) or f"the entries are {some(map(str, entries))}"
