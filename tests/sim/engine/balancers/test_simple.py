"""Load balancers in switches give the same bytes compiled and as plain Python."""

from __future__ import annotations

from ailb_gen.sim.settings import TransportName
from tests.sim.engine.balancers.small import run, two_tiers
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
