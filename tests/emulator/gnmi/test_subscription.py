"""When a feed sends what, at times that the test sets."""

import math
from typing import Any

import pytest

from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.gnmi.encode import path_of
from ailb_gen.emulator.gnmi.paths import absolute
from ailb_gen.emulator.gnmi.selection import StateRow, selection
from ailb_gen.emulator.gnmi.state import CONTAINERS
from ailb_gen.emulator.gnmi.subscription import Feed, feeds
from ailb_gen.emulator.gnmi.view import DeviceView
from ailb_gen.emulator.traffic import LinkRate
from ailb_gen.network.fabric import End
from tests.emulator.gnmi.collector import ON_CHANGE, SAMPLE, SECOND, TARGET_DEFINED, subscription
from tests.emulator.gnmi.collector import path_of as message
from tests.emulator.operations.lab import LEAF, SPINE, Fake, lab, tree_of

PORT = "et-0/0/0"


class Moving:
    """A leaf of the lab, and the time of its fabric."""

    def __init__(self) -> None:
        self.now = 0.0
        self.fabric: EmulatedFabric = lab(clock=lambda: self.now)
        self.view = DeviceView(Fake(LEAF, self.fabric))

    def send(self, bits_s: float) -> None:
        self.fabric.send({End(LEAF, PORT): LinkRate(bits_s)})


@pytest.fixture
def moving() -> Moving:
    return Moving()


def feed(path: str, period_s: float = 10, **options: object) -> Feed:
    return Feed(selection((absolute(message(""), message(path)),)), period_s, **options)  # type: ignore[arg-type]


def names(rows: list[StateRow]) -> set[str]:
    return {name for row in rows for name in row.values}


COUNTERS = f"/interfaces/interface[name={PORT}]/state/counters"


def test_samples_hold_all_and_what_was_missed_is_left_out(moving: Moving) -> None:
    one = feed(COUNTERS)
    (start,) = one.start(moving.view, 0, silent=False)
    assert (len(start.values), one.due_s) == (13, 10)
    assert one.collect(moving.view, 10) == ([start], [])
    assert one.due_s == 20
    one.collect(moving.view, 47)
    assert one.due_s == 50


def test_what_is_the_same_is_suppressed_until_the_heartbeat(moving: Moving) -> None:
    moving.send(8000)
    one = feed(COUNTERS, changes_only=True, heartbeat_s=25)
    assert one.start(moving.view, 0, silent=True) == []
    assert one.collect(moving.view, 10) == ([], [])
    moving.now = 5
    rows, _ = one.collect(moving.view, 20)
    assert names(rows) == {"out-octets", "out-pkts"}
    assert rows[0].values["out-octets"] == 5000
    rows, _ = one.collect(moving.view, 30)
    assert len(names(rows)) == 13
    assert one.collect(moving.view, 40) == ([], [])


def test_what_is_no_more_is_deleted(moving: Moving) -> None:
    one = feed("/network-instances", changes_only=True, counted=False)
    before = one.start(moving.view, 0, silent=False)
    moving.fabric.power_off(SPINE)
    rows, gone = one.collect(moving.view, 10)
    after = {path_of(row) for row in one.selected.rows(moving.view)}
    assert set(gone) == {path_of(row) for row in before} - after
    # State and prefixes of one session.
    assert (len(gone), len(after)) == (2, 6)
    moving.fabric.commit(SPINE, tree_of(SPINE))
    rows, gone = one.collect(moving.view, 20)
    assert not gone
    assert {len(row.values) for row in rows if CONTAINERS[row.number].path.endswith("neighbor-address]/state")} == {9}


def test_what_a_request_becomes() -> None:
    def made(**options: Any) -> list[tuple[float, bool, bool | None, float]]:
        request = subscription("/interfaces", **options).subscribe
        return [(one.period_s, one.changes_only, one.counted, one.heartbeat_s) for one in feeds(request)]

    assert made(how=SAMPLE, sample_interval=5 * SECOND) == [(5, False, None, math.inf)]
    assert made(how=SAMPLE) == [(1, False, None, math.inf)]
    assert made(sample_interval=5 * SECOND, suppress_redundant=True, heartbeat_interval=60 * SECOND) == [
        (5, True, None, 60)
    ]
    assert made(how=ON_CHANGE) == [(1, True, False, math.inf)]
    assert made(how=TARGET_DEFINED) == [(30, False, True, math.inf), (1, True, False, math.inf)]


def test_paths_with_the_same_settings_are_one_feed() -> None:
    request = subscription("/interfaces", "/qos", "/bfd").subscribe
    request.subscription[1].sample_interval = 7 * SECOND
    assert [one.period_s for one in feeds(request)] == [1, 7]
