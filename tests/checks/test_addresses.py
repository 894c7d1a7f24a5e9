"""The checks of addresses and VLANs: every damage to ports, IRBs, VLANs and advertisements is found where it is."""

from pathlib import Path

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.checks.model import Result
from ailb_gen.network.fabric import Network
from tests.checks.edited import LEAF, SPINE, Edit, edited, intended, lines, network, without
from tests.checks.trees import findings, network_of, rendered, run_family, shown
from tests.checks.variants import VARIANTS

OTHER = "stripe1-leaf2"
IRB = "        unit 2 {\n            family inet6 {\n"
GATEWAY = "                address fc00:1:1:2::1/64;\n"
RA = "        interface irb.2 {\n"
PREFIX = "            prefix fc00:1:1:2::/64;\n"
UPLINK_RA = "        interface et-0/0/0.0 {\n"
UPLINK = "        mtu 9216;\n        unit 0 {\n            family inet6;\n"
TRUNK = "                interface-mode trunk;\n"
MEMBERS = "                    members vn2;\n"


def run(asked: ExpectedFabric, found: Network) -> list[Result]:
    return run_family("AILB1", Context(asked.fabric, found))


LOOPBACK = "    lo0 {\n        unit 0 {\n"
LINK_PORT, SERVER_PORT = "    et-0/0/0 {\n", "    et-0/0/16 {\n"
# edit, the check that names it, the scope of its finding, a part of the line that the finding points at
DAMAGES: list[tuple[Edit, str, str, str]] = [
    ((LEAF, "fc00:1:1:2::1/64", "fc00:1:2:2::9/64"), "101", f"{OTHER} irb.3", "fc00:1:2:2::1"),
    ((LEAF, "fc00:1:1:2::1/64", "fc00:1:1:2::1"), "101", f"{LEAF} irb.2", "fc00:1:1:2::1;"),
    ((LEAF, "route fc00:1:1:1::/64", "route fc00:1:1:1::1/64"), "101", LEAF, "route fc00:1:1:1::1"),
    ((LEAF, LOOPBACK, f"{LOOPBACK} family inet6 {{ address fc00:1:2:1:abcd::5/128; }}"),
     "101", f"{LEAF} lo0.0", "fc00:1:2:1:abcd::5/128"),
    ((LEAF, LOOPBACK, f"{LOOPBACK} family inet6 {{ address fc00:1:9:9::5/128; }}"),
     "102", f"{LEAF} lo0.0", "fc00:1:9:9"),
    ((SPINE, LOOPBACK, f"{LOOPBACK} family inet6 {{ address fc00::5/8; }}"), "102", f"{SPINE} lo0.0", "fc00::5/8"),
    ((LEAF, LOOPBACK, f"{LOOPBACK} disable;"), "107", f"{LEAF}", "unit 0"),
    ((LEAF, LINK_PORT, f"{LINK_PORT}        native-vlan-id 2;\n"), "108", f"{LEAF} et-0/0/0", "native-vlan-id 2"),
    ((LEAF, "    irb {\n", "    et-0/0/9 { unit 0 { family ethernet-switching { vlan { members vn2; } } } } irb {\n"),
     "106", f"{LEAF} et-0/0/9", "et-0/0/9"),
    ((LEAF, "port-id-subtype interface-name;", "port-id-subtype interface-name;\nport-id-subtype locally-assigned;"),
     "111", LEAF, "##"),
    ((LEAF, LINK_PORT, f"{LINK_PORT}        ether-options {{\n            fec none;\n        }}\n"), "109",
     f"{LEAF} et-0/0/0", "fec none"),
    ((LEAF, SERVER_PORT, f"{SERVER_PORT}        gigether-options {{\n            fec fec74;\n        }}\n"), "109",
     f"{LEAF} et-0/0/16", "fec fec74"),
    ((LEAF, GATEWAY, f"{GATEWAY}                address 2001:db8::1/64;\n"), "102", f"{LEAF} irb.2", "2001:db8"),
    ((LEAF, "        unit 2 {", "        unit 9 { family inet6 { address 2001:db8::1/64; } }\n        unit 2 {"),
     "102", f"{LEAF} irb.9", "unit 9"),
    ((LEAF, "        unit 2 {", "        unit 2 { disable;"), "102", f"{LEAF} irb.2", "unit 2"),
    ((LEAF, "    irb {", "    irb { disable;"), "102", f"{LEAF} irb.2", "unit 2"),
    ((LEAF, IRB, IRB.replace("inet6", "iso")), "102", f"{LEAF} irb.2", "family iso"),
    ((LEAF, "        unit 2 {", "        unit 2 { family inet { dhcp; }"), "102", f"{LEAF} irb.2", "unit 2"),
    ((LEAF, PREFIX, PREFIX.replace("2::", "7::")), "103", f"{LEAF} irb.2", "fc00:1:1:7::/64"),
    ((LEAF, PREFIX, PREFIX.replace("2::", "2::1")), "103", f"{LEAF} irb.2", "fc00:1:1:2::1/64"),
    ((LEAF, PREFIX, PREFIX.replace(";", " no-autonomous;")), "103", f"{LEAF} irb.2", "no-autonomous"),
    ((LEAF, PREFIX, PREFIX.replace(";", " no-on-link;")), "103", f"{LEAF} irb.2", "no-on-link"),
    ((LEAF, PREFIX, PREFIX.replace(";", " valid-lifetime 0;")), "104", f"{LEAF} irb.2", "valid-lifetime 0"),
    ((LEAF, PREFIX, PREFIX.replace(";", " preferred-lifetime 9;")), "104", f"{LEAF} irb.2", "preferred-lifetime 9"),
    ((LEAF, "            default-lifetime 1800;\n", ""), "104", f"{LEAF} irb.2", "interface irb.2"),
    ((LEAF, "max-advertisement-interval 30", "max-advertisement-interval 600"), "104", f"{LEAF} irb.2", "irb.2"),
    ((LEAF, RA, f"{RA} managed-configuration;"), "104", f"{LEAF} irb.2", "managed-configuration"),
    ((LEAF, RA, f"{RA} dns-server-address 2001:db8::53;"), "104", f"{LEAF} irb.2", "dns-server-address"),
    ((LEAF, UPLINK_RA, f"{UPLINK_RA} link-mtu;"), "104", f"{LEAF} et-0/0/0.0", "link-mtu"),
    ((LEAF, UPLINK_RA, f"{UPLINK_RA} default-lifetime 0;"), "104", f"{LEAF} et-0/0/0.0", "et-0/0/0.0"),
    ((SPINE, UPLINK_RA, f"{UPLINK_RA} prefix 2001:db8::/64;"), "104", f"{SPINE} et-0/0/0.0", "prefix 2001:db8"),
    ((SPINE, "min-advertisement-interval 10", "min-advertisement-interval 9"), "104", f"{SPINE} et-0/0/0.0", "et-"),
    ((LEAF, MEMBERS, MEMBERS.replace("vn2", "[ vn2 9 ]")), "106", f"{LEAF} et-0/0/16", "members"),
    ((LEAF, "    et-0/0/16 {", "    et-0/0/16 { disable;"), "106", f"{LEAF} et-0/0/16", "et-0/0/16"),
    ((LEAF, "    et-0/0/16 {", "    et-0/0/16 { unit 4 { family inet6; }"), "106", f"{LEAF} et-0/0/16", "unit 4"),
    ((LEAF, TRUNK, f"{TRUNK}}} family inet6 {{ mtu 9000;\n"), "106", f"{LEAF} et-0/0/16", "unit 0"),
    ((LEAF, TRUNK, f"{TRUNK}}} family iso {{ mtu 9000;\n"), "106", f"{LEAF} et-0/0/16", "family iso"),
    ((LEAF, "    et-0/0/16 {", "    et-0/0/66 {"), "106", f"{LEAF} et-0/0/16", "##"),
    ((LEAF, "router-id 10.255.16.1", "router-id 10.255.16.9"), "107", LEAF, "router-id"),
    ((LEAF, "10.255.16.1/32", "10.255.16.9/32"), "107", LEAF, "router-id"),
    ((LEAF, UPLINK, UPLINK.replace("inet6;", "inet6 { address 2001:db8::1/64;}")), "108", f"{LEAF} et-0/0/0", "unit 0"),
    ((LEAF, UPLINK, f"{UPLINK}            family inet;\n"), "108", f"{LEAF} et-0/0/0", "family inet;"),
    ((LEAF, UPLINK, UPLINK.replace("unit 0 {", "unit 0 { disable;")), "108", f"{LEAF} et-0/0/0", "et-0/0/0"),
    ((SPINE, "    et-0/0/0 {", "    et-0/0/0 { disable;"), "108", f"{SPINE} et-0/0/0", "et-0/0/0"),
    ((LEAF, "    et-0/0/0 {", "    et-0/0/60 {"), "108", f"{LEAF} et-0/0/0", "##"),
    ((LEAF, "    et-0/0/0 {", "    et-0/0/0 { speed 100g;"), "109", f"{LEAF} et-0/0/0", "et-0/0/0"),
    ((LEAF, "    et-0/0/0 {", "    et-0/0/0 { number-of-sub-ports 2;"), "109", f"{LEAF} et-0/0/0", "et-0/0/0"),
    ((SPINE, "        ssh;\n", ""), "111", SPINE, "##"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "check", "scope", "pointed"), DAMAGES)
