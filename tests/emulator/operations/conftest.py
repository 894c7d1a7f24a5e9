"""The leaf that most tests of operations ask."""

from __future__ import annotations

import pytest

from tests.emulator.operations.lab import LEAF, Fake, lab


@pytest.fixture
def leaf() -> Fake:
    return Fake(LEAF, lab())
