"""What filters do to the packets that a fabric lives on: from the text of a switch to the reason why one stops."""

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.filters import Packet, discovery_packets, rdma_packets, session_packets, stopped
from ailb_gen.junos.reader import read
from ailb_gen.network.filters import Filters, filters

POOL = Prefix(0xFC00 << 112, 16)
BGP_TO, BGP_FROM, BFD = session_packets(bfd=True)
DISCOVERY = tuple(discovery_packets(links_only=True))
SOLICIT = next(packet for packet in DISCOVERY if "neighbor solicitations" in packet.name)
RDMA, CNP = rdma_packets(POOL, (26, 48))
ALL = (BGP_TO, BGP_FROM, BFD, *DISCOVERY, RDMA, CNP)
LISTS = """
policy-options {
    prefix-list links { fe80::/10; }
    prefix-list old { 192.0.2.0/24; }
    prefix-list path { apply-path "protocols bgp group <*> neighbor <*>"; }
}
firewall {
    policer wide { if-exceeding { bandwidth-limit 10m; burst-size-limit 15k; } then discard; }
    policer narrow { if-exceeding { bandwidth-limit 8k; burst-size-limit 15k; } then discard; }
}
"""


def read_filters(terms: str, family: str = "inet6") -> Filters:
    attached = f"interfaces {{ lo0 {{ unit 0 {{ family {family} {{ filter {{ input protect; }} }} }} }} }}"
    firewall = f"firewall {{ family {family} {{ filter protect {{ {terms} }} }} }}"
    return filters(read(f"{attached}\n{firewall}\n{LISTS}", "x.conf"))


def stops(terms: str, family: str = "inet6") -> dict[Packet, str]:
    """The reasons, by packet, of those that do not surely pass."""
    found = read_filters(terms, family)
    chain = (found.defined[family, "protect"],)
    return {packet: stop.reason for packet in ALL if (stop := stopped(chain, packet, found)) is not None}


REST = "term rest { then discard; }"
OTHERS = "term others { then accept; }"
BGP = "term bgp { from { next-header tcp; port bgp; } then accept; }"
PERMIT = f"""
    term bgp {{ from {{ source-prefix-list {{ links; }} next-header tcp; port bgp; }} then {{ count bgp; accept; }} }}
    term bfd {{ from {{ next-header udp; destination-port [ 3784-3785 4784 ]; hop-limit 255; }} then accept; }}
    term nd {{ from {{ next-header icmp6; icmp-type [ router-solicit 134 135-136 ]; }} then policer wide; }}
    term ssh {{ from {{ source-address {{ 192.0.2.0/24; }} next-header tcp; destination-port ssh; }} then accept; }}
    term data {{ from {{ next-header udp; destination-port 4791; }} then accept; }}
    {REST}
"""


@pytest.mark.parametrize(
    "terms",
    [
        OTHERS,
        "term count { then { count x; log; } }",
        "term sample { then { sample; next term; } } term others { then accept; }",
        "then accept;",
        PERMIT,
        PERMIT.replace("next-header", "payload-protocol").replace("icmp6", "icmpv6"),
        "term telnet { from { next-header tcp; destination-port telnet; } then discard; } " + OTHERS,
        "term old { from { source-prefix-list { old; } } then discard; } " + OTHERS,
        "term away { from { source-address { 2001:db8::/32; } } then discard; } " + OTHERS,
        "term not { from { next-header-except [ tcp udp icmp6 ]; } then discard; } " + OTHERS,
        "term pieces { from { next-header fragment; } then discard; } " + OTHERS,
        "term all { from { source-address { ::/0; 2001:db8::/32 except; } } then accept; } " + REST,
        "term ping { from { next-header icmp6; icmp-type echo-request; } then discard; } " + OTHERS,
        "term maybe { from { packet-length 64; } then accept; } " + OTHERS,
    ],
)
def test_filters_that_let_the_fabric_live(terms: str) -> None:
    assert stops(terms) == {}