def test_a_damage_is_found_by_the_check_that_names_it(edit: Edit, check: str, scope: str, pointed: str) -> None:
    texts = edited(edit)
    found = findings(run(intended(), network(texts)))
    named = [finding for finding in found if (finding.check, finding.scope) == (f"AILB{check}", scope)]
    assert any(pointed in line for _, line in lines(texts, named)), found


BREAKOUT = "        number-of-sub-ports 2;\n        speed 400g;\n"
IN_BROWNFIELD: list[tuple[Edit, str, str, str]] = [
    (("r1l1", "fd00:9:1::1/128", "fd00:9:1::9/128"), "110", "r1l1 lo0.0", "unit 0"),
    (("r1l1", "    re0:mgmt-0 {\n", "    re0:mgmt-0 {\n        disable;\n"), "110", "r1l1 re0:mgmt-0.0", "unit 0"),
    (("r1l1", "192.0.2.11/24", "192.0.2.99/24"), "110", "r1l1 re0:mgmt-0.0", "unit 0"),
    (("r1l1", "192.0.2.11/24", "192.0.2.11/25"), "110", "r1l1 re0:mgmt-0.0", "unit 0"),
    (("r1l1", "    re0:mgmt-0 {", "    em0 {"), "110", "r1l1 re0:mgmt-0.0", "##"),
    (("r1l1", "next-hop 192.0.2.254", "next-hop 192.0.2.253"), "110", "r1l1", "next-hop 192.0.2.253"),
    (("core-a", "    management-instance;\n", ""), "110", "core-a", "##"),
]


