"""Entries of `drain` and `graceful_shutdown`: what to take out of service, by device, port or color."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema

from ailb_gen.validation import wrong
from ailb_gen.wording import counted

# A word is a name or a glob; `DEVICE PORT` and `DEVICE:PORT` are the same, because ports hold colons and devices none.
WORD = r"[A-Za-z0-9_.\-*?\[\]!]+"
# What the line is about that sums up several.
IN_ALL = "in all"
# What the line of a spine in graceful shutdown adds to its name.
IN_SHUTDOWN = "in graceful shutdown"
# Why what is no spine cannot be shut down gracefully.
NO_SPINE = {
    "leaf": "only spines are shut down gracefully: a leaf is the only path to its NICs",
    "server": "only spines are shut down gracefully; name the server under 'drain'",
    "color": "only spines are shut down gracefully; name the spines of the color",
}
SHOWN = 8
# Percent; what is less is not written as nothing.
LEAST = 0.1
ENTRY = re.compile(rf"(?P<first>{WORD})(?:(?: +|:)(?P<second>[A-Za-z0-9_./:\-*?\[\]!]+))?")


@dataclass(frozen=True, slots=True)
class Drain:
    """An entry: a pattern of devices or colors; `second` narrows it to ports, or to peers, of these devices."""

    first: str
    second: str = ""

    def __str__(self) -> str:
        return f"{self.first} {self.second}".rstrip()


class Ends(NamedTuple):
    """A cable: a leaf's port, then a spine's or a server's; `color` is empty towards a server."""

    leaf: str
    leaf_port: str
    other: str
    other_port: str
    color: str


def parse_drain(value: object) -> Drain:
    """Read an entry such as `spine3`, `spine*`, `blue`, `stripe1-leaf1 et-0/0/1:0` or `stripe1-leaf1 spine3`."""
    found = ENTRY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        example = "such as spine3, or 'stripe1-leaf1 et-0/0/1:0'"
        raise wrong("wrong-value", f"{str(value)[:60]!r} is not a device, a device and its port, or a color, {example}")
    return Drain(found["first"], found["second"] or "")


def parse_spine(value: object) -> Drain:
    """Read an entry of `graceful_shutdown`: the name of a spine, or a glob."""
    if not isinstance(value, str) or re.fullmatch(WORD, value) is None:
        raise wrong("wrong-value", f"{str(value)[:60]!r} is not the name of a spine, such as spine3, or a glob")
    return Drain(value)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


DrainEntry = Annotated[
    Drain,
    PlainValidator(parse_drain),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["spine3", "stripe1-leaf1 et-0/0/1:0", "blue"]}),
]
DrainPlan = Annotated[
    tuple[DrainEntry, ...], BeforeValidator(_as_list, json_schema_input_type=str | tuple[DrainEntry, ...])
]
SpineEntry = Annotated[
    Drain,
    PlainValidator(parse_spine),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["spine3", "spine*"]}),
]
ShutdownPlan = Annotated[
    tuple[SpineEntry, ...], BeforeValidator(_as_list, json_schema_input_type=str | tuple[SpineEntry, ...])
]


def chosen(entry: Drain, cables: Sequence[Ends]) -> list[int]:
    """Return the numbers of the cables that an entry names.

    A switch stands for its fabric links, a server for all its ports, a color for its links.
    """
    names = {name for cable in cables for name in (cable.leaf, cable.other, cable.color)}
    named = {name for name in names if name and fnmatchcase(name, entry.first)}
    if not named:
        return []
    if entry.second:
        return [number for number, cable in enumerate(cables) if _narrowed(entry.second, named, cable)]
    return [
        number
        for number, cable in enumerate(cables)
        if cable.other in named or (cable.color and (cable.leaf in named or cable.color in named))
    ]


