"""Load balancers in switches give the same bytes compiled and as plain Python; what DRILL remembers."""

from __future__ import annotations

from ailb_gen.sim.settings import TransportName
from tests.sim.engine.balancers.small import run, sent, two_tiers
from tests.sim.processes import check_both_ways

TRANSPORTS: tuple[TransportName, ...] = ("raw", "selective-repeat")

PARAMETERS: dict[str, dict[str, float]] = {
    "dlb": {"quality_delta": 1, "probability": 0.5},
    "glb": {"flood_us": 5},
    "conga": {"gap_us": 0},
}


def runs() -> list[object]:
    """What comes of every load balancer."""
    rows = [(host, (host + 2) % 6, 5_000, host, host) for host in range(6)]
    rows += [(host, (host + 4) % 6, 4_000, host + 20, host) for host in range(6)]
    found: list[object] = []
    for name in ("conga", "dlb", "dlb-per-packet", "dlb-assigned-flow", "glb", "rlb"):
        for transport in TRANSPORTS:
            done = run(two_tiers(leaves=3, links=2), rows, name, 3, transport, **PARAMETERS.get(name, {}))
            found.append([name, done.finish_ps.tolist(), done.link_bytes.tolist(), done.rerouted.tolist(), done.totals])
    return found


def test_compiled_and_plain_runs_are_the_same() -> None:
    check_both_ways(runs)


def test_drill_remembers_one_queue_per_switch_or_per_destination() -> None:
    """One flow never finds a queue: by destination it stays where it is, else equal queues take turns."""
    fabric = two_tiers()
    for by_destination, used in ((0.0, 2), (1.0, 1)):
        done = run(fabric, [(0, 2, 50_000, 0, 0)], "drill", by_destination=by_destination)
        assert sum(packets > 0 for packets in sent(fabric, done, "leaf1")) == used
