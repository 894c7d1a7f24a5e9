"""A fabric of emulated switches for the verbs that connect."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.terminal import Shown, shown_by
from tests.deploy.fabric import Generated, Site, generated, site
from tests.forkserver import ForkServer


@pytest.fixture(scope="session")
def tiny_fabric(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """One stripe, two rails, two spines, two colors; before and after a change."""
    return generated(tmp_path_factory.mktemp("fabric"))


@pytest.fixture
def tiny(tiny_fabric: Generated, tmp_path: Path) -> Iterator[Site]:
    """The switches as they are before the change."""
    with site(tiny_fabric, tmp_path) as found:
        yield found


@pytest.fixture
def shown(fork_server: ForkServer) -> Shown:
    """Run a command line at a terminal."""
    return shown_by(fork_server)
