"""Processes, the log, and sessions that are reset."""

from __future__ import annotations

import pytest

from ailb_gen.emulator.messages import RpcRefusedError
from tests.emulator.operations.lab import (
    LEAF,
    SPINE,
    Fake,
    lab,
    say,
)


def test_the_log_has_what_happened(leaf: Fake) -> None:
    lines = say(leaf, "show log messages")
    assert sum("RPD_BGP_NEIGHBOR_STATE_CHANGED" in line for line in lines) == 4
    assert [line[:15] for line in lines] == sorted(line[:15] for line in lines)
    leaf.fabric.power_off(SPINE)
    assert sum("RPD_BGP" in line for line in say(leaf, "show log messages")) == 3
    assert say(leaf, "show log")[1].endswith(" messages")
    with pytest.raises(RpcRefusedError, match="could not resolve file"):
        say(leaf, "show log chassisd")


def test_processes(leaf: Fake) -> None:
    listed = say(leaf, "show system processes")
    both = say(leaf, "show system processes extensive")
    assert [line for line in both if line in listed] == listed


@pytest.mark.parametrize("command", ["restart routing", "clear bgp neighbor", "clear bgp neighbor all"])
def test_sessions_that_are_reset_come_up_again(command: str) -> None:
    now = [1000.0]
    leaf = Fake(LEAF, lab(clock=lambda: now[0]))
    before = leaf.fabric.sessions(LEAF)
    now[0] = 2000.0
    say(leaf, command)
    after = leaf.fabric.sessions(LEAF)
    assert [one.established for one in after] == [one.established for one in before] == [True] * 4
    assert {(one.since, one.flaps) for one in after} == {(2000.0, 1)}


def test_one_session_is_reset_or_none(leaf: Fake) -> None:
    address = "fe80::ac84:30ff:fe88:9ebf"
    assert say(leaf, f"clear bgp neighbor {address} soft") == ["Cleared 1 connections"]
    assert [one.flaps for one in leaf.fabric.sessions(LEAF)] == [0, 0, 0, 0]
    say(leaf, f"clear bgp neighbor {address}")
    assert [one.flaps for one in leaf.fabric.sessions(LEAF)] == [1, 0, 0, 0]
    with pytest.raises(RpcRefusedError, match="no BGP neighbor"):
        say(leaf, "clear bgp neighbor fe80::1")
    with pytest.raises(RpcRefusedError, match="restarts 'routing' only, not chassis-control"):
        say(leaf, "restart chassis-control")
