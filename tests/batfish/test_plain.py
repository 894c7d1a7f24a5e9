"""The plain interpreter: what it says of recorded snapshots is what a real Batfish service said of them."""

from __future__ import annotations

import ast
import json
import re
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING, Any

import pytest

from tests.batfish.plain import PlainError, Snapshot, from_texts, read
from tests.batfish.plain_examples import A, B, fan, of, pair
from tests.batfish.plain_rows import COLUMNS, QUESTIONS, ask
from tests.conftest import need_shared

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RECORDED = ("c_2x4_lp", "d_v4_clean", "d_v4la_bad", "mut_m5_no_final_reject")
ASKED = re.compile(r"(\w+)(?:\((.*)\))?")


def recorded(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(need_shared(f"batfish-rows/{name}.json").read_text("utf-8"))
    return found


def snapshot(name: str) -> Snapshot:
    return read(need_shared("batfish-rows/snapshots") / name)


def texts(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted(json.dumps(row) for row in rows)


def parameters(text: str | None) -> dict[str, object]:
    """Read `nodes='leaf2', duplicatesOnly=True`."""
    call = ast.parse(f"_({text or ''})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}


@pytest.mark.parametrize("name", RECORDED)
def test_the_answers_are_those_of_the_real_service(name: str) -> None:
    known = snapshot(name)
    asked = set()
    for text, answer in recorded(name).items():
        found = ASKED.fullmatch(text)
        assert found is not None
        asked.add(found[1])
        rows = ask(known, found[1], **parameters(found[2]))
        assert list(COLUMNS[found[1]]) == answer["columns"]
        assert all(list(row) == answer["columns"] for row in rows), text
        assert len(rows) == answer["row_count"], text
        # At most 40 rows of an answer are recorded.
        if len(answer["rows"]) == answer["row_count"]:
            assert texts(rows) == texts(answer["rows"]), text
        else:
            assert set(texts(answer["rows"])) <= set(texts(rows)), text
    assert asked == set(QUESTIONS)


def test_a_link_that_is_down_leaves_the_other_spines() -> None:
    base = snapshot("c_2x4_lp")
    fork = base.without(interfaces=[("leaf1", "et-0/0/0")])
    first = IPv4Network("172.16.0.0/24")
    assert [str(route.peer) for route in base.routes("leaf2")[first]] == ["10.64.0.9"]
    assert [str(route.peer) for route in fork.routes("leaf2")[first]] == ["10.64.0.11", "10.64.0.13", "10.64.0.15"]
    assert [one.port.name for one in fork.interfaces() if not one.active] == ["et-0/0/0", "et-0/0/0.0"]
    assert [row["Node"] for row in ask(fork, "bgpSessionStatus", status="NOT_COMPATIBLE")] == ["leaf1", "spine1"]
    assert fork.reaches("leaf2", first)
    # Of four routes to each of four prefixes three are backups; the first prefix has now three that are best.
    assert len([route for route, status in base.bgp_rib("leaf2") if status == "BACKUP"]) == 12
    assert len([route for route, status in fork.bgp_rib("leaf2") if status == "BACKUP"]) == 6


def test_a_switch_that_is_down_is_seen_no_more() -> None:
    base = snapshot("c_2x4_lp")
    fork = base.without(nodes=["leaf1"])
    assert fork.routes("leaf2") == {}
    assert not fork.reaches("leaf2", IPv4Network("172.16.0.0/24"))
    assert not any(one.active for one in fork.interfaces() if one.node == "leaf1")
    assert fork.compatibility()["spine1", IPv4Address("10.64.0.0")] == "NO_LOCAL_IP"


@pytest.mark.parametrize("name", ["et-0/0/0.0", "ET-0/0/0", "et-9/9/9", "irb"])
def test_only_physical_ports_can_be_taken_down(name: str) -> None:
    with pytest.raises(PlainError, match=f"no physical port leaf1\\[{re.escape(name)}\\]"):
        snapshot("c_2x4_lp").without(interfaces=[("leaf1", name)])
    with pytest.raises(PlainError, match="no switch leaf9"):
        snapshot("c_2x4_lp").without(nodes=["leaf9"])


def test_transit_through_a_leaf_shows_as_backup_on_the_spines() -> None:
    known = snapshot("mut_m5_no_final_reject")
    rows = ask(known, "bgpRib", nodes="spine1", status="BEST,BACKUP")
    backup = [row for row in rows if row["Status"] == ["BACKUP"]]
    assert len(rows) == 14
    assert {row["AS_Path"].split()[1] for row in backup} == {"65002", "65003", "65004"}


@pytest.mark.parametrize(
    "line",
    [
        "set interfaces et-0/0/0 unit 0 family inet6 address fc00::1/64",
        "set protocols bgp group spines neighbor 10.0.0.1 multihop",
        "set policy-options policy-statement P term T from protocol static",
        "set policy-options community C members color:0:1",
        "delete interfaces et-0/0/0",
        "set protocols bgp group spines export [ A B",
        'set interfaces et-0/0/0 description "spine',
        "set interfaces et-0/0/0 mtu many",
    ],
)
def test_unknown_lines_are_errors(line: str) -> None:
    with pytest.raises(PlainError, match=rf"configs/leaf\.cfg:2: .*{re.escape(line)}$"):
        from_texts({"configs/leaf.cfg": f"set system host-name leaf\n{line}\n"})


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "no configs"),
        ({"configs/a.cfg": "set routing-options router-id 1.1.1.1\n"}, "no host-name"),
        (
            {"configs/a.cfg": "set system host-name a\n", "configs/b.cfg": "set system host-name A\n"},
            "host-name a, too",
        ),
        (
            {"configs/a.cfg": "set system host-name a\nset protocols bgp group g neighbor 10.0.0.1 peer-as 1\n"},
            "no local AS",
        ),
        ({"configs/a.cfg": "set system host-name a\nset routing-options router-id me\n"}, "configs/a.cfg: .*'me'"),
    ],
)
def test_a_snapshot_that_cannot_be_is_an_error(files: dict[str, str], why: str) -> None:
    with pytest.raises(PlainError, match=why):
        from_texts(files)


