"""Labels of cables: the lines on the label of each end, and all of it as a table for a label printer's program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.optics import OpticCatalog, choose_media
from ailb_gen.exports.places import read_places
from ailb_gen.exports.plant import CableEnd, PlantCable, plant
from ailb_gen.textio import csv_text

_END = ("device", "port", "leg", "split", "rack", "unit", "optic")
COLUMNS = (
    *("cable_id", "kind", "color", "rail", "speed", "media", "length_m"),
    *(f"{side}_{column}" for side in "ab" for column in _END),
)


class LabeledCable(NamedTuple):
    """A cable with its medium, and the optic at each end in words."""

    cable: PlantCable
    media: str
    optics: tuple[str, str]

    @property
    def length(self) -> str:
        """The length in meters as text, empty where it is unknown."""
        return "" if self.cable.length_m is None else f"{self.cable.length_m.normalize():f}"


def labeled(given: ExportInput) -> Iterator[LabeledCable]:
    """Return all cables in the order of `cabling.csv`. Raises IntentError and UsageError for options and tables."""
    printed = given.printed
    cables = plant(given.design, read_places(printed.racks, printed.lengths, given.design.roles))
    media, catalog = choose_media(cables, printed.media), OpticCatalog(given.design)
    optics = {cage: catalog.optic(cage, medium).short for cage, medium in media.by_cage.items()}
    for cable in cables:
        yield LabeledCable(cable, media.of(cable), (optics[cable.a.cage], optics[cable.b.cage]))


def table(given: ExportInput) -> str:
    """Return a row per cable with both ends."""
    return csv_text(COLUMNS, map(_row, labeled(given)))


def _row(one: LabeledCable) -> tuple[object, ...]:
    cable = one.cable
    return (
        *(cable.id, cable.kind, cable.color, cable.rail, f"{cable.speed_gbps}g", one.media, one.length),
        *_end(cable.a, one.optics[0]),
        *_end(cable.b, one.optics[1]),
    )


def _end(end: CableEnd, optic: str) -> tuple[object, ...]:
    rack, unit = end.position
    return (end.device, end.port, end.leg, end.cage.split, rack, unit, optic)


def label_lines(one: LabeledCable, side: int) -> tuple[str, ...]:
    """Return the lines on the label of end 0 or 1: id and color or rail, this end, the other end, the rest."""
    here, there = (one.cable.a, one.cable.b) if side == 0 else (one.cable.b, one.cable.a)
    racks = [str(end.position) or "?" for end in (here, there)]
    more = [f"{one.cable.speed_gbps}g", one.media, f"{one.length}m" * bool(one.length)]
    more += [" > ".join(racks)] * any(end.position.rack for end in (here, there))
    return (
        f"{one.cable.id} {one.cable.mark}",
        f"{here.device} {here.port}",
        f"> {there.device} {there.port}",
        " ".join(filter(None, more)),
    )
