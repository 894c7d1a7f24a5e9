"""Statements that are read or change nothing, and all others, which are named with their line."""

import re
from pathlib import Path

import pytest

from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.junos.writer import to_set
from ailb_gen.network.statements import HARMLESS as HARMLESS_LIST
from ailb_gen.network.supported_statements import judged
from tests.checks.trees import GOLDEN
from tests.conftest import ROOT, SHARED, need_shared

LEAF, SPINE = "stripe1-leaf1", "spine2"


def text_of(name: str) -> str:
    return (GOLDEN / f"lab/switches/{name}.conf").read_text()


def named(text: str) -> list[tuple[str, int]]:
    return [(found.statement, found.line) for found in judged(effective(read(text, "x.conf"))).unmodeled]


@pytest.mark.parametrize("example", ["lab", "jvd", "jvd-8-uplinks", "brownfield", "static"])
def test_everything_that_is_generated_is_known(example: str) -> None:
    files = sorted((GOLDEN / example / "switches").iterdir())
    assert files
    for file in files:
        assert not named(file.read_text()), file.name


# Statements that are not known, with `|` behind what is said of them.
UNKNOWN = [
    "protocols bgp hold-time | 3",
    "protocols bgp group fabric-green local-preference | 200",
    "protocols bgp group fabric-green neighbor fe80::1 passive",
    "protocols bgp group fabric-green family inet | any",
    "protocols bgp group fabric-green local-as private",
    "protocols bgp group fabric-green family inet6 unicast accepted-prefix-limit | maximum 1",
    "protocols bgp group fabric-green bfd-liveness-detection holddown-interval | 1000",
    "protocols rstp | interface all",
    "protocols vstp",
    "protocols mld-snooping | vlan all",
    "protocols lldp interface all tlv-select | x",
    "protocols bgp group fabric-green shutdown",
    "protocols bgp group fabric-green graceful-shutdown sender local-preference | 3",
    "protocols bgp group fabric-green family inet6 unicast prefix-limit | maximum 1",
    "system processes routing disable",
    "system ddos-protection protocols bgp aggregate bandwidth | 0",
    "system internet-options tcp-mss | 500",
    "system scripts commit file | x.py",
    "event-options policy x then change-configuration | commands z",
    'event-options policy x then execute-commands commands "clear bgp neighbor"',
    'event-options policy x then execute-commands commands "show version |save /config/x"',
    "system commit peers-synchronize",
    "interfaces et-0/0/0.0 disable",
    "interfaces irb.2 disable",
    "interfaces et-0/0/16 unit 0 family ethernet-switching interface-mode trunk inter-switch-link",
    "chassis fpc 0 power | off",
    "chassis fpc 0 pic | 0 port 3 unused",
    "switch-options | interface-mac-limit 1",
    "multi-chassis | multi-chassis-protection 192.0.2.1 interface ae0",
    "tenants | y",
    "something-new | x",
    "security macsec | interfaces et-0/0/0 connectivity-association x",
    "routing-instances mgmt_junos interface | et-0/0/0.0",
    "routing-instances mgmt_junos routing-options static route 0.0.0.0/0 discard",
    "routing-options static route 10.0.0.0/8 discard",
    "interfaces fxp0 disable",
    "interfaces em0 unit 0 disable",
    "interfaces lo0 disable",
    "interfaces lo0 unit 0 disable",
    "interfaces et-0/0/0 unused",
    "interfaces et-0/0/0 hold-time up 60000",
    "interfaces et-0/0/0 hold-time down 9",
    "forwarding-options analyzer x output | interface et-0/0/1",
    "routing-options static route 240.0.0.0/3 discard",
    "interfaces et-0/0/0 ether-options loopback",
    "interfaces et-0/0/16 unit 0 family ethernet-switching storm-control | x",
    "forwarding-options access-security | router-advertisement-guard interface et-0/0/0",
    "protocols ospf3 | area 0",
    "routing-options static route fc00:2::/32 | discard",
    "routing-options rib | inet6.0 static route ::/0 discard",
    "routing-options martians | fc00::/16 orlonger",
    "routing-options autonomous-system loops | 3",
    "routing-options forwarding-table indirect-next-hop",
    "routing-instances x | interface et-0/0/0.0",
    "logical-systems | y interfaces et-0/0/0 unit 0",
    "policy-options community green invert-match",
    "policy-options policy-statement PFE-LB dynamic-db",
    "interfaces et-0/0/0 vlan-tagging",
    "interfaces et-0/0/0 ether-options 802.3ad | ae0",
    "interfaces et-0/0/0 unit 0 family inet6 rpf-check",
    "interfaces et-0/0/0 unit 0 family inet6 filter fallback | x",
    "interfaces et-0/0/0 unit 0 family mpls",
    "interfaces et-0/0/0 unit 0 family inet6 address fc00::1/64 primary",
    "forwarding-options enhanced-hash-key hash-seed | 5",
    "vlans vn2 forwarding-options flood | input x",
    "vlans vn2 no-mac-learning",
    "class-of-service interfaces et-* unit * rewrite-rules | dscp x",
    "class-of-service interfaces et-* shaping-rate | 1g",
    "class-of-service schedulers s1 buffer-size | percent 1",
    "class-of-service host-outbound-traffic | forwarding-class CNP",
]


