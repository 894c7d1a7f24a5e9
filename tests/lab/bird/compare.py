"""What BIRD and the kernel have, against `routing`: every path of every prefix, every set of next hops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ailb_gen.addresses import Prefix
from ailb_gen.lab.bird.model import RibRoute, Translation
from ailb_gen.lab.plan import LabPlan, link_local, plan, port_of, unit_link
from ailb_gen.routing.rib import Path, Routing
from ailb_gen.routing.route import Route
from tests.lab.bird.twin import Measured

KINDS = ("AS path loop", "color mismatch", "rejected by")
# Status, attributes and, of a hidden route, the kind of reason.
Seen = tuple[str, Route, str]


def differences(
    routing: Routing, translations: Mapping[str, Translation], measured: Mapping[str, Measured]
) -> list[tuple[Prefix, str]]:
    """Return what differs, by prefix and in words."""
    planned = plan(routing.graph.network)
    return [
        (prefix, f"{name} {prefix} {text}")
        for device, name in enumerate(routing.graph.names)
        for prefix, text in _of_device(routing, planned, device, translations[name], measured[name])
    ]


def _of_device(
    routing: Routing, planned: LabPlan, device: int, translation: Translation, measured: Measured
) -> Iterator[tuple[Prefix, str]]:
    name = routing.graph.names[device]
    switch = planned.switches[name]
    by_protocol = {protocol: interface for interface, protocol in translation.sessions.items()}
    # BIRD merges all groups or none, and says so.
    approximate = any("multipath" in entry.statement for entry in translation.untranslated)
    found: dict[Prefix, dict[str, Seen]] = {}
    for route in measured.routes:
        seen = found.setdefault(route.prefix, {})
        interface = by_protocol.get(route.protocol, "")
        if interface in seen and interface:
            yield route.prefix, f"two routes from {route.protocol}"
        seen[interface] = _measured(route, translation)
    for prefix in sorted({*routing.prefixes, *found}):
        paths = routing.paths(device, prefix)
        expected = {path.interface: _expected(path) for path in paths}
        have = found.get(prefix, {})
        for interface in sorted({*expected, *have}):
            if expected.get(interface) != have.get(interface):
                yield prefix, f"{interface}: routing {expected.get(interface)}, BIRD {have.get(interface)}"
        hops = {
            (
                unit_link(switch, hop.interface),
                link_local(planned.switches[hop.peer].ports[port_of(hop.peer_interface)].mac),
            )
            for hop in routing.next_hops(device, prefix)
        }
        kernel = measured.kernel.get(prefix, frozenset())
        if hops != kernel and not approximate:
            yield prefix, f"next hops of routing {sorted(map(str, hops))}, kernel {sorted(map(str, kernel))}"


def _measured(row: RibRoute, translation: Translation) -> Seen:
    status = "hidden" if row.hidden else "active" if row.active else "other"
    return status, row.route, _kind(translation.reasons[row.hidden] if row.hidden else "")


def _expected(path: Path) -> Seen:
    status = path.status if path.status in ("active", "hidden") else "other"
    return status, path.route if path.peer else Route(), _kind(path.reason if status == "hidden" else "")


def _kind(reason: str) -> str:
    return next((kind for kind in KINDS if reason.startswith(kind)), reason)
