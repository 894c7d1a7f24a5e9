"""Nautobot, pushed and pulled: the same fabric comes back, changes there are told, and Golden Config uses our files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pynautobot
import pytest

from ailb_gen.api.generate import generate
from ailb_gen.api.inventory import source_of_truth
from ailb_gen.api.pull import pull
from ailb_gen.sot.dialect import SourceError
from ailb_gen.sot.nautobot import Nautobot
from ailb_gen.sot.pull import UnusableError
from ailb_gen.sot.push import push
from tests.cli.verbs import run
from tests.conftest import ROOT
from tests.sot.nautobot_service import NAUTOBOT, server_of
from tests.sot.services import CACHE, Running
from tests.sot.test_pull import EXAMPLES, findings, texts, tree, with_files
from tests.test_docs import blocks

pytestmark = pytest.mark.long
PAGE = ROOT / "docs" / "how-to" / "nautobot.md"


@pytest.fixture
def clean(nautobot: Running) -> Running:
    nautobot.reset()
    return nautobot


@pytest.fixture(scope="module")
def lab(nautobot: Running) -> Running:
    """Nautobot with the lab, for the first tests of this module; those after them begin with an empty one."""
    pushed(nautobot, "lab")
    return nautobot


def pushed(nautobot: Running, name: str) -> None:
    """Push an example; the second push only reads."""
    fabric = EXAMPLES / name / "fabric.yaml"
    source = source_of_truth(fabric, Nautobot(nautobot.url, nautobot.token))
    push(source, source.plan())
    dialect = Nautobot(nautobot.url, nautobot.tokens["read-only"])
    plan = source_of_truth(fabric, dialect).plan()
    assert (plan.writes, plan.leftovers, plan.conflicts, set(dialect.session.counts)) == (0, (), (), {"GET"})


def came_back(nautobot: Running, name: str, folder: Path) -> Path:
    """Pull into an empty directory: the files that are generated are the same."""
    fabric = folder / "fabric.yaml"
    fabric.write_text(with_files(name), encoding="utf-8")
    dialect = Nautobot(nautobot.url, nautobot.tokens["read-only"])
    report = pull(fabric, dialect)
    assert (findings(report), set(dialect.session.counts)) == ([], {"GET"})
    report.write()
    generate(EXAMPLES / name / "fabric.yaml", folder / "before")
    generate(fabric, folder / "after")
    assert tree(folder / "after") == tree(folder / "before")
    return fabric


def git(*words: str, folder: Path) -> None:
    author = {f"GIT_{who}_{what}": "a@example.net" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(("git", *words), cwd=folder, check=True, capture_output=True, env=os.environ | author)


def lines_of(page: Path) -> list[list[str]]:
    """Return the commands of a page, as words."""
    lines = [line.removeprefix("$ ") for block in blocks(page, "text") for line in block.splitlines()]
    return [shlex.split(line) for line in lines if not line.startswith("export ")]


def test_the_commands_of_the_page_run(
    lab: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a backup in which one section of one switch differs."""
    shutil.copy(EXAMPLES / "lab" / "fabric.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAUTOBOT_URL", lab.url)
    monkeypatch.setenv("NAUTOBOT_TOKEN", lab.token)
    for name in ("intended", "backup"):
        git("init", "--bare", "-b", "main", f"{name}.git", folder=tmp_path)
    place = f"file://localhost{tmp_path}"
    words = [[word.replace("https://git.example.net", place) for word in line] for line in lines_of(PAGE)]
    assert [line[0] for line in words] == ["ailb-gen"] * 4 + ["git"] * 4 + ["nautobot-server"] * 2
    for line in words[:4]:
        code, out, told = run(*line[1:])
        assert code == 0, (line, out, told)
    for line in words[4:8]:
        git(*line[1:], folder=tmp_path)
    _back_up(tmp_path)
    setup, show = blocks(PAGE, "python")
    names: dict[str, object] = {}
    exec(setup.replace("https://git.example.net", place), names)
    for line in words[8:]:
        program = str(CACHE / NAUTOBOT.key / "venv" / "bin" / line[0])
        done = subprocess.run((program, *line[1:]), env=server_of(lab.folder), capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    capsys.readouterr()
    exec(show, names)
    assert capsys.readouterr().out == "spine1 interfaces\n"
    git("clone", "-q", "intended.git", "after", folder=tmp_path)
    for file in (tmp_path / "intended" / "switches").iterdir():
        assert (tmp_path / "after" / "golden" / file.name).read_text() == file.read_text().rstrip("\n")


def _back_up(folder: Path) -> None:
    """Make the backup repository: the files, but for an MTU of spine1."""
    work = folder / "work"
    shutil.copytree(folder / "intended" / "switches", work)
    spine = work / "spine1.conf"
    spine.write_text(spine.read_text().replace("mtu 9216;", "mtu 1500;", 1))
    for words in (
        ("init", "-b", "main"),
        ("add", "."),
        ("commit", "-m", "Backup"),
        ("push", str(folder / "backup.git"), "main"),
    ):
        git(*words, folder=work)


def moved_cable(api: pynautobot.api, leaf: str, server: str) -> Any:
    """Move the cable of a server's first GPU NIC to another port of the leaf; return the NIC."""
    nic = api.dcim.interfaces.get(device=server, name="gpu0_eth")
    name = {"device": leaf, "name": "et-0/0/40"}
    port = api.dcim.interfaces.get(**name)
    if port is None:
        name["device"] = api.dcim.devices.get(name=leaf).id
        port = api.dcim.interfaces.create(**name, type="other", status={"name": "Active"})
    api.dcim.cables.get(nic.cable.id).delete()
    api.dcim.cables.create(
        termination_a_type="dcim.interface",
        termination_a_id=port.id,
        termination_b_type="dcim.interface",
        termination_b_id=nic.id,
        status={"name": "Connected"},
    )
    return nic


def test_changes_there_are_told(lab: Running, tmp_path: Path) -> None:
    """A cable and a MAC address that people change, names of others, and a token that may not look."""
    fabric = came_back(lab, "lab", tmp_path)
    api = pynautobot.api(lab.url, token=lab.token)
    nic = moved_cable(api, "stripe1-leaf1", "gpu-s1-1")
    nic.update({"mac_address": "A0:88:C2:01:02:03"})
    report = pull(fabric, Nautobot(lab.url, lab.token))
    moved = "stripe1-leaf1 et-0/0/16 and gpu-s1-1 gpu0_eth are not connected: stripe1-leaf1 et-0/0/16 has no cable"
    assert any(moved in text for text in texts(report)["AILBS06"])
    report.write()
    row = "gpu-s1-1,1,,,,a0:88:c2:01:02:03,,et-0/0/40,et-0/0/16"
    assert row in (tmp_path / "servers.csv").read_text().splitlines()

    server = api.dcim.devices.get(name="gpu-s1-1")
    for name in ("../../etc", "=cmd|' /C calc'!A0", '"; rm -rf / #', "<script>alert(1)</script>", "{{ 7*7 }}$(id)"):
        server.update({"name": name})
        with pytest.raises(UnusableError, match=r"Nautobot, device .*is not a usable name"):
            pull(fabric, Nautobot(lab.url, lab.token))
    with pytest.raises(SourceError, match=r"403 Forbidden"):
        pull(fabric, Nautobot(lab.url, lab.tokens["no-rights"]))


def test_sessions_have_both_ends(clean: Running) -> None:
    """Static neighbors: two endpoints of a peering for each link, which survive another push and can be deleted."""
    pushed(clean, "static")
    api = pynautobot.api(clean.url, token=clean.token)
    bgp = api.plugins.bgp
    assert (bgp.peer_endpoints.count(), bgp.peerings.count(), bgp.routing_instances.count()) == (16, 8, 4)
    ends = bgp.peer_endpoints.all()
    assert {end.peer.id for end in ends} == {end.id for end in ends}
    gone = source_of_truth(EXAMPLES / "static" / "fabric.yaml", Nautobot(clean.url, clean.token), delete=True)
    gone.desired = ()
    push(gone, gone.plan())
    assert (bgp.peer_endpoints.count(), bgp.peerings.count(), bgp.routing_instances.count()) == (0, 0, 0)
    assert (api.dcim.devices.count(), bgp.autonomous_systems.count()) == (0, 0)


@pytest.mark.exhaustive
def test_the_reference_fabric_comes_back(clean: Running, tmp_path: Path) -> None:
    pushed(clean, "jvd")
    came_back(clean, "jvd", tmp_path)
    moved_cable(pynautobot.api(clean.url, token=clean.token), "stripe1-leaf1", "h100-01")
    report = pull(tmp_path / "fabric.yaml", Nautobot(clean.url, clean.tokens["read-only"]))
    moved = "stripe1-leaf1 et-0/0/16:0 and h100-01 gpu0_eth are not connected: stripe1-leaf1 et-0/0/16:0 has no cable"
    assert any(moved in text for text in texts(report)["AILBS06"])
