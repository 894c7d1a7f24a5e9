"""What is read from the artifact directory for a server, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.deploy.servers.expected import expected_of
from ailb_gen.deploy.servers.files import PATH, Tree, files_of, permissions
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.hosts.read import read_hosts
from ailb_gen.layout import HOST_PROGRAM
from ailb_gen.render.artifacts import EXECUTABLE, HOST_FILES, QOS_FILES, RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import example
from tests.deploy.servers.conftest import NAME
from tests.network.lab import LAB

WANTS = "etc/systemd/system/multi-user.target.wants"


def test_the_files_of_a_server(files: Tree) -> None:
    paths = {path for path, file in files.items() if not file.is_link}
    assert paths == {
        *(path for _, path, _ in (*HOST_FILES, *QOS_FILES)),
        HOST_PROGRAM,
        *(f"etc/systemd/network/10-netplan-gpu{n}_eth.network.d/50-ailb.conf" for n in (0, 1)),
    }
    for _, path, mode in (*HOST_FILES, *QOS_FILES, ("", HOST_PROGRAM, EXECUTABLE)):
        assert files[path].mode & 0o7777 == mode == permissions(path)
        assert files[path].content == (LAB / "servers" / NAME / path).read_bytes()
    assert {path: file.content for path, file in files.items() if file.is_link} == {
        f"{WANTS}/{unit}": f"/etc/systemd/system/{unit}".encode() for unit in ("ailb-net.service", "ailb-qos.service")
    }


def test_modes_do_not_depend_on_the_checkout(files: Tree, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(LAB, copy, symlinks=True)
    for path in copy.rglob("*"):
        if path.is_file():
            path.chmod(0o664)
    assert files_of(copy, read_hosts(copy)[0][NAME]) == files


@pytest.mark.parametrize("name", ["lab", "jvd", "brownfield", "mixed"])
def test_what_is_expected_is_what_was_designed(name: str, tmp_path: Path) -> None:
    design = example(name)
    write_rendering(rendering(design, tmp_path / "out", RenderOptions()))
    hosts, _ = read_hosts(tmp_path / "out")
    for server in (design.servers[0], design.servers[-1]):
        host = hosts[server.name]
        expected = expected_of(files_of(tmp_path / "out", host), host.profile)
        tables = [(nic, table) for nic in server.config.nics for table in nic.tables]
        assert {(rule.priority, str(rule.source), rule.table) for rule in expected.rules} == {
            (table.priority, table.prefix.text, table.id) for _, table in tables
        }
        assert len(expected.routes) == 2 * len(tables)
        assert {(one.nic, str(one.prefix)) for one in expected.gateways} == {
            (nic.name, table.prefix.text) for nic, table in tables
        }
        assert expected.mtus == {nic.name: nic.mtu for nic in server.config.nics}


def own(tmp_path: Path) -> Path:
    """Return a copy in which the server has a folder of its own."""
    copy = tmp_path / "copy"
    shutil.copytree(LAB, copy, symlinks=True)
    (copy / "servers" / NAME).unlink()
    shutil.copytree(LAB / "servers" / NAME, copy / "servers" / NAME)
    return copy


def _large(folder: Path) -> None:
    (folder / "etc/ailb/large").write_bytes(b"x" * (3 << 20))


def _empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


DUBIOUS: tuple[tuple[Callable[[Path], object], str], ...] = (
    (lambda folder: (folder / "boot.conf").touch(), "boot.conf: a push does not handle this file; move it away"),
    (lambda folder: (folder / "etc/a b").touch(), "a push does not handle this file"),
    (lambda folder: (folder / "etc/a\nb").touch(), "a push does not handle this file"),
    (lambda folder: (folder / "etc/$(reboot)").touch(), "a push does not handle this file"),
    (
        lambda folder: (folder / "etc/passwd.lnk").symlink_to("/etc/passwd"),
        "only plain files of up to 2 MiB are pushed",
    ),
    (_large, "only plain files of up to 2 MiB are pushed"),
    (lambda folder: (folder / "etc/netplan/60-ailb-gpu.yaml").write_text("{"), "60-ailb-gpu.yaml:"),
    (_empty, "holds no files"),
    (shutil.rmtree, "No such file or directory"),
)


@pytest.mark.parametrize(("spoil", "reason"), DUBIOUS, ids=[reason for _, reason in DUBIOUS])
def test_dubious_files_are_refused(tmp_path: Path, spoil: Callable[[Path], object], reason: str) -> None:
    copy = own(tmp_path)
    host = read_hosts(copy)[0][NAME]
    spoil(copy / "servers" / NAME)
    if reason.endswith(".yaml:"):
        host = read_hosts(copy)[0][NAME]
    with pytest.raises(DeviceError, match=reason.replace(".", r"\.")) as caught:
        files_of(copy, host)
    assert caught.value.phase is Phase.READ


@given(st.text(alphabet="ab./-_ $\n'\"\\", max_size=12))
def test_no_path_leaves_its_place_or_needs_quotes(text: str) -> None:
    if PATH.fullmatch(text):
        assert not set(text) & set(" $\n'\"\\")
        assert not {"", ".", ".."} & set(text.split("/"))