@pytest.mark.parametrize(("edit", "check", "scope", "pointed"), IN_BROWNFIELD)
def test_how_a_switch_is_reached(edit: Edit, check: str, scope: str, pointed: str) -> None:
    texts = edited(edit, example="brownfield")
    found = findings(run(intended("brownfield"), network(texts, "brownfield")))
    assert [(finding.check, finding.scope) for finding in found] == [(f"AILB{check}", scope)]
    ((_, line),) = lines(texts, found, "brownfield")
    assert pointed in line


def test_both_ends_of_a_link_may_have_the_same_error_correction() -> None:
    fec = "        ether-options {\n            fec fec91;\n        }\n"
    texts = edited((LEAF, LINK_PORT, LINK_PORT + fec), ("spine1", LINK_PORT, LINK_PORT + fec))
    assert not findings(run(intended(), network(texts)))


def test_management_ports_share_a_network() -> None:
    place = "                address 192.0.2.11/24;\n            }\n"
    other = place.replace("11/24", "12/24")
    family = "            family inet6 {{ address 2001:db8::{}/64; }}\n"
    texts = edited(
        ("r1l1", place, place + family.format(1)), ("r1l2", other, other + family.format(2)), example="brownfield"
    )
    assert not findings(run(intended("brownfield"), network(texts, "brownfield")))


