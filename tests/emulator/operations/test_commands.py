"""Show commands: words to rpcs, what is refused, and how replies look."""

from __future__ import annotations

import json
from xml.sax.saxutils import unescape

import pytest
from lxml import etree

from ailb_gen.addresses import address_text
from ailb_gen.emulator.fabric_state import Counters
from ailb_gen.emulator.messages import RefusedError
from ailb_gen.emulator.operations import run
from ailb_gen.emulator.operations.bgp import peer_address
from ailb_gen.emulator.operations.build import age, elapsed, element, length
from ailb_gen.emulator.operations.commands import COMMANDS, OPERATIONS, rpc_of
from ailb_gen.emulator.operations.layout import LAYOUTS, lines, read_layouts
from tests.emulator.operations.lab import LEAF, SPINE, Configured, Fake, ask, command, lab, say, tree_of


@pytest.fixture
def leaf() -> Fake:
    return Fake(LEAF, lab())


@pytest.mark.parametrize(
    ("text", "rpc"),
    [
        ("show version", "<get-software-information/>"),
        ("show bgp  summary group fabric-red", "<get-bgp-summary-information><group>fabric-red</group>"),
        (
            "show route advertising-protocol bgp fe80::1%et-0/0/0.0 extensive",
            "<get-route-information><advertising-protocol-name>bgp</advertising-protocol-name>"
            "<neighbor>fe80::1%et-0/0/0.0</neighbor><extensive></extensive>",
        ),
        (
            "show route fc00::/16 table inet6.0 hidden",
            "<get-route-information><destination>fc00::/16</destination><table>inet6.0</table><hidden></hidden>",
        ),
        (
            "show interfaces et-0/0/0 terse",
            "<get-interface-information><interface-name>et-0/0/0</interface-name><terse></terse>",
        ),
        ("show lldp neighbors interface et-0/0/1", "<get-lldp-interface-neighbors><interface-device>et-0/0/1<"),
    ],
)
def test_words_to_rpcs(leaf: Fake, text: str, rpc: str) -> None:
    assert etree.tostring(rpc_of(text), encoding="unicode").startswith(rpc)
    assert command(leaf, text, "xml").tag != "output"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("show nonsense", "nonsense"),
        ("show version invoke-on all-routing-engines", "invoke-on"),
        ("show bgp", "show bgp"),
        ("show bridge mac-table count", "bridge"),
        ("request system reboot", "request"),
        ("show system uptime at once", "at"),
        ("show route table", "table"),
        ("", ""),
    ],
)
def test_unknown_words(leaf: Fake, text: str, word: str) -> None:
    with pytest.raises(RefusedError, match="syntax error") as caught:
        command(leaf, text)
    assert caught.value.errors[0].element == word


def test_formats(leaf: Fake) -> None:
    rpc = etree.Element("get-software-information")
    assert run(leaf, rpc, "xml").startswith("<software-information")
    assert run(leaf, rpc, "text") == run(leaf, rpc, "ascii")
    assert f"Hostname: {LEAF}\n" in run(leaf, rpc, "text")
    made = json.loads(unescape(run(leaf, rpc, "json")))
    assert made["software-information"][0]["host-name"] == [{"data": LEAF}]
    with pytest.raises(RefusedError, match="no output in the form 'yaml'"):
        run(leaf, rpc, "yaml")


@pytest.mark.parametrize("tag", sorted(OPERATIONS))
def test_every_rpc_has_every_form(leaf: Fake, tag: str) -> None:
    peer = leaf.fabric.sessions(LEAF)[0]
    arguments = {
        "ping": "host",
        "traceroute": "host",
        "file-show": "filename",
        "get-checksum-information": "path",
        "restart.process": "process",
    }
    rpc = etree.Element(tag)
    if tag in arguments:
        values = {"host": peer_address(leaf.fabric, peer), "process": "routing"}
        etree.SubElement(rpc, arguments[tag]).text = values.get(arguments[tag], "/etc/hosts.junos")
    assert list(json.loads(unescape(run(leaf, rpc, "json")))) == [OPERATIONS[tag](leaf, rpc).tag]
    assert run(leaf, rpc, "text").startswith("<output")


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("sh ver", "show version"),
        ("show int et-0/0/0 te", "show interfaces et-0/0/0 terse"),
        ("sh bgp sum", "show bgp summary"),
        ("show lldp nei", "show lldp neighbors"),
    ],
)
def test_words_may_be_short(short: str, full: str) -> None:
    assert etree.tostring(rpc_of(short)) == etree.tostring(rpc_of(full))


