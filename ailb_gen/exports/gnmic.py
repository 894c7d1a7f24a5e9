"""gnmic: a configuration file that collects every uplink with its color, for Prometheus.

The format is that of gnmic's user guide (docs/user_guide of openconfig/gnmic: targets, subscriptions, processors,
outputs). gnmic reads keys of this file in lower case (viper, in pkg/config), so names that must keep theirs are values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ailb_gen.design.model import Design, DesignSwitch
from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.labels import address, fabric_ports, labels
from ailb_gen.exports.sensors import (
    BFD,
    COUNTERS_S,
    FEC,
    MEDIA_S,
    OPTICS,
    PORT,
    SESSIONS,
    SESSIONS_S,
    STATES,
    Sensor,
    StateNumbers,
    interface_counters,
    kept_s,
    link_state,
    queue_counters,
)
from ailb_gen.yaml_text import to_yaml

# Where Prometheus scrapes.
LISTEN_PORT = 9804


class _Subscriptions:
    """The subscriptions: switches with the same ports of a color share one, whose name says the color."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, tuple[str, ...]], str] = {}
        self.counts: dict[str, int] = {}

    def of(self, switch: DesignSwitch) -> list[str]:
        """Return the names of the subscriptions of a switch."""
        ports: dict[str, list[str]] = {}
        for port in fabric_ports(switch):
            ports.setdefault(port.color.name, []).append(port.interface)
        return [self._name(color, tuple(own)) for color, own in ports.items()] + [*_COMMON]

    def _name(self, color: str, ports: tuple[str, ...]) -> str:
        key = (color, ports)
        if key not in self.names:
            lower = color.lower()
            self.counts[lower] = self.counts.get(lower, 0) + 1
            self.names[key] = f"uplinks-{lower}-{self.counts[lower]}"
        return self.names[key]

    def processors(self) -> dict[str, Any]:
        """Return a processor per color, which adds it to the metrics of its subscriptions, as the fabric spells it."""
        by_color: dict[str, list[str]] = {}
        for (color, _), name in self.names.items():
            by_color.setdefault(color, []).append(name)
        return {
            f"color-{number}": {"event-add-tag": {"tags": [f"^({'|'.join(names)})$"], "add": {"color": color}}}
            for number, (color, names) in enumerate(by_color.items(), 1)
        }

    def bodies(self) -> dict[str, Any]:
        """Return all subscriptions by name."""
        counters = {
            name: _stream([path(port) for path in _OF_PORTS for port in ports], COUNTERS_S)
            for (_, ports), name in self.names.items()
        }
        return counters | _COMMON


def _stream(paths: list[str], interval_s: int) -> dict[str, Any]:
    return {"paths": paths, "mode": "stream", "stream-mode": "sample", "sample-interval": f"{interval_s}s"}


_OF_PORTS = (interface_counters, queue_counters, link_state)
# The subscriptions that all switches have.
_COMMON = {
    "bgp": _stream(list(SESSIONS), SESSIONS_S),
    "bfd": _stream([BFD], SESSIONS_S),
    "optics": _stream(list(OPTICS), MEDIA_S),
    "fec": _stream([FEC], MEDIA_S),
}


def _numbers(states: StateNumbers) -> dict[str, Any]:
    """Return the processor that turns the words of a state into its numbers."""
    words = [{"replace": {"apply-on": "value", "old": word, "new": str(n)}} for word, n in states.numbers.items()]
    return {"event-strings": {"value-names": [states.path], "transforms": words}}


def config(given: ExportInput) -> str:
    """Return the configuration: a target per switch, subscriptions by color, and an output that Prometheus scrapes.

    Every metric of an uplink has the label `color`. User name and password come from gnmic's own variables.
    """
    subscriptions = _Subscriptions()
    targets = _targets(given.design, subscriptions.of)
    slowest_s = kept_s((COUNTERS_S, SESSIONS_S, MEDIA_S))
    return _text(given.design, targets, subscriptions.bodies(), subscriptions.processors(), slowest_s)


def config_of(given: ExportInput, sensors: Iterable[Sensor]) -> str:
    """Return the configuration with these sensors only, all of every switch; the color is not among the labels.

    All ports of a sensor are sampled at one moment, so that their rates can be compared even while the load changes.
    """
    rows = {one.measurement: one for one in sensors}
    bodies = {name: _stream([*one.paths], one.interval_s) for name, one in rows.items()}
    targets = _targets(given.design, lambda switch: [*rows])
    return _text(given.design, targets, bodies, {}, kept_s(one.interval_s for one in rows.values()))


def _targets(design: Design, subscriptions: Callable[[DesignSwitch], list[str]]) -> dict[str, Any]:
    """Return a target for each switch, with its labels."""
    targets: dict[str, Any] = {}
    for switch in design.switches:
        # The color of a metric is that of its link.
        tags = {key: value for key, value in labels(design, switch).items() if key != "color"}
        targets[switch.name] = {
            "name": switch.name,
            "address": f"{address(switch)}:{PORT}",
            "subscriptions": subscriptions(switch),
            "event-tags": tags,
        }
    return targets


def _text(
    design: Design, targets: dict[str, Any], bodies: dict[str, Any], colors: Mapping[str, Any], expiration_s: int
) -> str:
    output = {
        "type": "prometheus",
        "listen": f":{LISTEN_PORT}",
        # Of when the switch counted: links are sampled one after the other, and rates of two are compared.
        "export-timestamps": True,
        "expiration": f"{expiration_s}s",
    }
    processors = {**colors} | {f"state-{one.name}": _numbers(one) for one in STATES}
    body = {
        "encoding": "proto",
        "targets": targets,
        "subscriptions": bodies,
        "processors": processors,
        "outputs": {"prometheus": output | {"event-processors": [*processors]}},
    }
    comment = (
        f"gnmic for fabric {design.name}. Generated by ailb-gen. "
        "The login comes from GNMIC_USERNAME and GNMIC_PASSWORD."
    )
    return to_yaml(body, comment)
