"""The programs that collect telemetry, and how each names in Prometheus what the rules need.

gnmic names a metric after its path, with `_` in place of other characters, and a label after a key of the path (its
user guide, outputs/prometheus_output); Telegraf after the measurement and the field (plugins/serializers/prometheus).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ailb_gen.exports import gnmic, telegraf
from ailb_gen.exports.kind import ExportInput, Files, one_file

_NEIGHBOR = "network_instances_network_instance_protocols_protocol_bgp_neighbors_neighbor_state"
# What the rules need of interfaces, by the last part of the path.
COUNTERS = {
    "tx_octets": "out_octets",
    "rx_octets": "in_octets",
    "tx_discards": "out_discards",
    "rx_discards": "in_discards",
    "rx_errors": "in_errors",
    "rx_pauses": "in_pause_pkts",
}


@dataclass(frozen=True, slots=True)
class Collector:
    """A program that collects telemetry: its files, the port where Prometheus scrapes it, its names of metrics.

    `metrics` are the names by those of COUNTERS, and those of `link_state` and `session_state`; `port_label` is the
    label with the name of an interface.
    """

    name: str
    port: int
    files: Callable[[ExportInput], Files]
    metrics: Mapping[str, str]
    port_label: str


def _metrics(counters: str, link_state: str, session_state: str) -> dict[str, str]:
    named = {key: f"{counters}_{leaf}" for key, leaf in COUNTERS.items()}
    return named | {"link_state": link_state, "session_state": session_state}


COLLECTORS = {
    one.name: one
    for one in (
        Collector(
            "gnmic",
            gnmic.LISTEN_PORT,
            one_file("gnmic.yaml", gnmic.config),
            _metrics(
                "interfaces_interface_state_counters",
                "interfaces_interface_state_oper_status",
                f"{_NEIGHBOR}_session_state",
            ),
            "interface_name",
        ),
        Collector(
            "telegraf",
            telegraf.LISTEN_PORT,
            telegraf.config,
            _metrics("interfaces", "links_oper_status", "bgp_session_state"),
            "name",
        ),
    )
}
