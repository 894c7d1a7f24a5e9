"""Record which fields of the models a check function reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any
from unittest.mock import patch

from ailb_gen.checks.context import Context
from ailb_gen.forwarding import patterns
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from ailb_gen.network.rails import without_gpus

OF_CONTEXT = frozenset({"records", "root", "commit"})


def unshared(value: Any) -> Any:
    """Return a copy in which nothing is the same object twice: where objects are the same, nothing is compared."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{row.name: unshared(getattr(value, row.name)) for row in fields(value)})
    if isinstance(value, dict):
        return {key: unshared(inner) for key, inner in value.items()}
    if type(value) is tuple:
        return tuple(unshared(inner) for inner in value)
    return value


def classes_of(value: Any) -> set[type]:
    """Return the dataclasses in a model."""
    found, stack = set(), [value]
    while stack:
        one = stack.pop()
        if is_dataclass(one):
            found.add(type(one))
            stack += [getattr(one, row.name) for row in fields(one)]
        elif isinstance(one, dict):
            stack += one.values()
        elif isinstance(one, tuple | frozenset):
            stack += one
    return found


@contextmanager
def recording(classes: set[type]) -> Iterator[set[str]]:
    """Yield the set to which every field is added that is read meanwhile, as `Class.field`."""
    seen: set[str] = set()

    def recorded(kind: type, names: frozenset[str]) -> Any:
        def read(self: object, name: str) -> object:
            if name in names:
                seen.add(f"{kind.__name__}.{name}")
            return object.__getattribute__(self, name)

        return read

    def as_one(network: Network) -> frozenset[str]:
        """Record that what of servers matters to patterns was read, and not how."""
        before = {*seen}
        found = without_gpus(network)
        seen.intersection_update(before)
        seen.add("Network.without_gpus")
        return found

    with ExitStack() as stack:
        stack.enter_context(patch.object(patterns, "without_gpus", as_one))
        for kind in (*classes, Network):
            names = frozenset(row.name for row in fields(kind))
            stack.enter_context(patch.object(kind, "__getattribute__", recorded(kind, names), create=True))
        stack.enter_context(patch.object(Context, "__getattribute__", recorded(Context, OF_CONTEXT), create=True))
        yield seen


def switches_of(network: Network) -> dict[str, Switch]:
    """Return the switches of a network, none sharing anything with itself or another."""
    return {name: unshared(switch) for name, switch in network.switches.items()}
