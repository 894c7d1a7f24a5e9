"""A plan on disk holds as long as everything is as it was planned."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from ailb_gen import __version__
from ailb_gen.deploy.impact import impact_of
from ailb_gen.deploy.inputs import Inputs
from ailb_gen.deploy.planfile import check_plan, plan_text, read_plan, write_plan
from ailb_gen.deploy.planning import HostLook, Plan
from ailb_gen.deploy.switch import DeviceError, Phase
from ailb_gen.deploy.wave_order import Wave
from ailb_gen.errors import OutputError, UsageError
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


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path / "plan.json"))
    assert plan.limit == ("leaf", "spine1")
    assert plan.min_paths == 2
    assert plan.inputs == "digest"
    assert plan.waves == FOUND.waves == (Wave(SPINE, (SPINE,)), Wave(LEAF, (LEAF,)))
    assert plan.fingerprints == {name: FOUND.looks[name].fingerprint for name in (SPINE, LEAF)}
    assert plan.changes == {name: FOUND.looks[name].digest for name in (SPINE, LEAF)}
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


def test_a_server_in_a_plan(tmp_path: Path) -> None:
    host = HostLook("gpu-s1-1", "f", ("updated /etc/x",), "d")
    found = replace(FOUND, hosts={"gpu-s1-1": host}, waves=(*FOUND.waves, Wave("canary server", ("gpu-s1-1",))))
    plan = read_plan(written(tmp_path / "plan.json", found))
    assert plan.fingerprints["gpu-s1-1"] == "f"
    check_plan(plan, INPUTS, found)
    with pytest.raises(UsageError, match="the configuration of gpu-s1-1 has changed"):
        check_plan(plan, INPUTS, replace(found, hosts={"gpu-s1-1": replace(host, fingerprint="g")}))
    with pytest.raises(UsageError, match="what would be changed on gpu-s1-1 is not what was planned"):
        check_plan(plan, INPUTS, replace(found, hosts={"gpu-s1-1": replace(host, digest="e")}))


GONE = DeviceError(LEAF, Phase.CONNECT, "no answer")


@pytest.mark.parametrize(
    ("found", "inputs", "wrong"),
    [
        (FOUND, replace(INPUTS, digest="other"), ["the fabric file or the generated files have changed"]),
        (
            plan_of(look(LEAF), FOUND.looks[SPINE]),
            INPUTS,
            [f"the configuration of {LEAF} has changed"],
        ),
        (
            plan_of(FOUND.looks[LEAF], FOUND.looks[SPINE], look("spine2", before=edited("spine2", ("9216", "9000")))),
            INPUTS,
            ["spine2 is to be changed now, and was not when it was planned"],
        ),
        (
            replace(
                FOUND,
                looks={name: one for name, one in FOUND.looks.items() if name != LEAF},
                errors={LEAF: GONE},
                waves=FOUND.waves[:1],
            ),
            INPUTS,
            [f"{LEAF} cannot be reached any more: {LEAF}: connect: no answer"],
        ),
        (
            replace(FOUND, waves=FOUND.waves[::-1]),
            INPUTS,
            ["the order of the devices has changed, because other sessions are up now"],
        ),
        (
            plan_of(look(LEAF), look(SPINE)),
            replace(INPUTS, digest="other"),
            [
                "the fabric file or the generated files have changed",
                f"the configuration of {SPINE} has changed",
                f"the configuration of {LEAF} has changed",
            ],
        ),
    ],
)
def test_a_plan_that_does_not_hold_any_more(tmp_path: Path, found: Plan, inputs: Inputs, wrong: list[str]) -> None:
    plan = read_plan(written(tmp_path / "plan.json"))
    with pytest.raises(UsageError) as error:
        check_plan(plan, inputs, found)
    assert str(error.value).split("\n") == [
        "the plan does not hold any more, plan again:",
        *(f"  {text}" for text in wrong),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "7",
        '"text"',
        "{}",
        '{"format": 2}',
        '{"format": 2, "limit": [], "inputs": "", "devices": [], "waves": []}',
        '{"format": 2, "limit": [], "inputs": "", "devices": {"a": {}}, "waves": []}',
        '{"format": 2, "limit": 5, "inputs": "", "devices": {}, "waves": []}',
        '{"format": 2, "limit": [], "inputs": "", "devices": {}, "waves": [["a"]]}',
        '{"format": 2, "limit": [], "inputs": "", "devices": {}, "waves": [5]}',
        "[" * 100_000,
    ],
)
def test_what_is_not_a_plan(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"plan\.json: not a plan; 'ailb-gen plan -o FILE' writes one$"):
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
    found = replace(FOUND, looks={**FOUND.looks, LEAF: replace(FOUND.looks[LEAF], digest="other")})
    told = f"what would be changed on {LEAF} is not what was planned: 'own' or 'keep' in the inventory has changed"
    with pytest.raises(UsageError, match=re.escape(told)):
        check_plan(read_plan(path), INPUTS, found)
    older = replace(read_plan(path), version="0.0.1")
    with pytest.raises(UsageError, match=r"it was planned with version 0\.0\.1 of this program, this is "):
        check_plan(older, INPUTS, found)


def test_nobody_else_can_read_a_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.touch(0o644)
    assert written(path).stat().st_mode & 0o777 == 0o600
