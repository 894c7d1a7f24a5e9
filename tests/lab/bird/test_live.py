"""The lab fabric with real daemons and real kernels: as computed, after a failure, and after its repair."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ailb_gen.lab.bird.model import Translation
from ailb_gen.network.fabric import Network
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.lab.bird.compare import differences
from tests.lab.bird.twin import Measured, Twin
from tests.routing.fabrics import prefix

TAG = "lab-"
PATIENCE_S = 60.0
FAR = prefix("fc00:1:2:1::/64")


def settled(twin: Twin, routing: Routing, translations: Mapping[str, Translation]) -> dict[str, Measured]:
    """Wait until all is as computed."""
    until = time.monotonic() + PATIENCE_S
    while True:
        measured: dict[str, Measured] = twin.ask("measure", TAG)
        found = differences(routing, translations, measured)
        if not found:
            return measured
        assert time.monotonic() < until, "\n".join(text for _, text in found[:20])
        time.sleep(0.1)


def wait_for_every_spine(twin: Twin) -> None:
    """Wait until a prefix goes through all spines in the table in which AIGP does not count."""
    until = time.monotonic() + PATIENCE_S
    while True:
        table = twin.ask("ecmp table", TAG, "stripe1-leaf1")
        if {link for link, _ in table.get(FAR, ())} == {f"et-0-0-{number}" for number in range(4)}:
            return
        assert time.monotonic() < until, table
        time.sleep(0.1)


def test_pinned_failed_over_and_repaired(twin: Twin, network: Network) -> None:
    graph = Graph(network)
    twin.ask("build", TAG, network)
    translations = twin.ask("start", TAG)
    try:
        leaf = settled(twin, Routing(network, graph=graph), translations)["stripe1-leaf1"]
        assert {link for link, _ in leaf.kernel[FAR]} == {"et-0-0-0"}
        paths = {route.protocol: route.attributes for route in leaf.routes if route.prefix == FAR}
        # The color of the prefix has AIGP, its backups are there without.
        assert {name: attributes.aigp for name, attributes in paths.items()} == {
            "et-0-0-0": 0, "et-0-0-1": None, "et-0-0-2": None, "et-0-0-3": None,
        }  # fmt: skip
        twin.ask("plain ecmp", TAG, "stripe1-leaf1")
        wait_for_every_spine(twin)
        assert settled(twin, Routing(network, graph=graph), translations)["stripe1-leaf1"].kernel == leaf.kernel
        cable = next(one for one in network.links if one.a.device == "stripe1-leaf1" and one.a.port == "et-0/0/0")
        number = next(number for number, one in enumerate(graph.sessions.up) if one.cable == cable)
        twin.ask("cable", TAG, (cable, False))
        leaf = settled(twin, Routing(network, frozenset({number}), graph), translations)["stripe1-leaf1"]
        assert {link for link, _ in leaf.kernel[FAR]} == {"et-0-0-1", "et-0-0-2", "et-0-0-3"}
        twin.ask("cable", TAG, (cable, True))
        leaf = settled(twin, Routing(network, graph=graph), translations)["stripe1-leaf1"]
        assert {link for link, _ in leaf.kernel[FAR]} == {"et-0-0-0"}
    finally:
        twin.ask("stop", TAG)
