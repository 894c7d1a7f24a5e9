"""What one more stripe, rail, spine or server is in a fabric file: the values that change, as data."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from ailb_gen.errors import IntentError
from ailb_gen.intent.load import Intent
from ailb_gen.intent.models import UNWRITTEN_STEPS, Fabric
from ailb_gen.validation import distinct, problem
from ailb_gen.yamlio import Path, Source

Unit = Literal["stripe", "rail", "spine", "server"]
UNITS: tuple[Unit, ...] = ("stripe", "rail", "spine", "server")
NUMBERED = re.compile(r"(.*?)([0-9]+)")


@dataclass(frozen=True, slots=True)
class ValueEdit:
    """A value of a fabric file; where the last step of the path is the length of a list, it is added to the list."""

    path: Path
    value: Any


def growth(intent: Intent, unit: Unit, count: int) -> tuple[ValueEdit, ...]:
    """Return the values that make a fabric larger by so many units; none where the file has no such value.

    A server is added to every stripe, a rail to every stripe that does not say its own number of rails.
    """
    return tuple(_GROWTH[unit](intent, count))


def grown(intent: Intent, edits: tuple[ValueEdit, ...]) -> Intent:
    """Return the intent with other values. Raises IntentError if the schema does not take them."""
    source = Source(intent.source.file, edited(intent.source.data, edits), intent.source.places)
    try:
        return Intent(Fabric.model_validate(source.data), source, intent.digest)
    except ValidationError as error:
        raise IntentError([problem(e, source, Fabric, UNWRITTEN_STEPS) for e in distinct(error)]) from error


def edited(data: Any, edits: Iterable[ValueEdit]) -> Any:
    """Return a copy of plain data with other values."""
    for edit in edits:
        data = _with(data, edit.path, edit.value)
    return data


def _with(node: Any, path: Path, value: Any) -> Any:
    """Return a copy of plain data with another value at a path; mappings that are missing are made."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(node, list):
        index = int(step)
        return [*node[:index], _with(node[index] if index < len(node) else {}, rest, value), *node[index + 1 :]]
    return {**node, step: _with(node.get(step, {}), rest, value)}


def _entries(key: str) -> Callable[[Intent, int], Iterator[ValueEdit]]:
    """Return what adds entries to a key that is a number or a list."""

    def edits(intent: Intent, count: int) -> Iterator[ValueEdit]:
        given = intent.source.data[key]
        if isinstance(given, int):
            yield ValueEdit((key,), given + count)
        else:
            yield from (ValueEdit((key, len(given) + number), {}) for number in range(count))

    return edits


def _rails(intent: Intent, count: int) -> Iterator[ValueEdit]:
    fabric = intent.fabric
    over = fabric.overrides.stripes
    own = [stripe.rails or (over[n].rails if n in over else None) for n, stripe in enumerate(fabric.stripes, 1)]
    if not all(own):
        yield ValueEdit(("rails",), fabric.rails + count)


def _servers(intent: Intent, count: int) -> Iterator[ValueEdit]:
    """Yield what adds servers to every stripe: a larger count, or servers by name where no count is written."""
    stripes = range(1, len(intent.fabric.stripes) + 1)
    own = [stripe for stripe in stripes if intent.fabric.stripes[stripe - 1].servers is not None]
    common = [stripe for stripe in stripes if stripe not in own]
    names = _NextNames()
    if common:
        yield from _group(intent.source.data, ("servers",), common, count, names)
    for stripe in own:
        yield from _group(intent.source.data, ("stripes", stripe - 1, "servers"), [stripe], count, names)


def _group(data: Any, path: Path, stripes: list[int], count: int, names: "_NextNames") -> Iterator[ValueEdit]:
    """Yield what adds servers to a group, which is that of some stripes."""
    group = data
    for step in path:
        group = group.get(step, 0) if isinstance(group, dict) else group[step]
    if isinstance(group, int):
        yield ValueEdit(path, group + count)
        return
    if isinstance(group, dict) and ("count" in group or not group.get("list")):
        yield ValueEdit((*path, "count"), group.get("count", 0) + count)
        return
    listed, at = (group["list"], (*path, "list")) if isinstance(group, dict) else (group, path)
    counted = [n for n, entry in enumerate(listed) if "count" in entry and "stripe" not in entry]
    if counted:
        first = min(counted, key=lambda n: "kind" in listed[n])
        yield ValueEdit((*at, first, "count"), listed[first]["count"] + count)
        return
    place = len(listed)
    for stripe in stripes:
        there = [entry for entry in listed if "name" in entry and entry.get("stripe", stripe) == stripe]
        like = (there or listed or [{"name": f"server-{stripe}-0"}])[-1]
        kept = {key: like[key] for key in ("kind",) if key in like}
        for _ in range(count):
            name = names.after(like["name"], [entry["name"] for entry in listed if "name" in entry])
            yield ValueEdit((*at, place), {"name": name, "stripe": stripe, **kept})
            place += 1


class _NextNames:
    """Continues the numbers of names."""

    __slots__ = ("taken",)

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def after(self, name: str, listed: list[str]) -> str:
        """Return a name with the next free number, as wide as in `name`."""
        found = NUMBERED.fullmatch(name)
        start, digits = (found[1], found[2]) if found else (f"{name}-", "1")
        number = int(digits)
        self.taken |= set(listed)
        while (new := f"{start}{number:0{len(digits)}}") in self.taken or new == name:
            number += 1
        self.taken.add(new)
        return new


_GROWTH: dict[Unit, Callable[[Intent, int], Iterator[ValueEdit]]] = {
    "stripe": _entries("stripes"),
    "rail": _rails,
    "spine": _entries("spines"),
    "server": _servers,
}
