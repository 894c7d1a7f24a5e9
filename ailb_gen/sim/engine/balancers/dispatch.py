"""The hooks of the load balancer of a run: functions that call the right one, made from the tables of all modules."""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ailb_gen.sim.balancers import NUMBERS
from ailb_gen.sim.engine import balancers
from ailb_gen.sim.engine.balancers.hooks import Hook, Hooks
from ailb_gen.sim.engine.balancers.simple import by_hash, ecmp
from ailb_gen.sim.engine.jit import compiled, spliced
from ailb_gen.sim.engine.records import DATA, EngineState

ECMP = NUMBERS["ecmp"]
HOOKS: dict[str, Hooks] = {}
for _module in iter_modules(balancers.__path__):
    if _module.name != "dispatch":
        HOOKS |= getattr(import_module(f"{balancers.__name__}.{_module.name}"), "HOOKS", {})


def _of(kind: str, at_hosts: bool | None = None) -> list[tuple[int, Hook]]:
    """Return the hooks of one kind with the numbers of their load balancers."""
    return [
        (number, hook)
        for name, number in NUMBERS.items()
        if (hook := getattr(HOOKS[name], kind)) is not None and at_hosts in (None, HOOKS[name].at_hosts)
    ]


def _chain(make: Callable[[int, Hook, Hook], Hook], hooks: list[tuple[int, Hook]], otherwise: Hook) -> Hook:
    """Return a function that calls the hook of the run's load balancer, `otherwise` without one.

    It is a chain of comparisons, spliced into the function that calls it and compiled once.
    """
    for number, hook in reversed(hooks):
        otherwise = make(number, hook, otherwise)
    return otherwise


def _choosing(number: int, hook: Hook, other: Hook) -> Hook:
    @spliced
    def call(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0].balancer == number:
            return hook(state, node, first, count, packet, now)
        return other(state, node, first, count, packet, now)

    return call


def _of_one(number: int, hook: Hook, other: Hook) -> Hook:
    @spliced
    def call(state: EngineState, subject: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0].balancer == number:
            return hook(state, subject, now)
        return other(state, subject, now)

    return call


def _of_three(number: int, hook: Hook, other: Hook) -> Hook:
    @spliced
    def call(state: EngineState, first: int, second: int, third: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0].balancer == number:
            return hook(state, first, second, third, now)
        return other(state, first, second, third, now)

    return call


@spliced
def _hash(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    return by_hash(state, node, count, packet)


@spliced
def _ignore_one(state: EngineState, subject: int, now: int) -> None:
    pass


@spliced
def _ignore_three(state: EngineState, first: int, second: int, third: int, now: int) -> None:
    pass


@spliced
def _leave(state: EngineState, first: int, second: int, third: int, now: int) -> bool:
    return False


_everywhere = [(number, hook) for number, hook in _of("choose", at_hosts=True) if number != ECMP]
_choose_at_switch = _chain(_choosing, _of("choose", at_hosts=False), _hash)


@spliced
def _choose_by_tier(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Choose by what switches have, but not hosts with several links."""
    if node < state.config[0].hosts:
        return by_hash(state, node, count, packet)
    return _choose_at_switch(state, node, first, count, packet, now)


_choose_any = _chain(_choosing, _everywhere, _choose_by_tier)


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


begin = _chain(_of_one, _of("begin"), _ignore_one)
expire = _chain(_of_one, _of("expire"), _ignore_one)
begin_flow = _chain(_of_one, _of("begin_flow"), _ignore_one)
timed_out = _chain(_of_one, _of("timed_out"), _ignore_one)
acknowledged = _chain(_of_one, _of("acknowledged"), _ignore_one)
receive = _chain(_of_one, _of("receive"), _ignore_one)
sent = _chain(_of_three, _of("sent"), _ignore_three)
answered = _chain(_of_three, _of("answered"), _ignore_three)
takes = _chain(_of_three, _of("takes"), _leave)
