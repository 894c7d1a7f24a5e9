"""Compute the fabric that the intent specifies, with what it takes out of service, from the intent alone.

Independently of this, `ailb_gen.deploy.switch_state` expects of devices what their files bring about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.checks.expected_switches import Outline, outline
from ailb_gen.errors import UsageError
from ailb_gen.intent.drain import (
    IN_ALL,
    IN_SHUTDOWN,
    Drain,
    Ends,
    Trouble,
    capacity,
    chosen,
    shutdown_trouble,
    spines_of,
    trouble,
)
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.settings import PortOverride
from ailb_gen.network.fabric import Cable, End
from ailb_gen.wording import did_you_mean

PLAIN_PORT = PortOverride.model_construct()
# How many links a leaf has, by spine and color, both names.
Counts = dict[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class ExpectedDrain:
    """Parts out of service.

    `ports` are those that `drain` disables, at both ends of a link; `ends` are the leaves' ends of links that carry
    nothing, also because the intent disables a single port. `missing` is, by leaf, how many of its links to a spine
    in a color that makes; `lines` say it in words: one per entry, and one for all if there are several.
    `in_shutdown` are the spines in graceful shutdown: their links are up, and carry what has no other path.
    """

    ports: frozenset[End]
    ends: frozenset[End]
    missing: Mapping[str, Counts]
    lines: tuple[str, ...]
    in_shutdown: frozenset[str] = frozenset()

    @property
    def whole(self) -> bool:
        """Whether all links carry their share."""
        return not self.missing and not self.in_shutdown

    def takes(self, cable: Cable) -> bool:
        """Return whether a cable is out of service."""
        return any(
            end in self.ports or end in self.ends or end.device in self.in_shutdown for end in (cable.a, cable.b)
        )


NO_DRAIN = ExpectedDrain(frozenset(), frozenset(), {}, ())


@dataclass(frozen=True, slots=True)
class ExpectedFabric(Outline):
    """The fabric that the intent specifies; `drained` is what it takes out of service."""

    drained: ExpectedDrain = NO_DRAIN


def expected_fabric(fabric: Fabric) -> ExpectedFabric:
    """Compute the fabric that is asked for. Raises UsageError for a drain or graceful shutdown that names nothing."""
    found = outline(fabric)
    return ExpectedFabric(found.fabric, found.colors, found.switches, found.pool, drained(found))


def port_override(expected: ExpectedFabric, end: End) -> PortOverride:
    """Return the settings of a single port in the intent; a drained one is disabled."""
    switch = expected.switches.get(end.device)
    own = switch.ports.get(end.port, PLAIN_PORT) if switch is not None else PLAIN_PORT
    return own.model_copy(update={"disabled": True}) if end in expected.drained.ports else own


def drained(expected: Outline) -> ExpectedDrain:
    """Compute the parts out of service. Raises UsageError for an entry that names nothing."""
    switches = expected.switches
    off = {End(name, port) for name, row in switches.items() for port, own in row.ports.items() if own.disabled}
    entries = expected.fabric.drain
    shut = _in_shutdown(expected)
    if not entries and not off and not shut:
        return NO_DRAIN
    cables = expected_cabling(expected)
    rows = [Ends(*cable[:4], cable.color) for cable in (*cables.links, *cables.hosts)]
    links = rows[: len(cables.links)]
    ports: set[End] = set()
    gone: set[int] = set()
    lines = []
    for entry in entries:
        found = _chosen(entry, rows)
        gone.update(found)
        lines.append(_line(str(entry), [rows[at] for at in found], len(links)))
        for row in (rows[at] for at in found):
            ports.add(End(row.leaf, row.leaf_port))
            if row.color:
                ports.add(End(row.other, row.other_port))
    for name in shut:
        lines.append(_line(f"{name} {IN_SHUTDOWN}", [row for row in links if row.other == name], len(links)))
    for at, row in enumerate(rows):
        ends = [end for end in (End(row.leaf, row.leaf_port), End(row.other, row.other_port)) if end in off]
        if ends:
            gone.add(at)
            lines.append(_line(f"{ends[0].device} {ends[0].port}", [row], len(links)))
    if len(lines) > 1:
        without = [row for at, row in enumerate(rows) if at in gone or (row.color and row.other in shut)]
        lines.append(_line(IN_ALL, without, len(links)))
    missing: dict[str, Counts] = defaultdict(lambda: defaultdict(int))
    for row in (rows[at] for at in gone if rows[at].color):
        missing[row.leaf][row.other, row.color] += 1
    out = frozenset(End(rows[at].leaf, rows[at].leaf_port) for at in gone if rows[at].color)
    counts = {leaf: dict(found) for leaf, found in missing.items()}
    return ExpectedDrain(frozenset(ports), out, counts, tuple(lines), frozenset(shut))


def _in_shutdown(expected: Outline) -> tuple[str, ...]:
    """Return the spines in graceful shutdown, in order. Raises UsageError for an entry that names none."""
    spines = [spine.name for spine in expected.spines]
    others = {"leaf": [leaf.name for leaf in expected.leaves], "color": [color.name for color in expected.colors]}
    found: set[str] = set()
    for entry in expected.fabric.graceful_shutdown:
        wrong = shutdown_trouble(entry, spines, others)
        if wrong is not None:
            raise _unusable("graceful_shutdown", wrong)
        found.update(spines_of(entry, spines))
    return tuple(name for name in spines if name in found)


def _unusable(key: str, wrong: Trouble) -> UsageError:
    hint = did_you_mean(wrong.word, wrong.known)
    return UsageError(f"{key}: {wrong.reason}{f'; {hint}' if hint else ''}")


def _chosen(entry: Drain, rows: Sequence[Ends]) -> list[int]:
    wrong = trouble(entry, rows)
    if wrong is None:
        return chosen(entry, rows)
    raise _unusable("drain", wrong)


def _line(what: str, rows: Iterable[Ends], total: int) -> str:
    colors = [row.color for row in rows]
    return capacity(what, [color for color in colors if color], total, colors.count(""))
