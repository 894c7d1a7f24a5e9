"""The programs that collect telemetry: what they subscribe to, and how each names in Prometheus what the rules need.

gnmic names a metric after its path, with `_` in place of other characters, and a label after a key of the path (its
user guide, outputs/prometheus_output); Telegraf after the measurement and the field (plugins/serializers/prometheus).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ailb_gen.exports import gnmic, telegraf
from ailb_gen.exports.kind import ExportInput, Files
from ailb_gen.exports.sensors import ALL_SENSORS, SESSIONS, Sensor, interface_counters, link_state
from ailb_gen.monitoring.timing import Timing

# What the rules need of interfaces, by the last part of the path. Nothing else of them is subscribed to.
COUNTERS = {
    "tx_octets": "out-octets",
    "rx_octets": "in-octets",
    "tx_discards": "out-discards",
    "rx_discards": "in-discards",
    "rx_errors": "in-errors",
    "rx_pauses": "in-pause-pkts",
}
# All that the rules read, by path. Ports have no keys: one sensor then samples all ports of a switch at one moment.
READ = {key: f"{interface_counters()}/{leaf}" for key, leaf in COUNTERS.items()} | {
    "link_state": link_state(),
    "session_state": f"{SESSIONS[0]}/session-state",
}
# What no rule reads.
OTHERS = ("queues", "bgp_prefixes", "bfd", "optics", "optics_lanes", "fec")


@dataclass(frozen=True, slots=True)
class Collector:
    """A program that collects telemetry: its sensors and files, the port that Prometheus scrapes, its names of metrics.

    `metrics` are the names by those of READ; `port_label` is the label with the name of an interface.
    """

    name: str
    port: int
    sensors: Callable[[Timing], tuple[Sensor, ...]]
    write: Callable[[ExportInput, tuple[Sensor, ...]], Files]
    metrics: Mapping[str, str]
    port_label: str

    def files(self, given: ExportInput, timing: Timing, others: bool) -> Files:
        """Return its files: for what the rules read, with `others` also for what people may look at."""
        more = tuple(one for one in ALL_SENSORS if others and one.measurement in OTHERS)
        return self.write(given, self.sensors(timing) + more)


def _of_gnmic(timing: Timing) -> tuple[Sensor, ...]:
    """Return its sensors: leaf by leaf, because a metric has the same name whatever path it is below."""
    ports = tuple(path for key, path in READ.items() if key != "session_state")
    return (
        Sensor("interfaces", ports, timing.counters_s),
        Sensor("bgp", (READ["session_state"],), timing.sessions_s),
    )


def _of_telegraf(timing: Timing) -> tuple[Sensor, ...]:
    """Return its sensors: a measurement each, because a field has the name that its path leaves."""
    return (
        Sensor("interfaces", (interface_counters(),), timing.counters_s),
        Sensor("links", (link_state(),), timing.counters_s),
        Sensor("bgp", SESSIONS[:1], timing.sessions_s),
    )


COLLECTORS = {
    one.name: one
    for one in (
        Collector(
            "gnmic",
            gnmic.LISTEN_PORT,
            _of_gnmic,
            lambda given, sensors: {"gnmic.yaml": gnmic.config_of(given, sensors).encode()},
            {key: re.sub(r"\W+", "_", path.strip("/").replace("-", "_")) for key, path in READ.items()},
            "interface_name",
        ),
        Collector(
            "telegraf",
            telegraf.LISTEN_PORT,
            _of_telegraf,
            telegraf.config_of,
            {key: f"interfaces_{leaf.replace('-', '_')}" for key, leaf in COUNTERS.items()}
            | {"link_state": "links_oper_status", "session_state": "bgp_session_state"},
            "name",
        ),
    )
}
