"""The hooks of a congestion control: when the engine calls it, and what it needs to know of it."""

from __future__ import annotations

from dataclasses import dataclass

from ailb_gen.sim.engine.dispatch import Hook


@dataclass(frozen=True, slots=True)
class CongestionHooks:
    """What a congestion control does, and when; every module of this package has a table `HOOKS` of them by name.

    `paced`: packets of a flow leave at its `rate`, bytes per ps. `windowed`: while fewer packets than its `window` are
    in flight. `keeps`: it has a record of a flow (`controlled`).
    """

    # (flow): a flow begins; its rate is that of its link.
    begin: Hook | None = None
    # (flow): the rate is to be up to date, since a packet leaves.
    settle: Hook | None = None
    # (flow, packet): an ACK or NACK has come, whose packet may be read.
    answered: Hook | None = None
    # (flow): a flow sends again what was not acknowledged in time.
    timed_out: Hook | None = None
    paced: bool = False
    windowed: bool = False
    keeps: bool = False
