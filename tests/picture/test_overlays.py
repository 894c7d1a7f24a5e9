"""What is marked where: findings at devices and links, what fails, and paths."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.model import Check, Finding, Result, Severity
from ailb_gen.errors import UsageError
from ailb_gen.forwarding.endpoints import flows
from ailb_gen.forwarding.trace import View, trace_pair
from ailb_gen.picture.overlays import drained_in, failed, findings_on, path_marks
from tests.conftest import EXAMPLES, intent_of
from tests.forwarding.examples import network, routing
from tests.picture.examples import expected, picture

ERROR = Check("AILB999", "holds", "is wrong", "why", "repair")
NOTE = Check("AILB998", "holds", "is wrong", "why", "repair", severity=Severity.NOTE)


def test_findings_are_at_their_device_and_at_the_link_of_their_port() -> None:
    lab = picture("lab")
    link = lab.links[0].name
    results = [
        Result(ERROR, (Finding("AILB999", "stripe1-leaf1", "a"), Finding("AILB999", "spine1", "b", part="et-0/0/0.0"))),
        Result(NOTE, (Finding("AILB998", "stripe1-leaf1", "c", part="et-0/0/0"),)),
        Result(NOTE, (Finding("AILB998", "profiles/x", "d"), Finding("AILB998", "cabling.csv", "e"))),
    ]
    found = findings_on(lab, results, [("gpu-s1-1", "profiles/x"), ("gpu-s1-2", "profiles/x")])
    assert found == {
        "stripe1-leaf1": {"error": 1, "note": 1},
        "spine1": {"error": 1},
        link: {"error": 1, "note": 1},
        "gpu-s1-1": {"note": 1},
        "gpu-s1-2": {"note": 1},
    }


def test_what_fails_is_named_as_everywhere() -> None:
    lab = picture("lab")
    first = lab.links[0].name
    assert failed(lab, []) == (frozenset(), frozenset())
    assert failed(lab, ["stripe1-leaf1:et-0/0/0", "spine2"]) == (frozenset({first}), frozenset({"spine2"}))
    assert failed(lab, [first])[0] == failed(lab, ["spine1:stripe1-leaf1"])[0] == frozenset({first})
    assert failed(lab, ["gpu-s1-1:gpu0_eth"])[0] == frozenset({lab.attachments[0].name})
    with pytest.raises(UsageError, match="--fail 'spine11': there is no such cable or switch; did you mean 'spine1'"):
        failed(lab, ["spine11"])


def test_what_is_drained_is_known_from_the_intent() -> None:
    lab = picture("lab")
    text = (EXAMPLES / "lab" / "fabric.yaml").read_text() + "drain: [spine2, 'stripe1-leaf1:et-0/0/16']\n"
    found = drained_in(lab, expected_fabric(intent_of(text).fabric).drained)
    links = {link.name for link in lab.links if link.b.device == "spine2"}
    assert found == links | {lab.attachments[0].name, "spine2"}
    assert drained_in(lab, expected("lab").drained) == frozenset()


def test_paths_are_marked_link_by_link_as_far_as_they_lead() -> None:
    lab = picture("lab")
    view = View(network("lab"), routing("lab"), frozenset(), frozenset())
    traces = [trace_pair(view, *ends, 0) for ends in flows(network("lab"), "gpu-s1-1", "gpu-s2-1")]
    marks = path_marks(lab, traces)
    assert [mark.label for mark in marks] == [f"queue pair {number}" for number in range(1, 5)]
    assert marks[0].links == (
        "stripe1-leaf1:et-0/0/16 - gpu-s1-1:gpu0_eth",
        "stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0",
        "stripe2-leaf1:et-0/0/0 - spine1:et-0/0/2",
        "stripe2-leaf1:et-0/0/16 - gpu-s2-1:gpu0_eth",
    )
    dead = View(network("lab"), routing("lab"), frozenset({"stripe1-leaf1"}), frozenset())
    lost = path_marks(lab, [trace_pair(dead, *ends, 0) for ends in flows(network("lab"), "gpu-s1-1", "gpu-s2-1", 1)])
    assert (lost[0].links, lost[0].problem) == ((), "stripe1-leaf1 is down")


def test_a_path_that_failures_change_is_marked_with_its_links_before_them() -> None:
    lab = picture("lab")
    ends = flows(network("lab"), "gpu-s1-1", "gpu-s2-1")
    whole = View(network("lab"), routing("lab"), frozenset(), frozenset())
    down = View(network("lab"), routing("lab"), frozenset({"stripe1-leaf1"}), frozenset())
    before = [trace_pair(whole, *pair, 0) for pair in ends]
    marks = path_marks(lab, [trace_pair(down, *pair, 0) for pair in ends], before)
    assert [mark.former for mark in marks] == [mark.links for mark in path_marks(lab, before)]
    assert [mark.former for mark in path_marks(lab, before, before)] == [()] * 4


def test_a_path_that_enters_no_leaf_would_take_the_cable_to_it() -> None:
    switches = {name: switch for name, switch in network("lab").switches.items() if name != "stripe1-leaf1"}
    without = replace(network("lab"), switches=switches)
    view = View(without, routing("lab"), frozenset(), frozenset())
    traces = [trace_pair(view, *ends, 0) for ends in flows(network("lab"), "gpu-s1-1", "gpu-s2-1", 1)]
    (mark,) = path_marks(picture("lab"), traces)
    assert (mark.links, mark.former) == ((), ("stripe1-leaf1:et-0/0/16 - gpu-s1-1:gpu0_eth",))
    assert mark.problem == "gpu0_eth of gpu-s1-1 is cabled to no known switch"


def test_a_path_ends_at_a_port_that_no_list_of_cables_has() -> None:
    view = View(network("lab"), routing("lab"), frozenset(), frozenset())
    traces = [trace_pair(view, *ends, 0) for ends in flows(network("lab"), "gpu-s1-1", "gpu-s2-1", 1)]
    assert path_marks(picture("jvd"), traces)[0].links == ()