@pytest.mark.parametrize("statement", UNKNOWN)
def test_what_is_not_known_is_named_with_its_line(statement: str) -> None:
    text = to_set(read(text_of(LEAF)), comments=False)
    expected = statement.partition(" | ")[0].replace('"', "")
    assert named(f"{text}set {statement.replace(' | ', ' ')}\n") == [(expected, text.count("\n") + 1)]


def test_lines_are_those_of_curly_text_and_what_is_inactive_is_not_named() -> None:
    text = text_of(LEAF)
    first = text.count("\n", 0, text.index("protocols {\n")) + 2
    assert named(text.replace("protocols {\n", "protocols {\nrstp { interface all; }\n")) == [("protocols rstp", first)]
    assert not named(text.replace("protocols {\n", "protocols {\ninactive: rstp { interface all; }\n"))


HARMLESS = [
    "system ntp server 192.0.2.1",
    "interfaces fxp0 unit 0 family inet filter input x",
    "interfaces fxp0 unit 0 family inet address 192.0.2.2/24",
    "interfaces lo0 unit 0 family inet6 filter input protect",
    "interfaces re0:mgmt-0 description oob",
    "interfaces re0:mgmt-0 unit 0 family inet6 address 2001:db8::1/64",
    "system services web-management https system-generated-certificate",
    "system login user ops uid 2000",
    "system login user ops class super-user",
    "system processes ntp enable",
    "snmp community public authorization read-only",
    "event-options policy x events y",
    "event-options policy x then raise-trap",
    'event-options policy x then execute-commands commands "show chassis alarms"',
    "services analytics streaming-server x remote-address 192.0.2.9",
    "security ssh-known-hosts host x ed25519-key y",
    "chassis alarm management-ethernet link-down ignore",
    "firewall family inet6 filter protect term x then discard",
    "routing-instances mgmt_junos routing-options static route 0.0.0.0/0 next-hop 192.0.2.1",
    'event-options policy x then execute-commands commands "show version | no-more"',
    "system commit synchronize",
    "version 24.4R1",
    "apply-macro note who ops",
    "protocols sflow collector 192.0.2.1",
    "protocols sflow interfaces et-0/0/0",
    'policy-options prefix-list ntp apply-path "system ntp server <*>"',
    "interfaces et-0/0/0 ether-options fec fec91",
    "routing-options static route 0.0.0.0/0 next-hop 192.0.2.1",
    "routing-options static defaults retain",
    "routing-options static route 192.0.2.0/24 discard",
    "routing-options static route 10.0.0.0/8 next-table x",
    "routing-instances mgmt_junos routing-options static route 240.0.0.0/4 discard",
    "routing-instances mgmt_junos routing-options static route 240.0.0.0/4 tag 5",
    "interfaces et-0/0/0 hold-time up 100",
    "interfaces et-0/0/0 hold-time down 0",
    "forwarding-options analyzer x input ingress interface et-0/0/1",
    "system scripts commit allow-transients",
    "policy-options policy-statement x from as-path y",
    "policy-options policy-statement x then accept",
    "class-of-service rewrite-rules dscp x forwarding-class CNP loss-priority low code-point 0",
    "protocols lldp advertisement-interval 5",
    "protocols bgp traceoptions file x",
]


@pytest.mark.parametrize("statement", HARMLESS)
def test_what_changes_nothing_is_not_named(statement: str) -> None:
    assert not named(f"{to_set(read(text_of(LEAF)), comments=False)}set {statement}\n")


CORPUS = SHARED / "junos-corpus"
# What an operator writes for himself, in stanzas that are his alone.
OPERATORS = ("system", "snmp", "security", "event-options", "services", "accounting-options", "access", "version")


@pytest.mark.parametrize("file", sorted(CORPUS.rglob("*.conf")) or [CORPUS], ids=lambda file: file.name)
def test_usual_statements_of_operators_are_not_named(file: Path) -> None:
    need_shared("junos-corpus")
    said = [found for found, _ in named(file.read_text())]
    assert not [statement for statement in said if statement.startswith(OPERATORS)]


def test_every_pattern_of_the_list_is_used_as_it_is_written() -> None:
    for reason, lines in HARMLESS_LIST.items():
        assert reason
        for words in (line.split() for line in lines.split("\n") if line.strip()):
            text = " ".join(word.partition("|")[0] for word in words)
            text = (
                text.replace("<ipv4>", "192.0.2.0/24")
                .replace("<bogon>", "127.0.0.0/8")
                .replace("<short>", "100")
                .replace("<show>", '"show version"')
                .replace("*", "any")
            )
            assert not judged(read(f"set {text} anything\n", "x.set")).unmodeled, text


def test_of_many_statements_each_is_named() -> None:
    text = text_of(SPINE).replace(
        "        group fabric-blue {\n", "        group fabric-blue {\n            passive;\n"
    )
    text = text.replace("    bgp {\n", "    bgp {\n        damping;\n")
    assert [found for found, _ in named(text)] == ["protocols bgp damping", "protocols bgp group fabric-blue passive"]


def test_the_table_of_factory_defaults_says_what_is_named() -> None:
    rows = re.findall(r"^\| `(.+?)` \| (yes|no) \|", (ROOT / "docs" / "deploy.md").read_text(), re.MULTILINE)
    assert len(rows) >= 14
    for statement, told in rows:
        assert bool(judged(effective(read(f"set {statement}\n"))).unmodeled) == (told == "yes"), statement
