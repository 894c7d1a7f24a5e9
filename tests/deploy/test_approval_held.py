"""What is pushed is what was approved: the same files, the same inventory, the same commands."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
import yaml

from ailb_gen.deploy.ownership import Ownership, expected_configuration
from ailb_gen.junos.tree import Node
from tests.deploy.fabric import ALL_NEW, CANARY, LAST, ORDER, SPINES, Generated, Hooks, Site, assert_sound, run, site


@pytest.fixture
def tiny(small_fabric: Generated, tmp_path: Path) -> Iterator[Site]:
    """The fabric with generated files of its own."""
    artifacts = Path(shutil.copytree(small_fabric.artifacts, tmp_path / "out", symlinks=True))
    with site(replace(small_fabric, artifacts=artifacts), tmp_path) as found:
        yield found


def given(tiny: Site, **data: object) -> None:
    """Have the inventory say something about all leaves."""
    path = tiny.inventory / "groups.yaml"
    said = yaml.safe_load(path.read_text()) if path.exists() else {}
    path.write_text(yaml.safe_dump({**(said or {}), "leaf": {"data": data}}))


def edited(tiny: Site, name: str) -> None:
    """Edit the file of a switch as nobody has approved it."""
    path = tiny.generated.artifacts / "switches" / f"{name}.conf"
    path.write_text(path.read_text() + "system { location building nobody-saw-this; }\n")


@pytest.mark.parametrize(
    "data",
    [
        {"keep": ["protocols bgp group fabric-blue bfd-liveness-detection"]},
        {"own": ["routing-options"], "keep": ["protocols bgp group fabric-red bfd-liveness-detection"]},
        # Nothing is left to change.
        {"keep": ["protocols", "interfaces", "policy-options"]},
    ],
)
def test_a_plan_does_not_hold_with_another_inventory(tiny: Site, data: dict[str, object]) -> None:
    plan = tiny.planned()
    given(tiny, **data)
    done = tiny.deploy("--plan", plan)
    assert (done.code, done.out) == (2, "")
    told = "the change is not the planned one: 'own' or 'keep' in the inventory has changed"
    assert f"2 devices, {CANARY}, {LAST}: {told}" in done.err
    assert SPINES[0] not in done.err
    assert "the order of the devices" not in done.err
    assert assert_sound(tiny) == {}


def test_a_device_that_is_not_managed_any_more(tiny: Site) -> None:
    plan = tiny.planned()
    given(tiny, managed=False)
    done = tiny.deploy("--plan", plan)
    assert done.code == 2
    assert f"2 devices, {CANARY}, {LAST}: cannot be reached any more: it is not managed" in done.err


@pytest.mark.sampled(3)
@pytest.mark.parametrize("event", ["begin", "checked", "wave", "committing", "verified", "confirming", "results"])
def test_files_that_change_during_the_push_are_not_pushed(tiny: Site, event: str) -> None:
    def act() -> None:
        for name in ORDER:
            edited(tiny, name)

    with Hooks({event: act}).watching():
        done = tiny.deploy()
    assert (done.code, done.err) == (0, "")
    assert assert_sound(tiny) == ALL_NEW


def test_a_tree_that_goes_away_during_the_push(tiny: Site) -> None:
    with Hooks({"begin": lambda: shutil.rmtree(tiny.generated.artifacts)}).watching():
        assert tiny.deploy().code == 0
    assert assert_sound(tiny) == ALL_NEW


@pytest.mark.parametrize("when", ["run", "wave"])
def test_another_change_than_the_approved_one_is_not_loaded(tiny: Site, when: str) -> None:
    other = False

    def another(running: Node, file: Node, rights: Ownership) -> Node:
        target = expected_configuration(running, file, rights)
        if other:
            target.children.pop("vlans", None)
        return target

    def act() -> None:
        nonlocal other
        other = True

    with mock.patch("ailb_gen.deploy.transaction.expected_configuration", another), Hooks({when: act}).watching():
        done = tiny.deploy()
    assert done.code == 3
    assert "load: the change is not the one that was approved; nothing was loaded; plan again" in done.err
    assert "commit" not in [step for name in ORDER for step in tiny.device(name).commits()[0].log.split()]
    assert set(assert_sound(tiny).values()) <= {"untouched"}


@pytest.mark.long
def test_files_that_nothing_vouches_for(tiny: Site) -> None:
    (tiny.generated.artifacts / "manifest.json").unlink()
    edited(tiny, CANARY)
    for verb in ("plan", "deploy"):
        done = run(*(tiny.place("plan") if verb == "plan" else tiny.words("deploy")))
        assert (done.code, done.out) == (2, "")
        assert "there is no manifest.json in it: edits of its files cannot be detected" in done.err
        assert "give --allow-unverified" in done.err
    assert tiny.records.runs() == []
    plan = str(tiny.folder / "plan.json")
    shown = run(*tiny.place("plan"), "--brief", "--allow-unverified", "-o", plan)
    assert (shown.code, shown.err) == (0, "")
    assert f" --allow-unverified --plan {plan}" in shown.out
    assert tiny.deploy("--plan", plan).code == 2
    assert tiny.deploy("--plan", plan, "--allow-unverified").code == 0
    # Those that only look need no manifest; to take back what was pushed needs no files as they were.
    assert run(*tiny.place("drift")).code == 0
    edited(tiny, LAST)
    assert run(*tiny.words("rollback")).code == 0
    tiny.assert_all(tiny.old)


def test_a_way_back_from_files_that_were_edited_since(tiny: Site) -> None:
    assert tiny.deploy().code == 0
    fabric = tiny.folder / "fabric.yaml"
    fabric.write_text(tiny.generated.fabric.read_text() + "# edited since\n")
    edited(tiny, CANARY)
    again = replace(tiny, generated=replace(tiny.generated, fabric=fabric))
    assert again.deploy().code == 2
    done = run(*again.words("rollback"))
    assert done.code == 0, done.err
    tiny.assert_all(tiny.old)