ALL = {"10.1.0.0/24", "10.1.1.0/24", "10.1.1.128/25"}


@pytest.mark.parametrize(
    ("condition", "matched"),
    [
        ("from protocol direct", ALL),
        ("from protocol bgp", set()),
        ("from prefix-list ZERO", {"10.1.0.0/24"}),
        ("from prefix-list NONE", set()),
        ("from prefix-list-filter ZERO orlonger", {"10.1.0.0/24"}),
        ("from prefix-list-filter ZERO longer", set()),
        ("from route-filter 10.1.1.0/24 exact", {"10.1.1.0/24"}),
        ("from route-filter 10.1.1.0/24 orlonger", {"10.1.1.0/24", "10.1.1.128/25"}),
        ("from route-filter 10.1.1.0/24 longer", {"10.1.1.128/25"}),
        ("from route-filter 10.1.0.0/16 upto /24", {"10.1.0.0/24", "10.1.1.0/24"}),
        ("from route-filter 10.1.0.0/16 prefix-length-range /25-/32", {"10.1.1.128/25"}),
        ("from community ONE", set()),
    ],
)
def test_conditions(condition: str, matched: set[str]) -> None:
    known = pair(of("OUT", condition, "then reject"))
    assert {str(network) for network in known.routes("b")} == ALL - matched


def test_the_longest_route_filter_decides() -> None:
    filters = ("from route-filter 10.1.0.0/16 orlonger", "from route-filter 10.1.1.0/24 exact")
    known = pair(of("OUT", *filters, "then reject"))
    assert {str(network) for network in known.routes("b")} == {"10.1.1.128/25"}


@pytest.mark.parametrize(
    ("lines", "communities"),
    [
        (["then community add ONE"], {"1:1"}),
        (["then community add ONE", "then community add TWO"], {"1:1", "1:2"}),
        (["then community add BOTH", "then community delete ONE"], {"1:2"}),
        (["then community add BOTH", "then community set ONE"], {"1:1"}),
        (["then community add NONE"], set()),
        (["then community add ONE", "2 from community ONE", "2 then community add TWO"], {"1:1", "1:2"}),
        (["then community add ONE", "2 from community BOTH", "2 then community set TWO"], {"1:1"}),
        (["then community add ONE", "then accept", "2 then community add TWO"], {"1:1"}),
        (["then community add ONE", "then next term", "2 then community add TWO"], {"1:1", "1:2"}),
        (["then community add ONE", "then next policy", "2 then community add TWO"], {"1:1"}),
    ],
)
def test_communities(lines: list[str], communities: set[str]) -> None:
    known = pair(of("OUT", *lines))
    assert {route.communities for found in known.routes("b").values() for route in found} == {frozenset(communities)}


