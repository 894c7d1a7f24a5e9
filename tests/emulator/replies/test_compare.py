"""The comparison with real replies finds what it is for: made here of two small replies."""

import pytest
from lxml import etree

from tests.emulator.replies import texts, trees
from tests.emulator.replies.samples import SOURCES
from tests.emulator.replies.table import Known, judged

REAL = (
    '<r xmlns="http://xml.juniper.net/junos/25.4R0/junos-x" xmlns:junos="http://xml.juniper.net/junos/25.4R1/junos">'
    '<a junos:style="s">1</a><b/><c>x</c></r>'
)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", []),
        ("<b/>", "", ["r lacks b"]),
        ("<b/>", "<b/><d/>", ["r has d"]),
        ("<b/><c>x</c>", "<c>x</c><b/>", ["r has c before b"]),
        (' junos:style="s"', "", ["r/a lacks @junos:style"]),
        ("<b/>", "<b>1</b>", ["r/b holds text, there nothing"]),
        ("25.4R0", "24.4R0", []),
        ("junos-x", "junos-y", ["namespace"]),
        ("<r ", "<q ", ["q is no real reply"]),
    ],
)
def test_trees(old: str, new: str, found: list[str]) -> None:
    text = REAL.replace(old, new) if old else REAL
    made = etree.fromstring(text.replace("</r>", f"</{text[1]}>"))
    real = trees.shape([etree.fromstring(REAL)], SOURCES["exporter"])
    differences = trees.differences(trees.shape([made], SOURCES["exporter"]), real)
    assert len(differences) == len(found)
    assert all(part in text for part, text in zip(found, differences, strict=True))


def test_an_element_that_nearer_devices_always_have_is_asked_for() -> None:
    far, near = (etree.fromstring(f"<r><a/>{more}</r>") for more in ("", "<b/>"))
    real = trees.shape([far], SOURCES["napalm"])
    for path, seen in trees.shape([near], SOURCES["batfish"]).items():
        real.setdefault(path, []).extend(seen)
    assert trees.differences(trees.shape([far], SOURCES["exporter"]), real) == ["r lacks b"]
    assert trees.differences(trees.shape([near], SOURCES["exporter"]), real) == []


def test_a_shortened_reply_proves_no_element_wrong() -> None:
    real = trees.shape([etree.fromstring("<r><a/></r>")], SOURCES["pyez"])
    ours = trees.shape([etree.fromstring("<r><a/><b/></r>")], SOURCES["exporter"])
    assert trees.differences(ours, real) == []


TEXT = "Peer: 10.0.0.1 AS 1 Local: 10.0.0.2\n  Last State: Idle\nTable      Paths  Active\ninet.0         1       1\n"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", []),
        ("10.0.0.1", "fe80::1", []),
        ("Last State", "State", ["lacks Last State:", "has State:"]),
        ("  Last", " Last", ["has ' Last State:', there '  Last State:'"]),
        ("Table  ", "Table ", ["has 'Table     Paths  Active', there 'Table      Paths  Active'"]),
        ("Table      Paths  Active\n", "", ["lacks Table Paths Active"]),
    ],
)
def test_texts(old: str, new: str, found: list[str]) -> None:
    assert texts.differences([TEXT.replace(old, new) if old else TEXT], [(TEXT, True)]) == found


def test_a_line_of_the_table_covers_what_it_names() -> None:
    rows = [Known("f tree r[x] lacks *", "why"), Known("f tree r has z", "why")]
    assert judged({"f tree": ["r[x] lacks b", "r lacks c"]}, rows) == (["f tree r lacks c"], ["f tree r has z"])
