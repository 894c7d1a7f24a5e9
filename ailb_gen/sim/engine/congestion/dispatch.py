"""The hooks of the congestion control of a run: functions that call the right one, from the tables of all modules."""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ailb_gen.sim.congestion import NUMBERS
from ailb_gen.sim.engine import congestion
from ailb_gen.sim.engine.congestion.hooks import Hook, Hooks
from ailb_gen.sim.engine.jit import spliced
from ailb_gen.sim.engine.records import EngineState

HOOKS: dict[str, Hooks] = {"none": Hooks()}
for _module in iter_modules(congestion.__path__):
    if _module.name != "dispatch":
        HOOKS |= getattr(import_module(f"{congestion.__name__}.{_module.name}"), "HOOKS", {})


def _chain(kind: str, make: Callable[[int, Hook, Hook], Hook], otherwise: Hook) -> Hook:
    """Return a function that calls the hook of the run's congestion control, `otherwise` without one.

    It is a chain of comparisons, spliced into the function that calls it and compiled once.
    """
    for name, number in reversed(NUMBERS.items()):
        hook = getattr(HOOKS[name], kind)
        if hook is not None:
            otherwise = make(number, hook, otherwise)
    return otherwise


def _of_one(number: int, hook: Hook, other: Hook) -> Hook:
    @spliced
    def call(state: EngineState, flow: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0].congestion == number:
            return hook(state, flow, now)
        return other(state, flow, now)

    return call


def _of_two(number: int, hook: Hook, other: Hook) -> Hook:
    @spliced
    def call(state: EngineState, flow: int, packet: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0].congestion == number:
            return hook(state, flow, packet, now)
        return other(state, flow, packet, now)

    return call


@spliced
def _ignore_one(state: EngineState, flow: int, now: int) -> None:
    pass


@spliced
def _ignore_two(state: EngineState, flow: int, packet: int, now: int) -> None:
    pass


begin = _chain("begin", _of_one, _ignore_one)
settle = _chain("settle", _of_one, _ignore_one)
answered = _chain("answered", _of_two, _ignore_two)
timed_out = _chain("timed_out", _of_one, _ignore_one)
