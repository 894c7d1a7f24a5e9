"""What differs between two models of a switch, as names of fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

# Statements with their lines.
WITH_LINES = "tuple[tuple[str, int], ...]"


@cache
def compared_fields(kind: Any) -> tuple[tuple[str, bool], ...]:  # noqa: ANN401 - a class
    """Return the fields of a class of models but for lines, and whether a field holds statements with their lines."""
    rows = fields(kind)
    return tuple((row.name, row.type == WITH_LINES) for row in rows if not is_line(row.name))


def is_line(name: str) -> bool:
    """Return whether a field of a model holds a line (see `ailb_gen.textio.line_field`)."""
    return name == "line" or name.endswith("_line")


def changed_fields(old: object, new: object) -> frozenset[str]:
    """Return the fields that differ between two models of one class, as `Class.field`; lines do not count.

    Of entries that both have, by key or by place, the fields below are named; the field that holds them is named where
    other entries, or another order, are in it.
    """
    return frozenset(_below(old, new))


def _below(old: object, new: object) -> Iterator[str]:
    kind: Any = type(old)
    for name, with_lines in compared_fields(kind):
        was, now = getattr(old, name), getattr(new, name)
        if with_lines:
            was, now = [text for text, _ in was], [text for text, _ in now]
        yield from _differing(f"{kind.__name__}.{name}", was, now)


def _differing(field: str, old: object, new: object) -> Iterator[str]:
    if old is new:
        return
    if type(old) is not type(new):
        yield field
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        if list(old) == list(new):
            for key, value in old.items():
                yield from _differing(field, value, new[key])
        else:
            yield field
    elif isinstance(old, tuple) and isinstance(new, tuple):
        if len(old) == len(new):
            for was, now in zip(old, new, strict=True):
                yield from _differing(field, was, now)
        else:
            yield field
    elif is_dataclass(old):
        yield from _below(old, new)
    elif old != new:
        yield field
