"""netplan's YAML: NICs with their settings, routes and rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ailb_gen.addresses import Prefix, address_value, prefix_value
from ailb_gen.errors import IntentError
from ailb_gen.hosts.model import Nic, Route, Rule, Setting, Value
from ailb_gen.hosts.text import Folder
from ailb_gen.yamlio import Path, Source, read_yaml

# netplan reads YAML 1.1, where these words are booleans.
WORDS = {"yes": True, "on": True, "no": False, "off": False}
ROUTE_KEYS = frozenset({"to", "via", "table", "scope", "on-link"})
RULE_KEYS = frozenset({"from", "table", "priority"})


def _value(data: object) -> Value:
    if isinstance(data, str):
        return WORDS.get(data.lower(), data)
    if isinstance(data, list):
        return tuple(_value(item) for item in data)
    if isinstance(data, dict):
        return tuple(f"{key}: {_value(item)}" for key, item in data.items())
    return data if data is None or isinstance(data, bool | int | float) else str(data)


def _number(data: object) -> int | None:
    return data if isinstance(data, int) and not isinstance(data, bool) else None


def _prefix(data: object) -> Prefix | None:
    if data == "default":
        return Prefix(0, 0)
    if not isinstance(data, str):
        return None
    return prefix_value(data if "/" in data else f"{data}/128")


class _Reader:
    """Reads one file; what has the wrong shape becomes a defect of the folder."""

    __slots__ = ("file", "folder", "source")

    def __init__(self, folder: Folder, file: str, source: Source) -> None:
        self.folder, self.file, self.source = folder, file, source

    def line(self, *path: str | int) -> int:
        return self.source.locate(path).line

    def wrong(self, path: Path, what: str) -> None:
        place = self.source.locate(path)
        self.folder.defect(
            self.file, f"{'.'.join(map(str, path)) or 'the file'} must be {what}", place.line, place.column
        )

    def mapping(self, data: object, path: Path) -> dict[Any, Any]:
        if isinstance(data, dict):
            return data
        self.wrong(path, "a mapping")
        return {}

    def entries(self, data: object, path: Path) -> Iterator[tuple[dict[Any, Any], Path]]:
        if not isinstance(data, list):
            self.wrong(path, "a list")
            return
        for number, entry in enumerate(data):
            if isinstance(entry, dict):
                yield entry, (*path, number)
            else:
                self.wrong((*path, number), "a mapping")

    def others(self, entry: dict[Any, Any], known: frozenset[str], path: Path) -> tuple[Setting, ...]:
        return tuple(
            Setting(str(key), _value(value), "", self.line(*path, key))
            for key, value in entry.items()
            if key not in known
        )

    def route(self, nic: str, entry: dict[Any, Any], path: Path) -> Route:
        via = entry.get("via")
        return Route(
            nic=nic,
            to=_prefix(entry.get("to")),
            via=address_value(via) if isinstance(via, str) else None,
            table=_number(entry.get("table")),
            on_link=_value(entry.get("on-link")) is True,
            scope=str(entry.get("scope", "")),
            text=(str(entry.get("to", "")), str(via) if via is not None else ""),
            others=self.others(entry, ROUTE_KEYS, path),
            file=self.file,
            line=self.line(*path, "to"),
            via_line=self.line(*path, "via"),
            table_line=self.line(*path, "table"),
        )

    def rule(self, nic: str, entry: dict[Any, Any], path: Path) -> Rule:
        return Rule(
            nic=nic,
            source=_prefix(entry.get("from")),
            table=_number(entry.get("table")),
            priority=_number(entry.get("priority")),
            text=str(entry.get("from", "")),
            others=self.others(entry, RULE_KEYS, path),
            file=self.file,
            line=self.line(*path, "from"),
            table_line=self.line(*path, "table"),
            priority_line=self.line(*path, "priority"),
        )

    def nic(self, name: str, data: object, path: Path) -> Nic:
        given = self.mapping(data, path)
        plain = given.keys() - {"match", "routes", "routing-policy"}
        match = self.mapping(given.get("match", {}), (*path, "match"))
        routes = self.entries(given.get("routes", []), (*path, "routes"))
        rules = self.entries(given.get("routing-policy", []), (*path, "routing-policy"))
        return Nic(
            name=name,
            settings={
                str(key): Setting(str(key), _value(given[key]), "", self.line(*path, key))
                for key in given
                if key in plain
            },
            match=self.others(match, frozenset(), (*path, "match")),
            routes=tuple(self.route(name, entry, where) for entry, where in routes),
            rules=tuple(self.rule(name, entry, where) for entry, where in rules),
            file=self.file,
            line=self.line(*path),
        )


def read_netplan(folder: Folder, file: str, text: str) -> tuple[list[Nic], list[Setting]]:
    """Return the NICs of a netplan file and the other keys below `network`; defects go to the folder."""
    try:
        source = read_yaml(text, file)
    except IntentError as error:
        for problem in error.problems:
            reason = f"{problem.path}: {problem.reason}" if problem.path else problem.reason
            folder.defect(file, reason, problem.place.line, problem.place.column)
        return [], []
    reader = _Reader(folder, file, source)
    top = reader.mapping(source.data, ())
    network = reader.mapping(top.get("network", {}), ("network",))
    ethernets = reader.mapping(network.get("ethernets", {}), ("network", "ethernets"))
    nics = [reader.nic(str(name), data, ("network", "ethernets", name)) for name, data in ethernets.items()]
    others = [*reader.others(top, frozenset({"network"}), ())]
    others += reader.others(network, frozenset({"ethernets"}), ("network",))
    return nics, others
