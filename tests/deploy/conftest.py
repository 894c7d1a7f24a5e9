"""A fabric to push to, generated once, and the program ready to be forked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.fabric import BEFORE, Generated, Site, generated, site
from tests.forkserver import ForkServer


@pytest.fixture(scope="session")
def small_fabric(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """One stripe, two rails, two spines, two colors; before and after a change."""
    return generated(tmp_path_factory.mktemp("fabric"))


@pytest.fixture
def tiny(small_fabric: Generated, tmp_path: Path) -> Iterator[Site]:
    """The switches of that fabric as they are before the change."""
    with site(small_fabric, tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def one_color(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """The same with one color: its spines may be changed at once, if no path has to stay."""
    return generated(tmp_path_factory.mktemp("fabric"), BEFORE.replace("[blue, red]", "[blue]"))


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """A process that forks the program, which looks for answers often."""
    with ForkServer(hurried=True) as found:
        yield found
