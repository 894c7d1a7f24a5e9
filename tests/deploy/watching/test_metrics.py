"""Metrics as Prometheus reads them, and clients that must not hold anything up."""

from __future__ import annotations

import socket
from contextlib import ExitStack, closing
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ailb_gen.deploy.watching import metrics
from ailb_gen.deploy.watching.changes import WatchFigures
from ailb_gen.deploy.watching.metrics import MOST_CLIENTS, WatchCollector, served
from ailb_gen.errors import OutputError

FIGURES = WatchFigures(
    fabric='odd "name"\n',
    every_s=300.0,
    rounds=3,
    round_s=1.5,
    ended=1000.0,
    former=2,
    answers={"leaf1": True, "leaf2": False},
    findings={("AILBD02", "error", "leaf1"): 2},
)


def page(port: int, path: str = "/metrics", host: str = "127.0.0.1") -> str:
    with urlopen(f"http://{host}:{port}{path}", timeout=10) as answer:
        return str(answer.read().decode())


def samples(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_the_last_look_is_served_as_a_whole() -> None:
    collector, own = WatchCollector(), {"fabric": FIGURES.fabric}
    with served(collector, "127.0.0.1", 0) as port:
        assert samples(page(port)) == {}
        collector.figures = FIGURES
        assert samples(page(port)) == {
            "ailb_watch_findings": [(own | {"check": "AILBD02", "severity": "error", "device": "leaf1"}, 2.0)],
            "ailb_watch_device_answers": [(own | {"device": "leaf1"}, 1.0), (own | {"device": "leaf2"}, 0.0)],
            "ailb_watch_rounds_total": [(own, 3.0)],
            "ailb_watch_interval_seconds": [(own, 300.0)],
            "ailb_watch_round_seconds": [(own, 1.5)],
            "ailb_watch_last_round_timestamp_seconds": [(own, 1000.0)],
            "ailb_watch_former_files_rounds": [(own, 2.0)],
        }
        with pytest.raises(HTTPError, match="404"):
            page(port, "/")


def test_over_ipv6() -> None:
    with served(WatchCollector(), "::1", 0) as port:
        assert page(port, host="[::1]").startswith("") and samples(page(port, host="[::1]")) == {}


def test_clients_that_say_nothing_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics._MetricsHandler, "timeout", 0.5)
    collector = WatchCollector()
    collector.figures = FIGURES
    with served(collector, "127.0.0.1", 0) as port, ExitStack() as stack:
        clients = [
            stack.enter_context(closing(socket.create_connection(("127.0.0.1", port)))) for _ in range(MOST_CLIENTS + 4)
        ]
        # Those that are too many are hung up on at once, the others when they have been silent for too long.
        for client in clients:
            client.settimeout(10)
            assert client.recv(1) == b""
        assert "ailb_watch_findings" in samples(page(port))


@pytest.mark.parametrize(
    ("address", "told"),
    [("127.0.0.1", "--listen 127.0.0.1:{}: metrics cannot be served there: Address already in use"), ("192.0.2.1", "")],
)
def test_an_address_that_cannot_be_had(address: str, told: str) -> None:
    with (
        served(WatchCollector(), "127.0.0.1", 0) as port,
        pytest.raises(OutputError, match="choose another address or port") as error,
        served(WatchCollector(), address, port),
    ):
        pass
    assert str(error.value).startswith(told.format(port) or "--listen 192.0.2.1:")
