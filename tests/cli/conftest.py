"""A fabric of emulated switches for the verbs that connect."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.checks.trees import GOLDEN
from tests.cli.terminal import Shown, shown_by
from tests.cli.verbs import committed
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


@pytest.fixture(scope="module")
def running(tiny_fabric: Generated, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Switches for all tests of a module."""
    with site(tiny_fabric, tmp_path_factory.mktemp("running")) as found:
        yield found


@pytest.fixture
def pushed(running: Site) -> Site:
    """The switches with what their files say, whatever an earlier test did."""
    for name, tree in running.generated.after.items():
        running.fleet.clear_faults(name)
        running.fleet.do(name, partial(committed, tree=tree))
    return running


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], object]], None]:
    """The plain engine in place of both; gives what lets a test act before each point, by its seed."""
    from ailb_gen.sim import point, sweep  # noqa: PLC0415 - compiles
    from tests.sim import double  # noqa: PLC0415

    for level in point.ENGINES:
        monkeypatch.setitem(point.ENGINES, level, double.NAME)
    monkeypatch.setattr(sweep, "must_compile", lambda prepared: False)
    plain = double.simulate

    def before_each(act: Callable[[int], object]) -> None:
        def simulate(*arguments: Any) -> object:
            act(arguments[3])
            return plain(*arguments[:5])

        monkeypatch.setattr(double, "simulate", simulate)

    return before_each


@pytest.fixture
def lab_copy(tmp_path: Path) -> Path:
    """A copy of the lab's files, to be damaged."""
    return Path(shutil.copytree(GOLDEN / "lab", tmp_path / "lab", symlinks=True))


@pytest.fixture
def shown(fork_server: ForkServer) -> Shown:
    """Run a command line at a terminal."""
    return shown_by(fork_server)
