"""`ping` and `traceroute`."""

from __future__ import annotations

import re

import pytest

from ailb_gen.addresses import address_text
from tests.emulator.operations.lab import (
    LEAF,
    Fake,
    ask,
    say,
)


def test_reachability(leaf: Fake) -> None:
    other = next(name for name in sorted(leaf.emulated._switches) if "leaf" in name and name != LEAF)
    switch = leaf.fabric.switch(other)
    assert switch is not None
    target = address_text(next(a.value for p in switch.ports.values() for u in p.units for a in u.addresses))
    found = ask(leaf, "ping", host=target, count="3")
    assert found.findtext("probe-results-summary/responses-received") == "3"
    hops = ask(leaf, "traceroute", host=target).findall("hop")
    assert [hop.findtext("probe-result/host-name") for hop in hops][-1] == other
    assert len(hops) == 2
    assert "0 packets received, 100% packet loss" in "\n".join(say(leaf, "ping 2001:db8::1 count 1"))
    assert ask(leaf, "traceroute", host="192.0.2.1").findtext("traceroute-failure") == "no response"
    leaf.fabric.power_off(other)
    assert ask(leaf, "ping", host=target).findtext("ping-failure") == "no response"


@pytest.mark.parametrize(
    ("options", "lost"),
    [
        ("source fc00:1:1:1::1", False),
        ("ttl 2", False),
        ("ttl 1", True),
        ("size 9154 do-not-fragment", False),
        ("size 9155 do-not-fragment", True),
        ("size 9155", False),
    ],
)
def test_probes_end_where_packets_would(leaf: Fake, options: str, lost: bool) -> None:
    """Two hops away, over links with an MTU of 9202 bytes for IPv6."""
    shown = "\n".join(say(leaf, f"ping fc00:2:1:1::1 count 1 {options}"))
    assert ("100% packet loss" in shown) == lost


def test_traceroute_with_few_hops_and_without_names(leaf: Fake) -> None:
    [_, hop] = say(leaf, "traceroute fc00:2:1:1::1 ttl 1 no-resolve")
    assert re.fullmatch(r" 1  fe80::[0-9a-f:]+  0\.120 ms  0\.120 ms  0\.120 ms", hop)
