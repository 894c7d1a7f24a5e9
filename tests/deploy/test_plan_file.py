"""A plan on disk holds as long as everything is as it was planned."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.deploy import plan_file
from ailb_gen.deploy.approval import read_signature
from ailb_gen.deploy.artifacts import Inputs
from ailb_gen.deploy.device_diff import ServerDiff
from ailb_gen.deploy.impact import impact_of
from ailb_gen.deploy.plan_file import ApprovedPlan, plan_json, plan_text, read_plan, write_plan
from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.errors import OutputError, PlanError, UsageError
from ailb_gen.version import __version__
from tests.conftest import ROOT
from tests.deploy.lab import edited, look, plan_of
from tests.network.lab import LAB

LEAF, SPINE = "stripe1-leaf1", "spine1"
INPUTS = Inputs(LAB, {}, "digest")
OTHER = edited(LEAF, ("facing_spine1", "facing_nobody"))
FOUND = plan_of(look(LEAF, before=OTHER), look(SPINE, before=edited(SPINE, ("mtu 9216", "mtu 9000"))))


def written(path: Path, found: Plan = FOUND, limit: tuple[str, ...] = ("leaf", "spine1")) -> Path:
    """Write a plan."""
    write_plan(path, plan_text(INPUTS, found, limit, 2, impact_of(found)))
    return path


def rewritten(path: Path, edit: Callable[[dict[str, Any]], object]) -> Path:
    """Edit a plan, and compute its digests again."""
    body = json.loads(path.read_text())
    edit(body)
    del body["digest"], body["digests"]
    body["digests"] = plan_file._parts(body)
    body["digest"] = plan_file._digest(body)
    path.write_text(json.dumps(body))
    return path


def check_plan(approved: ApprovedPlan, inputs: Inputs, found: Plan) -> None:
    """Compare a plan with what is found now."""
    plan_file.check_plan(approved, inputs, found, lambda: impact_of(found))


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path / "plan.json"))
    assert plan.limit == ("leaf", "spine1")
    assert plan.min_paths == 2
    assert plan.inputs == "digest"
    assert plan.waves == FOUND.waves == (Wave(SPINE, (SPINE,)), Wave(LEAF, (LEAF,)))
    assert plan.fingerprints == {name: FOUND.switches[name].fingerprint for name in (SPINE, LEAF)}
    assert plan.changes == {name: FOUND.switches[name].digest for name in (SPINE, LEAF)}
    assert (plan.version, plan.digest) == (__version__, sha256((tmp_path / "plan.json").read_bytes()).hexdigest())
    check_plan(plan, INPUTS, FOUND)


def test_what_a_person_reads_in_it(tmp_path: Path) -> None:
    body = json.loads(written(tmp_path / "plan.json").read_text())
    assert body["devices"][LEAF]["commands"] == [
        "delete interfaces et-0/0/0 description",
        "set interfaces et-0/0/0 description facing_spine1:et-0/0/0",
    ]
    assert body["devices"][SPINE]["sessions"] == [f"et-0/0/{port}.0" for port in range(4)]
    assert body["traffic"]["waves"].keys() == {SPINE}


def test_programs_read_which_wave_leaves_no_path() -> None:
    body = json.loads(plan_json(replace(FOUND, cut=((LEAF, (LEAF, "stripe2-leaf1")),)), impact_of(FOUND)))
    assert [wave["no_path"] for wave in body["waves"]] == [[], [LEAF, "stripe2-leaf1"]]


def test_a_server_in_a_plan(tmp_path: Path) -> None:
    host = ServerDiff("gpu-s1-1", "f", ("updated /etc/x",), "d")
    found = replace(FOUND, servers={"gpu-s1-1": host}, waves=(*FOUND.waves, Wave("canary server", ("gpu-s1-1",))))
    plan = read_plan(written(tmp_path / "plan.json", found))
    assert plan.fingerprints["gpu-s1-1"] == "f"
    check_plan(plan, INPUTS, found)
    with pytest.raises(UsageError, match="gpu-s1-1: the configuration has changed"):
        check_plan(plan, INPUTS, replace(found, servers={"gpu-s1-1": replace(host, fingerprint="g")}))
    with pytest.raises(UsageError, match="gpu-s1-1: the change is not the planned one"):
        check_plan(plan, INPUTS, replace(found, servers={"gpu-s1-1": replace(host, digest="e")}))


GONE = DeviceError(LEAF, Phase.CONNECT, "no answer")
CHANGED = (FOUND.switches[LEAF], FOUND.switches[SPINE])
WITHOUT_LEAF = {name: one for name, one in FOUND.switches.items() if name != LEAF}
OTHER_FILES, FILES_CHANGED = replace(INPUTS, digest="other"), "the fabric file or the generated files have changed"
ANOTHER_ORDER = "another order than planned: other sessions are up, or the plan was edited"


@pytest.mark.parametrize(
    ("found", "inputs", "wrong"),
    [
        (FOUND, OTHER_FILES, [FILES_CHANGED]),
        (plan_of(look(LEAF), FOUND.switches[SPINE]), INPUTS, [f"{LEAF}: the configuration has changed"]),
        (
            plan_of(*CHANGED, look("spine2", before=edited("spine2", ("9216", "9000")))),
            INPUTS,
            ["spine2: to be changed now, and was not in the plan"],
        ),
        (
            replace(FOUND, switches=WITHOUT_LEAF, errors={LEAF: GONE}, waves=FOUND.waves[:1]),
            INPUTS,
            [f"{LEAF}: cannot be reached any more: connect: no answer"],
        ),
        (replace(FOUND, waves=FOUND.waves[::-1]), INPUTS, [f"waves: {ANOTHER_ORDER}"]),
        (
            replace(FOUND, waves=FOUND.waves[:1]),
            INPUTS,
            [f"{LEAF}: would not be changed: 'limit' of the plan leaves it out"],
        ),
        (
            plan_of(look(LEAF), look(SPINE)),
            OTHER_FILES,
            [FILES_CHANGED, f"2 devices, {SPINE}, {LEAF}: the configuration has changed"],
        ),
    ],
)
def test_a_plan_that_does_not_hold_any_more(tmp_path: Path, found: Plan, inputs: Inputs, wrong: list[str]) -> None:
    plan = read_plan(written(tmp_path / "plan.json"))
    with pytest.raises(UsageError) as error:
        check_plan(plan, inputs, found)
    assert str(error.value).split("\n") == [
        f"{plan.file}: error[plan-outdated]: the plan is out of date, plan again:",
        *(f"  {text}" for text in wrong),
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "7", '"text"', "{}", '{"format": 3}'),
        '{"format": 3, "limit": [], "inputs": "", "devices": [], "waves": []}',
        '{"format": 3, "limit": [], "inputs": "", "devices": {"a": {}}, "waves": []}',
        '{"format": 3, "limit": 5, "inputs": "", "devices": {}, "waves": []}',
        '{"format": 3, "limit": [], "inputs": "", "devices": {}, "waves": [["a"]]}',
        '{"format": 3, "limit": [], "inputs": "", "devices": {}, "waves": [5]}',
        '{"format": 3, "devices": {}, "digests": [], "digest": ""}',
        '{"format": 3, "devices": {}, "digests": {}, "digest": "", "limit": NaN}',
        '{"format": 3, "format": 3, "devices": {}, "digests": {}, "digest": ""}',
        "[" * 100_000,
    ],
)
def test_what_is_not_a_plan(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(
        UsageError, match=r"plan\.json: error\[plan-unreadable\]: not a plan; 'ailb-gen plan -o FILE' writes one$"
    ):
        read_plan(path)


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not a plan"):
        read_plan(path)
    path.write_text('{"format": 1}')
    with pytest.raises(UsageError, match="a plan of another version of this program; plan again"):
        read_plan(path)
    with pytest.raises(UsageError, match="cannot be read: No such file or directory; 'ailb-gen plan -o FILE' writes"):
        read_plan(tmp_path / "nothing")
    with pytest.raises(OutputError, match="the plan cannot be written"):
        write_plan(tmp_path / "no" / "such" / "folder", "text")


def test_another_change_of_the_same_files_and_configuration(tmp_path: Path) -> None:
    path = written(tmp_path / "plan.json")
    found = replace(FOUND, switches={**FOUND.switches, LEAF: replace(FOUND.switches[LEAF], digest="other")})
    told = f"{LEAF}: the change is not the planned one: 'own' or 'keep' in the inventory has changed"
    with pytest.raises(UsageError, match=re.escape(told)):
        check_plan(read_plan(path), INPUTS, found)
    older = replace(read_plan(path), version="0.0.1")
    with pytest.raises(UsageError, match=r"it was planned with version 0\.0\.1 of this program, this is "):
        check_plan(older, INPUTS, found)


# Everything that a plan shows, edited; and the parts of it that are named then.
EDITS: dict[str, tuple[Callable[[dict[str, Any]], object], list[str]]] = {
    "other commands": (
        lambda body: [row.update(commands=["set system host-name owned"]) for row in body["devices"].values()],
        [f"commands of {SPINE}", f"commands of {LEAF}"],
    ),
    "one command less": (lambda body: body["devices"][LEAF]["commands"].pop(), [f"commands of {LEAF}"]),
    "commands in another order": (lambda body: body["devices"][LEAF]["commands"].reverse(), [f"commands of {LEAF}"]),
    "no sessions": (lambda body: body["devices"][SPINE].update(sessions=[]), [f"sessions of {SPINE}"]),
    "no key for sessions": (lambda body: body["devices"][SPINE].pop("sessions"), [f"sessions of {SPINE}"]),
    "no colors": (lambda body: body["devices"][SPINE].update(colors=[]), [f"colors of {SPINE}"]),
    "other servers": (lambda body: body["devices"][SPINE].update(servers=["x"]), [f"servers of {SPINE}"]),
    "harmless traffic": (lambda body: body.update(traffic={}), ["traffic"]),
    "less load": (lambda body: body["traffic"]["waves"].update({SPINE: [0, 1.0]}), ["traffic"]),
    "other waves": (lambda body: body["waves"].reverse(), ["waves"]),
    "another canary": (lambda body: body["waves"].insert(0, ["canary", ["x"]]), ["waves"]),
    "a device less": (
        lambda body: body["devices"].pop(LEAF),
        [f"{key} of {LEAF}" for key in ("fingerprint", "change", "commands", "sessions", "colors", "servers")],
    ),
    "another device": (lambda body: body["devices"].update(x={"commands": []}), ["commands of x"]),
    "another limit": (lambda body: body.update(limit=["all"]), ["limit"]),
    "fewer paths": (lambda body: body.update(min_paths=0), ["min_paths"]),
    "truth as a number": (lambda body: body.update(min_paths=2.0), ["min_paths"]),
    "other files": (lambda body: body.update(inputs="0" * 64), ["inputs"]),
    "another version": (lambda body: body.update(version="0.0.1"), ["version"]),
    "another fingerprint": (lambda body: body["devices"][LEAF].update(fingerprint="0"), [f"fingerprint of {LEAF}"]),
    "something to read": (lambda body: body.update(note="all is well"), ["note"]),
    "another digest": (lambda body: body["digests"].update(traffic="0" * 64), ["traffic"]),
    "no digest": (lambda body: body["digests"].pop("traffic"), ["traffic"]),
    "one digest more": (lambda body: body["digests"].update({"commands of x": "0" * 64}), ["commands of x"]),
    "another digest of all": (lambda body: body.update(digest="0" * 64), ["the digest of the whole file"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_plan_that_was_edited_is_refused_with_the_part(tmp_path: Path, name: str) -> None:
    edit, parts = EDITS[name]
    path = written(tmp_path / "plan.json")
    body = json.loads(path.read_text())
    edit(body)
    path.write_text(json.dumps(body, indent=1))
    with pytest.raises(UsageError) as error:
        read_plan(path)
    first, *named = str(error.value).split("\n")
    assert (
        first == f"{path}: error[plan-edited]: edited since it was planned, plan again; what differs from its digest:"
    )
    assert named == [f"  {part}" for part in parts]


# With new digests, nothing is left of the first four; the last two ask for another push, which is then compared.
ABOUT_DIGESTS = {"another digest", "no digest", "one digest more", "another digest of all"}
ASKING = {"another limit", "fewer paths"}


@pytest.mark.parametrize("name", sorted(EDITS.keys() - ABOUT_DIGESTS - ASKING))
def test_a_plan_whose_digests_were_computed_again_is_compared_with_what_is_pushed(tmp_path: Path, name: str) -> None:
    path = rewritten(written(tmp_path / "plan.json"), EDITS[name][0])
    # Nothing of what is pushed depends on the version.
    with nullcontext() if name == "another version" else pytest.raises(UsageError):
        check_plan(read_plan(path), INPUTS, FOUND)


@pytest.mark.parametrize(
    ("key", "value"),
    [("min_paths", value) for value in (-1, -(2**70), True, 1.0, "1", None, [1])]
    + [("limit", value) for value in ("spine1", None, {"spine1": 1}, ["spine1", 1])],
)
def test_options_that_no_plan_has_are_refused(tmp_path: Path, key: str, value: object) -> None:
    path = rewritten(written(tmp_path / "plan.json"), lambda body: body.update({key: value}))
    with pytest.raises(UsageError, match="plan-unreadable"):
        read_plan(path)


def test_what_a_plan_shows_is_what_is_pushed(tmp_path: Path) -> None:
    path = written(tmp_path / "plan.json")
    plan = read_plan(path)
    shown = replace(plan, parts={**plan.parts, f"commands of {LEAF}": "0" * 64, "traffic": "0" * 64})
    with pytest.raises(UsageError) as error:
        check_plan(shown, INPUTS, FOUND)
    assert str(error.value).split("\n") == [
        f"{path}: error[plan-outdated]: the plan is out of date, plan again:",
        "  traffic: the impact of the push is not that of the plan, because other switches changed",
        f"  commands of {LEAF}: the plan differs from the push",
    ]


def test_another_layout_of_the_same_plan_is_the_same_plan(tmp_path: Path) -> None:
    path = written(tmp_path / "plan.json")
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4, sort_keys=True, ensure_ascii=True))
    check_plan(read_plan(path), INPUTS, FOUND)


def test_every_way_in_which_a_plan_cannot_be_used_has_a_code(tmp_path: Path) -> None:
    """What is printed, with the names of folders left out; `tests/errors/plan/` has it."""
    path = written(tmp_path / "plan.json")
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(json.loads(path.read_text()) | {"limit": ["spine2"]}))
    none = tmp_path / "none.json"
    none.write_text("{}")
    ways: dict[str, Callable[[], object]] = {
        "outdated": lambda: check_plan(read_plan(path), OTHER_FILES, FOUND),
        "edited": lambda: read_plan(edited),
        "unreadable": lambda: read_plan(none),
        "unsigned": lambda: read_signature(tmp_path / "plan.json.sig"),
    }
    for code, act in ways.items():
        with pytest.raises(PlanError) as error:
            act()
        assert error.value.problem.code == f"plan-{code}"
        golden = ROOT / "tests" / "errors" / "plan" / f"{code}.txt"
        text = f"{error.value}\n".replace(f"{tmp_path}/", "")
        if os.environ.get("AILB_UPDATE_GOLDEN"):
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(text)
        assert text == golden.read_text()


def test_nobody_else_can_read_a_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.touch(0o644)
    assert written(path).stat().st_mode & 0o777 == 0o600
