"""The bill of materials: switches, optics, cables, with sums that prove each other.

Every physical port in use has one optic or one end of a direct attach cable. Every connector of an optic has one end
of a fiber cable. So an item is counted from ports, and its counterpart from cables: `Proof` has both.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from ailb_gen.design.model import Design
from ailb_gen.exports.optics import DIRECT, WORDS, Media, OpticCatalog, choose_media
from ailb_gen.exports.places import Places
from ailb_gen.exports.plant import CableEnd, Cage, PlantCable, plant
from ailb_gen.wording import clean


class Item(NamedTuple):
    """An item to order; `length_m` is text, empty where it is unknown or there is none."""

    category: str
    description: str
    name: str = ""
    part: str = ""
    length_m: str = ""


class BillRow(NamedTuple):
    """An item with its counts; `total` is what to order."""

    item: Item
    used: int
    spares: int

    @property
    def total(self) -> int:
        """Used and spare together."""
        return self.used + self.spares


class Proof(NamedTuple):
    """Counts of ports and of what is plugged in: ports in use, optics and ends of direct cables; the same for fiber.

    `ports` equals `optics` + `direct_ends`; `connectors` equals `fiber_ends`.
    """

    ports: int
    optics: int
    direct_ends: int
    connectors: int
    fiber_ends: int


class Bill(NamedTuple):
    """The rows of a bill of materials, and its proof."""

    rows: tuple[BillRow, ...]
    proof: Proof


def bill_of_materials(design: Design, places: Places, media: str = "auto", spares_percent: int = 0) -> Bill:
    """Return all that a fabric needs, with spares in percent of each item, rounded up. Raises UsageError."""
    cables = plant(design, places)
    return _Count(design, cables, choose_media(cables, media)).bill(spares_percent)


def connector_of(end: CableEnd) -> tuple[Cage, int]:
    """Return the fiber connector of an optic that an end takes: optics of 800G that are split have two, others one.

    Source: NVIDIA, MMS4X00 (800G twin-port OSFP, two MPO-12). One connector has legs for several ports where a port is
    split further.
    """
    return end.cage, int(end.leg or 0) // legs_per_connector(end.cage)


def legs_per_connector(cage: Cage) -> int:
    """Return for how many ports one fiber connector of an optic is."""
    return -(-cage.sub_ports // (2 if cage.total_gbps >= 800 and cage.sub_ports > 1 else 1))


def _length(lengths: Sequence[Decimal | None]) -> str:
    """Return the longest; nothing if one is unknown."""
    known = [one for one in lengths if one is not None]
    return f"{max(known).normalize():f}" if known and len(known) == len(lengths) else ""


class _Count:
    def __init__(self, design: Design, cables: Sequence[PlantCable], media: Media) -> None:
        self.design, self.cables, self.media = design, cables, media
        self.catalog = OpticCatalog(design)
        self.ports = dict.fromkeys(end.cage for cable in cables for end in (cable.a, cable.b))
        self.direct = [cable for cable in cables if media.of(cable) in DIRECT]
        self.fiber = [cable for cable in cables if media.of(cable) not in DIRECT]

    def bill(self, percent: int) -> Bill:
        counts = Counter[Item]()
        groups = (self.switches(), self.optics(), self.direct_cables(), self.straight(), self.breakouts())
        for items in groups:
            counts.update(items)
        rows = tuple(BillRow(item, used, -(-used * percent // 100)) for item, used in counts.items())
        return Bill(rows, self.proof(counts))

    def switches(self) -> Iterator[Item]:
        about = {one.platform: one.description for one in self.design.hardware}
        for platform in sorted(switch.platform for switch in self.design.switches):
            # A description is free text of the fabric file; it begins no cell and has one line.
            yield Item("switch", clean(" ".join(f"switch, {about[platform] or platform}".split())), platform)

    def optics(self) -> Iterator[Item]:
        for cage in sorted(self.ports, key=lambda cage: (not cage.on_switch, -cage.total_gbps, cage.sub_ports)):
            medium = self.media.by_cage[cage]
            if medium not in DIRECT:
                yield Item("optic", *self.catalog.optic(cage, medium))

    def direct_cables(self) -> Iterator[Item]:
        """One cable per split port with all its legs, else one per pair of ports."""
        legs: dict[Cage, list[PlantCable]] = defaultdict(list)
        for cable in self.direct:
            legs[cable.b.cage if cable.b.cage.sub_ports > 1 else cable.a.cage].append(cable)
        for trunk, cables in legs.items():
            medium, first = self.media.by_cage[trunk], cables[0]
            far = first.a.cage if trunk is first.b.cage else first.b.cage
            to = f"{trunk.sub_ports} x {far.speed_gbps}G" if trunk.sub_ports > 1 else f"{far.speed_gbps}G"
            ends = f"{trunk.total_gbps}G {self.catalog.form(trunk)} to {to} {self.catalog.form(far)}"
            length = _length([cable.length_m for cable in cables])
            yield Item("cable", f"{WORDS[medium]} cable, {ends}", length_m=length)

    def straight(self) -> Iterator[Item]:
        for cable in self.fiber:
            if not any(legs_per_connector(end.cage) > 1 for end in (cable.a, cable.b)):
                words = f"{WORDS[self.media.of(cable)]} fiber cable, {cable.speed_gbps}G"
                yield Item("cable", words, length_m=_length([cable.length_m]))

    def breakouts(self) -> Iterator[Item]:
        """One breakout cable per connector with legs; a coupler where two legs meet.

        Where two meet, the length counts at the leaf alone.
        """
        lengths: dict[tuple[Cage, int], list[Decimal | None]] = defaultdict(list)
        for cable in self.fiber:
            split = [legs_per_connector(end.cage) > 1 for end in (cable.a, cable.b)]
            if split[0]:
                lengths[connector_of(cable.a)].append(cable.length_m)
            if split[1]:
                lengths[connector_of(cable.b)].append(None if split[0] else cable.length_m)
            if all(split):
                yield Item("coupler", f"{WORDS[self.media.of(cable)]} fiber coupler, {cable.speed_gbps}G")
        for (cage, _), known in lengths.items():
            fiber = WORDS[self.media.by_cage[cage]]
            legs = f"{legs_per_connector(cage)} x {cage.speed_gbps}G"
            yield Item("cable", f"{fiber} fiber breakout cable, {legs}", length_m=_length(known))

    def proof(self, counts: Counter[Item]) -> Proof:
        """Count ports and connectors from the ends of cables, optics and ends of direct cables from the items."""
        of_category = Counter[str]()
        for item, used in counts.items():
            of_category[item.category] += used
        # Every direct cable has a trunk, and a leg per pair of ports that it joins.
        direct = sum(1 for _ in self.direct_cables()) + len(self.direct)
        connectors = {connector_of(end) for cable in self.fiber for end in (cable.a, cable.b)}
        plain = sum(used for item, used in counts.items() if " fiber cable, " in item.description)
        trunks = sum(used for item, used in counts.items() if " breakout cable, " in item.description)
        legs = sum(
            (legs_per_connector(cable.a.cage) > 1) + (legs_per_connector(cable.b.cage) > 1) for cable in self.fiber
        )
        # Two legs meet in a coupler; every other leg ends in an optic.
        fiber_ends = 2 * plain + trunks + legs - 2 * of_category["coupler"]
        return Proof(len(self.ports), of_category["optic"], direct, len(connectors), fiber_ends)
