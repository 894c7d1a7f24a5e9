"""Holding the garbage collector off, and what it looks at afterwards."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from ailb_gen.garbage import no_garbage_collection


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    """Have the collector on, whatever ran before in this process."""
    was = gc.isenabled()
    gc.enable()
    yield
    if not was:
        gc.disable()


class Cycle:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.own = self


@pytest.mark.parametrize("last", [False, True])
def test_what_is_there_at_the_end_of_the_last_work_stays(last: bool) -> None:
    with no_garbage_collection(last=last):
        assert not gc.isenabled()
        left = weakref.ref(Cycle())
    assert gc.isenabled()
    gc.collect()
    assert (left() is not None) == last
    gc.unfreeze()
    gc.collect()
    assert left() is None


def test_it_stays_off_where_it_was_off() -> None:
    with no_garbage_collection():
        with no_garbage_collection(last=True):
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
