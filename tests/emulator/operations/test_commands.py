"""Show commands: words to rpcs, options, and what is refused."""

from __future__ import annotations

import json
import re
from xml.sax.saxutils import unescape

import pytest
from lxml import etree

from ailb_gen.emulator.messages import RpcRefusedError
from ailb_gen.emulator.operations import check_named, run
from ailb_gen.emulator.operations.bgp import peer_address
from ailb_gen.emulator.operations.commands import COMMANDS, EMPTY, OPERATIONS, next_options, rpc_of
from tests.conftest import ROOT
from tests.emulator.operations.lab import (
    LEAF,
    Fake,
    ask,
    command,
    lab,
    say,
)


@pytest.fixture(scope="module")
def leaf() -> Fake:
    """One leaf for all questions: what resets sessions and counters changes no other answer here."""
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
    with pytest.raises(RpcRefusedError, match="syntax error") as caught:
        command(leaf, text)
    assert caught.value.errors[0].element == word


def test_formats(leaf: Fake) -> None:
    rpc = etree.Element("get-software-information")
    assert run(leaf, rpc, "xml").startswith("<software-information")
    assert run(leaf, rpc, "text") == run(leaf, rpc, "ascii")
    assert f"Hostname: {LEAF}\n" in run(leaf, rpc, "text")
    made = json.loads(unescape(run(leaf, rpc, "json")))
    assert made["software-information"][0]["host-name"] == [{"data": LEAF}]
    with pytest.raises(RpcRefusedError, match="not as 'yaml'"):
        run(leaf, rpc, "yaml")


@pytest.mark.parametrize("tag", sorted(OPERATIONS))
def test_every_rpc_has_every_form(leaf: Fake, tag: str) -> None:
    peer = leaf.fabric.sessions(LEAF)[0]
    arguments = {
        "ping": "host",
        "traceroute": "host",
        "file-show": "filename",
        "get-checksum-information": "path",
        "get-sha1-checksum-information": "path",
        "get-sha256-checksum-information": "path",
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
    with pytest.raises(RpcRefusedError, match="'b' is ambiguous: bfd, bgp"):
        rpc_of("show b summary")


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


def lacking() -> list[str]:
    """Return the commands that the page says to be refused."""
    page = (ROOT / "docs/emulator.md").read_text(encoding="utf-8").partition("Refused are:")[2]
    return re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)


def test_the_page_lists_commands() -> None:
    assert len(lacking()) > 20


@pytest.mark.parametrize("text", lacking())
def test_what_the_page_says_to_be_refused_is(leaf: Fake, text: str) -> None:
    with pytest.raises(RpcRefusedError):
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
    except RpcRefusedError as error:
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
    with pytest.raises(RpcRefusedError, match="syntax error") as caught:
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
    with pytest.raises(RpcRefusedError) as caught:
        say(leaf, text)
    assert caught.value.errors[0].element == word


@pytest.mark.parametrize(
    ("names", "words", "following"),
    [
        ("show bfd session", "", {"address", "brief", "detail", "discriminator", "extensive", "summary"}),
        ("show bfd session", "detail", {"address", "discriminator"}),
        ("show vlans", "", {"brief", "detail", "extensive", "<vlan-name>"}),
        ("show vlans", "vn2 brief", set()),
        ("show bfd session", "address", set()),
        ("show bfd", "", set()),
    ],
)
def test_options_that_can_follow(names: str, words: str, following: set[str]) -> None:
    assert set(next_options(names.split(), words.split())) == following


@pytest.mark.parametrize("command", ["show krt queue", "show ddos-protection statistics", "monitor interface traffic"])
def test_what_has_no_rpc_says_so(command: str) -> None:
    with pytest.raises(RpcRefusedError, match=r"xml rpc equivalent of this command is not available\."):
        check_named(rpc_of(command))
    check_named(etree.Element("get-krt-state"))