@pytest.mark.parametrize(
    ("out", "into", "expected"),
    [
        ("then local-preference 50", "", (100, 0, (65001,))),
        ("", "then local-preference 50", (50, 0, (65001,))),
        ("then metric 7", "", (100, 7, (65001,))),
        ("", "then metric 7", (100, 7, (65001,))),
        ('then as-path-prepend "65001 65001"', "", (100, 0, (65001, 65001, 65001))),
    ],
)
def test_attributes(out: str, into: str, expected: tuple[int, int, tuple[int, ...]]) -> None:
    lines = "set protocols bgp group g import IN\n" + of("IN", into) if into else ""
    known = pair(of("OUT", out) if out else "", lines)
    found = [route for routes in known.routes("b").values() for route in routes]
    assert {(route.local_preference, route.metric, route.as_path) for route in found} == {expected}


def test_import_policies_reject() -> None:
    known = pair(of("OUT", "then community add ONE"), "set protocols bgp group g import IN\n" + of("IN", "then reject"))
    assert known.bgp_rib("b") == []


@pytest.mark.parametrize("path", ["65002", "65009 65002"])
def test_a_looped_path_is_dropped(path: str) -> None:
    assert pair(of("OUT", f'then as-path-prepend "{path}"')).bgp_rib("b") == []


@pytest.mark.parametrize(
    ("b", "established"),
    [
        ("", True),
        ("set protocols bgp group g local-as 65009\n", False),
        ("set protocols bgp group g neighbor 10.0.0.0 local-address 10.0.0.1\n", True),
        ("set protocols bgp group g neighbor 10.0.0.0 local-address 10.0.0.9\n", False),
        ("set interfaces et-0/0/0 disable\n", False),
        ("set protocols bgp group h peer-as 65001\nset protocols bgp group h neighbor 10.9.9.9\n", True),
    ],
)
def test_sessions(b: str, established: bool) -> None:
    known = pair("", b)
    status = {str(one.neighbor.address): one.status for one in known.sessions()}
    assert (status["10.0.0.0"] == "ESTABLISHED") is established
    assert (status["10.0.0.1"] == "ESTABLISHED") is established
    assert status.get("10.9.9.9", "NOT_COMPATIBLE") == "NOT_COMPATIBLE"
    assert bool(known.routes("b")) is established


def test_configured_sessions_that_do_not_reach_each_other() -> None:
    far = (
        A.replace("10.0.0.0/31", "10.0.0.0/32") + "set protocols bgp group g neighbor 10.0.0.1 local-address 10.0.0.0\n"
    )
    rows = ask(from_texts({"configs/a.cfg": far, "configs/b.cfg": B}), "bgpSessionStatus")
    assert [(row["Established_Status"], row["Remote_Node"]) for row in rows] == [
        ("NOT_ESTABLISHED", "b"),
        ("NOT_COMPATIBLE", None),
    ]


def peers(known: Snapshot) -> list[str]:
    return [str(route.peer) for route in known.routes("b").get(IPv4Network("10.1.0.0/24"), [])]


LONGER = "set protocols bgp group all export WORSE\n" + of("WORSE", 'then as-path-prepend "65011"')
MED = "set protocols bgp group all export WORSE\n" + of("WORSE", "then metric 9")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (fan(), ["10.0.1.3", "10.0.2.3"]),
        (fan(multipath="multipath"), ["10.0.1.3"]),
        (fan(multipath="family inet unicast"), ["10.0.1.3"]),
        (fan(LONGER), ["10.0.2.3"]),
        # MEDs of different neighboring ASes are not compared.
        (fan(MED), ["10.0.1.3", "10.0.2.3"]),
        (fan("set routing-options router-id 9.9.9.9\n"), ["10.0.2.3", "10.0.1.3"]),
        (fan("set routing-options router-id 9.9.9.9\n", multipath="multipath"), ["10.0.2.3"]),
        # One's own network beats BGP.
        (fan(last="set interfaces lo0 unit 0 family inet address 10.1.0.1/24"), []),
    ],
)
def test_the_best_routes(known: Snapshot, expected: list[str]) -> None:
    assert peers(known) == expected
    assert known.reaches("b", IPv4Network("10.1.0.0/24"))


def test_one_group_without_multipath_takes_it_from_all() -> None:
    known = fan(last="set protocols bgp group z neighbor 10.9.9.9 peer-as 65099\n")
    assert peers(known) == ["10.0.1.3"]
    texts = [row["Details"] for row in ask(known, "initIssues")]
    assert len(texts) == 2
    assert all("FORCING NON-MULTIPATH" in text for text in texts)
    assert [row["Node"] for row in ask(known, "viConversionStatus") if row["Status"] == "WARNINGS"] == ["b"]


