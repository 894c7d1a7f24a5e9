"""Pulling from the real NetBox: what was pushed comes back, and what is changed there is told."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.api.generate import generate
from ailb_gen.api.inventory import source_of_truth
from ailb_gen.api.pull import pull
from ailb_gen.sot.dialect import SourceError
from ailb_gen.sot.netbox import NetBox
from ailb_gen.sot.pull import UnusableError
from ailb_gen.sot.push import push
from tests.cli.verbs import run
from tests.conftest import ROOT
from tests.sot.services import Running
from tests.sot.test_pull import EXAMPLES, changed, findings, texts, tree, with_files
from tests.test_docs import blocks

pytestmark = pytest.mark.long


@pytest.fixture
def clean(netbox: Running) -> Iterator[Running]:
    netbox.reset()
    yield netbox


def pushed(netbox: Running, name: str) -> None:
    source = source_of_truth(EXAMPLES / name / "fabric.yaml", NetBox(netbox.url, netbox.token))
    push(source, source.plan())


def put(folder: Path, name: str) -> Path:
    (folder / "fabric.yaml").write_text(with_files(name), encoding="utf-8")
    return folder / "fabric.yaml"


@pytest.mark.parametrize("name", ["lab", "jvd"])
def test_what_was_pushed_comes_back_as_the_same_fabric(name: str, clean: Running, tmp_path: Path) -> None:
    pushed(clean, name)
    fabric = put(tmp_path, name)
    dialect = NetBox(clean.url, clean.tokens["read-only"])
    report = pull(fabric, dialect)
    assert findings(report) == []
    assert set(dialect.session.counts) == {"GET"}
    report.write()
    generate(EXAMPLES / name / "fabric.yaml", tmp_path / "before")
    generate(fabric, tmp_path / "after")
    assert tree(tmp_path / "after") == tree(tmp_path / "before")
    again = pull(fabric, NetBox(clean.url, clean.token))
    assert (findings(again), changed(again)) == ([], [])


def edit(netbox: Running) -> Any:
    """Return NetBox's API, for people who work there."""
    import pynetbox  # noqa: PLC0415 - of an extra

    return pynetbox.api(netbox.url, token=netbox.token)


