"""`show interfaces`: states, speeds, lengths, counters."""

from __future__ import annotations

import pytest

from ailb_gen.emulator.fabric_state import TrafficCounters
from ailb_gen.emulator.messages import RpcRefusedError
from tests.emulator.operations.lab import (
    LEAF,
    Configured,
    Fake,
    ask,
    lab,
    say,
    tree_of,
)


def test_speeds_and_mtus() -> None:
    """Of the statement, of a split for its parts, of the cable, of the model; IP has the MTU of its port."""
    split = "    et-0/0/0 {\n        description facing_spine1:et-0/0/0;\n        mtu 9216;\n"
    ports = "et-0/0/40 { speed 400g; number-of-sub-ports 2; } et-0/0/40:1 { mtu 4000; unit 0 { family inet6; } }"
    ports += " et-0/0/41 { speed 100g; } et-0/0/42 { unit 0 { family inet { address 192.0.2.1/30; } } } re0:mgmt-0;"
    ports += " et-0/0/46 { unit 0 { family inet; } }"
    ports += " et-0/0/43 { number-of-sub-ports 4; } et-0/0/43:3 { unit 0 { family inet6; } } et-0/0/44:0;"
    ports += " et-0/0/45 { unit 0 { description lab; family inet { mtu 1400; address 192.0.2.5/30; } } }"
    chassis = "chassis { fpc 0 { pic 0 { port 44 { channel-speed 25g; } port 45 { speed 10g; } } } }\n"
    fabric, tree = lab(), tree_of(LEAF, "interfaces {\n" + split, f"{chassis}interfaces {{\n{ports}\n{split}")
    leaf = Configured(LEAF, fabric, tree)
    fabric.commit(LEAF, tree)
    rows = ask(leaf, "get-interface-information").findall("physical-interface")
    assert {row.findtext("name"): row.findtext("speed") for row in rows} == {
        **{f"et-0/0/{number}": "400Gbps" for number in (0, 1, 2, 3, 16, 17)},
        **{"et-0/0/40:1": "400Gbps", "et-0/0/41": "100Gbps", "et-0/0/42": "800Gbps", "re0:mgmt-0": "1000mbps"},
        **{"et-0/0/43:3": "200Gbps", "et-0/0/44:0": "25Gbps", "et-0/0/45": "10Gbps", "et-0/0/46": "800Gbps"},
        **{"irb": None, "lo0": None},
    }
    mtus = {
        row.findtext("name"): (family.findtext("address-family-name"), family.findtext("mtu"))
        for row in ask(leaf, "get-interface-information").iter("logical-interface")
        for family in row.findall("address-family")
    }
    assert mtus["et-0/0/0.0"] == ("inet6", "9202")
    assert mtus["et-0/0/16.0"] == ("eth-switch", "9216")
    assert mtus["et-0/0/40:1.0"] == ("inet6", "3986")
    assert mtus["et-0/0/42.0"] == ("inet", "1500")
    assert mtus["et-0/0/45.0"] == ("inet", "1400")
    assert mtus["irb.2"] == ("inet6", "9170")
    assert "et-0/0/45.0     up    down lab" in say(leaf, "show interfaces descriptions")
    assert say(leaf, "show interfaces et-0/0/46 terse")[2] == "et-0/0/46.0             up    down inet"
    assert say(leaf, "show interfaces et-0/0/45.0")[1] == "    Description: lab"
    assert mtus["lo0.0"] == ("inet", "Unlimited")
    shown = say(leaf, "show interfaces et-0/0/42.0")
    assert "        Destination: 192.0.2.0/30, Local: 192.0.2.1, Broadcast: 192.0.2.3" in shown


def test_lengths_of_interfaces(leaf: Fake) -> None:
    """Every length shows more than the one before, and hosts have no length."""
    lengths = [
        len(say(leaf, f"show interfaces et-0/0/0 {word}")) for word in ("terse", "brief", "", "detail", "extensive")
    ]
    assert lengths == sorted(set(lengths))
    assert lengths[2] > 25
    with pytest.raises(RpcRefusedError, match="device et-0/0/99 not found"):
        say(leaf, "show interfaces et-0/0/99")
    assert say(leaf, "show interfaces ge-* terse")[1:] == []


def test_counters_begin_at_zero_again(leaf: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = [TrafficCounters(100, 200, 3, 4)]
    monkeypatch.setattr(leaf.fabric, "counters", lambda device, interface: counted[0])
    names = ("input-bytes", "output-bytes", "input-packets", "output-packets")

    def shown(name: str) -> list[str | None]:
        found = ask(leaf, "get-interface-information", "extensive", interface_name=name)
        row = found.find("physical-interface/traffic-statistics")
        assert row is not None
        return [row.findtext(what) for what in names]

    assert shown("et-0/0/0") == ["100", "200", "3", "4"]
    assert say(leaf, "clear interfaces statistics et-0/0/0") == []
    counted[0] = TrafficCounters(150, 200, 4, 4)
    assert shown("et-0/0/0") == ["50", "0", "1", "0"]
    assert shown("et-0/0/1") == ["150", "200", "4", "4"]
    cleared = "  Statistics last cleared: 1970-01-13 16:10:00 UTC (0:00 ago)"
    assert cleared in say(leaf, "show interfaces et-0/0/0 detail")


def test_disabled_interfaces(leaf: Fake) -> None:
    text = "    et-0/0/16 {\n"
    leaf.fabric.commit(LEAF, tree_of(LEAF, text, f"{text}        disable;\n"))
    assert say(leaf, "show interfaces et-0/0/16 terse")[1] == "et-0/0/16               down  down"
    # One member of the VLAN is still up.
    assert say(leaf, "show interfaces irb terse")[2].startswith("irb.2                   up    up")
    unit = "        unit 0 {\n            family inet6;"
    leaf.fabric.commit(LEAF, tree_of(LEAF, unit, unit.replace("family", "disable;\n            family")))
    [row] = ask(leaf, "get-interface-information", interface_name="et-0/0/0").findall("physical-interface")
    assert row.find("logical-interface/if-config-flags/iff-down") is not None


def test_an_irb_needs_a_port(leaf: Fake) -> None:
    for port in (16, 17):
        leaf.fabric.commit(LEAF, tree_of(LEAF, "members vn2;", "members other;"))
        row = ask(leaf, "get-interface-information", "terse", interface_name=f"et-0/0/{port}")
        assert row.findtext("physical-interface/oper-status") == "up"
    row = ask(leaf, "get-interface-information", "terse", interface_name="irb.2")
    assert row.findtext("logical-interface/oper-status") == "down"
