"""Answers of `ailb-host` as of a stranger: what is none is an error with its server and its reason."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import pytest

from ailb_gen.accept.counters import PortCounters, read_server
from ailb_gen.accept.hosts import ask_host
from ailb_gen.accept.ping import ping_server
from ailb_gen.deploy.servers.ssh import ScriptAnswer, ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError
from ailb_gen.network.fabric import End

NAME = "gpu-s1-1"
TOTALS = {
    "net_rx_packets": 1,
    "net_rx_bytes": 100,
    "net_tx_packets": 2,
    "net_tx_bytes": 200,
    "cnp_sent": 3,
    "out_of_order": None,
}
PAIR = {
    "nic": "gpu0_eth",
    "color": "blue",
    "source": "fc00::1",
    "server": "gpu-s2-1",
    "target_nic": "gpu0_eth",
    "probes": 3,
    "lost": 2,
    "times_us": [20.5],
    "error": "no route",
    "check": "",
}


class Answers:
    """In the place of a connection: one answer to everything."""

    name = NAME

    def __init__(self, answer: ScriptAnswer) -> None:
        self.answer, self.scripts = answer, list[str]()

    def run(self, script: str, *_: object) -> ScriptAnswer:
        self.scripts.append(script)
        return self.answer


def server(out: object, code: int = 0, err: str = "") -> ServerConnection:
    text = out if isinstance(out, str) else json.dumps(out)
    return cast(ServerConnection, Answers(ScriptAnswer(code, text.encode(), err)))


def test_words_are_quoted_and_a_text_that_is_cut_does_nothing() -> None:
    connection = server({"a": 1}, code=1)
    assert ask_host(connection, "ping", "a b", "$(x)", data="in") == {"a": 1}
    (script,) = cast(Answers, connection).scripts
    start, *_, end = script.splitlines()
    assert (start, end) == ("{", "}")
    assert "/usr/local/sbin/ailb-host ping 'a b' '$(x)' <<'AILB_END_OF_DATA'\nin\n" in script


@pytest.mark.parametrize(
    ("connection", "reason"),
    [
        (server("x"), "ailb-host gids prints no object of JSON: 'x'"),
        (server("[]"), "prints no object of JSON"),
        (server("[" * 100_000), "prints no object of JSON"),
        (server("", 3, "ailb-host: /etc/ailb/host.json: there is no such file\n"), "host.json: there is no such file"),
        (server("", 127, "sh: ailb-host: not found\n"), "not found; push the server's files again: ailb-gen deploy"),
        (server("", 9), "'/usr/local/sbin/ailb-host' ended with 9"),
    ],
)
def test_answers_that_are_none(connection: ServerConnection, reason: str) -> None:
    with pytest.raises(DeviceError, match=f"^{NAME}: read: .*{re.escape(reason)}"):
        ask_host(connection, "gids")


def test_counters_of_a_server() -> None:
    ports, suspicious = read_server(NAME, server({"nics": [{"nic": "gpu0_eth", "totals": TOTALS}]}))
    end = End(NAME, "gpu0_eth")
    assert ports == {end: PortCounters(1, 100, 2, 200)}
    # A counter that a NIC does not have is not there.
    assert suspicious == {end: {"cnp_sent": 3}}


@pytest.mark.parametrize(
    "answer",
    [{}, {"nics": 1}, {"nics": [{"nic": "a"}]}, {"nics": [{"nic": "a", "totals": {**TOTALS, "net_rx_bytes": 1.5}}]}],
)
def test_counters_that_are_none(answer: dict[str, Any]) -> None:
    with pytest.raises(DeviceError, match="the answer of ailb-host counters cannot be read"):
        read_server(NAME, server(answer))


def test_ping() -> None:
    answer = ping_server({NAME: []}, NAME, server({"pairs": [PAIR, {**PAIR, "lost": 0, "times_us": [1.0, 90.5]}]}))
    assert (answer.pairs, answer.slowest_us) == (2, 90.5)
    assert [str(one) for one in answer.lost] == [
        "gpu0_eth: 2 of 3 probes of color blue from fc00::1 to gpu-s2-1:gpu0_eth are lost (no route)"
    ]


@pytest.mark.parametrize("change", [{"lost": "2"}, {"times_us": ["x"]}, {"times_us": None}, {"probes": 1 << 70}])
def test_pings_that_are_none(change: dict[str, object]) -> None:
    with pytest.raises(DeviceError, match="the answer of ailb-host ping cannot be read"):
        ping_server({NAME: []}, NAME, server({"pairs": [{**PAIR, **change}]}))
