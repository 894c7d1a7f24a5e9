"""Drift, state and forwarding against what is expected, one finding for each thing that somebody has to look at."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from lxml import etree

from ailb_gen.checks import subjects as about
from ailb_gen.checks.families.devices import FILES, REACHED
from ailb_gen.checks.model import Finding
from ailb_gen.deploy import verification
from ailb_gen.deploy.device_diff import Edit, ServerDiff
from ailb_gen.deploy.resource_limits import ONE_AT_A_TIME
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.deploy.switch_state import deviation, switch_of
from ailb_gen.deploy.verification import (
    MOST,
    ForwardingState,
    edited,
    expected_forwarding,
    of_switch,
    sampled,
    unreached,
    without,
)
from ailb_gen.errors import Place
from ailb_gen.junos.tree import Node
from ailb_gen.network.model import Switch
from ailb_gen.report.verdict import Headline, similar
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.deploy import lab

LEAF = "stripe1-leaf1"
FILE = f"switches/{LEAF}.conf"
CHANGED = lab.edited(LEAF, ("mtu 9170;", "mtu 9000;"), ("    as-list spines-red members 65003;\n", ""))


def test_drift_names_every_statement() -> None:
    mtu, place = "interfaces irb unit 2 family inet6 mtu", Place(FILE)
    red = "policy-options as-list spines-red members 65003"
    assert {*of_switch(lab.look(LEAF, before=CHANGED), FILE)} == {
        Finding("AILBD02", LEAF, f"{mtu} 9000: expected 9170", place, "9170", "9000", statement=mtu),
        Finding("AILBD02", LEAF, f"{red}: is missing", place, red, "", statement=red),
    }


def test_drift_of_order_and_of_marks() -> None:
    others = ("insert a term x before term y", "activate a b", "unprotect a")
    look = replace(lab.look(LEAF), compact_edits=tuple(Edit("other", one) for one in others))
    found = [*of_switch(look, FILE)]
    messages = [finding.message for finding in found]
    assert messages == ["a term x before term y: is in another order", "a b: needs activate", "a: needs unprotect"]
    assert found[1].expected == "activate a b"


def test_no_drift() -> None:
    assert [*of_switch(lab.look(LEAF), FILE)] == []


def test_what_a_switch_has_in_any_number_and_length_is_counted() -> None:
    """So that many hostile ones take no more memory than a few."""
    changes = ("set a b", *(f"set a {number} {'x' * 3000}" for number in range(MOST + 233)))
    look = replace(lab.look(LEAF), compact_edits=changes, unmanaged={"c " * 2000: ""})
    first, long, *_, left, beside = of_switch(look, FILE)
    assert (first.message, left.message) == ("a b: is missing", "and 234 more differences; `plan` shows all")
    assert long.expected == f"a 0 {'x' * 1996} … (1,004 more letters)"
    assert long.message == f"a 0 {'x' * 1996} … (1,016 more letters)"
    assert (beside.check, beside.message) == ("AILBD05", f"{'c ' * 1000} … (2,000 more letters)")


def test_files_of_servers() -> None:
    b = ServerDiff("b", "f", ("updated /etc/x",), "d")
    result = edited({"b": b, "a": ServerDiff("a", "f", (), "d")})
    assert (result.check, result.examined) == (FILES, 2)
    subjects = (about.device("b"), about.file("/etc/x"))
    assert result.findings == (Finding("AILBD04", "b", "/etc/x would be updated", subjects=subjects),)


def test_devices_that_cannot_be_reached() -> None:
    result = unreached({"b": DeviceError("b", Phase.CONNECT, "no answer"), "a": DeviceError("a", Phase.READ, "x")}, 9)
    assert (result.check, result.examined) == (REACHED, 9)
    assert [(one.scope, one.message) for one in result.findings] == [("a", "read: x"), ("b", "connect: no answer")]


def test_deviations_of_one_aspect_are_alike_whatever_their_texts_say() -> None:
    rows = [
        Headline(deviation(f"leaf{n}", "MTU", f"{n} is {'x' * n}", about.port(f"leaf{n}", f"et-0/0/{n}")))
        for n in range(3)
    ]
    other = Headline(deviation("leaf9", "session", "1 is x", about.port("leaf9", "et-0/0/1")))
    assert similar([*rows, other]) == [tuple(rows), (other,)]


def test_devices_with_the_same_error_are_alike() -> None:
    silent = {name: DeviceError(name, Phase.CONNECT, "10.0.0.1: no answer", shared="no answer") for name in "abc"}
    rows = list(map(Headline, unreached({**silent, "d": DeviceError("d", Phase.READ, "x")}, 9).findings))
    assert similar(rows) == [tuple(rows[:3]), (rows[3],)]


SPINE = "spine1"
MODEL = lab.fabric_model()
GRAPH = Graph(MODEL.network)
ROUTING = Routing(MODEL.network, graph=GRAPH)


def of(name: str, routing: Routing = ROUTING) -> ForwardingState:
    return expected_forwarding(MODEL, routing, name, sampled(ROUTING, name))


def test_one_configuration_at_a_time_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switches are asked in parallel; the trees of all of them at once would fill the memory."""
    held: list[bool] = []

    def balancing_of(name: str, tree: Node) -> Switch:
        held.append(ONE_AT_A_TIME.locked())
        return switch_of(name, tree)

    def ask(rpc: str, **arguments: str | bool) -> etree._Element:
        held.append(ONE_AT_A_TIME.locked())
        return etree.Element("reply")

    monkeypatch.setattr(verification, "switch_of", balancing_of)
    switch: Any = SimpleNamespace(ask=ask, running=lambda: lab.text_of(LEAF))
    assert verification.read_forwarding(LEAF, switch, ()).balancing == of(LEAF).balancing
    assert held == [False, True]


