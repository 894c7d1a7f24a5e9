"""Commands that operators type beside those for routes and sessions: queues, policies, logs, processes, clearing."""

from __future__ import annotations

import re

import pytest
from lxml import etree

from ailb_gen.emulator.messages import RefusedError
from ailb_gen.emulator.operations import check_named
from ailb_gen.emulator.operations.bgp import peer_address
from ailb_gen.emulator.operations.commands import COMMANDS, EMPTY, OPERATIONS, next_options, rpc_of
from tests.conftest import ROOT
from tests.emulator.operations.lab import LEAF, SPINE, Fake, ask, filtering, lab, say


@pytest.fixture
def leaf() -> Fake:
    return Fake(LEAF, lab())


def lacking() -> list[str]:
    """Return the commands that the page says to be refused."""
    page = (ROOT / "docs/emulator.md").read_text(encoding="utf-8").partition("Refused are:")[2]
    return re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)


def test_the_page_lists_commands() -> None:
    assert len(lacking()) > 20


@pytest.mark.parametrize("text", lacking())
def test_what_the_page_says_to_be_refused_is(leaf: Fake, text: str) -> None:
    with pytest.raises(RefusedError):
        say(leaf, text)


# Options whose answer is that without them: what is shown anyway, and what there is none of.
WITHOUT_EFFECT = {
    "show arp": "no-resolve",
    "show bfd session": "brief",
    "show bgp group": "brief",
    "show bgp neighbor": "auto-discovered autodiscovered",
    "show bgp summary": "auto-discovered autodiscovered",
    "show ethernet-switching table": "brief detail extensive summary",
    "show ntp associations": "no-resolve",
    "show route": "brief all",
    "show route advertising-protocol": "brief all",
    "show route instance": "brief summary operational",
    "show route receive-protocol": "brief all",
    "show system users": "no-resolve",
    "show version": "brief",
    "show vlans": "brief",
    "clear bgp neighbor": "soft soft-inbound",
    "ping": "inet6 no-resolve do-not-fragment",
    "traceroute": "inet6",
}


def answered(leaf: Fake, text: str) -> list[str]:
    """Return the lines that a command shows; of a refusal, the error."""
    try:
        return say(leaf, text)
    except RefusedError as error:
        return [str(error)]


@pytest.mark.parametrize("text", sorted(name for name, command in COMMANDS.items() if command.options))
def test_options_change_the_answer(leaf: Fake, text: str) -> None:
    """Or they are known not to: none is taken and ignored."""
    arguments = dict.fromkeys(("ping", "traceroute"), " fc00:2:1:1::1") | {
        f"show route {way}-protocol": " bgp fe80::ac84:30ff:fe88:9ebf" for way in ("advertising", "receive")
    }
    command = text + arguments.get(text, "")
    shown = say(leaf, command)
    same = {
        option
        for option, valued in COMMANDS[text].options.items()
        if answered(leaf, f"{command} {option}{' of-nobody' if valued else ''}") == shown
    }
    assert same == set(WITHOUT_EFFECT.get(text, "").split())


@pytest.mark.parametrize("tag", sorted({*OPERATIONS} - {*EMPTY}))
def test_requests_with_more_are_refused(leaf: Fake, tag: str) -> None:
    with pytest.raises(RefusedError, match="syntax error") as caught:
        ask(leaf, tag, "nonsense")
    assert caught.value.errors[0].element == "nonsense"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("show interfaces et-0/0/0 terse detail", "detail"),
        ("show interfaces descriptions extensive", "extensive"),
        ("show bgp summary instance master instance master", "instance"),
        ("show bgp neighbor of-nobody", "of-nobody"),
        ("show route hidden all", "all"),
        ("show vlans vn9", "vn9"),
        ("show route protocol BGP", "BGP"),
        ("show route advertising-protocol bgp fe80::1 terse", "terse"),
        ("show lldp neighbors interface et-0/0/77", "et-0/0/77"),
        ("show chassis fpc pic-status 3", "3"),
        ("ping fc00:1:1:1::1 inet", "fc00:1:1:1::1"),
        ("ping fc00:1:1:1::1 source fc00:9::9", "fc00:9::9"),
        ("ping fc00:1:1:1::1 routing-instance red", "red"),
        ("ping fc00:1:1:1::1 interface et-0/0/77.0", "et-0/0/77.0"),
        ("ping stripe2-leaf1", "stripe2-leaf1"),
        ("traceroute fc00:1:1:1::1 wait long", "wait"),
    ],
)
def test_what_cannot_be_honored_is_refused(leaf: Fake, text: str, word: str) -> None:
    with pytest.raises(RefusedError) as caught:
        say(leaf, text)
    assert caught.value.errors[0].element == word


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
    assert len(say(leaf, "traceroute fc00:2:1:1::1")) == 3
    [_, hop] = say(leaf, "traceroute fc00:2:1:1::1 ttl 1 no-resolve")
    assert re.fullmatch(r" 1  fe80::[0-9a-f:]+  0\.120 ms  0\.120 ms  0\.120 ms", hop)


