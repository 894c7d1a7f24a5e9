"""The fleet of two devices that most tests of the emulator use."""

from collections.abc import Iterator

import ncclient.transport.session
import pytest

from ailb_gen.emulator.fleet import Fleet
from tests.emulator.fleets import two_devices


@pytest.fixture(scope="session", autouse=True)
def quick_ncclient() -> Iterator[None]:
    """Let ncclient look for requests to be sent all the time, not ten times a second."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ncclient.transport.session, "TICK", 0.005)
        yield


@pytest.fixture
def quick_reboots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reboots on request take a moment only."""
    for module in ("commandline", "netconf"):
        monkeypatch.setattr(f"ailb_gen.emulator.{module}.REBOOT_S", 0.1)


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    with two_devices() as found:
        yield found
