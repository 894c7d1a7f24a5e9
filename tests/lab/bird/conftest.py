"""The lab fabric of the golden trees, as its files say it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from ailb_gen.network.read import read_network
from tests.conftest import ROOT
from tests.lab.isolated import Remote, namespaces


@pytest.fixture(scope="session")
def network() -> Network:
    return read_network(ROOT / "tests/golden/lab", lambda *trees: None).network


@pytest.fixture(scope="session")
def leaf(network: Network) -> Switch:
    return network.switches["stripe1-leaf1"]


@pytest.fixture(scope="module")
def twin() -> Iterator[Remote]:
    with namespaces(("ip", "bird")) as remote:
        yield remote
