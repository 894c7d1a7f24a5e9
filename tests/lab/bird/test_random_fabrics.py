"""BIRD and kernels against `routing` on random fabrics, with every mistake that files can have."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path as FilePath

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix
from ailb_gen.errors import IntentError
from ailb_gen.lab.bird.model import RibRoute, Translation
from ailb_gen.lab.plan import LabPlan, link_local, port_of, unit_link
from ailb_gen.network.read import read_network
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Path, Routing
from ailb_gen.routing.route import Route
from tests.checks.trees import rendered
from tests.lab.bird.twin import Measured, Running, build, cut, measure, start
from tests.lab.isolated import isolated
from tests.mutations.fuzz import DAMAGES
from tests.routing.fabrics import Case, cases, random_fabrics
from tests.routing.naive import Fabric, solutions

PATIENCE_S = 60.0
# From then on it is asked whether there is one solution only.
DOUBT_S = 8.0
# Fabrics that run at the same time: they mostly wait.
TOGETHER = 4

KINDS = ("AS path loop", "color mismatch", "rejected by")
# Status, attributes and, of a hidden route, the kind of reason.
Seen = tuple[str, Route, str]


def routing_of(case: Case) -> Routing:
    graph = Graph(case.network)
    return Routing(case.network, case.failed_sessions(graph), graph)


def ambiguous(case: Case, prefixes: set[Prefix]) -> set[Prefix]:
    """Return the prefixes that have more than one stable solution: who is heard first decides."""
    fabric = Fabric(case.network, case.failed)
    return {prefix for prefix in prefixes if solutions(fabric, prefix) is None}


def differences(routing: Routing, running: Running) -> list[tuple[Prefix, str]]:
    """Compare every path of every prefix and every set of next hops; returns what differs, by prefix and in words."""
    measured = measure(running)
    return [
        (prefix, f"{name} {prefix} {text}")
        for device, name in enumerate(routing.graph.names)
        for prefix, text in _of_device(routing, running.plan, device, running.translations[name], measured[name])
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


def compared(group: list[Case]) -> list[str]:
    """Run fabrics side by side; returns what differs from routing when there was time enough."""
    tags = [f"x{number}" for number in range(len(group))]
    running = {tag: build(tag, case.network) for tag, case in zip(tags, group, strict=True)}
    for fabric in running.values():
        start(fabric)
    for tag, case in zip(tags, group, strict=True):
        for cable in case.failed:
            cut(running[tag], cable)
    left = {tag: routing_of(case) for tag, case in zip(tags, group, strict=True)}
    found: dict[str, list[tuple[Prefix, str]]] = {}
    begin = time.monotonic()
    while left and time.monotonic() < begin + PATIENCE_S:
        waited = time.monotonic() > begin + DOUBT_S
        for tag, routing in list(left.items()):
            found[tag] = differences(routing, running[tag])
            if waited:
                open_ended = ambiguous(group[tags.index(tag)], {prefix for prefix, _ in found[tag]})
                found[tag] = [row for row in found[tag] if row[0] not in open_ended]
            if not found[tag]:
                del left[tag]
        time.sleep(0.1)
    return [text for tag in left for _, text in found[tag][:20]]


@st.composite
def damaged_files(draw: st.DrawFn, folder: FilePath) -> Case:
    """Give a fabric of at most four leaves and three spines, as its files say it after some damage to them."""
    spines, links = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    uplinks = spines * links
    colors = draw(st.sampled_from([count for count in range(1, uplinks + 1) if uplinks % count == 0]))
    # Without AIGP there can be no backups, and none for several colors on one spine.
    aigp, backup = draw(st.sampled_from((("true", "all"), ("true", "all"), ("true", "none"), ("false", "none"))))
    text = (
        f"name: small\nstripes: {draw(st.integers(1, 2))}\nrails: {draw(st.integers(1, 2))}\nservers: 0\n"
        f"spines: {spines}\nlinks_per_spine: {links}\naigp: {aigp}\ncolors: {{count: {colors}, backup: {backup}}}\n"
    )
    number = draw(st.integers(0, 1 << 32))
    try:
        _, root = rendered(text, folder / f"{number:x}")
    except IntentError:
        reject()
    rng = random.Random(number)
    files = sorted((root / "switches").iterdir())
    for _ in range(draw(st.integers(0, 4))):
        file = rng.choice(files)
        lines = file.read_text().splitlines(keepends=True)
        rng.choice(DAMAGES)(rng, lines)
        file.write_text("".join(lines))
    limit = draw(st.sampled_from((None, None, 1, 2, 3)))
    if limit is not None:
        file = rng.choice(files)
        file.write_text(f"{file.read_text()}chassis {{ maximum-ecmp {limit}; }}\n")
    network = read_network(root, lambda *trees: None).network
    shutil.rmtree(root)
    failed = draw(st.sets(st.sampled_from(network.links), max_size=2)) if network.links else set()
    return Case(network, frozenset(failed))


@pytest.mark.long
@given(st.data())
@random_fabrics(8)
def test_damaged_files_route_as_computed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp()
    group = [data.draw(damaged_files(folder)) for _ in range(TOGETHER)]
    assert isolated(compared, group, tools=("ip", "bird")) == []


@pytest.mark.long
@given(st.lists(cases(), min_size=TOGETHER, max_size=TOGETHER))
@random_fabrics(8)
def test_random_fabrics_route_as_computed(group: list[Case]) -> None:
    assert isolated(compared, group, tools=("ip", "bird")) == []
