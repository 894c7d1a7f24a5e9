"""What one more stripe, rail, spine or server is in a fabric file: the values that change, as data."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count as count_from
from typing import Any, Literal

from pydantic import ValidationError

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.load import Intent
from ailb_gen.intent.models import UNWRITTEN_STEPS, Fabric
from ailb_gen.intent.servers import CountedServers
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


def ways(
    intent: Intent, unit: Unit, count: int, colors: tuple[int, int], servers: Iterable[str]
) -> Iterator[tuple[ValueEdit, ...]]:
    """Yield ways to write the same growth: the plain one first, then those that keep more of what is there.

    `colors` are the number of colors and their step, `servers` the names of all servers. More spines keep the colors
    of existing links if number and step of the colors stay; servers by count keep names and ports if more are listed,
    and listed ones keep their names if a new stripe lists its own.
    """
    plain = growth(intent, unit, count)
    if plain:
        yield plain
    if unit == "spine":
        yield (*plain, *_same_colors(intent, *colors))
    if unit == "server":
        yield tuple(_servers(intent, count, _NextNames(servers)))
    if unit == "stripe":
        yield tuple(_stripes_with_servers(intent, count, _NextNames(servers)))


def new_rdma_names(intent: Intent, names: Sequence[str]) -> tuple[ValueEdit, ...]:
    """Return what adds the RDMA devices of NICs on new rails to the list of those. Raises UsageError for a pattern."""
    given = intent.fabric.hosts.rdma
    if names and isinstance(given, str):
        raise UsageError(f"{intent.source.file}: hosts.rdma is a pattern, which names new NICs too; leave --rdma out")
    return tuple(ValueEdit(("hosts", "rdma", number), name) for number, name in enumerate(names, len(given)))


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


def _stripes_with_servers(intent: Intent, count: int, names: "_NextNames") -> Iterator[ValueEdit]:
    """Yield what adds stripes that list as many servers as are counted for every stripe."""
    given, group = intent.source.data["stripes"], intent.fabric.servers
    entries = [entry for entry in (group, *group.list) if isinstance(entry, CountedServers)]
    counted = [entry for entry in entries if getattr(entry, "stripe", None) is None for _ in range(entry.count)]
    first = len(intent.fabric.stripes)
    new: list[dict[str, Any]] = []
    for stripe in range(first + 1, first + count + 1):
        rows = ((names.by_pattern(entry, stripe), {"kind": entry.kind} if entry.kind else {}) for entry in counted)
        new.append({"servers": [{"name": name, **kind} for name, kind in rows]})
    if isinstance(given, int):
        yield ValueEdit(("stripes",), [*({} for _ in range(given)), *new])
    else:
        yield from (ValueEdit(("stripes", first + number), entry) for number, entry in enumerate(new))


def _rails(intent: Intent, count: int) -> Iterator[ValueEdit]:
    fabric = intent.fabric
    over = fabric.overrides.stripes
    own = [stripe.rails or (over[n].rails if n in over else None) for n, stripe in enumerate(fabric.stripes, 1)]
    if not all(own):
        yield ValueEdit(("rails",), fabric.rails + count)


def _same_colors(intent: Intent, count: int, step: int) -> Iterator[ValueEdit]:
    """Yield what keeps the colors of existing links when spines are added: how many there are, and their step."""
    given, counted = intent.source.data.get("colors"), {"count": count}
    stepped = {"step": step} if intent.fabric.links_per_spine > 1 else {}
    if isinstance(given, dict):
        wanted = stepped if "names" in given else counted | stepped
        yield from (ValueEdit(("colors", key), value) for key, value in wanted.items() if given.get(key) != value)
    elif stepped:
        yield ValueEdit(("colors",), ({"names": given} if isinstance(given, list) else counted) | stepped)
    elif given is None:
        yield ValueEdit(("colors",), count)


def _servers(intent: Intent, count: int, listed: "_NextNames | None" = None) -> Iterator[ValueEdit]:
    """Yield what adds servers to every stripe: a larger count, or servers by name where no count is written.

    With `listed` they are added by name also where a count is written.
    """
    stripes = range(1, len(intent.fabric.stripes) + 1)
    own = [stripe for stripe in stripes if intent.fabric.stripes[stripe - 1].servers is not None]
    common = [stripe for stripe in stripes if stripe not in own]
    data = intent.source.data
    groups: list[tuple[Path, list[int]]] = [(("servers",), common)] if common else []
    groups += [(("stripes", stripe - 1, "servers"), [stripe]) for stripe in own]
    for path, members in groups:
        if listed is None:
            yield from _group(_at(data, path), path, members, count, _NextNames(()))
        else:
            yield from _listed(_at(data, path), path, members, count, listed)


def _at(data: Any, path: Path) -> Any:
    """Return the group at a path; no servers where it is not written."""
    for step in path:
        data = data.get(step, 0) if isinstance(data, dict) else data[step]
    return data


def _group(group: Any, path: Path, stripes: list[int], count: int, names: "_NextNames") -> Iterator[ValueEdit]:
    """Yield what adds servers to the group of some stripes: by count if it has one, otherwise by name."""
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
    yield from _listed(group, path, stripes, count, names)


def _listed(group: Any, path: Path, stripes: list[int], count: int, names: "_NextNames") -> Iterator[ValueEdit]:
    """Yield what adds servers by name to the group of some stripes."""
    whole: dict[str, Any] = {"count": group} if isinstance(group, int) else group if isinstance(group, dict) else {}
    entries: list[dict[str, Any]] = group if isinstance(group, list) else whole.get("list", [])
    new = []
    for stripe in stripes:
        there = [entry for entry in entries if "name" in entry and entry.get("stripe", stripe) == stripe]
        counted = [entry for entry in (whole, *entries) if "count" in entry and entry.get("stripe", stripe) == stripe]
        like = min(counted, key=lambda entry: "kind" in entry) if counted else (there or entries or [{}])[-1]
        kept = {key: like[key] for key in ("kind",) if key in like}
        for _ in range(count):
            name = names.by_pattern(_counted(like), stripe) if counted else names.after(like.get("name"), entries)
            new.append({"name": name, "stripe": stripe, **kept})
    if isinstance(group, int):
        yield ValueEdit(path, {"count": group, "list": new})
        return
    at = (*path, "list") if isinstance(group, dict) else path
    if isinstance(group, dict) and "list" not in group:
        yield ValueEdit(at, new)
    else:
        yield from (ValueEdit((*at, len(entries) + number), entry) for number, entry in enumerate(new))


def _counted(entry: dict[str, Any]) -> CountedServers:
    return CountedServers(count=entry["count"], name=entry.get("name"), kind=entry.get("kind"))


class _NextNames:
    """Continues the numbers of names; `taken` are the names of the fabric's servers."""

    __slots__ = ("taken",)

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def by_pattern(self, counted: CountedServers, stripe: int) -> str:
        """Return the next free name of counted servers in a stripe."""
        return self._free(lambda number: counted.pattern.format(n=number, s=stripe, i=number), 1)

    def after(self, name: str | None, listed: list[dict[str, Any]]) -> str:
        """Return a name with the next free number behind that of another one, as wide as there."""
        self.taken |= {entry["name"] for entry in listed if "name" in entry}
        found = NUMBERED.fullmatch(name or "server-001")
        start, digits = (found[1], found[2]) if found else (f"{name}-", "1")
        return self._free(lambda number: f"{start}{number:0{len(digits)}}", int(digits))

    def _free(self, name: Callable[[int], str], first: int) -> str:
        new = next(text for text in map(name, count_from(first)) if text not in self.taken)
        self.taken.add(new)
        return new


_GROWTH: dict[Unit, Callable[[Intent, int], Iterator[ValueEdit]]] = {
    "stripe": _entries("stripes"),
    "rail": _rails,
    "spine": _entries("spines"),
    "server": _servers,
}
