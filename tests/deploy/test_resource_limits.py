"""Memory that the answers of all devices share."""

from __future__ import annotations

import pytest

from ailb_gen.deploy import resource_limits
from ailb_gen.deploy.resource_limits import FREE_BYTES, Share, Shared, TooMuchError

MIB = 1 << 20


def test_what_is_held_counts_until_the_device_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_limits, "PATIENCE_S", 0.0)
    shared = Shared(6 * MIB)
    one, other = Share(shared), Share(shared)
    one.need(FREE_BYTES + 4 * MIB)
    one.whole()
    one.held = FREE_BYTES + 3 * MIB
    # The next answer of the same device comes beside it.
    one.done()
    assert (one.taken, shared.left) == (3 * MIB, 3 * MIB)
    one.need(2 * MIB)
    with pytest.raises(TooMuchError):
        other.need(FREE_BYTES + 2 * MIB)
    one.rest()
    other.need(FREE_BYTES + 2 * MIB)
    other.rest()
    assert (one.taken, one.held, shared.left) == (0, 0, 6 * MIB)
