"""Copies of a tree, made as users make them: what is in a copy counts, not whether links were kept or followed."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.checks.model import RunOptions
from ailb_gen.checks.run import run as validate
from ailb_gen.deploy.artifacts import read_inputs
from ailb_gen.errors import UsageError
from ailb_gen.manifest import read_generated
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.compare import Changes
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import SMALL, design_of, intent_of, need_tool

SERVER = "servers/server-001"
SFTP = "/usr/lib/openssh/sftp-server"
REACH = f"""\
#!/bin/sh
for last; do :; done
[ "$last" = sftp ] && exec {SFTP}
exec sh -c "$last"
"""


def _scp(source: Path, target: Path, *options: str) -> None:
    """Copy with scp; instead of ssh a script runs here what ssh would run on another machine."""
    if not Path(SFTP).exists():
        need_tool("sftp-server")
    reach = target.parent / "reach"
    reach.write_text(REACH, encoding="ascii")
    reach.chmod(0o755)
    _call([need_tool("scp"), "-S", str(reach), "-q", *options, "-r", str(source), f"there:{target}"])


def _tar(source: Path, target: Path, *options: str) -> None:
    target.mkdir()
    _call(["tar", *options, "-C", str(source), "-cf", f"{target}.tar", "."])
    _call(["tar", "-C", str(target), "-xf", f"{target}.tar"])


def _call(words: list[str]) -> None:
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


# With what it copies, and whether it keeps links.
COPIES: dict[str, tuple[Callable[[Path, Path], object], bool]] = {
    "cp -r": (lambda source, target: _call(["cp", "-r", str(source), str(target)]), True),
    "cp -rL": (lambda source, target: _call(["cp", "-rL", str(source), str(target)]), False),
    "rsync -a": (lambda source, target: _call([need_tool("rsync"), "-a", f"{source}/", str(target)]), True),
    "rsync -aL": (lambda source, target: _call([need_tool("rsync"), "-aL", f"{source}/", str(target)]), False),
    "scp -O -r": (lambda source, target: _scp(source, target, "-O"), False),
    "tar": (_tar, True),
    "tar -h": (lambda source, target: _tar(source, target, "-h"), False),
}


@pytest.fixture(params=COPIES)
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the tree of SMALL."""
    source = tmp_path / "source"
    write_rendering(rendering(design_of(SMALL), source, RenderOptions()))
    how, keeps = COPIES[request.param]
    copy = tmp_path / "copy"
    how(source, copy)
    assert (copy / SERVER).is_symlink() == keeps
    return copy


def changes(text: str, out: Path, selected: set[str] | None = None) -> Changes:
    """Generate into a directory; return what changed."""
    planned = rendering(design_of(text), out, RenderOptions(), selected)
    write_rendering(planned)
    return planned.changes


def warnings(text: str, out: Path) -> list[str]:
    """Return what is found about the files of a directory."""
    report = validate(intent_of(text), out, RunOptions(frozenset({"AILB005"})))
    return [f"{finding.device}: {finding.message}" for result in report.results for finding in result.findings]


def test_a_copy_is_as_it_was_generated(copy: Path) -> None:
    assert not changes(SMALL, copy)
    assert warnings(SMALL, copy) == []
    inputs = read_inputs(intent_of(SMALL), copy, ["spine1"], ["server-001", "server-003"])
    assert inputs.doubts == ()


def test_what_was_edited_in_a_copy_is_found(copy: Path) -> None:
    file = copy / SERVER / "etc/ailb/nccl.env"
    file.write_text(file.read_text(encoding="utf-8") + "NCCL_DEBUG=INFO\n", encoding="utf-8")
    assert any("nccl.env was edited after it was generated" in warning for warning in warnings(SMALL, copy))
    with pytest.raises(UsageError, match=r"nccl\.env: it was edited after it was generated"):
        read_inputs(intent_of(SMALL), copy, [], ["server-001"])
    assert changes(SMALL, copy).changed


@pytest.mark.parametrize("selected", [None, {"server-001"}])
def test_a_copy_follows_the_fabric_file(copy: Path, selected: set[str] | None) -> None:
    faster = SMALL + "mtu: {host: 4200}\n"
    assert changes(faster, copy, selected)
    found = (copy / SERVER / "etc/netplan/60-ailb-gpu.yaml").read_text(encoding="utf-8")
    assert "mtu: 4200" in found
    assert not changes(faster, copy, selected)
    manifest = read_generated(copy)
    assert manifest is not None
    assert manifest.files[SERVER] == "link:../profiles/stripe1"


def test_a_server_of_a_copy_that_is_removed_leaves_nothing(copy: Path) -> None:
    changes(SMALL.replace("stripes: 2", "stripes: 1"), copy)
    assert not (copy / "servers/server-003").exists()
    assert not (copy / "servers/server-003").is_symlink()
    assert warnings(SMALL.replace("stripes: 2", "stripes: 1"), copy) == []


def test_a_server_of_a_copy_gets_files_of_its_own_and_back(copy: Path) -> None:
    own = SMALL + "overrides: {servers: {server-001: {mtu: 4200}}}\n"
    changes(own, copy)
    assert warnings(own, copy) == []
    changes(SMALL, copy)
    assert warnings(SMALL, copy) == []
    assert not changes(SMALL, copy)


def test_folders_instead_of_links_suit_any_copy(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    write_rendering(rendering(design_of(SMALL), source, RenderOptions(), links=False))
    assert not any(path.is_symlink() for path in source.rglob("*"))
    assert not changes(SMALL, source)
    _scp(source, copy)
    assert not changes(SMALL, copy)
    assert warnings(SMALL, copy) == []
    write_rendering(rendering(design_of(SMALL), copy, RenderOptions(), links=True))
    assert (copy / SERVER).is_symlink()
    assert not changes(SMALL, copy)
    write_rendering(rendering(design_of(SMALL), copy, RenderOptions(), {"server-001"}, links=False))
    assert [path.name for path in sorted((copy / "servers").iterdir()) if not path.is_symlink()] == ["server-001"]
    assert warnings(SMALL, copy) == []
    assert not changes(SMALL, copy)


def test_scp_refuses_links_to_folders(tmp_path: Path) -> None:
    """What docs/artifacts.md says of OpenSSH 9: when this fails, the page can say less."""
    source = tmp_path / "source"
    write_rendering(rendering(design_of(SMALL), source, RenderOptions()))
    with pytest.raises(subprocess.CalledProcessError):
        _scp(source, tmp_path / "copy")
    # It follows the link that it is given.
    _scp(source / SERVER, tmp_path / "one")
    assert (tmp_path / "one/etc/ailb/nccl.env").is_file()
