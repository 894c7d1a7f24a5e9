"""BFD sessions follow their slower end."""

from __future__ import annotations

from tests.emulator.operations.lab import (
    LEAF,
    SPINE,
    Fake,
    ask,
    say,
    tree_of,
)


def test_bfd_sessions_are_selected(leaf: Fake) -> None:
    found = ask(leaf, "get-bfd-session-information", "extensive").findall("bfd-session")
    address, number = found[2].findtext("session-neighbor"), found[2].findtext("local-discriminator")
    for options in (f"address {address}", f"discriminator {number}"):
        shown = "\n".join(say(leaf, f"show bfd session {options}"))
        assert (str(address) in shown, "1 sessions, 1 clients" in shown) == (True, True)
    assert say(leaf, "show bfd session summary")[:2] == ["", "4 sessions, 4 clients"]


def test_bfd_follows_the_slower_end(leaf: Fake) -> None:
    """Both ends send as the slower one asks; the peer's multiplier tells when it is given up."""
    leaf.fabric.commit(SPINE, tree_of(SPINE, "minimum-interval 300", "minimum-interval 700"))
    session = ask(leaf, "get-bfd-session-information", "extensive").findall("bfd-session")[0]
    names = ("session-transmission-interval", "session-detection-time", "neighbor-minimum-transmission-interval")
    assert [session.findtext(name) for name in names] == ["0.700", "2.100", "0.700"]
    assert session.findtext("minimum-asynchronous-interval") == "0.300"
    leaf.fabric.keep_down(LEAF, "et-0/0/0.0")
    down = ask(leaf, "get-bfd-session-information").findall("bfd-session")[0]
    assert [down.findtext(name) for name in names[:2]] == ["2.000", "0.000"]
