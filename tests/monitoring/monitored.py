"""A collector of switches with gNMI, and a Prometheus with the written rules that scrapes it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.monitoring.gnmic import Gnmic, gnmic_of
from tests.monitoring.series import Watched
from tests.monitoring.server import asked, prometheus, served, until, write_files

# Where an alert says what is wrong.
PLACES = ("alertname", "device", "interface", "color", "spine")


@dataclass(frozen=True, slots=True)
class Monitored:
    """A fabric that is collected and scraped; `url` is the API of Prometheus."""

    gnmic: Gnmic
    url: str

    def alerts(self) -> list[dict[str, Any]]:
        """Return the alerts that fire now."""
        return [one for one in asked(f"{self.url}/alerts")["alerts"] if one["state"] == "firing"]

    def fired_since(self, start: float) -> list[dict[str, str]]:
        """Return where alerts have fired since a time."""
        query = f'last_over_time(ALERTS{{alertstate="firing"}}[{time.time() - start:.0f}s])'
        return [place_of(one["metric"]) for one in self.value(query)]

    def value(self, query: str) -> Any:
        """Return the result of a query."""
        return asked(f"{self.url}/query?{urlencode({'query': query})}")["result"]

    def wait_for_phase(self, part: float, interval_s: float) -> None:
        """Wait for the next scrape, and a part of the interval after it."""
        count = len(self.gnmic.scraped)
        until(lambda: len(self.gnmic.scraped) > count)
        time.sleep(max(0.0, self.gnmic.scraped[-1] + part * interval_s - time.time()))

    def wait_for_loads(self) -> None:
        """Wait until the loads of four spines have been known for some time."""
        assert len(until(lambda: self.value("count_over_time(ailb_fabric:spine_load:ratio[60s]) > 5"))) == 4


def place_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Return where an alert says that something is wrong."""
    return {key: labels[key] for key in PLACES if key in labels}


@contextmanager
def monitored(
    watched: Watched, ports: Mapping[str, int], trusted: bytes, password: str, faster: float
) -> Iterator[Monitored]:
    """Collect from the ports of gNMI of switches, by the intervals of the files or `faster`, and run Prometheus."""
    gnmic, folder = gnmic_of(watched.files, faster), watched.folder
    (folder / "ca.pem").write_bytes(trusted)
    with (
        gnmic.running(ports, folder / "ca.pem", password),
        served(gnmic.text) as page,
        served(lambda: "\n".join([*watched.expected(), ""])) as beside,
    ):
        write_files(watched.files, folder, gnmic=page, uplinks=beside)
        with prometheus(folder) as url:
            yield Monitored(gnmic, url)
