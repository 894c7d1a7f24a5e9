"""Inactivity intervals that fit a job."""

import pytest

from ailb_gen.intent.flowlets import LONGEST_US, interval_range


@pytest.mark.parametrize(("speed", "shortest"), [(100, 122), (400, 37), (800, 23)])
def test_slower_links_need_longer_intervals(speed: int, shortest: int) -> None:
    """Two queues of 709 kB, and 8 µs: 113.44 + 8 at 100 Gb/s."""
    assert interval_range("dlrm", speed) == (shortest, 500)


def test_a_job_without_pauses_has_no_longest_interval() -> None:
    assert interval_range("all-reduce", 400) == interval_range("all-to-all", 400) == (37, LONGEST_US)
