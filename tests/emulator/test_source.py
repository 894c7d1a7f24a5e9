"""What a fleet starts with, and the inventory that reaches it."""

import stat
from pathlib import Path

import pytest
import yaml

from ailb_gen.emulator.device import EmulatedDevice, Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.source import (
    check_inventory,
    entries,
    factory,
    password_of,
    servers,
    specs,
    unmanaged,
    write_inventory,
)
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.junos.writer import to_curly
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import SMALL, design_of
from tests.junos.models import schema


@pytest.fixture
def artifacts(tmp_path: Path) -> Path:
    root = tmp_path / "artifacts"
    write_rendering(rendering(design_of(SMALL), root, RenderOptions("curly", None)))
    return root


def test_the_factory_configuration_has_secrets_and_passes_the_check() -> None:
    text = to_curly(factory("leaf1", "admin"))
    assert text.count('encrypted-password "$6$') == text.count("; ## SECRET-DATA\n") == 2
    device = EmulatedDevice(specs_of("leaf1"), EmulatedFabric([]), schema=schema())
    device.database.check(device.session("admin"))


@pytest.fixture
def fleet(artifacts: Path) -> Fleet:
    return Fleet(specs(artifacts, "admin", False), EmulatedFabric.read(artifacts), FleetLogin("admin", "secret"))


def write(folder: Path, fleet: Fleet, password: str = "", others: tuple[str, ...] = ()) -> None:
    hosts = entries(fleet) | unmanaged(others)
    write_inventory(folder, hosts, fleet.known_hosts(), "admin", "AILB_PASSWORD", password)


def specs_of(name: str) -> Spec:
    return Spec(name, factory(name, "admin"))


def test_devices_of_an_artifact_directory(artifacts: Path) -> None:
    empty, loaded = specs(artifacts, "admin", False), specs(artifacts, "admin", True)
    assert [spec.name for spec in empty] == [path.stem for path in sorted((artifacts / "switches").iterdir())]
    assert not empty[0].factory.has("protocols")
    fabric = EmulatedFabric.read(artifacts)
    for spec in loaded:
        device = EmulatedDevice(spec, fabric, schema=schema())
        device.database.check(device.session("admin"))
    sessions = [session for spec in loaded for session in fabric.sessions(spec.name)]
    assert len(sessions) == 16
    assert all(session.established for session in sessions)


def test_a_directory_without_switches(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no switches/\*\.conf there"):
        specs(tmp_path, "admin", False)


def test_the_password() -> None:
    assert password_of({"AILB_PASSWORD": "x"}, "AILB_PASSWORD") == ("x", False)
    first, made = password_of({}, "AILB_PASSWORD")
    assert made
    assert len(first) >= 20
    assert first != password_of({}, "AILB_PASSWORD")[0]


def test_the_inventory(fleet: Fleet, artifacts: Path, tmp_path: Path) -> None:
    others = servers(artifacts)
    assert len(others) == 4
    folder = tmp_path / "inventory"
    with fleet:
        write(folder, fleet, others=others)
        hosts = yaml.safe_load((folder / "hosts.yaml").read_text())
        assert set(hosts) == {*fleet.devices, *others}
        assert hosts["spine1"] == {"hostname": "127.0.0.1", "port": fleet.port("spine1")}
        assert hosts[others[0]] == {"data": {"managed": False}}
        assert yaml.safe_load((folder / "defaults.yaml").read_text())["password"] == {"env": "AILB_PASSWORD"}
        assert (folder / "known_hosts").read_text().partition("\n")[2] == fleet.known_hosts()
        assert f"[127.0.0.1]:{fleet.port('spine1')} ssh-ed25519 AAAA" in fleet.known_hosts()
        write(folder, fleet, "secret", others)
        secret = folder / "password"
        assert (secret.read_text(), stat.S_IMODE(secret.stat().st_mode)) == ("secret\n", 0o600)
        assert yaml.safe_load((folder / "defaults.yaml").read_text())["password"] == {"command": ["cat", str(secret)]}
        assert "secret" not in (folder / "hosts.yaml").read_text()
        (tmp_path / "file").write_text("")
        with pytest.raises(OutputError, match="the inventory cannot be written"):
            write(tmp_path / "file", fleet)


@pytest.mark.parametrize("name", ["hosts.yaml", "defaults.yaml", "known_hosts", "password"])
def test_an_inventory_of_somebody_else_stays(fleet: Fleet, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inventory"
    folder.mkdir()
    (folder / name).write_text("spine1: {hostname: 192.0.2.1}\n")
    with pytest.raises(OutputError, match=f"{name}: .*choose another directory"):
        check_inventory(folder)
    with fleet, pytest.raises(OutputError, match="choose another directory"):
        write(folder, fleet, "secret")
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(name, "spine1: {hostname: 192.0.2.1}\n")]


def test_no_inventory_beside_generated_files(artifacts: Path) -> None:
    (artifacts / "manifest.json").touch()
    with pytest.raises(UsageError, match="which people commit; name another directory for an inventory"):
        check_inventory(artifacts)


def test_an_inventory_that_was_edited_stays(fleet: Fleet, tmp_path: Path) -> None:
    folder = tmp_path / "inventory"
    with fleet:
        write(folder, fleet, "secret")
        check_inventory(folder)
        with (folder / "defaults.yaml").open("a") as file:
            file.write("port: 830\n")
        before = {path: path.read_bytes() for path in folder.iterdir()}
        with pytest.raises(OutputError, match=r"defaults\.yaml: it was edited since 'ailb-gen emulate' wrote it"):
            write(folder, fleet, "secret")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("added", [False, True])
def test_host_keys_that_were_replaced_are_no_edit(fleet: Fleet, tmp_path: Path, added: bool) -> None:
    """As by `ssh-keygen -R` and `--accept-new-hostkeys`; a key of another host stays."""
    known = tmp_path / "known_hosts"
    with fleet:
        write(tmp_path, fleet, "secret")
        head, *lines = known.read_text().splitlines()
        known.write_text("\n".join([head, *lines[1:], *[lines[0]] * added]) + "\n")
        write(tmp_path, fleet, "secret")
        assert known.read_text().splitlines() == [head, *lines]
        known.write_text("\n".join([head, *lines, "192.0.2.1 ssh-ed25519 AAAA"]))
        with pytest.raises(OutputError, match=r"known_hosts: it was edited since"):
            write(tmp_path, fleet, "secret")


def test_a_link_to_an_inventory_of_somebody_else(artifacts: Path, tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text("mine: {}\n")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "hosts.yaml").symlink_to(tmp_path / "real.yaml")
    with pytest.raises(OutputError, match=r"hosts\.yaml: an emulator did not write it"):
        check_inventory(tmp_path / "new")