def test_a_route_is_not_sent_to_the_as_it_comes_from() -> None:
    received = {node: table.get(IPv4Network("10.1.0.0/24"), []) for node, table in fan().tables.received.items()}
    assert [route.as_path for route in received["x"]] == [(65001,)]
    assert [route.as_path for route in received["y"]] == [(65001,), (65002, 65011, 65001)]
    assert received["a"] == []


def test_walks_that_go_round_and_walks_that_end_are_told_apart() -> None:
    known = fan()
    network = IPv4Network("10.1.0.0/24")
    assert known.loops() == []
    assert known.inconsistent() == []
    # Static routing could do this, BGP cannot: `x` sends back to `b` what `b` sends to `x` and `y`.
    back = known.tables.main["b"][network][0]
    back = type(back)(network, "bgp", IPv4Address("10.0.1.2"), back.peer_id)
    known.tables.__dict__["main"] = {**known.tables.main, "x": {network: [back]}}
    flows = ["start=b [0.0.0.0:49152->10.1.0.1:33434 UDP]", "start=x [0.0.0.0:49152->10.1.0.1:33434 UDP]"]
    assert [str(flow) for flow in known.loops() if flow.address == IPv4Address("10.1.0.1")] == flows
    assert [flow.node for flow in known.inconsistent()] == ["b", "x"]
    rows = ask(known, "detectLoops")
    assert [str(row["Flow"]) for row in rows] == flows
    assert [row["Flow"].node for row in ask(known, "multipathConsistency")] == ["b", "x"]


def test_irbs_without_vlan_or_member_are_down() -> None:
    vlans = """
set interfaces irb unit 5 family inet address 10.5.0.1/24
set interfaces irb unit 6 family inet address 10.6.0.1/24
set interfaces irb unit 7 family inet address 10.7.0.1/24
set interfaces irb unit 8 family inet address 10.8.0.1/24
set vlans v5 vlan-id 5
set vlans v5 l3-interface irb.5
set vlans v6 vlan-id 6
set vlans v6 l3-interface irb.6
set vlans v7 vlan-id 7
set vlans v7 l3-interface irb.7
set interfaces et-1/0/0 unit 0 family ethernet-switching interface-mode trunk
set interfaces et-1/0/0 unit 0 family ethernet-switching vlan members [ v5 6 ]
set interfaces et-1/0/1 unit 0 family ethernet-switching vlan members v7
set interfaces et-1/0/1 disable
"""
    known = pair(vlans)
    active = {one.port.name: one.active for one in known.interfaces() if one.port.is_irb}
    assert active == {"irb.5": True, "irb.6": True, "irb.7": False, "irb.8": False}
    rows = {row["VLAN_ID"]: row["Interfaces"] for row in ask(known, "switchedVlanProperties")}
    assert rows == {
        5: ["a[et-1/0/0.0]", "a[irb.5]"],
        6: ["a[et-1/0/0.0]", "a[irb.6]"],
        7: ["a[et-1/0/1.0]", "a[irb.7]"],
    }
    assert [row["Details"] for row in ask(known, "initIssues")] == [
        "Deactivating irb.8 because it has no assigned vlan"
    ]
    # VLAN 6 is named by its number only.
    assert "v6" in {row["Structure_Name"] for row in ask(known, "unusedStructures")}


def test_parameters_of_questions() -> None:
    known = pair()
    assert {row["Node"] for row in ask(known, "bgpRib", nodes="/^b/", network="10.1.0.0/24")} == {"b"}
    assert [row["Node"] for row in ask(known, "bgpSessionStatus", nodes='"a", c')] == ["a"]
    assert [row["Node"] for row in ask(known, "bgpSessionStatus", remoteNodes="a", status="ESTABLISHED")] == ["b"]
    assert ask(known, "interfaceProperties", nodes="b", interfaces="et-0/0/0", properties="Active") == [
        {"Interface": "b[et-0/0/0]", "Active": True}
    ]
    assert len(ask(known, "ipOwners")) == 5
    for question, wrong in (
        ("routes", {}),
        ("bgpRib", {"vrfs": "x"}),
        ("interfaceProperties", {"properties": "Speed"}),
    ):
        with pytest.raises(PlainError, match=question):
            ask(known, question, **wrong)
