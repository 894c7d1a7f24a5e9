"""What the fabric should show: shares of load that follow from forwarding, and the number of sessions.

Shares, not rates: how much a job sends is not known, how it is spread is. They are those of an all-to-all, which puts
the queue pairs of every pair of NICs on the links; a queue pair per color spreads every other pattern alike.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.exports.labels import UplinkEnd, uplinks
from ailb_gen.exports.prometheus import gauge
from ailb_gen.forwarding.link_loads import loads_of
from ailb_gen.network.fabric import End, Network
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import counted

PATTERN = "all-to-all"
# Directions of a leaf's uplink, as the leaf counts them.
TX, RX = "tx", "rx"
Rows = Iterator[tuple[Mapping[str, str], float]]
# A direction and a leaf's end of an uplink.
Uplink = tuple[str, UplinkEnd]


@dataclass(frozen=True, slots=True)
class Expectations:
    """The shares of load by color, spine and uplink, and the sessions of every switch.

    `uplinks` are the shares of a leaf's uplinks among all of the leaf, by direction; `colors` and `spines` those of
    the fabric. They are empty where no traffic crosses the spines.
    """

    fabric: str
    sessions: Mapping[str, int]
    uplinks: Mapping[Uplink, float] = field(default_factory=dict)
    colors: Mapping[str, float] = field(default_factory=dict)
    spines: Mapping[str, float] = field(default_factory=dict)

    def text(self) -> str:
        """Return the metrics in Prometheus's text format."""
        return "".join(
            gauge(name, about, rows)
            for name, about, rows in (
                ("ailb_switch_expected_sessions", "BGP sessions that should be up", self._switch_rows()),
                ("ailb_uplink_expected_share", "Share of an uplink in the load of its leaf", self._uplink_rows()),
                ("ailb_color_expected_share", "Share of a color in the load of all uplinks", self._rows_of("color")),
                ("ailb_spine_expected_share", "Share of a spine in the load of all uplinks", self._rows_of("spine")),
            )
        )

    def _switch_rows(self) -> Rows:
        for device, count in self.sessions.items():
            yield {"fabric": self.fabric, "device": device}, count

    def _uplink_rows(self) -> Rows:
        for (direction, end), share in self.uplinks.items():
            # What should be idle, as to a spine in graceful shutdown, has no load to be compared with.
            if not share:
                continue
            place = {"device": end.device, "interface": end.interface, "color": end.color}
            yield {"fabric": self.fabric, **place, "direction": direction}, share

    def _rows_of(self, kind: str) -> Rows:
        for name, share in (self.colors if kind == "color" else self.spines).items():
            if share:
                yield {"fabric": self.fabric, kind: name}, share


def expectations(design: Design, network: Network) -> Expectations:
    """Compute what a fabric should show from its files.

    Raises UsageError where the uplinks of the files are not those of the design.
    """
    graph = Graph(network)
    cables = [session.cable for session in graph.sessions.up]
    _check(design, {end for cable in cables for end in (cable.a, cable.b)})
    sessions = Counter(end.device for cable in cables for end in (cable.a, cable.b))
    by_name = {switch.name: sessions[switch.name] for switch in design.switches}
    loads = end_loads(graph, Routing(network, graph=graph))
    ends = [end for end in uplinks(design) if end.role == "leaf"]
    total = sum(loads[end.device, end.interface][0] for end in ends)
    if not total:
        return Expectations(design.name, by_name)
    rows = {
        (direction, end): loads[end.device, end.interface][number] for end in ends for number, direction in _DIRECTIONS
    }
    return Expectations(
        design.name,
        by_name,
        _shares(rows, lambda row: (row[0], row[1].device)),
        _summed(rows, "color", total),
        _summed(rows, "peer", total),
    )


_DIRECTIONS = ((0, TX), (1, RX))


def end_loads(graph: Graph, routing: Routing) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the loads of every end of a link, out of its device and into it, by device and port."""
    named = loads_of(routing, PATTERN)
    found: dict[tuple[str, str], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for session in graph.sessions.up:
        out, back = named[session.cable.name]
        found[session.cable.a.device, session.cable.a.port] = (out, back)
        found[session.cable.b.device, session.cable.b.port] = (back, out)
    return found


def _check(design: Design, ends: set[End]) -> None:
    expected = {End(end.device, end.interface) for end in uplinks(design)}
    wrong = sorted(expected ^ ends)
    if wrong:
        word = "are without a BGP session in the files" if wrong[0] in expected else "are not in the fabric file"
        raise UsageError(
            f"{wrong[0]}: this port and {counted(len(wrong) - 1, 'other')} {word}, so what to expect is not known; "
            "run 'ailb-gen generate', then 'ailb-gen validate'"
        )


def _shares(rows: Mapping[Uplink, float], group: Callable[[Uplink], tuple[str, str]]) -> dict[Uplink, float]:
    """Return every row's share in its group; those of groups without load, and those without load, are left out."""
    totals: dict[tuple[str, str], float] = defaultdict(float)
    for row, load in rows.items():
        totals[group(row)] += load
    return {row: load / totals[group(row)] for row, load in rows.items() if load}


def _summed(rows: Mapping[Uplink, float], name: str, total: float) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for (direction, end), load in rows.items():
        if direction == TX:
            found[getattr(end, name)] += load / total
    return {key: share for key, share in found.items() if share}