def test_ambiguous_words() -> None:
    with pytest.raises(RefusedError, match="'b' is ambiguous: bfd, bgp"):
        rpc_of("show b summary")


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


def test_layouts() -> None:
    text = "= a b\n|x {c:>3}\\\n|[[ of {e}]] {d@style} {c!title}\n@d |{../c}{.!mark}\n!last\n= c\n"
    layouts = read_layouts(text, {"last": lambda reply: iter([str(reply.tag)])})
    assert (layouts["a"] is layouts["b"], layouts["c"]) == (True, [])
    reply = element("a", ("c", "one"), element("d", style="s"), element("d"))
    assert list(lines(reply, layouts["a"])) == ["x one s One", "one>", "one>", "a"]


def test_every_layout_is_of_an_rpc_or_part_of_one() -> None:
    parts = ("fpc-", "interfaces-", "instances-", "route", "exchanged", "bgp-")
    assert all(rpc.partition("+")[0] in OPERATIONS or rpc.startswith(parts) for rpc in LAYOUTS)


@pytest.mark.parametrize("text", sorted(COMMANDS))
def test_every_command_shows_something(leaf: Fake, text: str) -> None:
    peer = leaf.fabric.sessions(LEAF)[0]
    arguments = {
        "show route advertising-protocol": f" bgp {peer_address(leaf.fabric, peer)}",
        "show route receive-protocol": f" bgp {peer_address(leaf.fabric, peer)}",
        "ping": " 192.0.2.1",
        "traceroute": " 192.0.2.1",
        "file show": " /etc/hosts.junos",
        "file list": " /var/home/admin",
        "restart": " routing",
    }
    assert COMMANDS[text].rpc in OPERATIONS
    # There is no filter, and clearing says nothing.
    silent = text in ("clear interfaces statistics", "show firewall", "show firewall filter")
    assert any(say(leaf, text + arguments.get(text, ""))) != silent


def test_version(leaf: Fake) -> None:
    assert say(leaf, "show version") == [f"Hostname: {LEAF}", "Model: qfx5240-64od", "Junos: 25.4R1.12-EVO"]


def test_host_name_follows_the_configuration(leaf: Fake) -> None:
    leaf.fabric.commit(LEAF, tree_of(LEAF, f"host-name {LEAF}", "host-name renamed"))
    assert say(leaf, "show version")[0] == "Hostname: renamed"
    leaf.fabric.commit(LEAF, tree_of(LEAF, f"    host-name {LEAF};\n", ""))
    assert say(leaf, "show version")[0] == f"Hostname: {LEAF}"


def test_uptime_and_commits(leaf: Fake) -> None:
    assert say(leaf, "show system uptime") == [
        "Current time: 1970-01-13 16:10:00 UTC",
        "Time Source:  LOCAL CLOCK",
        "System booted: 1970-01-12 13:46:40 UTC (1d 02:23 ago)",
        "Protocols started: 1970-01-12 13:46:40 UTC (1d 02:23 ago)",
        "Last configured: 1970-01-12 14:01:40 UTC (1d 02:08 ago) by admin",
        " 4:10PM  up 1 day, 2:23, 1 user, load averages: 0.10, 0.10, 0.10",
    ]
    assert say(leaf, "show system commit") == [
        "0   1970-01-12 14:01:40 UTC by admin via netconf commit confirmed, rollback in 2mins",
        "    wave 1",
        "1   1970-01-12 13:47:40 UTC by root via cli",
    ]


def test_without_any_commit(leaf: Fake) -> None:
    fresh = Fake(LEAF, leaf.emulated, history=())
    assert ask(fresh, "get-system-uptime-information").find("last-configured-time") is None
    with pytest.raises(RefusedError, match="no commit"):
        ask(fresh, "get-commit-revision-information")


def test_alarms(leaf: Fake) -> None:
    for text in ("show chassis alarms", "show system alarms"):
        assert say(leaf, text) == ["No alarms currently active"]
    broken = Fake(LEAF, leaf.emulated, alarming=("FPC 0 Hard errors", "PSM 1 Not Powered"))
    reply = ask(broken, "get-alarm-information")
    assert reply.findtext("alarm-summary/active-alarm-count") == "2"
    found = [row.findtext("alarm-description") for row in reply.findall("alarm-detail")]
    assert found == ["FPC 0 Hard errors", "PSM 1 Not Powered"]
    assert say(broken, "show chassis alarms")[0] == "2 alarms currently active"
    assert say(broken, "show system alarms") == ["No alarms currently active"]


