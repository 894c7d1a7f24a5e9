"""Functions that call the hooks of what a run has: its load balancer, its congestion control.

Each is a chain of comparisons with a field of the configuration, spliced into the function that calls it and compiled
once.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from ailb_gen.sim.engine.jit import spliced
from ailb_gen.sim.engine.records import EngineState

# A compiled function; the state comes first and the time last.
Hook = Callable[..., Any]
# A hook with the number of what has it, as the configuration knows it.
Numbered = tuple[int, Hook]


def tables(package: ModuleType) -> dict[str, Any]:
    """Return the tables `HOOKS` of all modules of a package but `dispatch`, in one."""
    result: dict[str, Any] = {}
    for module in iter_modules(package.__path__):
        if module.name != "dispatch":
            result |= getattr(import_module(f"{package.__name__}.{module.name}"), "HOOKS", {})
    return result


def hooks_of(hooks: Mapping[str, Any], numbers: Mapping[str, int], kind: str) -> list[Numbered]:
    """Return the hooks of one kind with the numbers of what has one."""
    found = [(numbers[name], getattr(hooks[name], kind)) for name in sorted(hooks, key=numbers.__getitem__)]
    return [(number, hook) for number, hook in found if hook is not None]


def chain(field: str, make: Callable[[str, int, Hook, Hook], Hook], hooks: Sequence[Numbered], otherwise: Hook) -> Hook:
    """Return a function that calls the hook whose number a field of the configuration has, `otherwise` without one.

    `make` is `of_one`, ..., after how many numbers the hooks are called with between state and time.
    """
    for number, hook in reversed(hooks):
        otherwise = make(field, number, hook, otherwise)
    return otherwise


def of_one(field: str, number: int, hook: Hook, other: Hook) -> Hook:
    """Return a link of a chain for hooks of one number."""

    @spliced
    def call(state: EngineState, subject: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0][field] == number:
            return hook(state, subject, now)
        return other(state, subject, now)

    return call


def of_two(field: str, number: int, hook: Hook, other: Hook) -> Hook:
    """Return a link of a chain for hooks of two numbers."""

    @spliced
    def call(state: EngineState, first: int, second: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0][field] == number:
            return hook(state, first, second, now)
        return other(state, first, second, now)

    return call


def of_three(field: str, number: int, hook: Hook, other: Hook) -> Hook:
    """Return a link of a chain for hooks of three numbers."""

    @spliced
    def call(state: EngineState, first: int, second: int, third: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0][field] == number:
            return hook(state, first, second, third, now)
        return other(state, first, second, third, now)

    return call


def of_four(field: str, number: int, hook: Hook, other: Hook) -> Hook:
    """Return a link of a chain for hooks of four numbers."""

    @spliced
    def call(state: EngineState, first: int, second: int, third: int, fourth: int, now: int) -> Any:  # noqa: ANN401
        if state.config[0][field] == number:
            return hook(state, first, second, third, fourth, now)
        return other(state, first, second, third, fourth, now)

    return call


@spliced
def ignore_one(state: EngineState, subject: int, now: int) -> None:
    """End a chain of hooks of one number."""


@spliced
def ignore_two(state: EngineState, first: int, second: int, now: int) -> None:
    """End a chain of hooks of two numbers."""


@spliced
def ignore_three(state: EngineState, first: int, second: int, third: int, now: int) -> None:
    """End a chain of hooks of three numbers."""
