"""How long pybatfish sleeps between two looks at a piece of work."""

import pytest
from pybatfish.client import workhelper

from ailb_gen.batfish.clock import Clock
from ailb_gen.batfish.service import connect
from tests.batfish.misbehaving import misbehaving


def slept(*asked: float) -> list[float]:
    """Return for how long the clock sleeps when asked for these times, while nothing else takes time."""
    naps: list[float] = []
    clock = Clock(naps.append, lambda: sum(naps))
    for seconds in asked:
        clock.sleep(seconds)
    return naps


def test_young_work_is_looked_at_every_ten_milliseconds() -> None:
    assert slept(0.1, 0.15, 0.225, 0.3375) == [0.01] * 4


def test_old_work_less_often_and_never_less_than_asked() -> None:
    naps = slept(0.1, 0.15, *[1.0] * 400)
    assert naps == sorted(naps)
    assert max(naps) == 1.0
    assert slept(0.001) == [0.001]


def test_the_next_piece_of_work_is_young_again() -> None:
    naps = slept(0.1, *[1.0] * 200, 0.1, 0.15)
    assert naps[200] > 0.1
    assert naps[-2:] == [0.01, 0.01]


def test_pybatfish_has_its_own_clock_back_afterwards() -> None:
    before = vars(workhelper)["time"]
    with misbehaving({}) as server:
        with connect("127.0.0.1", server.port, 30):
            assert isinstance(vars(workhelper)["time"], Clock)
        with pytest.raises(ZeroDivisionError), connect("127.0.0.1", server.port, 30):
            raise ZeroDivisionError
    assert vars(workhelper)["time"] is before