def test_routes_in_columns(leaf: Fake) -> None:
    spines = {session.peer_asn: peer_address(leaf.fabric, session) for session in leaf.fabric.sessions(LEAF)}
    first, second = (spines[asn].partition("%")[0] for asn in (65001, 65002))
    shown = say(leaf, "show route fc00:2:1:1::/64 terse")
    assert shown[3:8] == [
        "",
        "A V Destination        P Prf   Metric 1   Metric 2  Next hop        AS path",
        "* ? fc00:2:1:1::/64    B 170        100                             65001 65103 I",
        f"  unverified                                       >{first}",
        "  ?                    B 170        100                             65002 65103 I",
    ]
    assert shown[8] == f"  unverified                                       >{second}"
    own = say(leaf, "show route fc00:1:1:1::1 terse")
    assert own[-1] == "* ? fc00:1:1:1::1/128  L   0                        Local"
    assert say(leaf, "show route fc00:1:1:1::/64 exact terse")[-1].endswith("D   0                       >irb.2")


def test_tables_of_one_neighbor_have_their_numbers(leaf: Fake) -> None:
    peer = peer_address(leaf.fabric, leaf.fabric.sessions(LEAF)[0])
    for way in ("advertising", "receive"):
        shown = say(leaf, f"show route {way}-protocol bgp {peer}")
        assert shown[1] == "inet6.0: 20 destinations, 56 routes (20 active, 0 holddown, 0 hidden)"
        assert shown[2].split()[:2] == ["Prefix", "Nexthop"]


def test_cards_and_directories(leaf: Fake) -> None:
    assert say(leaf, "show chassis fpc pic-status") == [
        "Slot 0   Online       QFX5240-64OD",
        "  PIC 0  Online       QFX5240-64OD",
    ]
    assert say(leaf, "file list") == ["/var/home/admin/:"]


def test_bfd_sessions_are_selected(leaf: Fake) -> None:
    found = ask(leaf, "get-bfd-session-information", "extensive").findall("bfd-session")
    address, number = found[2].findtext("session-neighbor"), found[2].findtext("local-discriminator")
    for options in (f"address {address}", f"discriminator {number}"):
        shown = "\n".join(say(leaf, f"show bfd session {options}"))
        assert (str(address) in shown, "1 sessions, 1 clients" in shown) == (True, True)
    assert say(leaf, "show bfd session summary")[:2] == ["", "4 sessions, 4 clients"]


@pytest.mark.parametrize(
    ("names", "words", "following"),
    [
        ("show bfd session", "", {"address", "brief", "detail", "discriminator", "extensive", "summary"}),
        ("show bfd session", "detail", {"address", "discriminator"}),
        ("show vlans", "", {"brief", "<vlan-name>"}),
        ("show vlans", "vn2 brief", set()),
        ("show bfd session", "address", set()),
        ("show bfd", "", set()),
    ],
)
def test_options_that_can_follow(names: str, words: str, following: set[str]) -> None:
    assert set(next_options(names.split(), words.split())) == following


def test_queues_are_those_of_the_configuration(leaf: Fake) -> None:
    text = "\n".join(say(leaf, "show interfaces queue et-0/0/0"))
    assert re.findall(r"^Queue: (\d+), Forwarding classes: (\S+)$", text, re.MULTILINE) == [
        ("0", "best-effort"),
        ("3", "CNP"),
        ("4", "NO-LOSS"),
        ("7", "network-control"),
    ]
    one = ask(leaf, "get-interface-queue-information", interface_name="et-0/0/0", forwarding_class="CNP")
    assert [row.text for row in one.iter("queue-number")] == ["3"]
    with pytest.raises(RefusedError, match="forwarding class none-such does not exist"):
        say(leaf, "show interfaces queue forwarding-class none-such")


