"""What is made of recorded answers about IPv4 shadows: understood, sessions, addresses, next hops, transit, loops."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

import pytest

from ailb_gen.batfish.hops import batfish_hops
from ailb_gen.batfish.policies import Gap
from ailb_gen.batfish.routes import (
    add_disagreements,
    check_compatible,
    check_gaps,
    check_loops,
    check_owners,
    check_pinned,
    check_sessions,
    check_shadow,
    check_transit,
    check_understood,
)
from ailb_gen.batfish.shadow import Shadow, ShadowSwitch
from ailb_gen.checks.families.batfish import AGREE, AGREE_SPINE
from ailb_gen.checks.model import Findings
from ailb_gen.errors import BatfishError
from ailb_gen.routing.rib import Routing
from tests.batfish.fake import answers
from tests.batfish.fake.snapshot import read
from tests.batfish.recorded import (
    BAD,
    CLEAN,
    GOOD,
    LAYOUTS,
    LEAK,
    LEAVES,
    OWNERS,
    RIB,
    ROUTES,
    Recording,
    changed,
    downlink,
    examined,
    intent,
    judged,
    network,
    prefix,
    rows,
    shadow,
    uplink,
)
from tests.conftest import need_shared

if TYPE_CHECKING:
    from ailb_gen.batfish.answers import Row
    from ailb_gen.batfish.hops import Hops
    from ailb_gen.checks.expected_routes import ExpectedRoutes
    from ailb_gen.network.fabric import Network

NO_VLAN = "Batfish: Cannot assign access vlan to interface et-0/1/1.0: no vlan-id is assigned to vlan vn999"
# Where `protocols bgp` stands on the second leaf and the first spine of both small fabrics.
LEAF, SPINE = "leaf2:27", "spine1:7"


@pytest.mark.parametrize("name", CLEAN)
def test_recorded_answers_about_clean_shadows(name: str) -> None:
    known, fabric, expected = shadow(name), network(name), intent(name)
    count, spines = len(known.numbering.prefixes), LAYOUTS[name].spines
    understood = known, rows(name, "fileParseStatus"), rows(name, "initIssues")
    sessions = fabric, known, expected, rows(name, "bgpSessionStatus")
    transit = fabric, known, received_by(name, 1), rows(name, RIB)
    pinned = fabric, routes_of(name, "leaf2"), hops(name)
    assert hops(name) == {("leaf2", prefix(1, color)): frozenset({uplink(2, color).port}) for color in spines}
    for check, arguments, counts in (
        (check_understood, understood, {"AILB811": len(fabric.switches)}),
        (check_sessions, sessions, {"AILB813": 2 * len(known.numbering.links)}),
        (check_owners, (fabric, known, rows(name, OWNERS)), {"AILB814": count}),
        (check_pinned, pinned, {"AILB815": len(spines)}),
        # The leaks of the last are not among the best routes, which are all that was recorded.
        (check_transit, transit, {"AILB816": count}),
        (check_loops, (known, rows(name, "detectLoops"), "loops"), {"AILB817": count}),
    ):
        assert judged(check, *arguments) == [], check.__name__
        assert examined(check, *arguments) == counts
    # These were recorded without `local-address`, which a shadow of this program always has.
    unmatched = judged(check_compatible, fabric, known, expected, rows(name, "bgpSessionCompatibility"))
    assert len(unmatched) == 2 * len(LEAVES) * len(spines)
    assert all(line.endswith("do not match: NO_LOCAL_IP") for line in unmatched)


# Understood


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"Status": "PARTIALLY_UNRECOGNIZED"}, "reads its shadow as PARTIALLY_UNRECOGNIZED"),
        ({"Status": "FAILED", "Nodes": []}, "reads its shadow as FAILED"),
        ({"Nodes": ["leaf2"]}, "reads its shadow as leaf2"),
        ({"Nodes": []}, "reads its shadow as no device"),
        ({"Nodes": None}, "reads its shadow as no device"),
        ({"File_Name": "configs/leaf1.conf"}, "does not mention its shadow"),
    ],
)
def test_a_file_of_a_shadow_that_is_not_read(values: dict[str, object], words: str) -> None:
    answer = rows(GOOD, "fileParseStatus")
    answer[0] |= values
    assert judged(check_understood, shadow(GOOD), answer, []) == [f"AILB811 leaf1: Batfish {words}"]


@pytest.mark.parametrize(
    ("values", "finding"),
    [
        ({}, f"AILB811 leaf1: {NO_VLAN}"),
        ({"Nodes": None, "Details": "Odd"}, "AILB811 shadow: Batfish: Odd"),
        (
            {"Nodes": None, "Source_Lines": ["configs/leaf1.cfg:[6]"], "Details": "Odd", "Line_Text": "set a"},
            "AILB811 configs/leaf1.cfg:[6]: Batfish: Odd: 'set a'",
        ),
        # What Batfish does not model is no fault of the shadow.
        *(
            ({"Details": text}, f"AILB812 leaf1: Batfish: {text}")
            for text in (
                "Currently do not support mixed eBGP multipath/non-multipath bgp groups on Juniper - FORCING",
                "Currently do not support mixed multipath-multiple-as/non-multipath-multiple-as bgpgroups on Juniper",
                "Unimplemented: prepending both local-as and global-as for BGP routes",
            )
        ),
    ],
)
def test_an_issue_of_a_shadow(values: dict[str, object], finding: str) -> None:
    row = {**rows(BAD, "initIssues")[0], **values}
    assert judged(check_understood, shadow(GOOD), rows(GOOD, "fileParseStatus"), [row]) == [finding]


def test_switches_whose_names_have_capitals() -> None:
    known = shadow(GOOD)
    capital = replace(known, switches=tuple(replace(one, name=one.name.title()) for one in known.switches))
    answer = rows(GOOD, "fileParseStatus")
    for row in answer:
        row["File_Name"] = str(row["File_Name"]).replace("configs/l", "configs/L").replace("configs/s", "configs/S")
    assert judged(check_understood, capital, answer, rows(BAD, "initIssues")) == [f"AILB811 Leaf1: {NO_VLAN}"]
    assert judged(check_loops, capital, [flow("leaf1", "172.16.21.7")], "loops") == [
        "AILB817 Leaf1: in Batfish a packet to fc00:1:2:1::/64 loops"
    ]


def test_gaps_stand_where_the_files_say_so() -> None:
    gaps = (Gap("P", "'from tag 3'", 12), Gap("P", "something", 0))
    gapped = Shadow((ShadowSwitch("leaf1", (), gaps), ShadowSwitch("leaf2", (), ())), shadow(GOOD).numbering)
    assert judged(check_gaps, network(GOOD), gapped) == [
        "AILB812 leaf1:1 P: not in the shadow: policy P: something",
        "AILB812 leaf1:12 P: not in the shadow: policy P: 'from tag 3'",
    ]
    assert examined(check_gaps, network(GOOD), gapped) == {"AILB812": 2}


# Sessions

NO_SESSION = "in Batfish the session to {} is not established: no such session"
STRANGE = "AILB813 shadow: Batfish reports a session between addresses that the shadow does not have"


def of_sessions(name: str, answer: list[Row], found: Network | None = None) -> list[str]:
    return judged(check_sessions, found or network(name), shadow(name), intent(name), answer)


def of_compatible(name: str, answer: list[Row], found: Network | None = None) -> list[str]:
    return judged(check_compatible, found or network(name), shadow(name), intent(name), answer)


def test_wrong_as_number_and_wrong_address() -> None:
    down = "in Batfish the session to {} is not established: NOT_COMPATIBLE"
    ends = "in Batfish the ends of the session to {} do not match: {}"
    places = {
        "leaf2:17 et-0/0/0": ("spine1:et-0/0/1", "HALF_OPEN"),
        "leaf2:34 et-0/0/1": ("spine2:et-0/0/1", "INVALID_LOCAL_IP"),
        "spine1:12 et-0/0/1": ("leaf2:et-0/0/0", "HALF_OPEN"),
        "spine2:12 et-0/0/1": ("leaf2:et-0/0/1", "UNKNOWN_REMOTE"),
    }
    assert of_sessions(BAD, rows(BAD, "bgpSessionStatus")) == [
        f"AILB813 {place}: {down.format(peer)}" for place, (peer, _) in places.items()
    ]
    assert of_compatible(BAD, rows(BAD, "bgpSessionCompatibility")) == [
        f"AILB813 {place}: {ends.format(*pair)}" for place, pair in places.items()
    ]


def test_sessions_that_batfish_does_not_mention() -> None:
    answer = rows(GOOD, "bgpSessionStatus")
    missing = f"AILB813 leaf1:{{}} et-0/0/0: {NO_SESSION.format('spine1:et-0/0/0')}"
    assert of_sessions(GOOD, answer[1:]) == [missing.format(17)]
    assert len(of_sessions(GOOD, [])) == 8
    assert of_compatible(GOOD, []) == []
    # A port that is not in the file, or whose line nobody knows, stands at the first line.
    known = network(GOOD).switches["leaf1"].ports
    for ports in ({}, {**known, "et-0/0/0": replace(known["et-0/0/0"], line=0)}):
        assert of_sessions(GOOD, answer[1:], changed(network(GOOD), "leaf1", ports=ports)) == [missing.format(1)]
    # A session of another switch is none of the cable.
    answer[0]["Node"] = "leaf2"
    assert of_sessions(GOOD, answer) == [missing.format(17), STRANGE]


def without(name: str, leaf: int, spine: int) -> ExpectedRoutes:
    """Return an intent that does not know one of the cables."""
    return intent(name).without([uplink(leaf, spine)])


def test_sessions_that_the_intent_does_not_know() -> None:
    extra = "in Batfish there is a session to {}, which the intent does not have"
    fewer, answer = without(GOOD, 1, 2), rows(GOOD, "bgpSessionStatus")
    assert judged(check_sessions, network(GOOD), shadow(GOOD), fewer, answer) == [
        f"AILB813 leaf1:33 et-0/0/1: {extra.format('spine2:et-0/0/0')}",
        f"AILB813 spine2:5 et-0/0/0: {extra.format('leaf1:et-0/0/1')}",
    ]
    # What is configured and does not come up is as the intent says.
    idle = [{**row, "Established_Status": "NOT_ESTABLISHED"} for row in answer]
    lines = judged(check_sessions, network(GOOD), shadow(GOOD), fewer, idle)
    assert len(lines) == 6
    assert not any(line.startswith(("AILB813 leaf1:33", "AILB813 spine2:5")) for line in lines)
    unmatched = rows(BAD, "bgpSessionCompatibility")
    assert [
        line.split()[1:3]
        for line in judged(check_compatible, network(GOOD), shadow(GOOD), without(BAD, 2, 2), unmatched)
    ] == [["leaf2:17", "et-0/0/0:"], ["spine1:11", "et-0/0/1:"]]


@pytest.mark.parametrize("address", ["10.99.0.1", "10.64.1.0/31", "fc00::1", "", None])
def test_sessions_with_addresses_that_nobody_has(address: object) -> None:
    strange = {**rows(GOOD, "bgpSessionStatus")[0], "Remote_IP": address}
    assert of_sessions(GOOD, [*rows(GOOD, "bgpSessionStatus"), strange]) == [STRANGE]
    assert of_compatible(GOOD, [{**strange, "Configured_Status": "HALF_OPEN"}]) == []


def test_sessions_of_switches_that_are_not_there() -> None:
    alone = replace(network(GOOD), switches={"leaf1": network(GOOD).switches["leaf1"]})
    assert of_sessions(GOOD, [], alone) == [
        f"AILB813 leaf1:{line} {uplink(1, spine).port}: {NO_SESSION.format(downlink(1, spine))}"
        for line, spine in ((17, 1), (33, 2))
    ]
    assert examined(check_sessions, alone, shadow(GOOD), intent(GOOD), []) == {"AILB813": 2}
    # Batfish may speak of others; then there is no place.
    answer = [row for row in rows(GOOD, "bgpSessionCompatibility") if row["Node"] == "spine1"]
    assert of_compatible(GOOD, answer, alone)[0].startswith("AILB813 spine1 et-0/0/0: in Batfish the ends of")


# Addresses and loops


def owned(*owners: tuple[str, str], address: str = "172.16.12.1") -> list[Row]:
    return [{"Node": node, "Interface": interface, "IP": address} for node, interface in owners]


def test_an_address_of_several_switches() -> None:
    message = "in Batfish an address of fc00:1:1:2::/64 belongs to {} as well"
    answer = rows(BAD, OWNERS)
    assert [(row["Node"], row["Interface"]) for row in answer] == [("leaf2", "irb.102"), ("leaf1", "irb.102")]
    two = [f"AILB814 leaf{a}:{{}} irb.102: {message.format(f'leaf{b} irb.102')}" for a, b in ((1, 2), (2, 1))]
    assert judged(check_owners, network(BAD), shadow(BAD), answer) == [line.format(13) for line in two]
    # Without a known line it stands at the first.
    irb = network(BAD).switches["leaf1"].ports["irb"]
    units = replace(irb, units=tuple(replace(unit, line=0) for unit in irb.units))
    found = changed(network(BAD), "leaf1", ports={"irb": units})
    assert judged(check_owners, found, shadow(BAD), answer) == [two[0].format(1), two[1].format(13)]
    three = owned(("leaf1", "irb.102"), ("leaf1", "irb.7"), ("spine9", "lo0.0"))
    assert judged(check_owners, network(BAD), shadow(BAD), three) == [
        f"AILB814 leaf1:13 irb.102: {message.format('leaf1 irb.7, spine9 lo0.0')}",
        f"AILB814 leaf1:1 irb.7: {message.format('leaf1 irb.102, spine9 lo0.0')}",
        f"AILB814 spine9 lo0.0: {message.format('leaf1 irb.102, leaf1 irb.7')}",
    ]


def test_an_address_that_stands_for_a_single_one_and_one_for_nothing() -> None:
    known = shadow(BAD)
    single = replace(known, numbering=replace(known.numbering, prefixes={prefix(9, 9): IPv4Network("10.192.0.3/32")}))
    for address, meaning in (("10.192.0.3", "fc00:1:9:9::/64"), ("10.192.0.4", "10.192.0.4")):
        answer = owned(("leaf1", "lo0.0"), ("leaf2", "lo0.0"), address=address)
        assert judged(check_owners, network(BAD), single, answer) == [
            f"AILB814 {own}:4 lo0.0: in Batfish an address of {meaning} belongs to {other} lo0.0 as well"
            for own, other in (("leaf1", "leaf2"), ("leaf2", "leaf1"))
        ]


def flow(node: str | None, address: str | None) -> Row:
    return {"Flow": f"start={node} {address}", "Flow.ingressNode": node, "Flow.dstIp": address}


def test_packets_that_go_round() -> None:
    answer = [flow("leaf1", "172.16.21.7"), flow("spine1", "10.99.0.1"), flow(None, "172.16.12.0"), flow("leaf2", None)]
    assert judged(check_loops, shadow(GOOD), [*answer, {"Flow": "start=leaf1"}], "loops") == [
        f"AILB817 {place}: in Batfish a packet to {target} loops"
        for place, target in (
            ("leaf1", "fc00:1:2:1::/64"),
            ("leaf2", "start=leaf2 None"),
            ("shadow", "fc00:1:1:2::/64"),
            ("shadow", "start=leaf1"),
            ("spine1", "10.99.0.1"),
        )
    ]


@pytest.mark.parametrize("address", ["fc00::1", "172.16.12.1/24", "none"])
def test_addresses_that_are_none(address: str) -> None:
    odd = f"^{re.escape(f'Batfish answers {address!r} where an IPv4 address belongs; ')}"
    with pytest.raises(BatfishError, match=odd):
        judged(check_loops, shadow(GOOD), [flow("leaf1", address)], "loops")
    with pytest.raises(BatfishError, match=odd):
        judged(check_owners, network(BAD), shadow(BAD), owned(("leaf1", "irb.102"), address=address))


# Next hops


def hops(name: str, *extra: Row) -> Hops:
    return batfish_hops(network(name), shadow(name).numbering, [*rows(name, ROUTES), *extra])


def routes_of(name: str, leaf: str) -> ExpectedRoutes:
    """Return an intent that knows the routes of one leaf: those of the others are not recorded."""
    routes = intent(name)
    routes.leaves = (leaf,)
    return routes


def test_pinned_next_hops() -> None:
    more, message = " (and 1 more prefix)", "in Batfish packets go to fc00:1:1:1::/64 over {}, not et-0/0/0"
    two = {**hops(GOOD), ("leaf2", prefix(1, 1)): frozenset({"et-0/0/0", "et-0/0/1"})}
    arguments = network(GOOD), routes_of(GOOD, "leaf2")
    assert hops(BAD) == {}
    assert judged(check_pinned, network(BAD), routes_of(BAD, "leaf2"), {}) == [
        f"AILB815 {LEAF}: {message.format('none')}{more}"
    ]
    assert judged(check_pinned, *arguments, two) == [f"AILB815 {LEAF}: {message.format('et-0/0/0, et-0/0/1')}"]
    # BGP without a line stands at the first, and a leaf that is not there is not asked for.
    lineless = changed(network(GOOD), "leaf2", bgp_line=0)
    assert judged(check_pinned, lineless, arguments[1], two)[0].startswith("AILB815 leaf2:1: ")
    others = {name: one for name, one in network(GOOD).switches.items() if name != "leaf2"}
    assert judged(check_pinned, replace(network(GOOD), switches=others), arguments[1], {}) == []


def test_engines_that_agree_and_that_disagree() -> None:
    same = {("leaf2", prefix(1, color)): frozenset({uplink(2, color).port}) for color in (1, 2)}
    assert judged(add_disagreements, network(GOOD), hops(GOOD), same, AGREE, "") == []
    assert examined(add_disagreements, network(GOOD), hops(GOOD), same, AGREE, "") == {"AILB821": 2}
    own: Hops = {
        ("leaf2", prefix(1, 1)): frozenset({"et-0/0/0"}),
        ("leaf2", prefix(1, 2)): frozenset({"et-0/0/0", "et-0/0/1"}),
        ("spine1", prefix(1, 1)): frozenset({"et-0/0/0"}),
        ("spine1", prefix(1, 2)): frozenset({"et-0/0/0"}),
        ("leaf9", prefix(1, 1)): frozenset({f"et-0/0/{number}" for number in range(9)}),
    }
    differ = "spine1 fails: the engines disagree: {} uses {} in Batfish, {} in this program"
    assert judged(add_disagreements, network(GOOD), hops(GOOD), own, AGREE_SPINE, "spine1 fails: ") == [
        f"AILB822 {LEAF}: {differ.format('fc00:1:1:2::/64', 'et-0/0/1', 'et-0/0/0, et-0/0/1')}",
        f"AILB822 leaf9: {differ.format('fc00:1:1:1::/64', 'none', 'et-0/0/0, et-0/0/1, et-0/0/2 and 6 more')}",
        f"AILB822 {SPINE}: {differ.format('fc00:1:1:1::/64', 'none', 'et-0/0/0')} (and 1 more prefix)",
    ]
    assert examined(add_disagreements, network(GOOD), hops(GOOD), own, AGREE_SPINE, "") == {"AILB822": 5}


@pytest.mark.parametrize(
    ("ports", "own", "agree"),
    [("0", "0 1", True), ("", "0 1", False), ("2", "0 1", False), ("0 1", "0", False), ("0 1", "0 1", True)],
)
def test_where_batfish_has_fewer_next_hops_some_of_them_are_enough(ports: str, own: str, agree: bool) -> None:
    found = Findings()
    a, b = ({("leaf2", prefix(1, 1)): frozenset(text.split())} if text else {} for text in (ports, own))
    add_disagreements(network(GOOD), a, b, AGREE, "", found, narrowed={"leaf2"})
    assert (not found.found[AGREE.id]) is agree


# Transit


def received_by(name: str, spine: int) -> ExpectedRoutes:
    """Return an intent whose only spine is this one: the routes of others are not recorded."""
    others = [downlink(leaf, number) for leaf in LEAVES for number in LAYOUTS[name].spines if number != spine]
    return intent(name).without(others)


def of_transit(name: str, answer: list[Row], spine: int = 1) -> list[str]:
    return judged(check_transit, network(name), shadow(name), received_by(name, spine), answer)


def test_leaks_show_among_the_backups() -> None:
    # Not recorded; the fake, which agrees with the recorded rows, says what the service would.
    snapshot = read(need_shared(f"batfish-rows/snapshots/{LEAK}"))
    answer = answers.answer(snapshot, "bgpRib", nodes="spine1", status="BEST,BACKUP")
    # Of color 1 the leaf has the routes from this spine itself, to which it sends nothing back.
    assert of_transit(LEAK, answer) == [
        f"AILB816 leaf{leaf}:42: in Batfish it passes on {prefix(owner, color)} of leaf{owner} to spine1"
        for leaf, owner in ((1, 2), (2, 1))
        for color in (2, 3, 4)
    ]


def test_prefixes_that_a_spine_does_not_receive_from_their_leaf() -> None:
    message = f"AILB816 {SPINE}: in Batfish it receives no route to fc00:1:{{}}::/64 from leaf{{}}"
    assert of_transit(BAD, rows(BAD, RIB)) == [
        message.format(found, owner) for found, owner in (("1:1", 1), ("2:1", 2), ("2:2", 2))
    ]
    answer = rows(GOOD, RIB)
    assert answer[0]["Network"] == "172.16.11.0/24"
    answer[0]["Received_From_IP"] = "10.64.2.2"
    assert of_transit(GOOD, answer) == [
        f"AILB816 {LEAF}: in Batfish it passes on fc00:1:1:1::/64 of leaf1 to spine1",
        message.format("1:1", 1),
    ]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("Received_From_IP", None),
        ("Received_From_IP", "10.99.0.1"),
        ("Network", "172.16.99.0/24"),
        ("Network", "10.64.1.2/31"),
        ("Node", "spine9"),
    ],
)
def test_rows_that_mean_nothing_are_no_leaks(column: str, value: object) -> None:
    strange = {**rows(GOOD, RIB)[0], "Received_From_IP": "10.64.2.2", column: value}
    assert of_transit(GOOD, [*rows(GOOD, RIB), strange]) == []


def test_what_the_intent_does_not_know_or_allow_is_neither_missed_nor_a_leak() -> None:
    fewer = received_by(GOOD, 1)
    strange = {**rows(GOOD, RIB)[0], "Received_From_IP": "10.64.2.2"}
    fewer.owners = {known: owner for known, owner in fewer.owners.items() if known != prefix(1, 1)}
    assert judged(check_transit, network(GOOD), shadow(GOOD), fewer, [*rows(GOOD, RIB), strange]) == []
    # A prefix whose color may not pass a spine.
    alone = intent(GOOD, backup="none").without([downlink(leaf, 2) for leaf in LEAVES])
    answer = [row for row in rows(GOOD, RIB) if row["Network"] in ("172.16.11.0/24", "172.16.21.0/24")]
    assert judged(check_transit, network(GOOD), shadow(GOOD), alone, answer) == []


def test_leaves_and_spines_that_are_not_there_say_nothing() -> None:
    found = network(GOOD)
    fewer = replace(found, switches={name: one for name, one in found.switches.items() if name != "leaf2"})
    answer = [row for row in rows(GOOD, RIB) if row["Received_From_IP"] != "10.64.2.2"]
    assert judged(check_transit, fewer, shadow(GOOD), received_by(GOOD, 1), answer) == []
    # Spine 2 is there and was not asked: it receives nothing.
    assert len(judged(check_transit, fewer, shadow(GOOD), received_by(GOOD, 2), answer)) == 2
    spineless = replace(found, switches={"leaf1": found.switches["leaf1"]})
    assert judged(check_transit, spineless, shadow(GOOD), received_by(GOOD, 1), []) == []


# All questions


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Of the next hops those of one leaf were recorded, of the RIBs that of one spine; this program computes none.
        (GOOD, {"AILB812": 1, "AILB813": 8, "AILB815": 1, "AILB816": 4, "AILB821": 1}),
        (BAD, {"AILB811": 1, "AILB812": 1, "AILB813": 8, "AILB814": 2, "AILB815": 2, "AILB816": 3 + 4}),
    ],
)
def test_all_questions_about_the_shadow(name: str, expected: dict[str, int]) -> None:
    batfish, steps, known = Recording(name), [], shadow(name)
    first = replace(known.switches[0], gaps=(Gap("P", "something", 1),))
    gapped = replace(known, switches=(first, *known.switches[1:]))

    def check(findings: Findings) -> None:
        check_shadow(batfish, gapped, intent(name), Routing(network(name)), findings, lambda: steps.append(1))

    found = [line.split()[0] for line in judged(check)]
    assert batfish.asked == [
        ("fileParseStatus", "shadow", {}),
        ("initIssues", "shadow", {}),
        ("bgpSessionStatus", "shadow", {}),
        ("bgpSessionCompatibility", "shadow", {}),
        ("ipOwners", "shadow", {"duplicatesOnly": True}),
        ("routes", "shadow", {"protocols": "bgp"}),
        ("bgpRib", "shadow", {"nodes": "spine1,spine2", "status": "BEST,BACKUP"}),
        ("detectLoops", "shadow", {}),
        ("multipathConsistency", "shadow", {}),
    ]
    assert steps == [1] * 9
    assert {check: found.count(check) for check in sorted(set(found))} == expected


def test_spines_whose_names_begin_with_a_digit_are_quoted() -> None:
    found, names = network(GOOD), {"spine1": "1-Spine", "spine2": "Spine2"}
    switches = {
        names.get(name, name): replace(one, named=names.get(name, name)) for name, one in found.switches.items()
    }
    roles = {names.get(name, name): role for name, role in found.roles.items()}
    expected = intent(GOOD)
    expected.cables = [cable._replace(b_device=names[cable.b_device]) for cable in expected.cables]
    batfish, routing = Recording(GOOD), Routing(replace(found, switches=switches, roles=roles))

    def check(findings: Findings) -> None:
        check_shadow(batfish, shadow(GOOD), expected, routing, findings, lambda: None)

    assert judged(check)
    assert [given["nodes"] for question, _, given in batfish.asked if question == "bgpRib"] == ['"1-spine",spine2']
