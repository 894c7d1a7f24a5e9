"""How long we sleep between two looks at a piece of work."""

from ailb_gen.batfish.clock import LONGEST_S, POLL_S, nap_s


def test_young_work_is_looked_at_every_ten_milliseconds() -> None:
    assert {nap_s(age) for age in (0.0, 0.05, 0.2)} == {POLL_S}


def test_old_work_less_often() -> None:
    naps = [nap_s(age) for age in range(600)]
    assert naps == sorted(naps)
    assert nap_s(10) == 0.5
    assert max(naps) == LONGEST_S
