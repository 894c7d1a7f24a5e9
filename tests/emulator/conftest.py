"""The fleet of two devices that most tests of the emulator use."""

from collections.abc import Iterator

import pytest

from ailb_gen.emulator.fleet import Fleet
from tests.emulator.fleets import two_devices


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    with two_devices() as found:
        yield found
