"""What a collector would show of a fabric, as series of `promtool test rules`: loads from the forwarding reference."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ailb_gen.api.monitoring import monitoring
from ailb_gen.design.model import Design
from ailb_gen.exports.labels import uplinks
from ailb_gen.monitoring.collector import COLLECTORS
from ailb_gen.monitoring.expected import end_loads
from ailb_gen.monitoring.stack import MonitoringOptions
from ailb_gen.network.routed import read_routed
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.conftest import need_tool

INTERVAL_S = 15
# Of bytes per second for a load of 1.
RATE = 1e9
# Samples before the fabric changes, and after.
BEFORE, AFTER = 20, 20
CHANGED_S = BEFORE * INTERVAL_S
Port = tuple[str, str]
Loads = Mapping[Port, tuple[float, float]]


@dataclass(frozen=True)
class Observed:
    """A state of a fabric: loads by port, ports and sessions that are down, counters per second."""

    loads: Loads
    down: frozenset[Port] = frozenset()
    lost_sessions: frozenset[Port] = frozenset()
    silent_devices: frozenset[str] = frozenset()
    rates: Mapping[tuple[str, Port], float] = field(default_factory=dict)
    servers: Mapping[tuple[str, str], float] = field(default_factory=dict)


def loads_in(root: Path, failed: tuple[Port, ...] = ()) -> Loads:
    """Return the loads that follow from the files, with the sessions at some ports down."""
    graph = Graph(read_routed(root))
    lost = frozenset(
        number for number, session in enumerate(graph.sessions.up) if {session.cable.a, session.cable.b} & {*failed}
    )
    return end_loads(graph, Routing(graph.network, graph=graph.without(lost)))


def damaged(root: Path, folder: Path, file: str, change: Callable[[str], str]) -> Path:
    """Copy a tree with one file changed."""
    shutil.copytree(root, folder, symlinks=True)
    text = (folder / file).read_text()
    changed = change(text)
    assert changed != text
    (folder / file).write_text(changed)
    return folder


class Watched:
    """A monitored fabric: the files that the program writes for it, and what alerts fire."""

    def __init__(self, design: Design, root: Path, folder: Path, collector: str = "gnmic") -> None:
        self.design, self.folder, self.collector = design, folder, COLLECTORS[collector]
        self.files = monitoring(design, root, MonitoringOptions(collector))
        for path in ("rules.yml",):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(self.files[path])

    def firing(self, before: Observed, after: Observed, *times_s: int) -> list[dict[str, str]]:
        """Return the alerts that fire at any of the times; each has its name and the labels that tell where."""
        query = "count by (alertname, device, interface, color, spine, server) (ALERTS{alertstate='firing'})"
        tests = [{"expr": query, "eval_time": f"{time}s", "exp_samples": []} for time in times_s]
        body = {
            "rule_files": ["rules.yml"],
            "evaluation_interval": f"{INTERVAL_S}s",
            "tests": [
                {
                    "interval": f"{INTERVAL_S}s",
                    "input_series": [*self._series(before, after)],
                    "promql_expr_test": tests,
                }
            ],
        }
        (self.folder / "tests.yml").write_text(yaml.safe_dump(body))
        run = subprocess.run(
            [need_tool("promtool"), "test", "rules", "tests.yml"],
            cwd=self.folder, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        shown = run.stdout + run.stderr
        assert run.returncode == (1 if "got:" in shown else 0), shown
        assert "error" not in shown.lower().replace("linkerrors", ""), shown
        return _labels(shown)

    def _series(self, before: Observed, after: Observed) -> Iterator[dict[str, str]]:
        for file in ("uplinks.prom", "expected.prom"):
            for line in self.files[file].decode().splitlines():
                if not line.startswith("#"):
                    name, _, value = line.rpartition(" ")
                    # As they are scraped.
                    yield {
                        "series": name[:-1] + ',job="uplinks",instance="localhost:9100"}',
                        "values": f"{value}+0x{BEFORE + AFTER}",
                    }
        for end in uplinks(self.design):
            port = (end.device, end.interface)
            labels = {"fabric": self.design.name, "device": end.device, self.collector.port_label: end.interface}
            for way, key in enumerate(("tx_octets", "rx_octets")):
                steps = [RATE * state.loads[port][way] for state in (before, after)]
                yield from self._counter(key, labels, steps, end.device in after.silent_devices)
            for key in ("tx_discards", "rx_discards", "rx_errors", "rx_pauses"):
                steps = [state.rates.get((key, port), 0.0) for state in (before, after)]
                yield from self._counter(key, labels, steps, end.device in after.silent_devices)
            states = [2 if port in state.down else 1 for state in (before, after)]
            yield self._state("link_state", labels, states)
        yield from self._sessions(before, after)
        for server in self.design.servers:
            for counter in ("out_of_order", "cnp_sent", "rdma_rx_packets"):
                usual = 1e6 if counter == "rdma_rx_packets" else 0.0
                steps = [state.servers.get((counter, server.name), usual) for state in (before, after)]
                labels = {"fabric": self.design.name, "server": server.name, "nic": "gpu0_eth", "device": "mlx5_0:1"}
                yield {"series": _named(f"ailb_host_{counter}_total", labels), "values": _values(steps)}

    def _sessions(self, before: Observed, after: Observed) -> Iterator[dict[str, str]]:
        numbers: dict[str, int] = defaultdict(int)
        for end in uplinks(self.design):
            numbers[end.device] += 1
            labels = {"fabric": self.design.name, "device": end.device, "neighbor": f"fe80::{numbers[end.device]}"}
            port = (end.device, end.interface)
            up = [6 if port not in state.lost_sessions else 3 for state in (before, after)]
            yield self._state("session_state", labels, up)

    def _counter(self, key: str, labels: dict[str, str], steps: list[float], ends: bool) -> Iterator[dict[str, str]]:
        yield {"series": _named(self.collector.metrics[key], labels), "values": _values(steps, ends)}

    def _state(self, key: str, labels: dict[str, str], states: list[int]) -> dict[str, str]:
        values = f"{states[0]}+0x{BEFORE} {states[1]}+0x{AFTER - 1}"
        return {"series": _named(self.collector.metrics[key], labels), "values": values}


def _named(name: str, labels: Mapping[str, str]) -> str:
    return f"{name}{{{','.join(f'{key}={json.dumps(value)}' for key, value in labels.items())}}}"


def _values(per_second: list[float], ends: bool = False) -> str:
    """Return a counter with one rate before the change, and another one, or nothing, afterwards."""
    first, then = (round(rate * INTERVAL_S) for rate in per_second)
    end = first * BEFORE
    return f"0+{first}x{BEFORE} " + (f"_x{AFTER}" if ends else f"{end + then}+{then}x{AFTER - 1}")


def _labels(shown: str) -> list[dict[str, str]]:
    """Return the samples that promtool printed because none was expected."""
    found: list[dict[str, Any]] = []
    for line in shown.splitlines():
        if "got:" in line:
            for text in line.partition("got:")[2].split("}"):
                pairs = (pair.partition("=") for pair in text.partition("{")[2].split(", ") if pair)
                one = {key: value.strip('"') for key, _, value in pairs}
                if one and one not in found:
                    found.append(one)
    return found


def with_loads(state: Observed, change: Callable[[Port, tuple[float, float]], tuple[float, float]]) -> Observed:
    """Return a state with other loads."""
    return replace(state, loads={port: change(port, load) for port, load in state.loads.items()})
