"""What is made of recorded answers about IPv4 shadows: understood, addresses, loops, all of it."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

import pytest

from ailb_gen.batfish.policies import Gap
from ailb_gen.batfish.routes import (
    judge_gaps,
    judge_loops,
    judge_owners,
    judge_shadow,
    judge_understood,
)
from ailb_gen.batfish.shadow import Shadow, ShadowSwitch
from ailb_gen.checks import subjects as about
from ailb_gen.checks.model import Finding
from ailb_gen.errors import BatfishError
from ailb_gen.routing.rib import Routing
from tests.batfish.recorded import (
    BAD,
    CLEAN,
    GOOD,
    OWNERS,
    SHADOWS,
    Recording,
    at,
    changed,
    examined,
    intent,
    judged,
    network,
    prefix,
    rows,
    shadow,
)

if TYPE_CHECKING:
    from ailb_gen.batfish.model import Row
    from ailb_gen.checks.model import Findings


@pytest.mark.parametrize("name", CLEAN)
def test_recorded_shadows_are_understood(name: str) -> None:
    told = rows(name, "fileParseStatus"), rows(name, "initIssues")
    assert judged(judge_understood, shadow(name), *told) == []
    assert examined(judge_understood, shadow(name), *told) == {"AILB811": len(network(name).switches)}


def test_an_issue_of_a_shadow_counts() -> None:
    message = "Batfish: Cannot assign access vlan to interface et-0/1/1.0: no vlan-id is assigned to vlan vn999"
    assert judged(judge_understood, shadow(BAD), rows(BAD, "fileParseStatus"), rows(BAD, "initIssues")) == [
        Finding("AILB811", "leaf1", message)
    ]


def test_a_line_of_a_shadow_that_is_not_recognized_counts() -> None:
    (line,) = [row for row in rows("a_v6", "initIssues") if row["Source_Lines"] == ["configs/leaf1.cfg:[146]"]]
    message = "Batfish: This syntax is unrecognized: 'set protocols bgp group spine1 fabric-color green'"
    assert judged(judge_understood, shadow(GOOD), rows(GOOD, "fileParseStatus"), [line]) == [
        Finding("AILB811", "configs/leaf1.cfg:[146]", message)
    ]
    line |= {"Source_Lines": None, "Line_Text": None}
    assert judged(judge_understood, shadow(GOOD), rows(GOOD, "fileParseStatus"), [line]) == [
        Finding("AILB811", "shadow", "Batfish: This syntax is unrecognized")
    ]


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"Status": "PARTIALLY_UNRECOGNIZED"}, "reads its shadow as PARTIALLY_UNRECOGNIZED"),
        ({"Status": "FAILED", "Nodes": []}, "reads its shadow as FAILED"),
        ({"Nodes": ["leaf2"]}, "takes its shadow for leaf2"),
        ({"Nodes": []}, "takes its shadow for no device"),
        ({"Nodes": None}, "takes its shadow for no device"),
        ({"File_Name": "configs/leaf1.conf"}, "does not mention its shadow"),
    ],
)
def test_a_file_of_a_shadow_that_is_not_read(values: dict[str, object], what: str) -> None:
    told = rows(GOOD, "fileParseStatus")
    told[0] |= values
    assert judged(judge_understood, shadow(GOOD), told, []) == [Finding("AILB811", "leaf1", f"Batfish {what}")]


def capital(name: str) -> Shadow:
    """Return a shadow the names of whose switches have capitals."""
    found = shadow(name)
    return replace(found, switches=tuple(replace(one, name=one.name.title()) for one in found.switches))


def test_switches_whose_names_have_capitals() -> None:
    told = rows(GOOD, "fileParseStatus")
    for row in told:
        row["File_Name"] = str(row["File_Name"]).replace("configs/l", "configs/L").replace("configs/s", "configs/S")
    message = "Batfish: Cannot assign access vlan to interface et-0/1/1.0: no vlan-id is assigned to vlan vn999"
    assert judged(judge_understood, capital(GOOD), told, []) == []
    assert judged(judge_understood, capital(GOOD), told, rows(BAD, "initIssues")) == [
        Finding("AILB811", "Leaf1", message)
    ]
    assert judged(judge_loops, capital(GOOD), [flow("leaf1", "172.16.21.7")], "loops") == [
        Finding("AILB817", "Leaf1", "in Batfish a packet to fc00:1:2:1::/64 loops")
    ]


def test_gaps_stand_where_the_files_say_so() -> None:
    gaps = (Gap("P", "'from tag 3'", 12), Gap("P", "something", 0))
    found = Shadow((ShadowSwitch("leaf1", (), gaps), ShadowSwitch("leaf2", (), ())), shadow(GOOD).numbering)
    subjects = (about.policy("leaf1", "P"),)
    assert judged(judge_gaps, network(GOOD), found) == [
        Finding(
            "AILB812", "leaf1", "not in the shadow: policy P: something", at(1, "leaf1"), part="P", subjects=subjects
        ),
        Finding(
            "AILB812",
            "leaf1",
            "not in the shadow: policy P: 'from tag 3'",
            at(12, "leaf1"),
            part="P",
            subjects=subjects,
        ),
    ]
    assert examined(judge_gaps, network(GOOD), found) == {"AILB812": 2}


@pytest.mark.parametrize("name", CLEAN)
def test_no_address_belongs_to_two(name: str) -> None:
    assert judged(judge_owners, network(name), shadow(name), rows(name, OWNERS)) == []
    count = len(shadow(name).numbering.prefixes)
    assert examined(judge_owners, network(name), shadow(name), []) == {"AILB814": count}


def owned(*owners: tuple[str, str], address: str = "172.16.12.1") -> list[Row]:
    return [
        {"Node": node, "VRF": "default", "Interface": interface, "IP": address, "Mask": 24, "Active": True}
        for node, interface in owners
    ]


def test_a_gateway_on_two_leaves() -> None:
    told = rows(BAD, OWNERS)
    assert told == owned(("leaf2", "irb.102"), ("leaf1", "irb.102"))
    message = "in Batfish an address of fc00:1:1:2::/64 belongs to {} irb.102 as well"
    assert judged(judge_owners, network(BAD), shadow(BAD), told) == [
        Finding("AILB814", "leaf1", message.format("leaf2"), at(13, "leaf1"), part="irb.102"),
        Finding("AILB814", "leaf2", message.format("leaf1"), at(13, "leaf2"), part="irb.102"),
    ]


def test_an_address_of_three_and_of_switches_that_nobody_knows() -> None:
    told = owned(("leaf1", "irb.102"), ("leaf1", "irb.7"), ("spine9", "lo0.0"))
    message = "in Batfish an address of fc00:1:1:2::/64 belongs to {} as well"
    assert judged(judge_owners, network(BAD), shadow(BAD), told) == [
        Finding("AILB814", "leaf1", message.format("leaf1 irb.7, spine9 lo0.0"), at(13, "leaf1"), part="irb.102"),
        Finding("AILB814", "leaf1", message.format("leaf1 irb.102, spine9 lo0.0"), at(1, "leaf1"), part="irb.7"),
        Finding("AILB814", "spine9", message.format("leaf1 irb.102, leaf1 irb.7"), part="lo0.0"),
    ]


def test_an_interface_whose_line_nobody_knows() -> None:
    leaf = network(BAD).switches["leaf1"]
    irb = leaf.ports["irb"]
    units = tuple(replace(unit, line=0) for unit in irb.units)
    found = changed(network(BAD), "leaf1", ports={**leaf.ports, "irb": replace(irb, units=units)})
    findings = judged(judge_owners, found, shadow(BAD), rows(BAD, OWNERS))
    assert [finding.place for finding in findings] == [at(1, "leaf1"), at(13, "leaf2")]


def test_an_address_that_stands_for_a_single_one_and_one_for_nothing() -> None:
    found = shadow(BAD)
    single = replace(found.numbering, prefixes={prefix(9, 9): IPv4Network("10.192.0.3/32")})
    for address, meaning in (("10.192.0.3", "fc00:1:9:9::/64"), ("10.192.0.4", "10.192.0.4")):
        told = owned(("leaf1", "lo0.0"), ("leaf2", "lo0.0"), address=address)
        findings = judged(judge_owners, network(BAD), replace(found, numbering=single), told)
        assert findings == [
            Finding(
                "AILB814",
                own,
                f"in Batfish an address of {meaning} belongs to {other} lo0.0 as well",
                at(4, own),
                part="lo0.0",
            )
            for own, other in (("leaf1", "leaf2"), ("leaf2", "leaf1"))
        ]


@pytest.mark.parametrize("name", SHADOWS)
@pytest.mark.parametrize("question", ["detectLoops", "multipathConsistency"])
def test_no_packet_goes_round(name: str, question: str) -> None:
    assert judged(judge_loops, shadow(name), rows(name, question), "loops") == []
    count = len(shadow(name).numbering.prefixes)
    assert examined(judge_loops, shadow(name), [], "loops") == {"AILB817": count}


def flow(node: str | None, address: str | None) -> Row:
    found: Row = {"Flow": f"start={node} {address}", "Traces": [], "TraceCount": 1}
    return found | {"Flow.ingressNode": node, "Flow.ingressInterface": "irb.101", "Flow.dstIp": address}


def test_packets_that_go_round() -> None:
    told = [flow("leaf1", "172.16.21.7"), flow("spine1", "10.99.0.1"), flow(None, "172.16.12.0"), flow("leaf2", None)]
    what = "arrives on some of its paths only"
    assert judged(judge_loops, shadow(GOOD), told, what) == [
        Finding("AILB817", "leaf1", f"in Batfish a packet to fc00:1:2:1::/64 {what}"),
        Finding("AILB817", "leaf2", f"in Batfish a packet to start=leaf2 None {what}"),
        Finding("AILB817", "shadow", f"in Batfish a packet to fc00:1:1:2::/64 {what}"),
        Finding("AILB817", "spine1", f"in Batfish a packet to 10.99.0.1 {what}"),
    ]
    bare: Row = {"Flow": "start=leaf1", "Traces": [], "TraceCount": 1}
    assert judged(judge_loops, shadow(GOOD), [bare], "loops") == [
        Finding("AILB817", "shadow", "in Batfish a packet to start=leaf1 loops")
    ]


@pytest.mark.parametrize("address", ["fc00::1", "172.16.12.1/24", "none"])
def test_addresses_that_are_none(address: str) -> None:
    odd = f"^{re.escape(f'Batfish answers {address!r} where an IPv4 address belongs; ')}"
    with pytest.raises(BatfishError, match=odd):
        judged(judge_loops, shadow(GOOD), [flow("leaf1", address)], "loops")
    with pytest.raises(BatfishError, match=odd):
        judged(judge_owners, network(BAD), shadow(BAD), owned(("leaf1", "irb.102"), address=address))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Of the next hops those of one leaf were recorded, of the RIBs that of one spine; this program computes none.
        (GOOD, {"AILB812": 1, "AILB813": 8, "AILB815": 1, "AILB816": 4, "AILB821": 1}),
        (BAD, {"AILB811": 1, "AILB812": 1, "AILB813": 8, "AILB814": 2, "AILB815": 2, "AILB816": 3 + 4}),
    ],
)
def test_all_questions_about_the_shadow(name: str, expected: dict[str, int]) -> None:
    batfish, steps = Recording(name), []
    routing = Routing(network(name))
    known = shadow(name)
    gapped = replace(
        known, switches=(replace(known.switches[0], gaps=(Gap("P", "something", 1),)), *known.switches[1:])
    )

    def judge(found_in: Findings) -> None:
        judge_shadow(batfish, gapped, intent(name), routing, found_in, lambda: steps.append(1))

    found = judged(judge)
    assert batfish.asked == [
        ("fileParseStatus", "shadow", None, {}),
        ("initIssues", "shadow", None, {}),
        ("bgpSessionStatus", "shadow", None, {}),
        ("bgpSessionCompatibility", "shadow", None, {}),
        ("ipOwners", "shadow", None, {"duplicatesOnly": True}),
        ("routes", "shadow", None, {"protocols": "bgp"}),
        ("bgpRib", "shadow", None, {"nodes": "spine1,spine2", "status": "BEST,BACKUP"}),
        ("detectLoops", "shadow", None, {}),
        ("multipathConsistency", "shadow", None, {}),
    ]
    assert steps == [1] * 9
    counts = {check: sum(finding.check == check for finding in found) for check in sorted({one.check for one in found})}
    assert counts == expected


def test_spines_whose_names_begin_with_a_digit_are_quoted() -> None:
    found = network(GOOD)
    names = {"spine1": "1-Spine", "spine2": "Spine2"}
    renamed = replace(
        found,
        switches={
            names.get(name, name): replace(one, named=names.get(name, name)) for name, one in found.switches.items()
        },
        roles={names.get(name, name): role for name, role in found.roles.items()},
    )
    asks = intent(GOOD)
    asks = replace(asks, cables=tuple(one._replace(b_device=names[one.b_device]) for one in asks.cables))
    batfish = Recording(GOOD)

    def judge(found_in: Findings) -> None:
        judge_shadow(batfish, shadow(GOOD), asks, Routing(renamed), found_in, lambda: None)

    assert judged(judge)
    assert [asked[3]["nodes"] for asked in batfish.asked if asked[0] == "bgpRib"] == ['"1-spine",spine2']


@pytest.mark.parametrize(
    "text",
    [
        "Currently do not support mixed eBGP multipath/non-multipath bgp groups on Juniper "
        "- FORCING NON-MULTIPATH EBGP",
        "Currently do not support mixed multipath-multiple-as/non-multipath-multiple-as bgpgroups on Juniper "
        "- FORCING NON-MULTIPATH-MULTIPLE-AS",
        "Unimplemented: prepending both local-as and global-as for BGP routes",
    ],
)
def test_what_batfish_does_not_model_is_no_fault_of_the_shadow(text: str) -> None:
    line = {**rows(BAD, "initIssues")[0], "Nodes": ["leaf1"], "Details": text}
    assert judged(judge_understood, shadow(GOOD), rows(GOOD, "fileParseStatus"), [line]) == [
        Finding("AILB812", "leaf1", f"Batfish: {text}")
    ]
