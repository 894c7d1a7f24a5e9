"""Artifacts to push, and hosts to push them to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from ailb_gen.deploy.servers.expected import ExpectedServer, expected_of
from ailb_gen.deploy.servers.files import Tree, files_of
from ailb_gen.deploy.servers.observed import observe
from ailb_gen.deploy.servers.script import apply, confirm
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import compare_all
from ailb_gen.design.model import HostConfig
from ailb_gen.hosts.read import read_hosts
from tests.conftest import example
from tests.deploy.servers.sandbox import Host, host_at
from tests.network.lab import LAB

NAME = "gpu-s1-1"


@pytest.fixture(scope="session")
def files() -> Tree:
    """What a server of the lab is to have."""
    return files_of(LAB, read_hosts(LAB)[0][NAME])


@pytest.fixture(scope="session")
def expected(files: Tree) -> ExpectedServer:
    """What must be seen on that server."""
    return expected_of(files, read_hosts(LAB)[0][NAME].profile)


@pytest.fixture(scope="session")
def config() -> HostConfig:
    """The NICs of that server, as they were designed."""
    return next(server.config for server in example("lab").servers if server.name == NAME)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, config: HostConfig) -> Iterator[Host]:
    """A host of the lab that has none of the files, for all tests of a module: each leaves it as it was."""
    yield from host_at(tmp_path_factory.mktemp("shared") / "host", config)


@pytest.fixture
def host(shared: Host) -> Iterator[Host]:
    """The same for one test, which may leave it in any way."""
    yield shared
    shared.renew()


@pytest.fixture
def server(host: Host) -> Iterator[ServerConnection]:
    """A connection to that host, as root."""
    with closing(host.connected()) as connection:
        yield connection


@pytest.fixture(scope="module")
def shared_server(shared: Host) -> Iterator[ServerConnection]:
    """A connection to it, as root."""
    with closing(shared.connected()) as connection:
        yield connection


@pytest.fixture(scope="module")
def all_told(
    shared_server: ServerConnection, files: Tree, expected: ExpectedServer
) -> Callable[[ExpectedServer | None], list[str]]:
    """Give that host its files; return how all of it is verified, by default against these files."""
    apply(shared_server, files, "r1", 10)
    confirm(shared_server, "r1")

    def told(other: ExpectedServer | None = None) -> list[str]:
        there = other or expected
        found = compare_all(shared_server.name, there, observe(shared_server, there))
        # The NIC in a sysfs of ours is nobody's, and has no GIDs: test_ways.py has one that is whole.
        return [one.message for one in found if one.subjects[-1].name not in ("QoS", "GID")]

    return told
