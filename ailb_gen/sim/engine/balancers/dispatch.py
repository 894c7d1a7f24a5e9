"""The hooks of the load balancer of a run: functions that call the right one, made from the tables of all modules."""

from functools import partial

from ailb_gen.sim.balancers import NUMBERS
from ailb_gen.sim.engine import balancers
from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.balancers.simple import by_hash, ecmp
from ailb_gen.sim.engine.dispatch import (
    chain,
    hooks_of,
    ignore_one,
    ignore_three,
    of_four,
    of_one,
    of_three,
    tables,
)
from ailb_gen.sim.engine.jit import compiled, spliced
from ailb_gen.sim.engine.records import DATA, EngineState

ECMP = NUMBERS["ecmp"]
HOOKS: dict[str, Hooks] = tables(balancers)
_of = partial(hooks_of, HOOKS, NUMBERS)
_chain = partial(chain, "balancer")


@spliced
def _hash(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    return by_hash(state, node, count, packet)


@spliced
def _leave(state: EngineState, first: int, second: int, third: int, now: int) -> bool:
    return False


_everywhere = {name: row for name, row in HOOKS.items() if row.at_hosts and name != "ecmp"}
_at_switches = {name: row for name, row in HOOKS.items() if not row.at_hosts}
_choose_at_switch = _chain(of_four, hooks_of(_at_switches, NUMBERS, "choose"), _hash)


@spliced
def _choose_by_tier(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Choose by what switches have, but not hosts with several links."""
    if node < state.config[0].hosts:
        return by_hash(state, node, count, packet)
    return _choose_at_switch(state, node, first, count, packet, now)


_choose_any = _chain(of_four, hooks_of(_everywhere, NUMBERS, "choose"), _choose_by_tier)


@compiled
def _choose_other(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Choose by all load balancers but ECMP."""
    if state.packets[packet].kind != DATA:
        return by_hash(state, node, count, packet)
    return _choose_any(state, node, first, count, packet, now)


@spliced
def choose(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position in a next-hop set of the link that a packet takes."""
    if state.config[0].balancer == ECMP:
        return ecmp(state, node, first, count, packet, now)
    return _choose_other(state, node, first, count, packet, now)


begin = _chain(of_one, _of("begin"), ignore_one)
expire = _chain(of_one, _of("expire"), ignore_one)
begin_flow = _chain(of_one, _of("begin_flow"), ignore_one)
timed_out = _chain(of_one, _of("timed_out"), ignore_one)
acknowledged = _chain(of_one, _of("acknowledged"), ignore_one)
receive = _chain(of_one, _of("receive"), ignore_one)
sent = _chain(of_three, _of("sent"), ignore_three)
answered = _chain(of_three, _of("answered"), ignore_three)
takes = _chain(of_three, _of("takes"), _leave)
