"""The state of a switch against what is expected of it by all files, told in words."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from ailb_gen.deploy.switch_driver import RequestRefusedError
from ailb_gen.deploy.switch_state import (
    ExpectedPrefix,
    ExpectedSession,
    ExpectedState,
    ObservedSession,
    advertised,
    alarms,
    announcing,
    bgp_sessions,
    read_fabric_model,
    switch_of,
)
from ailb_gen.errors import UsageError
from ailb_gen.junos.reader import read
from ailb_gen.routing.rib import Routing
from tests.conftest import ROOT
from tests.deploy.lab import NAMES, edited, fabric_model, model, text_of
from tests.network.lab import LAB

PEER = """
<bgp-peer><peer-address>{address}</peer-address><peer-as>{asn}</peer-as><peer-state>{state}</peer-state>
<bgp-rib><name>inet6.0</name><accepted-prefix-count>{accepted}</accepted-prefix-count></bgp-rib></bgp-peer>
"""
ROUTE = """
<rt><rt-destination>{prefix}</rt-destination><rt-prefix-length>64</rt-prefix-length><rt-entry>
<communities><community>1:1</community>{color}</communities>{aigp}</rt-entry></rt>
"""
ALARMS = "<x><alarm-detail><alarm-description>{}</alarm-description></alarm-detail></x>"
GREEN = ExpectedPrefix("et-0/0/0.0", "fc00:1:1:1::/64", "color:0:1", 0)
BACKUP = ExpectedPrefix("et-0/0/0.0", "fc00:1:1:2::/64", "color:0:1", None)
EXPECTED = ExpectedState(
    "leaf1",
    (ExpectedSession("et-0/0/0.0", "spine1", 65001, 2), ExpectedSession("et-0/0/1.0", "spine2", 65002)),
    (GREEN, BACKUP),
    frozenset({"irb.2"}),
    frozenset({"fan"}),
)


class Told:
    """A switch that answers as it is told; `asked` is what it was asked."""

    name = "leaf1"

    def __init__(self) -> None:
        self.peers = [
            ("fe80::1%et-0/0/0.0+179", 65001, "Established", 2),
            ("fe80::2%et-0/0/1.0", 65002, "Established", 0),
        ]
        self.routes = [("fc00:1:1:1::", "color:0:1", "0"), ("fc00:1:1:2::", "color:0:1", "")]
        self.sent = "7"
        self.alarms = ["fan"]
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, rpc: str, **arguments: str | bool) -> etree._Element:
        self.asked.append((rpc, arguments))
        return etree.fromstring(f"<reply>{self._answer(rpc)}</reply>")

    def _answer(self, rpc: str) -> str:
        if rpc == "get-bgp-summary-information":
            keys = ("address", "asn", "state", "accepted")
            return "".join(PEER.format(**dict(zip(keys, row, strict=True))) for row in self.peers)
        if rpc == "get-route-information":
            rows = [
                (p, f"<community>{c}</community>" * bool(c), f"<bgp-aigp>{a}</bgp-aigp>" * bool(a))
                for p, c, a in self.routes
            ]
            return "".join(ROUTE.format(prefix=prefix, color=color, aigp=aigp) for prefix, color, aigp in rows)
        if rpc == "get-ipv6-ra-information":
            sent = f"<ipv6-ra-advertisements-sent>{self.sent}</ipv6-ra-advertisements-sent>"
            return f"<ipv6-ra-interface><interface-name>irb.2</interface-name>{sent}</ipv6-ra-interface>"
        return "".join(map(ALARMS.format, self.alarms)) if rpc == "get-alarm-information" else ""


@pytest.fixture
def told() -> Any:
    return Told()


def test_as_expected(told: Any) -> None:
    assert EXPECTED.deviations(told) == ()
    kinds = ("bgp-summary", "route", "ipv6-ra", "alarm", "system-alarm")
    assert [rpc for rpc, _ in told.asked] == [f"get-{kind}-information" for kind in kinds]
    of_neighbor = {"advertising_protocol_name": "bgp", "neighbor": "fe80::1%et-0/0/0.0", "extensive": True}
    assert told.asked[1][1] == of_neighbor


def test_only_what_is_expected_is_asked(told: Any) -> None:
    assert ExpectedState("leaf1", alarms=frozenset({"fan"})).deviations(told) == ()
    assert {rpc for rpc, _ in told.asked}.isdisjoint({"get-route-information", "get-ipv6-ra-information"})


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"peers": []}, "no BGP neighbor is discovered on et-0/0/0.0 (expected spine1)"),
        *(
            ({"peers": [("fe80::1%et-0/0/0.0", *peer)]}, wrong)
            for peer, wrong in (
                ((65001, "Active", 0), "the session with spine1 on et-0/0/0.0 is Active"),
                ((65001, "", 0), "the session with spine1 on et-0/0/0.0 is not there"),
                ((65009, "Established", 2), "the peer on et-0/0/0.0 is in AS 65009, not 65001 (spine1)"),
                ((65001, "Established", 1), "1 prefixes are accepted from spine1 on et-0/0/0.0, it sends 2 of its own"),
            )
        ),
        ({"routes": []}, "fc00:1:1:1::/64 is not advertised on et-0/0/0.0"),
        (
            {"routes": [("fc00:1:1:1::", "color:0:2", "0")]},
            "fc00:1:1:1::/64 is advertised on et-0/0/0.0 with color:0:2, AIGP 0, not with color:0:1, AIGP 0",
        ),
        (
            {"routes": [("fc00:1:1:1::", "", "")]},
            "fc00:1:1:1::/64 is advertised on et-0/0/0.0 with no color, no AIGP, not with color:0:1, AIGP 0",
        ),
        *(({"sent": sent}, "no router advertisements are sent on irb.2") for sent in ("0", "")),
        ({"alarms": ["fan", "no power"]}, "new alarm: no power"),
    ],
)
def test_what_is_not_as_expected(told: Any, change: dict[str, Any], wrong: str) -> None:
    for name, value in change.items():
        setattr(told, name, value)
    assert EXPECTED.deviations(told)[0] == wrong


def test_without_its_sessions_nobody_is_asked_for_routes(told: Any) -> None:
    told.peers = []
    assert len(EXPECTED.deviations(told)) == 2
    assert "get-route-information" not in [rpc for rpc, _ in told.asked]


def test_a_static_neighbor_is_known_by_its_address(told: Any) -> None:
    expected = ExpectedState("leaf1", (ExpectedSession("et-0/0/0.0", "spine1", 65001, 2, "fd00::3"),))
    told.alarms = []
    assert expected.deviations(told) == ("there is no BGP neighbor fd00::3 on et-0/0/0.0 (expected spine1)",)
    told.peers[0] = ("fd00::3+179", 65001, "Established", 2)
    assert expected.deviations(told) == ()


def test_more_than_expected_is_no_difference(told: Any) -> None:
    told.peers.append(("10.0.0.1", 1, "Active", 0))
    told.peers[0] = ("fe80::1%et-0/0/0.0", 65001, "Established", 9)
    told.routes.append(("fc00:9:9:9::", "color:0:7", ""))
    told.alarms = []
    assert EXPECTED.deviations(told) == ()


def test_what_is_read(told: Any) -> None:
    told.peers[1] = ("10.0.0.1+179", 65002, "Connect", 0)
    assert bgp_sessions(told) == (
        ObservedSession("fe80::1%et-0/0/0.0", "et-0/0/0.0", 65001, "Established", 2),
        ObservedSession("10.0.0.1", "", 65002, "Connect", 0),
    )
    assert advertised(told, "fe80::1") == {
        "fc00:1:1:1::/64": ("color:0:1", 0),
        "fc00:1:1:2::/64": ("color:0:1", None),
    }
    assert (announcing(told), alarms(told)) == (frozenset({"irb.2"}), frozenset({"fan"}))


def test_an_answer_that_cannot_be_read(told: Any) -> None:
    told.peers = [("fe80::1%et-0/0/0.0", "unknown", "Active", 0)]
    with pytest.raises(
        RequestRefusedError, match="its answer to get-bgp-summary-information cannot be read: peer-as is"
    ):
        EXPECTED.deviations(told)


GOLDEN = ROOT / "tests" / "golden"


@pytest.mark.parametrize("name", ["brownfield", "jvd", "jvd-8-uplinks", "lab", "mixed", "static"])
def test_what_is_expected_is_what_routing_computes(name: str) -> None:
    files = sorted((GOLDEN / name / "switches").iterdir())
    found = read_fabric_model(
        GOLDEN / name, {path.stem: switch_of(path.stem, read(path.read_text(), path.name)) for path in files}
    )
    routing = Routing(found.network)
    graph = routing.graph
    ends = [(session.a, session.b) for session in graph.sessions.up]
    sides = {(s.device, s.interface): far for pair in ends for s, far in (pair, pair[::-1])}
    assert len(graph.sessions.up) == len(found.links)
    for device in found.switches:
        expected = found.expected(device)
        mine = {interface: far for (own, interface), far in sides.items() if own == device}
        assert {(n.interface, n.peer, n.asn) for n in expected.neighbors} == {
            (interface, far.device, far.asn) for interface, far in mine.items()
        }
        # What a switch advertises is what arrives at the other end, before anything is hidden there.
        arriving = set()
        for interface, far in mine.items():
            for prefix in graph.advertised[graph.index[device]]:
                for path in routing.paths(graph.index[far.device], prefix):
                    if path.interface == far.interface:
                        (color,) = path.route.colors or {None}
                        arriving.add(ExpectedPrefix(interface, str(prefix), color, path.route.aigp))
        assert set(expected.advertised) == arriving
        assert len(expected.advertised) == len(arriving)
        # And as many prefixes are counted at the other end.
        for neighbor in expected.neighbors:
            far = mine[neighbor.interface]
            sent = [row for row in found.expected(far.device).advertised if row.interface == far.interface]
            assert neighbor.prefixes == len(sent)
        assert (found.roles[device] == "leaf") == bool(expected.advertised) == bool(expected.announcing)


def test_a_leaf_of_the_lab() -> None:
    expected = fabric_model().expected("stripe1-leaf1", ["fan"])
    assert expected.neighbors[1] == ExpectedSession("et-0/0/1.0", "spine2", 65002, 0)
    own, backup = "fc00:1:1:2::/64", "fc00:1:1:1::/64"
    assert ExpectedPrefix("et-0/0/1.0", own, "color:0:2", 0) in expected.advertised
    assert ExpectedPrefix("et-0/0/1.0", backup, "color:0:2", None) in expected.advertised
    assert (len(expected.neighbors), len(expected.advertised)) == (4, 16)
    assert (expected.announcing, expected.alarms) == (frozenset({"irb.2"}), frozenset({"fan"}))


def test_in_the_middle_of_a_push() -> None:
    empty = "system { host-name x; }"
    bare = read_fabric_model(LAB, {name: model(name, empty) for name in NAMES})
    assert bare.expected("spine1") == ExpectedState("spine1")
    # A session needs both ends: the first leaf waits for nobody, a spine for the leaves that are there.
    one = bare.after({"stripe1-leaf1": model("stripe1-leaf1")})
    assert one.expected("stripe1-leaf1").neighbors == ()
    both = one.after({"spine1": model("spine1")})
    assert [row.peer for row in both.expected("spine1").neighbors] == ["stripe1-leaf1"]
    assert [row.peer for row in both.expected("stripe1-leaf1").neighbors] == ["spine1"]
    assert both.expected("spine1").neighbors[0].prefixes == 4
    # The state before is not changed by what comes after it.
    assert bare.expected("spine1") == ExpectedState("spine1")


def test_a_switch_that_nobody_looked_at() -> None:
    found = read_fabric_model(LAB, {name: model(name) for name in NAMES if name != "spine1"})
    assert found.expected("spine1") == ExpectedState("spine1")
    assert [row.peer for row in found.expected("stripe1-leaf1").neighbors] == ["spine2", "spine3", "spine4"]


def test_a_prefix_that_the_switch_has_no_address_in_is_not_expected() -> None:
    text = edited("stripe1-leaf1", ("address fc00:1:1:2::1/64;", ""))
    expected = fabric_model(stripe1_leaf1=text).expected("stripe1-leaf1")
    assert {row.prefix for row in expected.advertised} == {f"fc00:1:1:{number}::/64" for number in (1, 3, 4)}


def test_lines_and_inactive_statements_do_not_count() -> None:
    text = text_of("stripe1-leaf1")
    assert switch_of("a", read(f"\n\n{text}")) == switch_of("a", read(text))
    off, gone = (
        edited("stripe1-leaf1", ("max-advertisement-interval 30;", new)) for new in ("inactive: lifetime 1;", "")
    )
    assert switch_of("a", read(off)) == switch_of("a", read(gone)) != switch_of("a", read(text))


@pytest.mark.parametrize("file", ["topology.json", "cabling.csv"])
def test_files_that_do_not_tell_what_is_connected(tmp_path: Path, file: str) -> None:
    for name in ("topology.json", "cabling.csv"):
        shutil.copy(LAB / name, tmp_path)
    (tmp_path / file).write_text("nonsense\n")
    with pytest.raises(UsageError, match=f"{file}.*\n.*the cabling is not known"):
        read_fabric_model(tmp_path, {})
    (tmp_path / file).unlink()
    with pytest.raises(UsageError, match=file):
        read_fabric_model(tmp_path, {})