@pytest.mark.parametrize(
    ("terms", "stopped_packets", "said"),
    [
        (REST, ALL, "term rest of filter protect discards"),
        (BGP, (BFD, *DISCOVERY, RDMA, CNP), "no term of filter protect certainly accepts"),
        ("term x { from { next-header tcp; destination-port 179; } then reject; } " + OTHERS, (BGP_TO,), "discards"),
        ("term x { from { next-header tcp; source-port bgp; } then discard; } " + OTHERS, (BGP_FROM,), "discards BGP"),
        ("term x { from { next-header udp; port [ 1 3784 ]; } then discard; } " + OTHERS, (BFD,), "discards BFD"),
        ("term x { from { next-header icmp6; } then discard; } " + OTHERS, DISCOVERY, "discards"),
        ("term x { from { next-header 58; icmp-type 135; } then discard; } " + OTHERS, (SOLICIT,), "(ICMPv6 type 135)"),
        ("term x { from { destination-port 4791; } then discard; } " + OTHERS, (RDMA, CNP), "discards RoCEv2"),
        ("term x { from { traffic-class af31; } then discard; } " + OTHERS,
         (*DISCOVERY, BGP_TO, BGP_FROM, BFD, RDMA), "term x"),
        ("term x { from { source-address { fc00:1::/32; } } then discard; } " + OTHERS, (RDMA, CNP),
         "discards some of RoCEv2"),
        ("term x { from { next-header udp; destination-port 4791; } then { forwarding-class be; accept; } } " + OTHERS,
         (RDMA, CNP), "does `forwarding-class be` to"),
        ("term x { then { policer wide; accept; } }", (RDMA, CNP), "limits the rate of RoCEv2"),
        ("term x { then { policer narrow; accept; } }", ALL, "limits the rate of"),
        ("term x { then { policer none; accept; } }", ALL, "limits the rate of"),
        ("term x { then { routing-instance y; } }", ALL, "does `routing-instance y` to"),
        ("term x { filter other; }", ALL, "does `filter other` to"),
        ("term x { from { source-prefix-list { path; } } then accept; } " + REST, ALL, "discards"),
        ("term x { from { source-prefix-list { path; } } then discard; } " + OTHERS, ALL,
         "depending on source-prefix-list"),
        ("term x { from { interface et-0/0/0.0; } then discard; } " + OTHERS, ALL, "depending on interface"),
        ("term x { from { address { ::/0; fe80::/10 except; } } then discard; } " + OTHERS,
         (RDMA, CNP, *DISCOVERY), "discards"),
        ("term x { from { next-header-except tcp; } then discard; } " + OTHERS, (BFD, *DISCOVERY, RDMA, CNP), "term x"),
    ],
)  # fmt: skip
def test_filters_that_stop_it(terms: str, stopped_packets: tuple[Packet, ...], said: str) -> None:
    found = stops(terms)
    assert {packet.name for packet in found} == {packet.name for packet in stopped_packets}
    assert any(said in reason for reason in found.values()), found


def test_a_filter_without_terms_discards_everything() -> None:
    assert set(stops("interface-specific;")) == set(ALL)


def test_filters_of_frames_are_read_alike() -> None:
    term = "term x { from { ether-type ipv6; ip-protocol udp; destination-port 4791; } then discard; } " + OTHERS
    assert set(stops(term, "ethernet-switching")) == {RDMA, CNP}
    arp = "term x { from { ether-type arp; } then discard; } " + OTHERS
    assert not stops(arp, "ethernet-switching")


def test_of_several_filters_the_next_is_asked_where_one_does_not_decide() -> None:
    text = (
        "interfaces { lo0 { unit 0 { family inet6 { filter { input-list [ one two ]; } } } } }"
        f"firewall {{ family inet6 {{ filter one {{ {BGP} }} filter two {{ {PERMIT} }} }} }}{LISTS}"
    )
    found = filters(read(text, "x.conf"))
    (attachment,) = found.attached
    assert (attachment.name, attachment.direction, attachment.filters) == ("lo0.0", "input", ("one", "two"))
    chain = tuple(found.defined["inet6", name] for name in attachment.filters)
    assert [stopped(chain, packet, found) for packet in ALL] == [None] * len(ALL)
    assert stopped(chain[:1], BFD, found) is not None


def test_every_place_where_a_filter_is_attached() -> None:
    text = (
        "interfaces { et-0/0/0 { unit 0 { family inet6 { filter { output a; } } } } }"
        "vlans { v { forwarding-options { filter { input b; } } } }"
        "forwarding-options { family inet6 { filter { input c; } } }"
    )
    found = filters(read(text, "x.conf")).attached
    assert [(one.kind, one.name, one.direction, one.filters) for one in found] == [
        ("interface", "et-0/0/0.0", "output", ("a",)),
        ("vlan", "v", "input", ("b",)),
        ("forwarding", "family inet6", "input", ("c",)),
    ]
