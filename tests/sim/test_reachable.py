"""Connections that cannot be are found before anything runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.errors import UsageError
from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import UNREACHABLE, FabricArrays
from ailb_gen.sim.failures import without_links
from ailb_gen.sim.reachable import check_reachable
from ailb_gen.sim.traffic.builder import QueuePairs, TaskBuilder
from ailb_gen.sim.workload import Workload

G = 10**9
FABRIC = clos(2, 2, 2, host_bps=G, uplink_bps=G, colors=2)


def traffic() -> Workload:
    """A message of two queue pairs from host 1 to host 3."""
    builder = TaskBuilder()
    builder.send(builder.job("job", QueuePairs(2)), np.array([0]), np.array([2]), 1000)
    return builder.finish()


def refused(fabric: FabricArrays) -> str:
    with pytest.raises(UsageError) as error:
        check_reachable(fabric, traffic())
    return str(error.value)


def links(*names: str) -> list[int]:
    return [FABRIC.link_names.index(name) for name in names]


def test_what_arrives_is_accepted() -> None:
    check_reachable(FABRIC, traffic())
    check_reachable(without_links(FABRIC, links("leaf1:spine2", "host2:leaf1", "host4:leaf2")[1:]), traffic())


def test_no_route_and_no_link() -> None:
    lost = without_links(FABRIC, links("leaf1:spine2"))
    assert refused(lost) == "1 of 2 connections have no path: host1 to host3 (queue pair 2): leaf1 has no route"
    assert "2 of 2 connections have no path: host1 to host3: the source has no link" in refused(
        without_links(FABRIC, links("host1:leaf1"))
    )
    assert "host1 to host3: leaf2 has no link to it" in refused(without_links(FABRIC, links("host3:leaf2")))


def test_hosts_without_addresses() -> None:
    first = FABRIC.first_destination.copy()
    first[3:] = first[2]
    assert "host1 to host3: it has no address" in refused(replace(FABRIC, first_destination=first))


def test_loops() -> None:
    (state,) = FABRIC.forwarding
    back = state.next_hops.copy()
    prefix = FABRIC.destination_prefix[FABRIC.first_destination[2]]
    # Spine 1 sends what is for leaf 2 back to leaf 1.
    back[2, prefix] = back[2, FABRIC.destination_prefix[0]]
    assert back[2, prefix] != UNREACHABLE
    assert "its route loops" in refused(replace(FABRIC, forwarding=(replace(state, next_hops=back),)))
