"""From the emulated fabric to the alert: gNMI of its switches, a collector, and a Prometheus with the written rules."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.traffic import LinkRate
from ailb_gen.network.fabric import End
from tests.conftest import example
from tests.emulator.gnmi.collector import PASSWORD, lab_fleet
from tests.monitoring.gnmic import Gnmic
from tests.monitoring.monitored import Monitored, monitored, place_of
from tests.monitoring.series import Loads, Watched, damaged, loads_in
from tests.monitoring.server import until
from tests.monitoring.test_alerts import LAB, LEAF, LOST, PLACE, POLICY, PORT, ends

# A load of 1, in bits per second.
BITS = 8e9


def states(watched: Watched, folder: Path) -> list[tuple[Loads, dict[str, str]]]:
    """Return loads that are wrong, each with the alert that says so."""
    wrong = damaged(LAB, folder / "wrong", f"switches/{LEAF}.conf", lambda text: text.replace(" green;", " blue;", 1))
    lost = damaged(LAB, folder / "lost", "switches/spine1.conf", lambda text: text.replace(POLICY, POLICY + LOST, 1))
    peers = {port: end.peer for port, end in ends(watched).items()}
    factors = {port: 1.6 if "spine2" in (port[0], peer) else 0.8 for port, peer in peers.items()}
    hot = {port: (out * factors[port], into * factors[port]) for port, (out, into) in loads_in(LAB).items()}
    return [
        (loads_in(LAB, (PORT,)), {"alertname": "AilbSilentLink", "color": "green"} | PLACE),
        (hot, {"alertname": "AilbHotSpine", "spine": "spine2"}),
        (loads_in(wrong), {"alertname": "AilbWrongColor", "color": "green", "device": LEAF}),
        (loads_in(lost), {"alertname": "AilbColorOnBackup", "color": "green", "device": LEAF}),
    ]


def answered(gnmic: Gnmic) -> bool:
    """Return whether values came for every path of every subscription of every target."""
    expected = {(name, one) for name, target in gnmic.config["targets"].items() for one in target["subscriptions"]}
    return gnmic.answered.keys() == expected and all(
        any(re.sub(r"\[[^]]*\]", "", path).startswith(_schema(one)) and _keys(one) <= _keys(path) for path in came)
        for (_, name), came in gnmic.answered.items()
        for one in gnmic.config["subscriptions"][name]["paths"]
    )


def _schema(path: str) -> str:
    return re.sub(r"\[[^]]*\]", "", path).lstrip("/")


def _keys(path: str) -> set[str]:
    return set(re.findall(r"\[[^]]*\]", path))


@dataclass(frozen=True, slots=True)
class Emulated:
    """The emulated lab, monitored, whose loads a test changes."""

    watched: Watched
    seen: Monitored
    fabric: EmulatedFabric
    fleet: Fleet

    def send(self, loads: Loads) -> float:
        """Let all links carry loads; return when that began."""
        rates = {End(*port): LinkRate(BITS * out) for port, (out, _) in loads.items()}
        self.fleet.do(LEAF, lambda _: self.fabric.send(rates))
        return time.time()


@contextmanager
def emulated(folder: Path, interval_s: int, faster: float) -> Iterator[Emulated]:
    """Run all of it until loads are even and known."""
    watched, fabric = Watched(example("lab"), LAB, folder, interval_s=interval_s), EmulatedFabric.read(LAB)
    with (
        lab_fleet(fabric) as fleet,
        monitored(watched, fleet.gnmi_ports(), fleet.gnmi_certificate, PASSWORD, faster) as seen,
    ):
        found = Emulated(watched, seen, fabric, fleet)
        found.send(loads_in(LAB))
        seen.wait_for_loads()
        yield found


def check_alert(one: Emulated, loads: Loads, expected: dict[str, str], part: float, interval_s: int) -> None:
    """Let a fault come a part of an interval after a scrape; its alert alone fires, and within two intervals."""
    one.seen.wait_for_phase(part, interval_s)
    start = one.send(loads)
    (alert,) = until(one.seen.alerts)
    assert place_of(alert["labels"]) == expected
    after = (datetime.fromisoformat(alert["activeAt"]).timestamp() - start) / interval_s
    assert 0 < after <= 2, (expected, part, after)
    # All rates are of the time after it.
    time.sleep(max(0.0, start + 3 * interval_s - time.time()))
    one.send(loads_in(LAB))
    until(lambda: not one.seen.alerts())
    time.sleep(interval_s)
    assert one.seen.fired_since(start) == [expected]


# pygnmi's own threads raise when their channels close.
QUIET = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


@QUIET
@pytest.mark.long
def test_each_wrong_state_of_an_emulated_fabric_raises_exactly_its_alert_within_two_intervals(tmp_path: Path) -> None:
    with emulated(tmp_path, 10, 2) as one:
        assert answered(one.seen.gnmic)
        sessions = one.seen.value("sum(ailb_switch:sessions:established)")
        assert [row["value"][1] for row in sessions] == ["32"]
        for (loads, expected), part in zip(states(one.watched, tmp_path), (0.02, 0.2, 0.6, 0.98), strict=True):
            check_alert(one, loads, expected, part, 10)


@QUIET
@pytest.mark.exhaustive
def test_a_right_emulated_fabric_raises_no_alert_in_ten_minutes(tmp_path: Path) -> None:
    with emulated(tmp_path, 15, 1) as one:
        start = time.time()
        time.sleep(600)
        assert one.seen.value("count(ailb_uplink:tx_load:ratio)")[0]["value"][1] == "16"
        # Not even for a moment: what is pending would be there, too.
        assert one.seen.value(f"last_over_time(ALERTS[{time.time() - start:.0f}s])") == []


@QUIET
@pytest.mark.exhaustive
@pytest.mark.parametrize("part", [0.1, 0.5])
def test_alerts_come_in_time_at_the_intervals_of_the_files(part: float, tmp_path: Path) -> None:
    with emulated(tmp_path, 15, 1) as one:
        for number, (loads, expected) in enumerate(states(one.watched, tmp_path)):
            check_alert(one, loads, expected, part + 0.1 * number, 15)
