"""Plans that somebody else has signed: with the keys and the program of OpenSSH, up to the devices."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from ailb_gen.deploy.approval import Approval, verified
from ailb_gen.deploy.plan_file import read_plan
from ailb_gen.errors import DeployError, PlanError
from tests.conftest import need_tool
from tests.deploy.fabric import ALL_NEW, CANARY, Site, assert_sound, run
from tests.deploy.test_deployment_rollback import killed
from tests.deploy.test_plan_file import rewritten, written


@pytest.fixture(scope="module")
def made_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys of two people and the file that allows the first one to sign."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("alice", "mallory"):
        subprocess.run(
            [need_tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True
        )
    (folder / "approvers").write_text(f"alice@example.net {(folder / 'alice.pub').read_text()}")
    return folder


@pytest.fixture
def keys(made_keys: Path, tmp_path: Path) -> Path:
    """The same, for one test to change."""
    return Path(shutil.copytree(made_keys, tmp_path / "keys"))


def signed(plan: Path, key: Path, namespace: str = "ailb-gen-plan") -> Path:
    """Sign a plan as an approver does."""
    beside = Path(f"{plan}.sig")
    beside.unlink(missing_ok=True)
    words = [need_tool("ssh-keygen"), "-Y", "sign", "-n", namespace, "-f", str(key), str(plan)]
    subprocess.run(words, check=True, capture_output=True)
    return beside


def required(tiny: Site, keys: Path) -> None:
    """Have the inventory require signed plans."""
    path = tiny.inventory / "defaults.yaml"
    said = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(said | {"approval": {"allowed_signers": str(keys / "approvers")}}))


def refused(tiny: Site, plan: Path, *more: str, code: int = 2) -> str:
    """Push a plan that is not to be pushed; return why."""
    done = tiny.deploy("--plan", str(plan), *more)
    assert (done.code, done.out) == (code, "")
    assert tiny.records.runs() == []
    tiny.assert_all(tiny.old)
    return done.err


def test_a_signed_plan_is_pushed_and_the_record_says_who_signed(tiny: Site, keys: Path) -> None:
    plan = Path(tiny.planned())
    signature = signed(plan, keys / "alice")
    done = tiny.deploy("--plan", str(plan), "--allowed-signers", str(keys / "approvers"))
    assert (done.code, done.err) == (0, "")
    assert assert_sound(tiny) == ALL_NEW
    said = tiny.events()[0]["plan"]
    assert (said["signer"], said["key"].split()[:2]) == ("alice@example.net", ["ED25519", "key"])
    (run_,) = tiny.records.runs()
    kept = tiny.records.log(run_).with_name("plan.json")
    assert kept.read_bytes() == plan.read_bytes()
    assert Path(f"{kept}.sig").read_bytes() == signature.read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600


def approving(keys: Path, options: str) -> None:
    """Let the first person sign with such options in the file of allowed signers."""
    key = (keys / "alice.pub").read_text()
    (keys / "approvers").write_text(f"alice@example.net {options} {key}")


def other_commands(body: dict[str, Any]) -> None:
    """Show other commands than those that are pushed."""
    body["devices"][CANARY]["commands"] = ["set system location building HQ"]


def test_a_plan_that_shows_something_else_is_refused_without_any_signature(tiny: Site) -> None:
    plan = Path(tiny.planned())
    whole = json.loads(plan.read_text())
    edited = {**whole, "devices": {name: {**row, "commands": []} for name, row in whole["devices"].items()}}
    plan.write_text(json.dumps(edited))
    assert (
        f"edited since it was planned, plan again; what differs from its digest:\n  commands of {CANARY}\n"
        in refused(tiny, plan)
    )
    plan.write_text(json.dumps(whole))
    rewritten(plan, other_commands)
    assert f"commands of {CANARY}: the plan differs from the push" in refused(tiny, plan)


WRONG: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "no signature": (lambda plan, keys: Path(f"{plan}.sig").unlink(), "there is no such signature; sign it: ssh-keyg"),
    "another person": (lambda plan, keys: signed(plan, keys / "mallory"), "made its signature: No principal matched"),
    "another purpose": (
        lambda plan, keys: signed(plan, keys / "alice", "git"),
        "its signature is not valid: Couldn't verify signature: namespace does not match",
    ),
    "edited since": (
        lambda plan, keys: rewritten(plan, other_commands),
        "its signature is not valid: Signature verification failed: incorrect signature",
    ),
    "an approver whose time is over": (
        lambda plan, keys: approving(keys, 'valid-before="20200101"'),
        "made its signature: ",
    ),
    "an approver whose time has not come": (
        lambda plan, keys: approving(keys, 'valid-after="20990101"'),
        "made its signature: ",
    ),
    "an approver of something else": (
        lambda plan, keys: approving(keys, 'namespaces="git"'),
        "its signature is not valid: ",
    ),
    "an authority's key that signs by itself": (
        lambda plan, keys: approving(keys, "cert-authority"),
        "made its signature: ",
    ),
    "nobody who may": (lambda plan, keys: (keys / "approvers").write_text("# nobody\n"), "made its signature: "),
    "no longer a signature": (lambda plan, keys: Path(f"{plan}.sig").write_text("x"), "made its signature: "),
    "an empty signature": (lambda plan, keys: Path(f"{plan}.sig").write_text(""), "made its signature: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_plan_that_nobody_signed_who_may(keys: Path, tmp_path: Path, name: str) -> None:
    plan = written(tmp_path / "plan.json")
    signed(plan, keys / "alice")
    act, why = WRONG[name]
    act(plan, keys)
    with pytest.raises(PlanError, match=re.escape(why)):
        Approval(plan, read_plan(plan), None, keys / "approvers").verify(None, dry_run=False)


@pytest.mark.parametrize("way", ["option", "inventory"])
def test_a_plan_that_somebody_else_signed_is_not_pushed(tiny: Site, keys: Path, way: str) -> None:
    plan = Path(tiny.planned())
    signed(plan, keys / "mallory")
    more = ("--allowed-signers", str(keys / "approvers")) if way == "option" else ()
    if way == "inventory":
        required(tiny, keys)
    assert "made its signature: No principal matched" in refused(tiny, plan, *more)


def test_an_inventory_that_requires_signed_plans(tiny: Site, keys: Path) -> None:
    required(tiny, keys)
    shown = run(*tiny.place("plan"), "--brief", "-o", str(tiny.folder / "plan.json"))
    told = "A push needs the signature of an approver; sign it: ssh-keygen -Y sign -n ailb-gen-plan -f KEY "
    assert f"\n{told}{tiny.folder}/plan.json\n" in shown.out
    done = tiny.deploy()
    assert (done.code, done.out) == (2, "")
    assert "a push to this fabric needs a signed plan, because its inventory says so" in done.err
    # The pusher does not say who may approve.
    plan = Path(tiny.planned())
    signed(plan, keys / "mallory")
    (keys / "mine").write_text(f"me {(keys / 'mallory.pub').read_text()}")
    assert "--allowed-signers: the inventory says who may sign" in refused(
        tiny, plan, "--allowed-signers", str(keys / "mine")
    )
    # To look needs no approval.
    assert tiny.deploy("--dry-run").code == 0
    elsewhere = signed(plan, keys / "alice").rename(tiny.folder / "approval")
    done = tiny.deploy("--plan", str(plan), "--plan-signature", str(elsewhere))
    assert (done.code, done.err) == (0, "")
    assert assert_sound(tiny) == ALL_NEW
    # And to take back needs none.
    assert run(*tiny.words("rollback")).code == 0
    tiny.assert_all(tiny.old)


def test_a_run_is_continued_under_its_signed_plan(tiny: Site, keys: Path) -> None:
    required(tiny, keys)
    plan = Path(tiny.planned())
    signed(plan, keys / "alice")
    killed(tiny, "results", "deploy", "--plan", str(plan))
    plan.unlink()
    done = run(*tiny.words("deploy", "--resume"))
    assert (done.code, done.err) == (0, "")
    tiny.assert_all(tiny.new)


@pytest.mark.parametrize("damage", ["gone", "signature", "other devices"])
def test_a_run_is_not_continued_without_it(tiny: Site, keys: Path, damage: str) -> None:
    plan = Path(tiny.planned())
    signed(plan, keys / "alice")
    log = tiny.records.log(killed(tiny, "results", "deploy", "--plan", str(plan)))
    kept = log.with_name("plan.json")
    Path(f"{kept}.sig").write_bytes(Path(f"{plan}.sig").read_bytes())
    if damage == "gone":
        kept.unlink()
    elif damage == "signature":
        signed(kept, keys / "mallory")
    else:
        first, *rest = log.read_text().splitlines()
        head = json.loads(first)
        head["digests"][CANARY] = "0" * 64
        log.write_text("\n".join([json.dumps(head), *rest, ""]))
    required(tiny, keys)
    done = run(*tiny.words("deploy", "--resume"))
    assert (done.code, done.out) == (2, "")
    why = {"gone": "has no signed plan, which the inventory requires", "signature": "No principal matched"}
    assert why.get(damage, "its record has another plan than the signed one; was it edited?") in done.err
    # What was begun can be taken back.
    assert run(*tiny.words("rollback")).code == 0
    tiny.assert_all(tiny.old)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--plan-signature", "x"), "--plan-signature and --allowed-signers need --plan"),
        (("--allowed-signers", "x"), "--plan-signature and --allowed-signers need --plan"),
        (("--plan", "PLAN", "--plan-signature", "x"), "who may sign is not known; add --allowed-signers FILE"),
        (("--plan", "PLAN", "--allowed-signers", "/nowhere"), "/nowhere: the allowed signers cannot be read: No such"),
        (("--resume", "--allowed-signers", "x"), "--resume finds the signed plan in the record: omit"),
    ],
)
def test_options_that_do_not_go_together(tiny: Site, keys: Path, words: tuple[str, ...], why: str) -> None:
    plan = Path(tiny.planned())
    signed(plan, keys / "alice")
    done = tiny.deploy(*(str(plan) if word == "PLAN" else word for word in words))
    assert (done.code, done.out) == (2, "")
    assert why in done.err


def test_without_ssh_keygen_nothing_is_pushed(tmp_path: Path) -> None:
    (tmp_path / "signers").touch()
    no_program = mock.patch("shutil.which", return_value=None)
    with no_program, pytest.raises(DeployError, match="ssh-keygen is not installed; signatures need it"):
        verified(tmp_path / "plan", b"", b"", tmp_path / "signers")
