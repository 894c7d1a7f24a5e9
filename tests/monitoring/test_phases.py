"""When a fault comes between two samples: its alert fires within two intervals of it, and no other one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen.monitoring.timing import MIXED, Timing
from tests.conftest import example
from tests.monitoring.series import CHANGED_S, INTERVAL_S, Observed, Watched, damaged, loads_in, with_loads
from tests.monitoring.test_alerts import LAB, LEAF, LOST, PLACE, POLICY, PORT, SPINE_PORT, ends

# Parts of an interval before the fault: what the first rate after it must tell, and what the second one is in time for.
EARLY, LATE = (0.0, 0.1, MIXED), (0.3, 0.5, 0.7, 0.9)
# Seconds between evaluations, and until the last one.
STEP_S, END_S = 5, 600


def wrong_color(watched: Watched, right: Observed, folder: Path) -> Observed:
    file = f"switches/{LEAF}.conf"
    return Observed(loads_in(damaged(LAB, folder / "wrong", file, lambda text: text.replace(" green;", " blue;", 1))))


def on_backup(watched: Watched, right: Observed, folder: Path) -> Observed:
    file = "switches/spine1.conf"
    return Observed(loads_in(damaged(LAB, folder / "lost", file, lambda text: text.replace(POLICY, POLICY + LOST, 1))))


def silent_link(watched: Watched, right: Observed, folder: Path) -> Observed:
    return replace(right, loads=loads_in(LAB, (PORT,)))


def lossy_link(watched: Watched, right: Observed, folder: Path) -> Observed:
    """The leaf sends nothing by its port, and its other ports no more than before."""
    return with_loads(right, lambda port, load: (0.0, load[1]) if port == PORT else load)


def hot_spine(watched: Watched, right: Observed, folder: Path) -> Observed:
    peers = {port: end.peer for port, end in ends(watched).items()}

    def hot(port: tuple[str, str], load: tuple[float, float]) -> tuple[float, float]:
        factor = 1.6 if "spine2" in (port[0], peers[port]) else 0.8
        return load[0] * factor, load[1] * factor

    return with_loads(right, hot)


def link_down(watched: Watched, right: Observed, folder: Path) -> Observed:
    ports = frozenset({PORT, SPINE_PORT})
    return Observed(loads_in(LAB, (PORT,)), down=ports, lost_sessions=ports)


Fault = Callable[[Watched, Observed, Path], Observed]
SILENT = {"alertname": "AilbSilentLink", "color": "green"} | PLACE
BACKUP = {"alertname": "AilbColorOnBackup", "color": "green", "device": LEAF}
DOWN = [
    {"alertname": "AilbUplinkDown", "color": "green", "device": "spine1", "interface": "et-0/0/0"},
    {"alertname": "AilbUplinkDown", "color": "green"} | PLACE,
]
FAULTS: dict[Fault, list[dict[str, str]]] = {
    wrong_color: [{"alertname": "AilbWrongColor", "color": "green", "device": LEAF}],
    on_backup: [BACKUP],
    silent_link: [SILENT],
    lossy_link: [SILENT],
    hot_spine: [{"alertname": "AilbHotSpine", "spine": "spine2"}],
    link_down: [BACKUP, *DOWN],
}


@pytest.fixture(scope="module")
def right() -> Observed:
    return Observed(loads_in(LAB))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched(example("lab"), LAB, tmp_path_factory.mktemp("lab"))


@pytest.mark.sampled(8, 2)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("mixed", EARLY + LATE)
def test_an_alert_fires_with_the_first_rate_that_can_tell(
    fault: Fault, mixed: float, lab: Watched, right: Observed, tmp_path: Path
) -> None:
    state, found = fault(lab, right, tmp_path), FAULTS[fault]
    at_s = CHANGED_S + INTERVAL_S * (1 if mixed in EARLY else 2)
    assert lab.firing(right, state, at_s, mixed=mixed) == found
    # And no other one, while the fault lasts or after it: ports and sessions that come back have rates of before.
    times_s = range(CHANGED_S, END_S + 1, STEP_S)
    assert lab.firing(right, state, *times_s, mixed=mixed, ended=True, step_s=STEP_S) == found


@pytest.mark.parametrize("scrape_s", [15, 20, 30, 45, 60, 600])
def test_samples_and_evaluations_take_no_more_of_an_interval_than_the_first_rate_bears(scrape_s: int) -> None:
    timing = Timing(scrape_s)
    assert timing.counters_s + timing.evaluation_s <= MIXED * scrape_s
    # A session is sampled, scraped and evaluated within two intervals.
    assert timing.sessions_s + scrape_s + timing.evaluation_s <= 2 * scrape_s
    # Larger fabrics are evaluated less often, never less than once per scrape.
    often = [Timing(scrape_s, links).evaluation_s for links in (1, 1000, 5000, 10**6)]
    assert often == sorted(often)
    assert often[1] == timing.evaluation_s
    assert often[-1] == scrape_s
    assert timing.counters_s % 2 == timing.sessions_s % 2 == 0
