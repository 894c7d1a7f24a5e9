"""The hooks of the congestion control of a run: functions that call the right one, from the tables of all modules."""

from functools import partial

from ailb_gen.sim.congestion import NUMBERS
from ailb_gen.sim.engine import congestion
from ailb_gen.sim.engine.congestion.hooks import CongestionHooks
from ailb_gen.sim.engine.dispatch import chain, hooks_of, ignore_one, ignore_two, of_one, of_two, tables

HOOKS: dict[str, CongestionHooks] = {"none": CongestionHooks(), **tables(congestion)}
_of = partial(hooks_of, HOOKS, NUMBERS)
_chain = partial(chain, "congestion")

begin = _chain(of_one, _of("begin"), ignore_one)
settle = _chain(of_one, _of("settle"), ignore_one)
answered = _chain(of_two, _of("answered"), ignore_two)
timed_out = _chain(of_one, _of("timed_out"), ignore_one)
