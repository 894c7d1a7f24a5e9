"""The class of service of a switch on one port.

The entry under `interfaces` whose name is most specific counts alone: `et-0/0/0` before `et-0/0/*` before `et-*`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Protocol, TypeVar

from ailb_gen.network.cos import (
    CLASSIFIERS,
    DEFAULT_CLASSES,
    DEFAULT_LOSSLESS,
    Classified,
    ClassOfService,
    DropProfile,
    ForwardingClass,
    Pause,
    PfcPoint,
    PortCos,
    Scheduler,
    UnitCos,
)
from ailb_gen.textio import line_field

WILD = frozenset("*?[")
# The logical interface of every port.
UNIT = "0"
NO_CLASS = ForwardingClass("", None, False, None)
NO_SCHEDULER = Scheduler("", False, (), (), "")
NO_PROFILE = DropProfile("", (), ())


@dataclass(frozen=True, slots=True)
class Treatment:
    """The treatment of packets of one DSCP on a port.

    `queue` and `pfc_priority` are None, the texts empty, where nothing is configured. `pfc` says that the port asks
    for a pause when the class fills, `ecn` that it marks, between `fill` at `probability` percent. `loss_priority` is
    that of the classifier. `lost` are the parts that are referred to and not there: `class`, `scheduler`,
    `drop profile`.
    """

    dscp: int
    forwarding_class: str
    loss_priority: str
    queue: int | None
    no_loss: bool
    pfc_priority: int | None
    pfc: bool
    ecn: bool
    fill: tuple[str, ...]
    probability: tuple[str, ...]
    rate: tuple[str, ...]
    priority: str
    line: int = line_field()
    class_line: int = line_field()
    scheduler_line: int = line_field()
    drop_line: int = line_field()
    lost: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Missing:
    """A statement that is referred to, or needed, and not there; `line` is where it is missed."""

    what: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class PortQos:
    """The class of service of one port.

    `pfc` are the DSCPs for which pauses are asked, `pauses` the queue that a received pause of a priority stops,
    `schedulers` the scheduler of every forwarding class. `entry` is what stands under
    `interfaces`; ports with different entries may be treated alike.
    """

    treatments: tuple[Treatment, ...]
    pfc: tuple[PfcPoint, ...]
    pauses: tuple[Pause, ...]
    watchdog: bool
    missing: tuple[Missing, ...]
    schedulers: tuple[tuple[str, Scheduler], ...] = ()
    entry: PortCos | None = field(default=None, compare=False)
    line: int = line_field()
    congestion_line: int = line_field()

    @property
    def lossless(self) -> tuple[Treatment, ...]:
        """The lossless classes."""
        return tuple(treatment for treatment in self.treatments if treatment.no_loss)

    def of(self, dscp: int) -> Treatment | None:
        """Return what happens to a DSCP; None when it is not classified."""
        return next((treatment for treatment in self.treatments if treatment.dscp == dscp), None)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=_Named)
P = TypeVar("P", PortCos, UnitCos)


def _find(rows: Iterable[N], name: str) -> N | None:
    return next((row for row in rows if row.name == name), None)


def _most_specific(rows: Iterable[P], name: str) -> P | None:
    found = [row for row in rows if row.pattern == name or fnmatchcase(name, row.pattern)]
    return max(found, key=lambda row: (WILD.isdisjoint(row.pattern), len(row.pattern)), default=None)


def port_entry(cos: ClassOfService, port: str) -> PortCos | None:
    """Return the entry under `interfaces` that holds for a port such as `et-0/0/0:1`."""
    return _most_specific(cos.ports, port)


class _QosReader:
    """Puts the parts together, noting what is missing."""

    __slots__ = ("cos", "entry", "missing")

    def __init__(self, cos: ClassOfService, entry: PortCos) -> None:
        self.cos, self.entry = cos, entry
        self.missing: list[Missing] = []

    def lacks(self, what: str, line: int) -> None:
        self.missing.append(Missing(what, line))

    def referred(self, rows: Iterable[N], name: str, what: str, line: int) -> N | None:
        """Return the row of that name; notes it when it is not referred to, or not there."""
        found = _find(rows, name) if name else None
        if found is None:
            self.lacks(f"{what} {name}".rstrip(), line)
        return found

    def classified(self) -> tuple[Classified, ...]:
        own = _most_specific(self.entry.units, UNIT)
        attached = dict(self.entry.classifiers) | dict(own.classifiers if own is not None else ())
        line = own.line if own is not None else self.entry.line
        kind = next((kind for kind in CLASSIFIERS if kind in attached), CLASSIFIERS[-1])
        rows = [row for row in self.cos.classifiers if row.kind == kind]
        found = self.referred(rows, attached.get(kind, ""), f"classifiers {kind}", line)
        return found.entries if found is not None else ()

    def schedulers(self) -> dict[str, Scheduler]:
        """Return the scheduler of every forwarding class."""
        entry = self.entry
        found = self.referred(self.cos.scheduler_maps, entry.scheduler_map, "scheduler-map", entry.line)
        result = {}
        for row in found.entries if found is not None else ():
            scheduler = self.referred(self.cos.schedulers, row.scheduler, "schedulers", row.line)
            if scheduler is not None:
                result[row.forwarding_class] = scheduler
        return result

    def treatment(self, row: Classified, scheduler: Scheduler | None, pfc: frozenset[int]) -> Treatment:
        name = row.forwarding_class
        given = _find(self.cos.classes, name) is None and name in DEFAULT_CLASSES
        own = (
            ForwardingClass(name, DEFAULT_CLASSES[name], name in DEFAULT_LOSSLESS, None, row.line)
            if given
            else self.referred(self.cos.classes, name, "forwarding-classes class", row.line)
        )
        if scheduler is None:
            self.lacks(f"scheduler of forwarding class {row.forwarding_class}", self.entry.line)
        fits = (row.loss_priority, "any")
        planned, known = scheduler or NO_SCHEDULER, own or NO_CLASS
        drops = [d for d in planned.drops if d.loss_priority in fits and d.protocol == "any"]
        drop = min(drops, key=lambda d: fits.index(d.loss_priority), default=None)
        profile = drop and self.referred(self.cos.drop_profiles, drop.profile, "drop-profiles", drop.line)
        marking = profile or NO_PROFILE
        lost = {
            "class": own is None,
            "scheduler": scheduler is None,
            "drop profile": scheduler is None or (drop is not None and profile is None),
        }
        return Treatment(
            dscp=row.code_point,
            forwarding_class=row.forwarding_class,
            loss_priority=row.loss_priority,
            queue=known.queue,
            no_loss=known.no_loss,
            pfc_priority=known.pfc_priority,
            pfc=row.code_point in pfc,
            ecn=planned.ecn,
            fill=marking.fill,
            probability=marking.probability,
            rate=planned.rate,
            priority=planned.priority,
            line=row.line,
            class_line=known.line or row.line,
            scheduler_line=planned.line or row.line,
            drop_line=marking.line or planned.line or row.line,
            lost=frozenset(part for part, is_lost in lost.items() if is_lost),
        )


def qos_of(cos: ClassOfService, entry: PortCos | None) -> PortQos:
    """Return what an entry under `interfaces` means; without one a port has no class of service."""
    if entry is None:
        return PortQos((), (), (), False, (Missing("interfaces", cos.line),), (), None, cos.line, cos.line)
    reader = _QosReader(cos, entry)
    rows = reader.classified()
    schedulers = reader.schedulers()
    congestion = reader.referred(cos.congestion, entry.congestion, "congestion-notification-profile", entry.line)
    pfc = congestion.pfc if congestion is not None else ()
    points = frozenset(point.dscp for point in pfc)
    treatments = [reader.treatment(row, schedulers.get(row.forwarding_class), points) for row in rows]
    return PortQos(
        treatments=tuple(sorted(treatments, key=lambda treatment: (treatment.dscp, treatment.forwarding_class))),
        pfc=pfc,
        pauses=congestion.pauses if congestion is not None else (),
        watchdog=congestion is not None and congestion.watchdog,
        missing=tuple(dict.fromkeys(reader.missing)),
        schedulers=tuple(schedulers.items()),
        entry=entry,
        line=entry.line,
        congestion_line=congestion.line if congestion is not None else entry.line,
    )
