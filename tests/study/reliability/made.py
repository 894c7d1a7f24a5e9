"""A made-up fabric in which much fails."""

from __future__ import annotations

from ailb_gen.study.reliability.elements import Elements, FailingParts, Parts
from ailb_gen.study.reliability.states import Checkpoints, SpeedCurve


def inventory(more: float = 1.0, used: int = 5) -> FailingParts:
    """Return 64 links, 4 spines, 4 leaves and 6 servers; `more` multiplies all MTBF."""

    def one(kind: str, count: int, mtbf_h: float, mttr_h: float) -> Elements:
        return Elements(kind, count, mtbf_h * more, mttr_h)

    return FailingParts(
        links=Parts(64, (one("links", 1, 3000, 10), one("optics", 2, 5000, 4))),
        spines=Parts(4, (one("spines", 1, 5000, 20),)),
        leaves=Parts(4, (one("leaves", 1, 4000, 8),)),
        servers=Parts(6, (one("nics", 8, 4000, 12), one("links", 8, 3000, 10))),
        used=used,
    )


CHECKPOINTS = Checkpoints(every_h=0.5, write_h=1 / 60, restart_h=1 / 6)
LINKS, SPINES = SpeedCurve({1: 0.95, 2: 0.9}), SpeedCurve({1: 0.8})
