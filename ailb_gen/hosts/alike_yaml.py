"""YAML files that differ in quoted addresses only: one is parsed with places in them, the others are filled in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ailb_gen.errors import IntentError
from ailb_gen.yamlio import Source, read_yaml

# A value in double quotes that ends its line, and needs no escapes: whatever it is, nothing else moves. One of some
# hundred characters could be too long for a key.
QUOTED = re.compile(r'(?<=[a-z]: ")[0-9a-f:./]{1,64}(?="$)', re.MULTILINE)
# What stands for the value of a number; a text that has the mark is parsed as it is.
MARK = "%@"
PLACE = re.compile("%@([0-9]+)@%")


class AlikeYaml:
    """Reads YAML whose scalars are text; a file like one before it is not parsed again."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        # What is between the values, and the file -> what was read with places; None for what must be parsed.
        self.known: dict[tuple[str, str], Source | None] = {}

    def read(self, text: str, file: str) -> Source:
        """Return what `read_yaml` does, and raise what it raises."""
        if MARK in text:
            return read_yaml(text, file, typed=False)
        between, values = QUOTED.sub(MARK, text), QUOTED.findall(text)
        case = between, file
        if case not in self.known:
            self.known[case] = _with_places(text, file, len(values))
        found = self.known[case]
        if found is None:
            return read_yaml(text, file, typed=False)
        return Source(file, _filled(found.data, values), found.places)


def _with_places(text: str, file: str, count: int) -> Source | None:
    """Read a text with a place for each of its values; None if they are not values of their own, or it is unusable."""
    numbers = iter(range(count))
    try:
        found = read_yaml(QUOTED.sub(lambda _: f"%@{next(numbers)}@%", text), file, typed=False)
    except IntentError:
        return None
    # One in a comment, or in a longer text, is none of the numbers; one behind an alias is there twice.
    return found if _places(found.data) == [str(number) for number in range(count)] else None


def _places(data: Any) -> list[str]:  # noqa: ANN401 - what YAML holds
    """Return the numbers of the places that are values, in order, and what else looks like one."""
    if isinstance(data, dict):
        return [number for key, value in data.items() for number in (*_marked(str(key)), *_places(value))]
    if isinstance(data, list):
        return [number for value in data for number in _places(value)]
    found = PLACE.fullmatch(str(data))
    return [found[1]] if found is not None else _marked(str(data))


def _marked(text: str) -> list[str]:
    return [text] if MARK in text else []


def _filled(data: Any, values: Sequence[str]) -> Any:  # noqa: ANN401 - what YAML holds
    """Return a copy with values at the places."""
    if isinstance(data, str):
        return values[int(data[2:-2])] if data.startswith(MARK) else data
    if isinstance(data, dict):
        return {key: _filled(value, values) for key, value in data.items()}
    return [_filled(value, values) for value in data] if isinstance(data, list) else data
