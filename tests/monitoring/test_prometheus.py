"""A real Prometheus with the files of the program, as they are but for its interval, which is a second."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import urlopen

import pytest

from ailb_gen.exports.gnmic import LISTEN_PORT
from tests.conftest import example, need_tool
from tests.golden_trees import GOLDEN
from tests.monitoring.series import Observed, Watched, loads_in
from tests.ports import free_ports

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


@contextmanager
def served(exporters: Exporters) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(exporters.text().encode())

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@contextmanager
def prometheus(folder: Path) -> Iterator[str]:
    port = free_ports(1)
    words = [need_tool("prometheus"), "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    with (folder / "log").open("w") as log:
        run = subprocess.Popen(
            [*words, f"--web.listen-address=127.0.0.1:{port}"], cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield f"http://127.0.0.1:{port}/api/v1"
    finally:
        run.terminate()
        run.wait(30)


def asked(url: str) -> Any:
    with urlopen(url, timeout=10) as answer:
        return json.load(answer)["data"]


def until(what: Any) -> Any:
    """Wait for an answer that is not empty."""
    for _ in range(600):
        try:
            if found := what():
                return found
        except OSError:
            # It does not listen yet.
            pass
        time.sleep(0.1)
    raise AssertionError("nothing was found in a minute")


@pytest.mark.long
def test_prometheus_finds_a_silent_link_and_nothing_before(tmp_path: Path) -> None:
    watched = Watched(example("lab"), LAB, tmp_path, interval_s=1)
    right = Observed(loads_in(LAB))
    exporters = Exporters(watched, right)
    for path, data in watched.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    with served(exporters) as port:
        config = tmp_path / "prometheus.yml"
        # Both in one place: scraped by the job of gnmic alone.
        text = config.read_text().replace(f"localhost:{LISTEN_PORT}", f"127.0.0.1:{port}")
        config.write_text(text)
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
                "stripe1-leaf1 et-0/0/0 is up and sends nothing, while other uplinks of the leaf carry load"
            )
