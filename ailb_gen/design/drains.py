"""Drains: what `drain`, `graceful_shutdown` and disabled ports take out of service, and whether paths are left."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.design.colors import ALL_COLORS
from ailb_gen.design.inventory import Slot
from ailb_gen.design.model import Color
from ailb_gen.design.problems import Problems
from ailb_gen.design.servers import HostPortUse
from ailb_gen.design.wiring import Wire
from ailb_gen.intent.drain import (
    IN_ALL,
    IN_SHUTDOWN,
    Drain,
    Ends,
    capacity,
    chosen,
    drained_too,
    shutdown_trouble,
    spines_of,
    trouble,
)
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path

# (spine, color): over what a leaf has at least one link in service.
Ways = frozenset[tuple[str, str]]
# What is missing for a pair: the prefixes of these colors have no path.
Cut = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Drained:
    """Parts out of service: ports by switch that `drain` disables, and lines that describe the missing capacity.

    `in_shutdown` are the spines in graceful shutdown: their ports stay up.
    """

    ports: Mapping[str, frozenset[str]]
    lines: tuple[str, ...]
    in_shutdown: frozenset[str] = frozenset()


NOTHING: frozenset[str] = frozenset()


def drained(
    slots: Mapping[str, Slot],
    rows: Sequence[Wire],
    hosts: Iterable[HostPortUse],
    colors: tuple[Color, ...],
    problems: Problems,
) -> Drained:
    """Resolve `drain` and `graceful_shutdown`; notes entries that name nothing, and pairs of leaves that they cut."""
    entries, shut = problems.intent.fabric.drain, problems.intent.fabric.graceful_shutdown
    named = {name for name, slot in slots.items() if any(port.disabled for port in slot.device.ports.values())}
    if not entries and not shut and not named:
        return Drained({}, ())
    links = [row.link for row in rows]
    cables = [Ends(k.leaf, k.leaf_interface, k.spine, k.spine_interface, k.color.name) for k in links]
    cables += [Ends(use.leaf, use.use.interface, use.server, use.nic, "") for use in hosts]
    off = {} if not named else _disabled({name: slots[name] for name in named}, cables)
    ports: dict[str, set[str]] = defaultdict(set)
    lines = []
    gone = set(off)
    for number, entry in enumerate(entries):
        found = _found(entry, number, cables, problems)
        gone.update(found)
        for cable in (cables[at] for at in found):
            ports[cable.leaf].add(cable.leaf_port)
            if cable.color:
                ports[cable.other].add(cable.other_port)
        lines.append(_line(str(entry), found, cables, len(links)))
    spines = _in_shutdown(slots, cables, problems)
    for name in spines:
        found = [at for at, link in enumerate(links) if link.spine == name]
        gone.update(found)
        lines.append(_line(f"{name} {IN_SHUTDOWN}", found, cables, len(links)))
    lines += [_line(text, [at], cables, len(links)) for at, text in off.items()]
    if len(lines) > 1:
        # Entries may name the same links.
        lines.append(_line(IN_ALL, sorted(gone), cables, len(links)))
    if gone:
        _check_cuts(slots, cables[: len(links)], gone, colors, problems)
    return Drained({name: frozenset(found) for name, found in ports.items()}, tuple(lines), frozenset(spines))


def _in_shutdown(slots: Mapping[str, Slot], cables: Sequence[Ends], problems: Problems) -> tuple[str, ...]:
    """Return the spines in graceful shutdown, in order; notes entries that name none, or one that is drained."""
    fabric = problems.intent.fabric
    spines = tuple(name for name, slot in slots.items() if slot.role == "spine")
    found: set[str] = set()
    for number, entry in enumerate(fabric.graceful_shutdown):
        others = {
            "leaf": [name for name, slot in slots.items() if slot.role == "leaf"],
            "server": [cable.other for cable in cables if not cable.color],
            "color": [cable.color for cable in cables if cable.color],
        }
        path = _path("graceful_shutdown", number, problems)
        wrong = shutdown_trouble(entry, spines, others)
        if wrong is not None:
            problems.error(wrong.code, path, wrong.reason, did_you_mean(wrong.word, wrong.known))
        elif name := drained_too(entry, fabric.drain, spines):
            reason = f"{name} is drained, too: no session is left over which it could withdraw its routes"
            problems.error("conflict", path, reason, "name it under one of 'drain' and 'graceful_shutdown'")
        found.update(spines_of(entry, spines))
    return tuple(name for name in spines if name in found)


def _path(key: str, number: int, problems: Problems) -> Path:
    """Return the path of an entry, which is that of the key where it is no list."""
    return (key, number) if (key, number) in problems.intent.source.places else (key,)


def _disabled(slots: Mapping[str, Slot], cables: Sequence[Ends]) -> dict[int, str]:
    """Return the cables, by number, of which one of these switches disables a port, with that port."""
    found: dict[int, str] = {}
    for number, cable in enumerate(cables):
        for device, port in ((cable.leaf, cable.leaf_port), (cable.other, cable.other_port)):
            override = slots[device].device.ports.get(port) if device in slots else None
            if override is not None and override.disabled:
                found.setdefault(number, f"{device} {port}")
    return found


def _found(entry: Drain, number: int, cables: Sequence[Ends], problems: Problems) -> list[int]:
    wrong = trouble(entry, cables)
    if wrong is not None:
        problems.error(
            wrong.code, _path("drain", number, problems), wrong.reason, did_you_mean(wrong.word, wrong.known)
        )
        return []
    return chosen(entry, cables)


def _line(what: str, found: Iterable[int], cables: Sequence[Ends], total: int) -> str:
    colors = [cables[at].color for at in found]
    return capacity(what, [color for color in colors if color], total, colors.count(""))


def _check_cuts(
    slots: Mapping[str, Slot], links: Sequence[Ends], gone: set[int], colors: tuple[Color, ...], problems: Problems
) -> None:
    """Note pairs of leaves, and prefixes, that have no path left."""
    left: dict[str, set[tuple[str, str]]] = {name: set() for name, slot in slots.items() if slot.role == "leaf"}
    for number, link in enumerate(links):
        if number not in gone:
            left[link.leaf].add((link.other, link.color))
    alike: dict[Ways, list[str]] = defaultdict(list)
    for name, ways in left.items():
        alike[frozenset(ways)].append(name)
    cuts = [cut for cut in _cuts(alike, colors) if cut[2]]
    if not cuts:
        return
    source, target, missing = cuts[0]
    what = "any prefix" if len(missing) == len(colors) else f"the prefix of color {', '.join(missing)}"
    more = ", and others" if len(cuts) > 1 else ""
    fabric = problems.intent.fabric
    path: Path = ("drain",) if fabric.drain else ("graceful_shutdown",) if fabric.graceful_shutdown else ("overrides",)
    reason = f"{source} would have no path left to {what} of {target}{more}"
    hint = "keep a spine, in a color that is the prefix's own or backs it up, to which both are connected"
    if not all(left.values()):
        alone = min(name for name, ways in left.items() if not ways)
        hint = f"{alone} would have no uplink at all: take its GPUs out of the scheduler instead, or keep an uplink"
    problems.error("drain-cuts", path, reason, hint)


def _cuts(alike: Mapping[Ways, Sequence[str]], colors: tuple[Color, ...]) -> Iterable[Cut]:
    """Give, for every two kinds of leaves, a pair of them and the colors whose prefixes cannot be reached."""
    for near, sources in alike.items():
        for far, targets in alike.items():
            if near is far and len(sources) < 2:
                continue
            target = targets[1] if near is far else targets[0]
            pinned = {color for _, color in near & far}
            missing = [color for color in colors if color.name not in pinned and not _backed_up(color, near, far)]
            yield sources[0], target, tuple(color.name for color in missing)


def _backed_up(color: Color, near: Ways, far: Ways) -> bool:
    """Return whether a spine certainly passes a prefix on in another color.

    It sends its active route alone, and only over sessions of that route's color. That is the prefix's own color where
    the spine has it; of several backups it may be any.
    """
    heard: dict[str, set[str]] = defaultdict(set)
    for spine, name in far:
        if name == color.name or color.backup in (ALL_COLORS, name):
            heard[spine].add(name)
    return any(
        color.name not in names and all((spine, name) in near for name in names) for spine, names in heard.items()
    )
