"""Debian's Prometheus with the files of the program, and the pages that it scrapes."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import urlopen

import yaml

from tests.conftest import need_tool
from tests.ports import free_ports


def write_files(files: Mapping[str, bytes], folder: Path, **pages: int) -> None:
    """Write what `monitoring` makes; a job whose name is in `pages` is scraped there, on this machine."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    config = yaml.safe_load(files["prometheus.yml"])
    for job in config["scrape_configs"]:
        if job["job_name"] in pages:
            job["static_configs"] = [{"targets": [f"127.0.0.1:{pages[job['job_name']]}"]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))


@contextmanager
def served(text: Callable[[], str]) -> Iterator[int]:
    """Serve a page of metrics; yield its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text().encode())

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@contextmanager
def prometheus(folder: Path) -> Iterator[str]:
    """Run Debian's Prometheus in a directory with its configuration; yield the address of its API."""
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
    """Return what the API answers."""
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