def _narrowed(second: str, named: set[str], cable: Ends) -> bool:
    sides = ((cable.leaf, cable.leaf_port, cable.other), (cable.other, cable.other_port, cable.leaf))
    return any(
        device in named and (fnmatchcase(port, second) or fnmatchcase(peer, second)) for device, port, peer in sides
    )


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an entry cannot be used: `word` is what is wrong in it, `known` what could have been meant."""

    code: str
    reason: str
    word: str
    known: tuple[str, ...] = ()


def trouble(entry: Drain, cables: Sequence[Ends]) -> Trouble | None:
    """Return why an entry cannot be used: it names nothing, or a device and a color at once; None if it can be."""
    devices = {name for cable in cables for name in (cable.leaf, cable.other)}
    colors = {cable.color for cable in cables if cable.color}
    of_devices = {name for name in devices if fnmatchcase(name, entry.first)}
    of_colors = {name for name in colors if fnmatchcase(name, entry.first)}
    if of_devices and of_colors and not entry.second:
        device, color = min(of_devices), min(of_colors)
        reason = f"{entry.first!r} names the device {device} and the color {color}; for the device write '{device} *'"
        return Trouble("conflict", reason, entry.first)
    if not of_devices and (entry.second or not of_colors):
        kinds = "switch or server" if entry.second else "switch, server or color"
        known = devices if entry.second else devices | colors
        return Trouble("unknown-device", f"no {kinds} is called {entry.first!r}", entry.first, tuple(sorted(known)))
    if entry.second and not chosen(entry, cables):
        sides = [side for cable in cables for side in (cable[:3], (cable.other, cable.other_port, cable.leaf))]
        ends = {word for device, port, peer in sides if device in of_devices for word in (port, peer)}
        reason = f"no cable of {min(of_devices)} has {entry.second!r} at an end"
        return Trouble("unused-port", reason, entry.second, tuple(sorted(ends)))
    return None


def spines_of(entry: Drain, spines: Sequence[str]) -> tuple[str, ...]:
    """Return the spines that an entry of `graceful_shutdown` names."""
    return tuple(name for name in spines if fnmatchcase(name, entry.first))


def shutdown_trouble(entry: Drain, spines: Sequence[str], others: Mapping[str, Sequence[str]]) -> Trouble | None:
    """Return why an entry of `graceful_shutdown` cannot be used; None if it can be.

    `others` are the names of what is no spine, by what it is.
    """
    if spines_of(entry, spines):
        return None
    for kind, names in others.items():
        if entry.first in names:
            reason = f"{entry.first} is a {kind}; {NO_SPINE[kind]}"
            return Trouble("wrong-value", reason, "")
    return Trouble("unknown-device", f"no spine is called {entry.first!r}", entry.first, tuple(spines))


def drained_too(entry: Drain, drains: Iterable[Drain], spines: Sequence[str]) -> str:
    """Return a spine that an entry of `graceful_shutdown` and one of `drain` name; empty if there is none."""
    whole = [one for one in drains if not one.second]
    named = (name for name in spines_of(entry, spines) if any(fnmatchcase(name, one.first) for one in whole))
    return next(named, "")


def capacity(what: str, links: Sequence[str], total: int, servers: int = 0) -> str:
    """Describe what is missing: `links` are the colors of the links out of service, `total` counts the fabric's links.

    `servers` is the number of server ports.
    """
    colors = list(dict.fromkeys(links))
    more = " …" if len(colors) > SHOWN else ""
    some = f"color {colors[0]}" if len(colors) == 1 else f"colors {', '.join(colors[:SHOWN])}{more}"
    parts = []
    if links:
        share = 100 * len(links) / total
        percent = f"{share:.1f}".removesuffix(".0") if share >= LEAST else f"under {LEAST}"
        parts.append(f"{len(links)} of {total} uplinks of {some}, {percent} % of capacity")
    if servers:
        parts.append(counted(servers, "server port"))
    return f"{what} ({'; '.join(parts)})"