@pytest.mark.parametrize(
    ("new", "message", "count"),
    [
        ("", "et-0/0/16 is unsplit; the intent has it split into 2", 2),
        (BREAKOUT.replace("ports 2", "ports 4"), "et-0/0/16 is split into 4; the intent has it split into 2", 2),
        (BREAKOUT.replace("400g", "100g"), "the speed of et-0/0/16 is 100g; the intent specifies 400g", 2),
        (BREAKOUT.replace("        speed 400g;\n", ""), "the speed of et-0/0/16 is 800g; the intent specifies 400g", 2),
    ],
)
def test_splits(new: str, message: str, count: int) -> None:
    head = '        description "Breakout et-0/0/16";\n'
    texts = edited((LEAF, head + BREAKOUT, head + new), example="jvd")
    found = [one for one in findings(run(intended("jvd"), network(texts, "jvd"))) if one.check == "AILB109"]
    assert [one.message for one in found] == [message] * count
    assert {one.scope for one in found} == {f"{LEAF} et-0/0/16:0", f"{LEAF} et-0/0/16:1"}


def test_a_channel_is_not_split_again() -> None:
    channel = "    et-0/0/16:1 {\n"
    texts = edited((LEAF, channel, f"{channel}        number-of-sub-ports 2;\n"), example="jvd")
    (found,) = findings(run(intended("jvd"), network(texts, "jvd")))
    assert (found.check, found.scope, found.statement) == (
        "AILB109",
        f"{LEAF} et-0/0/16:1",
        "interfaces et-0/0/16:1 number-of-sub-ports",
    )


def test_a_port_that_the_intent_disables_must_be(tmp_path: Path) -> None:
    intent, root = rendered(VARIANTS["disabled"], tmp_path)
    for path in (root / "switches").iterdir():
        path.write_text(path.read_text().replace("        disable;\n", ""))
    found = findings(run(expected_fabric(intent.fabric), network_of(root)))
    assert {(one.check, one.scope, one.message) for one in found} == {
        (check, scope, "the port is disabled in the intent and not in the file")
        for check, scope in (
            ("AILB108", f"{LEAF} et-0/0/0"),
            ("AILB106", f"{LEAF} et-0/0/16"),
            ("AILB108", "spine2 et-0/0/1"),
        )
    }


def test_switches_without_a_file_are_no_business_of_these_checks() -> None:
    assert not shown(run(intended(), without(LEAF, SPINE)))
    assert not shown(run(intended(), network({"stranger": "system { host-name stranger; }"})))


def test_advertisements_of_no_interface_are_where_those_of_the_irb_are_missing() -> None:
    found = findings(run(intended(), network(edited((LEAF, RA, RA.replace("irb.2", "irb.22"))))))
    assert [one.statement for one in found if one.check == "AILB103"] == [
        "protocols router-advertisement interface irb.22"
    ]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("    et-0/0/61 {\n        description spare;\n        disable;\n    }\n", "", "must be disabled"),
        ("        disable;\n", "", "must be disabled"),
        ("        disable;\n", "        unit 0 {\n            family inet6;\n        }\n", "must be disabled"),
        ("        disable;\n", "        disable;\n        unit 3 {\n        }\n", "must have no unit 3"),
        ("        disable;\n", "        disable;\n        speed 100g;\n", "must have no speed"),
        ("        disable;\n", "        disable;\n        number-of-sub-ports 2;\n", "must not be split"),
    ],
)
def test_a_spare_port_that_is_in_service(old: str, new: str, reason: str, tmp_path: Path) -> None:
    """Neither a port that is not there nor one that is enabled or has a purpose is out of service."""
    intent, root = rendered(VARIANTS["spare-ports"], tmp_path)
    file = root / "switches" / "stripe2-leaf1.conf"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    (found,) = findings(run(expected_fabric(intent.fabric), network_of(root)))
    assert found.check == "AILB113" and found.scope.startswith("stripe2-leaf1 et-0/0/6")
    assert found.message == f"the intent leaves the port free: it {reason}"
