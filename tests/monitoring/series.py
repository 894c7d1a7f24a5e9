"""What a collector would show of a fabric, as series of `promtool test rules`: loads from the forwarding reference."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ailb_gen.api.monitoring import monitoring
from ailb_gen.design.model import Design
from ailb_gen.exports.labels import uplinks
from ailb_gen.monitoring.collector import COLLECTORS, COUNTERS
from ailb_gen.monitoring.expected import end_loads
from ailb_gen.monitoring.stack import MonitoringOptions
from ailb_gen.network.routed import read_routed
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.conftest import need_tool

INTERVAL_S = 15
# Of bytes per second for a load of 1.
RATE = 1e9
# Samples before the fabric changes, and after; those until it changes back, where it does.
BEFORE, AFTER, LASTS = 20, 20, 8
CHANGED_S = BEFORE * INTERVAL_S
Port = tuple[str, str]
Loads = Mapping[Port, tuple[float, float]]


@dataclass(frozen=True)
class Observed:
    """A state of a fabric: loads by port, ports and sessions that are down, counters per second, what `watch` shows."""

    loads: Loads
    down: frozenset[Port] = frozenset()
    lost_sessions: frozenset[Port] = frozenset()
    silent_devices: frozenset[str] = frozenset()
    rates: Mapping[tuple[str, Port], float] = field(default_factory=dict)
    servers: Mapping[tuple[str, str], float] = field(default_factory=dict)
    # Metrics of `ailb-gen watch` by series.
    watch: Mapping[str, float] = field(default_factory=dict)


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

    def __init__(
        self, design: Design, root: Path, folder: Path, collector: str = "gnmic", interval_s: int = INTERVAL_S
    ) -> None:
        self.design, self.folder, self.collector = design, folder, COLLECTORS[collector]
        self.files = monitoring(design, root, MonitoringOptions(collector, interval_s))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rules.yml").write_bytes(self.files["rules.yml"])

    def firing(
        self,
        before: Observed,
        after: Observed,
        *times_s: int,
        mixed: float = 0.0,
        ended: bool = False,
        step_s: int = INTERVAL_S,
    ) -> list[dict[str, str]]:
        """Return the alerts that fire at any of the times; each has its name and the labels that tell where.

        The change comes after the part `mixed` of the interval of two samples; with `ended` it lasts LASTS intervals.
        Rules are evaluated every `step_s` seconds.
        """
        query = "count by (alertname, device, interface, color, spine, server) (ALERTS{alertstate='firing'})"
        tests = [{"expr": query, "eval_time": f"{time}s", "exp_samples": []} for time in times_s]
        body = {
            "rule_files": ["rules.yml"],
            # Otherwise promtool takes groups in any order.
            "group_eval_order": [f"ailb-{self.design.name}{end}" for end in ("", "-lasting")],
            "evaluation_interval": f"{step_s}s",
            "tests": [
                {
                    "interval": f"{INTERVAL_S}s",
                    "input_series": [*self._series(before, after, mixed, ended)],
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
        return sorted(
            _labels(shown), key=lambda one: [one.get(key, "") for key in ("alertname", "device", "interface")]
        )

    def _series(self, before: Observed, after: Observed, mixed: float, ended: bool) -> Iterator[dict[str, str]]:
        for line in self.expected():
            series, _, given = line.rpartition(" ")
            # As they are scraped.
            labels = series[:-1] + ',job="uplinks",instance="localhost:9100"}'
            yield {"series": labels, "values": f"{given}+0x{BEFORE + AFTER}"}
        rows, first = self.rows(after), self.rows(before)
        for name, (counts, value) in first.items():
            then = rows.get(name, (counts, None))[1]
            phases = [(value, BEFORE), (then, LASTS if ended else AFTER), *([(value, AFTER - LASTS)] if ended else [])]
            values = " ".join(_samples(phases, mixed if counts else None))
            # A page that is scraped without a series ends it at once.
            values = values.replace(" _", " stale", 1) if then is None and name in before.watch else values
            yield {"series": name, "values": values}
        for name, value in after.watch.items():
            if name not in first:
                yield {"series": name, "values": f"_x{BEFORE} {value}+0x{AFTER - 1}"}

    def expected(self) -> Iterator[str]:
        """Yield the lines of the metrics that the program wrote."""
        for file in ("uplinks.prom", "expected.prom"):
            yield from (line for line in self.files[file].decode().splitlines() if not line.startswith("#"))

    def rows(self, state: Observed) -> dict[str, tuple[bool, float]]:
        """Return what collectors show: by series whether it counts, and its rate per second or its value."""
        found: dict[str, tuple[bool, float]] = {}
        for number, end in enumerate(uplinks(self.design)):
            port, device = (end.device, end.interface), {"fabric": self.design.name, "device": end.device}
            if end.device in state.silent_devices:
                continue
            sent, received = state.loads[port]
            rates = {key: state.rates.get((key, port), 0.0) for key in COUNTERS}
            rates |= {"tx_octets": RATE * sent, "rx_octets": RATE * received}
            labels = device | {self.collector.port_label: end.interface}
            found |= {_named(self.collector.metrics[key], labels): (True, rate) for key, rate in rates.items()}
            found[_named(self.collector.metrics["link_state"], labels)] = False, 2 if port in state.down else 1
            session = _named(self.collector.metrics["session_state"], device | {"neighbor": f"fe80::{number}"})
            found[session] = False, 3 if port in state.lost_sessions else 6
        for server in self.design.servers:
            labels = {"fabric": self.design.name, "server": server.name, "nic": "gpu0_eth", "device": "mlx5_0:1"}
            for counter, usual in (("out_of_order", 0.0), ("cnp_sent", 0.0), ("rdma_rx_packets", 1e6)):
                rate = state.servers.get((counter, server.name), usual)
                found[_named(f"ailb_host_{counter}_total", labels)] = True, rate
        return found | {name: (False, value) for name, value in state.watch.items()}


def _named(name: str, labels: Mapping[str, str]) -> str:
    return f"{name}{{{','.join(f'{key}={json.dumps(value)}' for key, value in labels.items())}}}"


def _samples(phases: Sequence[tuple[float | None, int]], mixed: float | None) -> Iterator[str]:
    """Yield samples of a counter by its rates and how many intervals each lasts; of a state where nothing is mixed.

    The first interval of a rate has the part `mixed` of the one before. None is no sample.
    """
    total, last = 0.0, phases[0][0]
    yield f"{0 if mixed is not None else last or 0:.0f}"
    for value, count in phases:
        for number in range(count):
            if value is not None and mixed is not None:
                part = mixed if number == 0 else 0.0
                total += INTERVAL_S * ((last or 0.0) * part + value * (1 - part))
            shown = total if mixed is not None else value
            yield "_" if value is None or shown is None else f"{shown:.0f}"
        last = value


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
