"""What is made while the collector is held off is not looked at as if it were new."""

import gc
from collections.abc import Iterator

import pytest

from ailb_gen.garbage import no_garbage_collection


@pytest.fixture
def collections() -> Iterator[list[str]]:
    """Return a list that every collection is noted in; nothing is frozen meanwhile, as in the program."""
    found: list[str] = []
    gc.unfreeze()
    gc.collect()
    note = lambda phase, _: found.append(phase)  # noqa: E731
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.freeze()


def test_what_was_made_is_not_walked_over_when_the_collector_is_back(collections: list[str]) -> None:
    with no_garbage_collection():
        assert not gc.isenabled()
        made: list[list[int]] = [[] for _ in range(10_000)]
        assert gc.get_count()[0] >= len(made)
    assert gc.isenabled()
    made += [[] for _ in range(100)]
    assert collections == []
    assert gc.get_freeze_count() == 0
