"""The lab fabric of the golden trees, as its files say it."""

from __future__ import annotations

import pytest

from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from ailb_gen.network.read import read_network
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def network() -> Network:
    return read_network(ROOT / "tests/golden/lab", lambda *trees: None).network


@pytest.fixture(scope="session")
def leaf(network: Network) -> Switch:
    return network.switches["stripe1-leaf1"]
