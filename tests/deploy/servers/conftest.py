"""Artifacts to push, and hosts to push them to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ailb_gen.deploy.servers.files import Tree, files_of
from ailb_gen.deploy.servers.verify import ExpectedServer, expected_of
from ailb_gen.hosts.read import read_hosts
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import example
from tests.deploy.servers.sandbox import Host, host_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ailb_gen.deploy.servers.ssh import ServerConnection
    from ailb_gen.design.model import HostConfig

NAME = "gpu-s1-1"


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact directory of the lab."""
    root: Path = tmp_path_factory.mktemp("artifacts") / "lab"
    write_rendering(rendering(example("lab"), root, RenderOptions()))
    return root


@pytest.fixture(scope="session")
def files(artifacts: Path) -> Tree:
    """What a server of the lab is to have."""
    return files_of(artifacts, read_hosts(artifacts)[0][NAME])


@pytest.fixture(scope="session")
def expected(artifacts: Path, files: Tree) -> ExpectedServer:
    """What must be seen on that server."""
    return expected_of(files, read_hosts(artifacts)[0][NAME].profile)


@pytest.fixture(scope="session")
def config() -> HostConfig:
    """The NICs of that server, as they were designed."""
    return next(server.config for server in example("lab").servers if server.name == NAME)


@pytest.fixture
def host(tmp_path: Path, config: HostConfig) -> Iterator[Host]:
    """A host of the lab that has none of the files."""
    yield from host_at(tmp_path / "host", config)


@pytest.fixture
def server(host: Host) -> Iterator[ServerConnection]:
    """A connection to that host, as root."""
    connection = host.server()
    connection.open()
    yield connection
    connection.close()
