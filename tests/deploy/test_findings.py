"""Drift and state as findings, one for each thing that somebody has to look at."""

from __future__ import annotations

import zlib
from dataclasses import replace

from ailb_gen.checks.families.devices import DRIFT, FILES, REACHED, STATE
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.edits import Edit
from ailb_gen.deploy.findings import drifted, edited, run_of, state, unreached
from ailb_gen.deploy.inputs import Inputs
from ailb_gen.deploy.planning import HostLook
from ailb_gen.deploy.switch import DeviceError, Phase
from ailb_gen.errors import Place
from tests.deploy import lab
from tests.network.lab import LAB

LEAF = "stripe1-leaf1"
INPUTS = Inputs(
    LAB,
    {name: f"switches/{name}.conf" for name in lab.NAMES},
    "digest",
    texts={name: zlib.compress(lab.text_of(name).encode()) for name in lab.NAMES},
)
CHANGED = lab.edited(LEAF, ("mtu 9170;", "mtu 9000;"), ("    as-list spines-red members 65003;\n", ""))


def test_drift_names_every_statement() -> None:
    result = drifted(lab.plan_of(lab.look(LEAF, before=CHANGED)), INPUTS)
    assert (result.check, result.examined) == (DRIFT, len(lab.NAMES))
    mtu, place = "interfaces irb unit 2 family inet6 mtu", Place(f"switches/{LEAF}.conf")
    red = "policy-options as-list spines-red members 65003"
    assert set(result.findings) == {
        Finding("AILBD02", LEAF, f"{mtu} 9000: expected 9170", place, "9170", "9000"),
        Finding("AILBD02", LEAF, f"{red}: is missing", place, red, ""),
    }


def test_drift_of_order_and_of_marks() -> None:
    others = ("insert a term x before term y", "activate a b", "unprotect a")
    look = replace(lab.look(LEAF), compact_edits=tuple(Edit("other", one) for one in others))
    messages = [finding.message for finding in drifted(lab.plan_of(look), INPUTS).findings]
    assert messages == ["a term x before term y: is in another order", "a b: needs activate", "a: needs unprotect"]
    assert drifted(lab.plan_of(look), INPUTS).findings[1].expected == "activate a b"


def test_no_drift() -> None:
    assert drifted(lab.plan_of(), INPUTS).findings == ()


def test_files_of_servers() -> None:
    b = HostLook("b", "f", ("updated /etc/x",), "d")
    found = replace(lab.plan_of(), hosts={"b": b, "a": HostLook("a", "f", (), "d")})
    result = edited(found)
    assert (result.check, result.examined) == (FILES, 2)
    assert result.findings == (Finding("AILBD04", "b", "/etc/x would be updated"),)


def test_devices_that_cannot_be_reached() -> None:
    result = unreached({"b": DeviceError("b", Phase.CONNECT, "no answer"), "a": DeviceError("a", Phase.READ, "x")}, 9)
    assert (result.check, result.examined) == (REACHED, 9)
    assert [(one.scope, one.message) for one in result.findings] == [("a", "read: x"), ("b", "connect: no answer")]


def test_state() -> None:
    result = state({"b": ("x", "y"), "a": ()})
    assert (result.check, result.examined) == (STATE, 2)
    assert [(one.scope, one.message) for one in result.findings] == [("b", "x"), ("b", "y")]


def test_a_run_names_devices_in_order() -> None:
    run = run_of("lab", "fabric.yaml", "out", {"b": "leaf", "a": "spine"}, [state({})])
    assert run.roles == (("a", "spine"), ("b", "leaf"))
