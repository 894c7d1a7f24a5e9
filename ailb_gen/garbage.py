"""Holding the garbage collector off while many objects are made and few are garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# New objects between two collections: those of the trees of a few switches.
MANY = 200_000


@contextmanager
def no_garbage_collection(*, last: bool = False) -> Iterator[None]:
    """Hold the collector off; afterwards it is as it was before.

    With `last` it never looks at what is there then: for the last work of a process, which ends soon after.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if last:
            gc.freeze()
        if was:
            gc.enable()


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Collect only after MANY new objects, and leave what is there already: for long work with bounded garbage."""
    was = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(MANY, *was[1:])
    try:
        yield
    finally:
        gc.set_threshold(*was)
        gc.unfreeze()


def leave_what_is_there() -> None:
    """Let the collector never look at what is there now: models that stay while work goes on for long."""
    gc.collect()
    gc.freeze()


def collect_garbage() -> None:
    """Free what is garbage now: after each round of work without an end, whose memory must not grow."""
    gc.collect()