def test_files(leaf: Fake) -> None:
    assert ask(leaf, "file-list", path="~").get("root-path") == "/var/home/admin/"
    assert "re0" in (ask(leaf, "file-show", filename="/etc/hosts.junos").text or "")
    with pytest.raises(RefusedError, match="No such file"):
        ask(leaf, "file-show", filename="/etc/passwd")
    with pytest.raises(RefusedError, match="No such file"):
        ask(leaf, "file-list", path="/etc")


def test_interfaces(leaf: Fake) -> None:
    leaf.fabric.power_off(SPINE)
    lines = say(leaf, "show interfaces terse")
    assert lines[:4] == [
        "Interface               Admin Link Proto    Local                 Remote",
        "et-0/0/0                up    down",
        "et-0/0/0.0              up    down inet6    fe80::584d:6cff:fea7:87a6/64",
        "et-0/0/1                up    up",
    ]
    assert "irb.2                   up    up   inet6    fc00:1:1:1::1/64" in lines
    assert "                                            fc00:1:1:2::1/64" in lines
    assert say(leaf, "show interfaces terse et-0/0/2.0")[1:] == [
        "et-0/0/2.0              up    up   inet6    fe80::78e2:60ff:fe39:2948/64",
    ]
    assert say(leaf, "show interfaces descriptions")[1] == "et-0/0/0        up    down facing_spine1:et-0/0/0"
    assert say(leaf, "show interfaces et-0/0/1")[:4] == [
        "Physical interface: et-0/0/1, Enabled, Physical link is Up",
        "  Interface index: 1002, SNMP ifIndex: 503",
        "  Description: facing_spine2:et-0/0/0",
        "  Link-level type: Ethernet, MTU: 9216, MRU: 9224, Speed: 400Gbps, BPDU Error: None, Loopback: Disabled,",
    ]


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
    assert say(leaf, "show interfaces lo0 terse")[2].endswith("inet     10.255.16.1         --> 0/0")
    with pytest.raises(RefusedError, match="device et-0/0/99 not found"):
        say(leaf, "show interfaces et-0/0/99")
    assert say(leaf, "show interfaces ge-* terse")[1:] == []


def test_counters_begin_at_zero_again(leaf: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = [Counters(100, 200, 3, 4)]
    monkeypatch.setattr(leaf.fabric, "counters", lambda device, interface: counted[0])
    names = ("input-bytes", "output-bytes", "input-packets", "output-packets")

    def shown(name: str) -> list[str | None]:
        found = ask(leaf, "get-interface-information", "extensive", interface_name=name)
        row = found.find("physical-interface/traffic-statistics")
        assert row is not None
        return [row.findtext(what) for what in names]

    assert shown("et-0/0/0") == ["100", "200", "3", "4"]
    assert say(leaf, "clear interfaces statistics et-0/0/0") == []
    counted[0] = Counters(150, 200, 4, 4)
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


def test_router_advertisements(leaf: Fake) -> None:
    reply = ask(leaf, "get-ipv6-ra-information", interface="et-0/0/1.0")
    [row] = reply.findall("ipv6-ra-interface")
    heard = row.find("ipv6-ra-advertisement")
    assert heard is not None
    assert heard.findtext("ipv6-source-address") == "fe80::5c32:32ff:fe50:a35c"
    # No lifetime is configured there: three times the longest interval, 30 s.
    assert heard.findtext("ipv6-ra-default-lifetime") == "90"
    leaf.fabric.power_off("spine2")
    [row] = ask(leaf, "get-ipv6-ra-information", interface="et-0/0/1.0").findall("ipv6-ra-interface")
    assert row.find("ipv6-ra-advertisement") is None
    assert row.findtext("ipv6-ra-advertisements-received") == "0"
    assert say(leaf, "show ipv6 router-advertisement interface irb.2")[0] == "Interface: irb.2"


def test_lldp_needs_both_ends(leaf: Fake) -> None:
    assert len(ask(leaf, "get-lldp-neighbors-information")) == 4
    leaf.fabric.commit(SPINE, tree_of(SPINE, "interface all;", "interface et-0/0/1;"))
    found = ask(leaf, "get-lldp-neighbors-information")
    assert [row.findtext("lldp-local-port-id") for row in found] == [f"et-0/0/{number}" for number in (1, 2, 3)]
    leaf.fabric.commit("spine2", tree_of("spine2", "        port-id-subtype interface-name;\n", ""))
    row = ask(leaf, "get-lldp-interface-neighbors", interface_device="et-0/0/1").find("lldp-neighbor-information")
    assert row is not None
    assert row.findtext("lldp-remote-port-id-subtype") == "Locally assigned"
    assert row.findtext("lldp-remote-port-id") == "501"


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
