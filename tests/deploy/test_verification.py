"""Drift and state as findings, one for each thing that somebody has to look at."""

from __future__ import annotations

from dataclasses import replace

from ailb_gen.checks import subjects as about
from ailb_gen.checks.families.devices import FILES, REACHED
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.device_diff import Edit, ServerDiff
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.deploy.switch_state import deviation
from ailb_gen.deploy.verification import MOST, edited, of_switch, unreached
from ailb_gen.errors import Place
from ailb_gen.report.verdict import Headline, similar
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
    assert (first.message, left.message) == ("a b: is missing", "234 more statements differ; `plan` shows them")
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
