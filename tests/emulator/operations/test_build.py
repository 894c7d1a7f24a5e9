"""Lengths of time, and trees with values in their fields."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from lxml import etree

from ailb_gen.emulator.operations.build import age, elapsed, fill, length
from tests.emulator.operations.lab import Fake, ask, plain


@pytest.mark.parametrize(
    ("seconds", "system", "bgp", "route"),
    [
        (5, "00:00", "0:05", "00:00:05"),
        (3725, "01:02", "1:02:05", "01:02:05"),
        (90065, "1d 01:01", "1d 1:01:05", "1d 01:01:05"),
        (7 * 86400 * 6 + 2 * 86400 + 64800, "6w2d 18:00", "6w2d18h", "6w2d 18:00:00"),
    ],
)
def test_lengths_of_time(seconds: int, system: str, bgp: str, route: str) -> None:
    assert (length(seconds), elapsed(seconds), age(seconds)) == (system, bgp, route)


def test_trees_are_filled() -> None:
    peers = [("peer-address", address) for address in ("fe80::1", "fe80::2")]
    route = SimpleNamespace(med=None, aigp=0)
    made = fill(
        "exchanged",
        tag="*",
        protocol="BGP",
        group=None,
        next_hop="",
        route=route,
        path="I",
        communities=peers,
        aigp=route.aigp,
        hidden=None,
    )
    # A field that is None takes its element away; an empty one does not.
    assert [(str(child.tag), child.text) for child in made] == [
        *(("active-tag", "*"), ("protocol-name", "BGP"), ("nh", None), ("as-path", "I")),
        *(*peers, ("bgp-aigp", "0")),
    ]
    assert made.findtext("nh/to") == ""
    assert fill("tsi", prefix="fc00::/64", hops="a, b").text == "KRT in-kernel fc00::/64 -> {a, b}"
    with pytest.raises(KeyError, match="hops"):
        fill("tsi", prefix="fc00::/64")


def test_attributes_of_junos_are_in_its_namespace(leaf: Fake) -> None:
    reply = ask(leaf, "get-bgp-summary-information")
    text = etree.tostring(reply, encoding="unicode")
    # Declared once, at the root.
    assert text.count("xmlns:junos=") == 1
    assert 'junos:seconds="' in text
    assert plain(reply).find("bgp-peer/elapsed-time[@seconds]") is not None
