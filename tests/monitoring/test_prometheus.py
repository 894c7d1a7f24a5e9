"""A real Prometheus with the files of the program, as they are but for its interval, which is a second."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import example
from tests.golden_trees import GOLDEN
from tests.monitoring.series import Observed, Watched, loads_in
from tests.monitoring.server import asked, prometheus, served, until, write_files

LAB = GOLDEN / "lab"
PORT = ("stripe1-leaf1", "et-0/0/0")


class Exporters:
    """gnmic and the node exporter in one: counters of a state that a test changes, with the time of the switch."""

    def __init__(self, watched: Watched, state: Observed) -> None:
        self.watched, self.now = watched, time.time()
        self.rates = watched.rows(state)
        self.counts = dict.fromkeys(self.rates, 0.0)

    def change(self, state: Observed) -> None:
        self._count()
        self.rates = self.watched.rows(state)

    def text(self) -> str:
        self._count()
        at = f"{self.now * 1000:.0f}"
        rows = ((name, self.counts[name] if counts else rate) for name, (counts, rate) in self.rates.items())
        return "\n".join([*self.watched.expected(), *(f"{name} {value:.0f} {at}" for name, value in rows), ""])

    def _count(self) -> None:
        now = time.time()
        for name, (_, rate) in self.rates.items():
            self.counts[name] += rate * (now - self.now)
        self.now = now


@pytest.mark.long
def test_prometheus_finds_a_silent_link_and_nothing_before(tmp_path: Path) -> None:
    watched = Watched(example("lab"), LAB, tmp_path, interval_s=1)
    right = Observed(loads_in(LAB))
    exporters = Exporters(watched, right)
    with served(exporters.text) as port:
        # Both in one place: scraped by the job of gnmic alone.
        write_files(watched.files, tmp_path, gnmic=port)
        with prometheus(tmp_path) as url:
            query = f"{url}/query?query=count(ailb_uplink:tx_load:ratio)"
            assert until(lambda: asked(query)["result"])[0]["value"][1] == "16"
            spine = f"{url}/query?query=count_over_time(ailb_fabric:spine_load:ratio[10s])%3E8"
            until(lambda: asked(spine)["result"])
            assert asked(f"{url}/alerts")["alerts"] == []
            exporters.change(replace(right, loads=loads_in(LAB, (PORT,))))
            alerts = until(lambda: [one for one in asked(f"{url}/alerts")["alerts"] if one["state"] == "firing"])
            assert [(one["labels"]["alertname"], one["labels"]["interface"]) for one in alerts] == [
                ("AilbSilentLink", "et-0/0/0")
            ]
            (alert,) = alerts
            assert alert["annotations"]["summary"] == (
                "stripe1-leaf1 et-0/0/0 is up and sends next to nothing, while other uplinks of the leaf carry load"
            )
