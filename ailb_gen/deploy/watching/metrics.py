"""What a watch found as metrics of Prometheus, served over HTTP without holding up the watch.

The labels have checks, severities and devices of the inventory, so the series are bounded. A scrape gets the last look
as a whole. There is neither TLS nor a login: the address is that of the loopback interface unless another is given.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ailb_gen.deploy.watching.changes import WatchFigures
from ailb_gen.errors import OutputError

PATH = "/metrics"
# Clients at once, and seconds that one may be silent: those that send nothing must not pile up.
MOST_CLIENTS, CLIENT_S = 16, 5.0


class WatchCollector(Collector):
    """Gives the figures of the last look to a registry; `figures` is replaced as a whole."""

    def __init__(self) -> None:
        self.figures = WatchFigures()

    def collect(self) -> Iterable[Metric]:
        """Yield all metrics."""
        now = self.figures
        if not now.fabric:
            return
        own = [now.fabric]
        findings = GaugeMetricFamily(
            "ailb_watch_findings",
            "Findings of drift and verify.",
            labels=["fabric", "check", "severity", "device"],
        )
        for row, count in now.findings.items():
            findings.add_metric([*own, *row], count)
        yield findings
        answers = GaugeMetricFamily(
            "ailb_watch_device_answers",
            "Whether the device answered when it was last asked.",
            labels=["fabric", "device"],
        )
        for device, yes in now.answers.items():
            answers.add_metric([*own, device], float(yes))
        yield answers
        rounds = CounterMetricFamily("ailb_watch_rounds", "Whole rounds.", labels=["fabric"])
        rounds.add_metric(own, now.rounds)
        yield rounds
        for name, text, value in (
            ("interval_seconds", "Seconds from the start of one round to that of the next.", now.every_s),
            ("round_seconds", "Seconds that the last whole round took.", now.round_s),
            ("last_round_timestamp_seconds", "When the last whole round ended.", now.ended),
            ("former_files_rounds", "Rounds in a row with former files, the others being unusable.", now.former),
        ):
            gauge = GaugeMetricFamily(f"ailb_watch_{name}", text, labels=["fabric"])
            gauge.add_metric(own, value)
            yield gauge


class _MetricsHandler(WSGIRequestHandler):
    timeout = CLIENT_S

    def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401 - as it is called
        """Log nothing."""


class _MetricsServer(ThreadingWSGIServer):
    """Serves each client in a thread, and hangs up on those that are too many."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - those of its base
        self._room = BoundedSemaphore(MOST_CLIENTS)
        super().__init__(*given, **named)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in its base
        """Serve a client, if there is room."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in its base
        """Serve a client in its thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in its base
        """Say nothing of a client that has gone."""


@contextmanager
def served(collector: WatchCollector, address: str, port: int) -> Iterator[int]:
    """Serve what a collector has at an address; give the port, which is another one where `port` is 0.

    Raises OutputError where nothing can be served at this address.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    where = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    try:
        family, _, _, _, found = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICHOST
        )[0]
        kind = type("_MetricsServerOfFamily", (_MetricsServer,), {"address_family": family})
        server: _MetricsServer = make_server(
            str(found[0]), port, _only_metrics(make_wsgi_app(registry)), kind, _MetricsHandler
        )
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(
            f"--listen {where}: metrics cannot be served there: {reason}; choose another address or port"
        ) from error
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _only_metrics(app: Callable[..., Any]) -> Callable[..., Any]:
    """Return an application that has metrics at their path, and nothing elsewhere."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Any:  # noqa: ANN401 - as in WSGI
        if environ.get("PATH_INFO") == PATH:
            return app(environ, start)
        start("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"there is {PATH} only\n".encode()]

    return answer
