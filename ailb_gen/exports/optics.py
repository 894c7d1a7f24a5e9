"""Which medium a cable has, and which optic a port: by option, by length, by what vendors publish for a platform."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.exports.plant import Cage, PlantCable

WORDS = {"smf": "single-mode", "mmf": "multimode", "dac": "DAC", "aoc": "AOC"}
# Both ends of these are part of the cable.
DIRECT = ("dac", "aoc")
# The reach of passive copper and of multimode optics with 100G lanes. Source: NVIDIA, product specifications of
# MCP7Y10 (DAC splitters, 1 to 3 m) and MMA4Z00 (2xSR4, 50 m).
COPPER_M, MULTIMODE_M = Decimal(3), Decimal(50)


class OpticItem(NamedTuple):
    """An optic as it is bought; `name` and `part` are empty where no published one is known."""

    description: str
    name: str
    part: str

    @property
    def short(self) -> str:
        """The name, the description without one."""
        return self.name or self.description


class Media(NamedTuple):
    """The medium of every physical port, and of a cable by its end."""

    by_cage: Mapping[Cage, str]

    def of(self, cable: PlantCable) -> str:
        """Return the medium of a cable: both of its ends have the same."""
        return self.by_cage[cable.a.cage]


def choose_media(cables: Sequence[PlantCable], media: str) -> Media:
    """Return the medium of every port. Cables that share a split port share its optic, and so the medium.

    With `auto`, copper where all cables of such a group are at most COPPER_M long, multimode up to MULTIMODE_M,
    single-mode where one is longer or unknown. Raises UsageError for `dac` and `aoc` where both ends are split.
    """
    if media in DIRECT:
        for cable in cables:
            if _both_split(cable):
                a, b = (f"{end.device} {end.port}" for end in (cable.a, cable.b))
                raise UsageError(
                    f"--media {media}: {a} and {b} are both parts of split ports, and no {WORDS[media]} cable has two "
                    "split ends; use --media smf or mmf, or set sub_ports: 1 on one side"
                )
    if media != "auto":
        return Media({end.cage: media for cable in cables for end in (cable.a, cable.b)})
    found: dict[Cage, str] = {}
    for group in _groups(cables):
        medium = _by_length(group)
        for cable in group:
            found[cable.a.cage] = found[cable.b.cage] = medium
    return Media(found)


def _both_split(cable: PlantCable) -> bool:
    return cable.a.cage.sub_ports > 1 and cable.b.cage.sub_ports > 1


def _by_length(group: Sequence[PlantCable]) -> str:
    lengths = [cable.length_m for cable in group if cable.length_m is not None]
    if len(lengths) < len(group) or max(lengths) > MULTIMODE_M:
        return "smf"
    return "dac" if max(lengths) <= COPPER_M and not any(map(_both_split, group)) else "mmf"


def _groups(cables: Sequence[PlantCable]) -> list[list[PlantCable]]:
    """Return the cables in groups that are connected by physical ports (union-find)."""
    parent: dict[Cage, Cage] = {}

    def root(cage: Cage) -> Cage:
        parent.setdefault(cage, cage)
        while parent[cage] is not cage:
            parent[cage] = parent[parent[cage]]
            cage = parent[cage]
        return cage

    for cable in cables:
        parent[root(cable.a.cage)] = root(cable.b.cage)
    groups: dict[Cage, list[PlantCable]] = defaultdict(list)
    for cable in cables:
        groups[root(cable.a.cage)].append(cable)
    return list(groups.values())


class OpticCatalog:
    """The optics that are published for the platforms of a design."""

    __slots__ = ("hardware", "platforms")

    def __init__(self, design: Design) -> None:
        self.hardware = {one.platform: one for one in design.hardware}
        self.platforms = {switch.name: switch.platform for switch in design.switches}

    def optic(self, cage: Cage, medium: str) -> OpticItem:
        """Return the optic of a port; for `dac` and `aoc` the end of its cable."""
        speeds = f"{cage.sub_ports} x {cage.speed_gbps}G" if cage.sub_ports > 1 else f"{cage.speed_gbps}G"
        if not cage.on_switch:
            return OpticItem(f"NIC {self._noun(medium)}, {speeds}, {WORDS[medium]}", "", "")
        hardware = self.hardware[self.platforms[cage.device]]
        form = f"{hardware.cage} " if hardware.cage else ""
        words = f"{form}{self._noun(medium)}, {speeds}, {WORDS[medium]}"
        for published in hardware.optics:
            if (published.speed_gbps, published.media) == (cage.total_gbps, medium):
                return OpticItem(words, published.name, published.part)
        return OpticItem(words, "", "")

    def form(self, cage: Cage) -> str:
        """Return the form factor of a port, `NIC` for that of a server, whose form the fabric does not tell."""
        if not cage.on_switch:
            return "NIC"
        return self.hardware[self.platforms[cage.device]].cage or "switch"

    @staticmethod
    def _noun(medium: str) -> str:
        return "cable end" if medium in DIRECT else "optic"
