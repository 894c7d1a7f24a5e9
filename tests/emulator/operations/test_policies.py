"""`show policy` and `show firewall`."""

from __future__ import annotations

import pytest

from ailb_gen.emulator.messages import RpcRefusedError
from tests.emulator.operations.lab import (
    Fake,
    ask,
    filtering,
    say,
)


def test_policies(leaf: Fake) -> None:
    with pytest.raises(RpcRefusedError, match="Policy none-such does not exist"):
        say(leaf, "show policy none-such")


def test_filters(leaf: Fake) -> None:
    assert say(leaf, "show firewall") == []
    own = filtering()
    found = ask(own, "get-firewall-information")
    assert [row.text for row in found.iter("counter-name")] == ["ssh-in", "rest"]
    assert [row.text for row in found.iter("policer-name")] == ["SLOW-ssh"]
    with pytest.raises(RpcRefusedError, match="filter other does not exist"):
        say(own, "show firewall filter other")