def test_class_of_service_is_that_of_the_configuration(leaf: Fake) -> None:
    assert "  NO-LOSS                               2         4       normal          Enabled      3" in say(
        leaf, "show class-of-service forwarding-class"
    )
    assert say(leaf, "show class-of-service classifier name mydscp")[2:] == [
        "  011010             NO-LOSS                             low",
        "  110000             CNP                                 low",
    ]
    bound = say(leaf, "show class-of-service interface et-0/0/0")
    assert "  Scheduler map: sm1, Index: 100" in bound
    assert "  Congestion-notification: cnp" in bound
    assert "Classifier              mydscp                 dscp                      100" in bound
    assert "    Transmit rate: 5 percent, Rate Limit: none, Buffer size: remainder, Priority: strict-high" in say(
        leaf, "show class-of-service scheduler-map sm1"
    )
    assert (
        len(say(leaf, "show class-of-service"))
        == len(
            [
                *say(leaf, "show class-of-service forwarding-class"),
                *say(leaf, "show class-of-service classifier"),
                *say(leaf, "show class-of-service scheduler-map"),
            ]
        )
        + 2
    )
    for text in ("classifier name none-such", "scheduler-map none-such"):
        with pytest.raises(RefusedError, match="none-such does not exist"):
            say(leaf, f"show class-of-service {text}")


def test_policies(leaf: Fake) -> None:
    assert say(leaf, "show policy") == ["Configured policies:", "FABRIC-OUT", "PFE-LB"]
    assert say(leaf, "show policy FABRIC-OUT")[1:4] == [
        "    Term no-valley:",
        "        from route-filter fc00::/16 orlonger",
        "        then reject",
    ]
    with pytest.raises(RefusedError, match="Policy none-such does not exist"):
        say(leaf, "show policy none-such")


def test_filters(leaf: Fake) -> None:
    assert say(leaf, "show firewall") == []
    own = filtering()
    found = ask(own, "get-firewall-information")
    assert [row.text for row in found.iter("counter-name")] == ["ssh-in", "rest"]
    assert [row.text for row in found.iter("policer-name")] == ["SLOW-ssh"]
    shown = say(own, "show firewall filter PROTECT")
    assert [line.split()[0] for line in shown if line] == [
        *("Filter:", "Counters:", "Name", "ssh-in", "rest"),
        *("Policers:", "Name", "SLOW-ssh"),
    ]
    with pytest.raises(RefusedError, match="filter other does not exist"):
        say(own, "show firewall filter other")


def test_the_log_has_what_happened(leaf: Fake) -> None:
    lines = say(leaf, "show log messages")
    assert sum("RPD_BGP_NEIGHBOR_STATE_CHANGED" in line for line in lines) == 4
    assert lines[-2].endswith("UI_COMMIT: User 'admin' requested 'commit confirmed' operation (comment: wave 1)")
    assert [line[:15] for line in lines] == sorted(line[:15] for line in lines)
    leaf.fabric.power_off(SPINE)
    assert sum("RPD_BGP" in line for line in say(leaf, "show log messages")) == 3
    assert say(leaf, "show log")[1].endswith(" messages")
    with pytest.raises(RefusedError, match="could not resolve file"):
        say(leaf, "show log chassisd")


def test_processes(leaf: Fake) -> None:
    listed = say(leaf, "show system processes")
    assert [line.split()[-1] for line in listed[4:]] == ["-cli", "-D", "-N", "-N"]
    assert say(leaf, "show system processes brief")[3].startswith("top - 16:10:00 up 1 days,  2:23,  1 user,")
    both = say(leaf, "show system processes extensive")
    assert [line for line in both if line in listed] == listed


def test_pics_have_the_speeds_of_the_cables(leaf: Fake) -> None:
    rows = ask(leaf, "get-pic-detail", fpc_slot="0", pic_slot="0").findall(".//port")
    assert [row.findtext("port-number") for row in rows] == ["0", "1", "2", "3", "16", "17"]
    assert {row.findtext("cable-type") for row in rows} == {"400GBASE DR4"}
    with pytest.raises(RefusedError, match="PIC 1 is not present"):
        say(leaf, "show chassis pic fpc-slot 0 pic-slot 1")


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
    with pytest.raises(RefusedError, match="no BGP neighbor"):
        say(leaf, "clear bgp neighbor fe80::1")
    with pytest.raises(RefusedError, match="restarts 'routing' only, not chassis-control"):
        say(leaf, "restart chassis-control")


@pytest.mark.parametrize("command", ["show krt queue", "show ddos-protection statistics", "monitor interface traffic"])
def test_what_has_no_rpc_says_so(command: str) -> None:
    with pytest.raises(RefusedError, match=r"xml rpc equivalent of this command is not available\."):
        check_named(rpc_of(command))
    check_named(etree.Element("get-krt-state"))