def test_one_prefix_for_each_set_of_next_hops() -> None:
    found = of(LEAF)
    assert [sorted(hops) for hops in found.routes.values()] == [[f"et-0/0/{port}.0"] for port in range(4)]
    assert len(of(SPINE).routes) == 4


def test_of_many_sets_some_that_are_spread_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    every = sampled(ROUTING, LEAF)
    monkeypatch.setattr(verification, "ROUTES", 2)
    assert sampled(ROUTING, LEAF) == (every[0], every[2])


def test_cabled_ports_and_the_irb_have_an_mtu() -> None:
    found = of(LEAF)
    assert found.mtus["et-0/0/0"] == "9216"
    assert (found.inet6_mtus["et-0/0/0.0"], found.inet6_mtus["irb.2"]) == ("9202", "9170")
    assert "lo0" not in found.mtus
    assert set(found.mtus) == {port for port in MODEL.switches[LEAF].ports if port.startswith("et-")}


def test_as_expected() -> None:
    assert list(of(LEAF).deviations(LEAF, of(LEAF))) == []


def test_what_differs_is_told_with_both_values() -> None:
    expected = of(LEAF)
    prefix = next(iter(expected.routes))
    seen = replace(
        expected,
        mtus={name: "1514" for name in expected.mtus if name != "et-0/0/1"},
        inet6_mtus={**expected.inet6_mtus, "irb.2": ""},
        routes={**expected.routes, prefix: frozenset[str]()},
        balancing=replace(expected.balancing, dlb=(), maximum_ecmp=2),
    )
    told = [finding.message for finding in expected.deviations(LEAF, seen)]
    assert told[:3] == [
        "the MTU of et-0/0/0 is 1514, expected 9216",
        "there is no interface et-0/0/1",
        "the MTU of et-0/0/16 is 1514, expected 9216",
    ]
    assert "the IPv6 MTU of irb.2 is not shown, expected 9170" in told
    assert f"{prefix} is forwarded to 0 next hops, expected 1 next hop (et-0/0/0.0)" in told
    assert "maximum-ecmp: 2, expected 16" in told
    assert told[-1].startswith("DLB (ecmp-dlb): none, expected ether-type ipv6, flowlet flowset-table-size 2048, ")


def test_without_a_session_the_next_hops_are_those_of_the_backup() -> None:
    left = of(LEAF, without(GRAPH, [(LEAF, "et-0/0/0.0")]))
    assert "et-0/0/0.0" not in {name for hops in left.routes.values() for name in hops}
    assert all(left.routes.values())
    assert without(GRAPH, []).graph is GRAPH