def test_changes_there_are_told_and_pulled(
    clean: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cable, a MAC address, a status and a primary address that people change; by the verb, as people run it."""
    pushed(clean, "lab")
    fabric = put(tmp_path, "lab")
    monkeypatch.setenv("NETBOX_URL", clean.url)
    monkeypatch.setenv("NETBOX_TOKEN", clean.tokens["read-only"])
    code, out, told = run("inventory", "pull", "netbox", str(fabric))
    assert (code, told.count(": written (")) == (0, 3), told
    assert run("inventory", "pull", "netbox", str(fabric), "--check")[0] == 0

    api = edit(clean)
    nic = api.dcim.interfaces.get(device="gpu-s1-1", name="gpu0_eth")
    leaf = api.dcim.devices.get(name="stripe1-leaf1")
    port = api.dcim.interfaces.create(device=leaf.id, name="et-0/0/30", type="other")
    api.dcim.cables.delete([nic.cable.id])
    api.dcim.cables.create(
        a_terminations=[{"object_type": "dcim.interface", "object_id": port.id}],
        b_terminations=[{"object_type": "dcim.interface", "object_id": nic.id}],
    )
    mac = api.dcim.mac_addresses.create(
        mac_address="A0:88:C2:01:02:03", assigned_object_type="dcim.interface", assigned_object_id=nic.id
    )
    nic.update({"primary_mac_address": mac.id})
    mgmt = api.dcim.interfaces.create(device=leaf.id, name="re0:mgmt-0", type="1000base-t", mgmt_only=True)
    address = api.ipam.ip_addresses.create(
        address="192.0.2.7/24", assigned_object_type="dcim.interface", assigned_object_id=mgmt.id
    )
    leaf.update({"primary_ip4": address.id, "status": "planned"})

    before = {path.name: path.read_text() for path in tmp_path.glob("*.csv")}
    code, out, told = run("inventory", "pull", "netbox", str(fabric), "--check", "--json")
    assert code == 1 and told.count(": would change (") == 3, told
    assert {path.name: path.read_text() for path in tmp_path.glob("*.csv")} == before
    moved = "stripe1-leaf1 et-0/0/16 and gpu-s1-1 gpu0_eth are not connected: stripe1-leaf1 et-0/0/16 has no cable"
    assert moved in out and "stripe1-leaf1 is planned, not active" in out
    assert clean.tokens["read-only"] not in out + told + capsys.readouterr().out
    assert run("inventory", "pull", "netbox", str(fabric))[0] == 1
    after = {path.name: path.read_text() for path in tmp_path.glob("*.csv")}
    assert "gpu-s1-1,1,,,,a0:88:c2:01:02:03,,et-0/0/30,et-0/0/16" in after["servers.csv"].splitlines()
    assert "stripe1-leaf1,leaf,192.0.2.7/24,," in after["switches.csv"].splitlines()
    assert set(before["cabling.csv"].splitlines()) ^ set(after["cabling.csv"].splitlines()) == {
        "stripe1-leaf1,et-0/0/16,gpu-s1-1,gpu0_eth,400g,host,,0",
        "stripe1-leaf1,et-0/0/30,gpu-s1-1,gpu0_eth,,host,,0",
    }
    generate(fabric, tmp_path / "build")
    # What the files took over is the intent now; what they cannot take over stays.
    again = pull(fabric, NetBox(clean.url, clean.token))
    assert (texts(again), changed(again)) == ({"AILBS04": ["stripe1-leaf1 is planned, not active"]}, [])


def test_hostile_names_never_leave_their_field(clean: Running, tmp_path: Path) -> None:
    pushed(clean, "lab")
    fabric = put(tmp_path, "lab")
    api = edit(clean)
    server = api.dcim.devices.get(name="gpu-s1-1")
    for name in ("../../etc", "=cmd|' /C calc'!A0", '"; rm -rf / #', "<script>alert(1)</script>", "{{ 7*7 }}$(id)"):
        server.update({"name": name})
        with pytest.raises(UnusableError, match=r"NetBox, device .*is not a usable name"):
            pull(fabric, NetBox(clean.url, clean.token))
    server.update({"name": "gpu-s1-1", "description": "{{ 7*7 }}\n=cmd", "comments": "<script>"})
    port = api.dcim.interfaces.get(device="gpu-s1-1", name="gpu1_eth")
    port.update({"description": "\n}\ninjected", "name": "=HYPERLINK(1)"})
    with pytest.raises(UnusableError, match=r"NetBox, interface gpu-s1-1 =HYPERLINK\(1\): .*not a usable NIC name"):
        pull(fabric, NetBox(clean.url, clean.token))
    port.update({"name": "gpu1_eth"})
    assert findings(pull(fabric, NetBox(clean.url, clean.token))) == []
    assert [path.name for path in tmp_path.iterdir()] == ["fabric.yaml"]


def test_a_token_without_rights_is_an_error(clean: Running, tmp_path: Path) -> None:
    pushed(clean, "lab")
    fabric = put(tmp_path, "lab")
    with pytest.raises(SourceError, match=r"403 Forbidden: the token is not accepted, lacks the permission"):
        pull(fabric, NetBox(clean.url, clean.tokens["no-rights"]))
    assert [path.name for path in tmp_path.iterdir()] == ["fabric.yaml"]


def test_the_commands_of_the_page_run(clean: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed(clean, "lab")
    page = ROOT / "docs" / "how-to" / "pull-inventory.md"
    put(tmp_path, "lab")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NETBOX_URL", clean.url)
    monkeypatch.setenv("NETBOX_TOKEN", clean.tokens["read-only"])
    lines = [line[2:] for block in blocks(page, "text") for line in block.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("ailb-gen ")]
    assert len(commands) == 4
    for words in commands:
        assert run(*words)[0] == 0, words
    assert "PASS" in (tmp_path / "pull.md").read_text()
