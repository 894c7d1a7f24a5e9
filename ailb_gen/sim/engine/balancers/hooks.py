"""The hooks of a load balancer: when the engine calls it, and what it needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ailb_gen.sim.engine.dispatch import Hook
from ailb_gen.sim.fabric import FabricArrays


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a load balancer does, and when; every module of this package has a table `HOOKS` of them by name.

    `everywhere`: nodes know of others at once, not by packets only, or share what they know: such a run has one core.
    `deferred`: what arrives at one time chooses one after the other before anything is sent. `reads_queues`: queues are
    to be exact at every moment. `notes`: it notes choices or round trips of a flow (the records `choices`). `remember`:
    the tiers of switches that note what they chose for a flow by hop, so that several of them share a place. `keeps`:
    whether it keeps more of a flow (the records `steered`), by its parameters.
    """

    # (node, first, count, packet): the position in a next-hop set of the link that a packet takes; None: by hash.
    choose: Hook | None = None
    # Hosts with several links choose by it as well; else they hash.
    at_hosts: bool = False
    # (NONE): the run begins.
    begin: Hook | None = None
    # (subject): a timer of kind BALANCER expires.
    expire: Hook | None = None
    # (flow): a flow begins.
    begin_flow: Hook | None = None
    # (flow): a flow sends again what was not acknowledged in time.
    timed_out: Hook | None = None
    # (packet): a packet of the load balancer's own arrives at a host.
    receive: Hook | None = None
    # (node, link, packet): a switch sends a packet over a link, chosen or not.
    sent: Hook | None = None
    # (node, set, packet): return whether the load balancer itself deals with a packet at a switch.
    takes: Hook | None = None
    # (packet): an answer arrives at the host that sent the data, before anything of it is used.
    acknowledged: Hook | None = None
    # (flow, sent, marked): a flow that has more to send gets an answer to a packet that was sent at a time.
    answered: Hook | None = None
    reads_queues: bool = False
    everywhere: bool = False
    notes: bool = False
    remember: tuple[int, ...] = ()
    deferred: bool = False
    keeps: Callable[[Mapping[str, float]], bool] = lambda parameters: False
    # The shape of its tables; what is never used takes no memory.
    tables: Callable[[FabricArrays, Mapping[str, float]], tuple[int, int, int]] = lambda fabric, parameters: (1, 1, 1)
