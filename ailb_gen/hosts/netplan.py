"""netplan's YAML: NICs with their settings, routes and rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ailb_gen.addresses import Prefix, address_value, prefix_value
from ailb_gen.errors import IntentError
from ailb_gen.hosts.model import NetplanNic, Rule, ServerRoute, Setting, Value
from ailb_gen.hosts.text import Folder
from ailb_gen.yamlio import Path, Source

# netplan knows what every key takes, and reads its text; quotes and YAML's own types mean nothing to it.
# Source: `handle_generic_bool` and `handle_netdef_guint` in netplan's parse.c.
TRUE, FALSE = frozenset({"true", "on", "yes", "y"}), frozenset({"false", "off", "no", "n"})
NUMBER = re.compile(r"[ \t\n\v\f\r]*\+?([0-9]{1,20})")
BIGGEST = (1 << 32) - 1
BOOLEANS = frozenset(
    ["accept-ra", "critical", "dhcp4", "dhcp6", "ignore-carrier", "ipv6-privacy", "on-link", "optional", "wakeonlan"]
)
NUMBERS = frozenset(["ipv6-mtu", "metric", "mtu", "priority", "table"])
ROUTE_KEYS = frozenset({"to", "via", "table", "scope", "on-link"})
RULE_KEYS = frozenset({"from", "table", "priority"})


def _text(data: object) -> Value:
    """Return a value without a type of its own; of a mapping, its rows."""
    if isinstance(data, list):
        return tuple(_text(item) for item in data)
    if isinstance(data, dict):
        return tuple(f"{key}: {_text(item)}" for key, item in data.items())
    return str(data)


def _number(data: object) -> int | None:
    found = NUMBER.fullmatch(data) if isinstance(data, str) else None
    return int(found[1]) if found is not None and int(found[1]) <= BIGGEST else None


def _boolean(data: object) -> bool | None:
    word = data.lower() if isinstance(data, str) and data.isascii() else None
    return word in TRUE if word in TRUE | FALSE else None


def _prefix(data: object) -> Prefix | None:
    if data == "default":
        return Prefix(0, 0)
    if not isinstance(data, str):
        return None
    return prefix_value(data if "/" in data else f"{data}/128")


class _NetplanReader:
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

    def typed(self, key: str, data: object, path: Path) -> Value:
        """Return the value of a key; one that netplan would refuse becomes a defect, and stays text."""
        if key not in BOOLEANS | NUMBERS:
            return _text(data)
        found = _boolean(data) if key in BOOLEANS else _number(data)
        if found is None:
            self.wrong(path, "true or false" if key in BOOLEANS else f"a whole number up to {BIGGEST}")
        return _text(data) if found is None else found

    def number(self, entry: dict[Any, Any], key: str, path: Path) -> int | None:
        """Return the number of a key; None if there is none."""
        found = self.typed(key, entry[key], (*path, key)) if key in entry else None
        return found if isinstance(found, int) else None

    def others(self, entry: dict[Any, Any], known: frozenset[str], path: Path) -> tuple[Setting, ...]:
        return tuple(
            Setting(str(key), self.typed(str(key), value, (*path, key)), "", self.line(*path, key))
            for key, value in entry.items()
            if key not in known
        )

    def route(self, nic: str, entry: dict[Any, Any], path: Path) -> ServerRoute:
        via = entry.get("via")
        return ServerRoute(
            nic=nic,
            to=_prefix(entry.get("to")),
            via=address_value(via) if isinstance(via, str) else None,
            table=self.number(entry, "table", path),
            on_link="on-link" in entry and self.typed("on-link", entry["on-link"], (*path, "on-link")) is True,
            scope=str(entry.get("scope", "")),
            text=(str(entry.get("to", "")), str(via) if via is not None else ""),
            others=self.others(entry, ROUTE_KEYS, path),
            file=self.file,
            line=self.line(*path, "to"),
            via_line=self.line(*path, "via"),
            table_line=self.line(*path, "table"),
            scope_line=self.line(*path, "scope" if "scope" in entry else "to"),
            on_link_line=self.line(*path, "on-link" if "on-link" in entry else "to"),
        )

    def rule(self, nic: str, entry: dict[Any, Any], path: Path) -> Rule:
        return Rule(
            nic=nic,
            source=_prefix(entry.get("from")),
            table=self.number(entry, "table", path),
            priority=self.number(entry, "priority", path),
            text=str(entry.get("from", "")),
            others=self.others(entry, RULE_KEYS, path),
            file=self.file,
            line=self.line(*path, "from"),
            table_line=self.line(*path, "table"),
            priority_line=self.line(*path, "priority"),
        )

    def nic(self, name: str, data: object, path: Path) -> NetplanNic:
        given = self.mapping(data, path)
        settings = self.others(given, frozenset({"match", "routes", "routing-policy"}), path)
        match = self.mapping(given.get("match", {}), (*path, "match"))
        routes = self.entries(given.get("routes", []), (*path, "routes"))
        rules = self.entries(given.get("routing-policy", []), (*path, "routing-policy"))
        return NetplanNic(
            name=name,
            settings={setting.key: setting for setting in settings},
            match=self.others(match, frozenset(), (*path, "match")),
            routes=tuple(self.route(name, entry, where) for entry, where in routes),
            rules=tuple(self.rule(name, entry, where) for entry, where in rules),
            file=self.file,
            line=self.line(*path),
        )


def read_netplan(folder: Folder, file: str, text: str) -> tuple[list[NetplanNic], list[Setting]]:
    """Return the NICs of a netplan file and the other keys below `network`; defects go to the folder."""
    try:
        source = folder.yaml.read(text, file)
    except IntentError as error:
        for problem in error.problems:
            reason = f"{problem.path}: {problem.reason}" if problem.path else problem.reason
            folder.defect(file, reason, problem.place.line, problem.place.column)
        return [], []
    reader = _NetplanReader(folder, file, source)
    top = reader.mapping(source.data, ())
    network = reader.mapping(top.get("network", {}), ("network",))
    ethernets = reader.mapping(network.get("ethernets", {}), ("network", "ethernets"))
    nics = [reader.nic(str(name), data, ("network", "ethernets", name)) for name, data in ethernets.items()]
    others = [*reader.others(top, frozenset({"network"}), ())]
    others += reader.others(network, frozenset({"ethernets"}), ("network",))
    return nics, others
