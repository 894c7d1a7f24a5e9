"""Fixtures with real services, see services.py."""

from collections.abc import Iterator

import pytest

from tests.conftest import IN_CI, SHARED_REQUIRED
from tests.sot import services
from tests.sot.nautobot_service import NAUTOBOT
from tests.sot.netbox_service import NETBOX


@pytest.fixture(scope="session")
def netbox_service() -> Iterator[services.Running]:
    """The real NetBox, shared with other workers: for `netbox`, not for tests."""
    yield from started(NETBOX)


@pytest.fixture(scope="module")
def netbox(netbox_service: services.Running) -> Iterator[services.Running]:
    """The real NetBox as after installation, for the tests of one module; the others wait."""
    with services.alone(netbox_service) as running:
        yield running


@pytest.fixture(scope="session")
def nautobot_service() -> Iterator[services.Running]:
    """The real Nautobot, shared with other workers: for `nautobot`, not for tests."""
    yield from started(NAUTOBOT)


@pytest.fixture(scope="module")
def nautobot(nautobot_service: services.Running) -> Iterator[services.Running]:
    """The real Nautobot as after installation, for the tests of one module; the others wait."""
    with services.alone(nautobot_service) as running:
        yield running


def started(kind: services.Kind) -> Iterator[services.Running]:
    """Use a service; skip where it cannot run, with the reason, but not where it is required."""
    try:
        with services.service(kind) as running:
            yield running
    except services.ServiceError as error:
        if IN_CI or SHARED_REQUIRED:
            raise
        pytest.skip(f"no {kind.name} here: {error}")
