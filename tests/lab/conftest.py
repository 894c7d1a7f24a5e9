"""The lab fabric of the golden trees, and room in the kernel's neighbor table, which all namespaces share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from ailb_gen.background import locked
from ailb_gen.lab.neighbor_table import release, reserve
from ailb_gen.lab.plan import LabPlan, plan
from ailb_gen.lab.registry import LAB
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from tests.checks.trees import GOLDEN, network_of

# What the largest lab of a test needs.
ENTRIES = 4096


@pytest.fixture(scope="session", autouse=True)
def neighbor_entries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """As root, raise the limit of the machine while tests run that bring labs up on their own."""
    if os.geteuid():
        yield
        return
    folder = tmp_path_factory.mktemp("entries")
    with locked(folder, LAB):
        reserve(folder, ENTRIES)
        yield
        release(folder)


@pytest.fixture(scope="session")
def network() -> Network:
    return network_of(GOLDEN / "lab")


@pytest.fixture(scope="session")
def lab(network: Network) -> LabPlan:
    return plan(network)


@pytest.fixture(scope="session")
def leaf(network: Network) -> Switch:
    return network.switches["stripe1-leaf1"]
