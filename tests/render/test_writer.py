"""The writer: whole trees or nothing, unchanged files untouched, foreign files kept."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ailb_gen.design.model import Design
from ailb_gen.errors import OutputError
from ailb_gen.render import writer
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.compare import Changes
from ailb_gen.render.generate import Rendering, rendering, write_rendering
from ailb_gen.render.tree_diff import diff
from tests.conftest import ROOT, SMALL, design_of
from tests.render.test_golden import snapshot


def generate(design: Design, out: Path, options: RenderOptions | None = None) -> Changes:
    planned = rendering(design, out, options or RenderOptions())
    write_rendering(planned)
    return planned.changes


def small(more: str = "") -> Design:
    return design_of(SMALL + more)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The tree of a small fabric."""
    generate(small(), tmp_path / "out")
    return tmp_path / "out"


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    first = generate(small(), out)
    assert first.new and not first.changed
    before = {path: path.lstat().st_mtime_ns for path in out.rglob("*")}
    second = generate(small(), out)
    assert not second
    assert second.unchanged == len(first.new)
    assert {path: path.lstat().st_mtime_ns for path in out.rglob("*")} == before


def test_unchanged_files_keep_their_mtime_and_changed_ones_do_not(out: Path) -> None:
    for path in out.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (1_000_000_000, 1_000_000_000))
    changes = generate(small("overrides: {leaves: {stripe1-leaf2: {vlan: 99}}}\n"), out)
    touched = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file() and p.lstat().st_mtime != 1_000_000_000}
    assert "switches/stripe1-leaf2.conf" in touched
    assert "switches/stripe1-leaf1.conf" not in touched
    assert touched - {p for p in touched if p.startswith("servers/")} == set(changes.changed)


def test_files_of_removed_devices_go_and_foreign_files_stay(out: Path) -> None:
    note = out / "switches" / "NOTES.md"
    note.write_text("keep me", encoding="utf-8")
    (out / "own").mkdir()
    (out / "own" / "link").symlink_to("../switches")
    changes = generate(design_of(SMALL.replace("stripes: 2", "stripes: 1")), out)
    assert "switches/stripe2-leaf1.conf" in changes.deleted
    assert not (out / "switches" / "stripe2-leaf1.conf").exists()
    assert not (out / "profiles" / "stripe2").exists()
    assert not (out / "servers" / "server-003").is_symlink()
    assert note.read_text(encoding="utf-8") == "keep me"
    assert (out / "own" / "link").readlink() == Path("../switches")


def test_a_profile_becomes_a_server_of_its_own_and_back(out: Path) -> None:
    shared = snapshot(out)
    assert (out / "servers" / "server-001").is_symlink()
    generate(small("overrides: {servers: {server-001: {mtu: 4200}}}\n"), out)
    own = out / "servers" / "server-001"
    assert own.is_dir() and not own.is_symlink()
    assert "mtu: 4200" in (own / "etc/netplan/60-ailb-gpu.yaml").read_text(encoding="utf-8")
    assert "mtu: 9000" in (out / "servers/server-002/etc/netplan/60-ailb-gpu.yaml").read_text(encoding="utf-8")
    generate(small(), out)
    assert snapshot(out) == shared


def test_scripts_are_executable(tmp_path: Path) -> None:
    generate(small(), tmp_path / "out")
    root = tmp_path / "out" / "servers" / "server-001"
    assert os.access(root / "usr/local/sbin/ailb-net", os.X_OK)
    assert not os.access(root / "etc/ailb/nccl.env", os.X_OK)
    (root / "usr/local/sbin/ailb-net").chmod(0o644)
    assert generate(small(), tmp_path / "out").changed == ("profiles/stripe1/usr/local/sbin/ailb-net",)


def test_a_directory_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="not written by ailb-gen"):
        rendering(small(), tmp_path / "out", RenderOptions())


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("not json", "not a manifest"),
        ("[" * 100_000, "not a manifest"),
        ('{"files": {"../../etc/passwd": "0"}, "input_sha256": ""}', "not a path inside the tree"),
        ('{"files": {"/etc/passwd": "0"}, "input_sha256": ""}', "not a path inside the tree"),
    ],
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, manifest: str, message: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(OutputError, match=message):
        rendering(small(), tmp_path / "out", RenderOptions())


def test_targets_that_cannot_be_swapped_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match="this is a file"):
        writer.check_target(tmp_path / "file")
    monkeypatch.chdir(tmp_path)
    for name in (".", ".."):
        with pytest.raises(OutputError, match="current directory"):
            writer.check_target(Path(name))
    with pytest.raises(OutputError, match="mount point"):
        writer.check_target(Path("/proc"))


def test_a_linked_output_directory_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    generate(small(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "manifest.json").is_file()


def test_a_directory_where_a_file_goes_is_told(out: Path) -> None:
    (out / "cabling.csv").unlink()
    (out / "cabling.csv").mkdir()
    with pytest.raises(OutputError, match="a directory instead of a file"):
        rendering(small(), out, RenderOptions())


@pytest.mark.parametrize("folder", ["switches", "profiles/stripe1/etc"])
def test_a_file_where_a_directory_goes_is_told(out: Path, folder: str) -> None:
    shutil.rmtree(out / folder)
    (out / folder).write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=f"{folder}: a file instead of a directory; remove it"):
        rendering(small(), out, RenderOptions())


@pytest.mark.parametrize("folder", ["switches", "profiles", "profiles/stripe1/etc"])
def test_a_folder_that_became_a_link_is_told_and_not_followed(out: Path, tmp_path: Path, folder: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    shutil.rmtree(out / folder)
    (out / folder).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="a link instead of a directory"):
        rendering(small("bfd: {multiplier: 9}\n"), out, RenderOptions())
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_file_that_became_a_link_is_replaced(out: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    (out / "cabling.csv").unlink()
    (out / "cabling.csv").symlink_to(tmp_path / "precious")
    generate(small(), out)
    assert not (out / "cabling.csv").is_symlink()
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"


def test_a_pipe_in_the_tree_does_not_hang(out: Path) -> None:
    os.mkfifo(out / "own-pipe")
    generate(small("bfd: {multiplier: 9}\n"), out)
    assert (out / "own-pipe").exists()
    (out / "cabling.csv").unlink()
    os.mkfifo(out / "cabling.csv")
    with pytest.raises(OutputError, match="something other than a file"):
        rendering(small(), out, RenderOptions())


def test_what_is_no_directory_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for path in (tmp_path / "a", tmp_path / ("x" * 300), Path("a\0b")):
        with pytest.raises(OutputError, match="not a usable output directory"):
            writer.check_target(path)


def test_a_users_file_in_a_folder_that_becomes_a_link_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    generate(small("overrides: {servers: {server-001: {mtu: 4200}}}\n"), out)
    (out / "servers/server-001/mine").write_text("mine", encoding="utf-8")
    before = snapshot(out)
    with pytest.raises(OutputError, match=r"servers/server-001: .* has files that ailb-gen did not write"):
        generate(small(), out)
    assert snapshot(out) == before


def test_of_two_runs_at_once_the_second_is_told(out: Path, tmp_path: Path) -> None:
    one = rendering(small("bfd: {multiplier: 4}\n"), out, RenderOptions())
    two = rendering(small("bfd: {multiplier: 5}\n"), out, RenderOptions())
    write_rendering(one)
    after = snapshot(out)
    with pytest.raises(OutputError, match="another run has written this tree in the meantime"):
        write_rendering(two)
    assert snapshot(out) == after
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_the_lock_waits_for_its_holder(tmp_path: Path) -> None:
    """A lock file that its holder removes must not let two others in."""
    code = (
        "import sys, fcntl; sys.path.insert(0, {root!r})\n"
        "from pathlib import Path\nfrom ailb_gen.render.writer import _locked\n"
        "log = Path({log!r}).open('a')\n"
        "for n in range(200):\n"
        "    with _locked(Path({out!r})):\n"
        "        log.write('in\\n'); log.flush(); log.write('out\\n'); log.flush()\n"
    ).format(root=str(ROOT), log=str(tmp_path / "log"), out=str(tmp_path / "out"))
    workers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    lines = (tmp_path / "log").read_text(encoding="utf-8").split()
    assert lines == ["in", "out"] * 600
    assert not (tmp_path / ".out.ailb-lock").exists()


def test_what_cannot_be_read_is_not_lost(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the user's that this user may not list; root may list everything, so listing fails on purpose."""
    (out / "private").mkdir()
    (out / "private" / "notes").write_text("mine", encoding="utf-8")
    before = snapshot(out)
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("/private"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    planned = rendering(small("bfd: {multiplier: 4}\n"), out, RenderOptions())
    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(
        OutputError, match=r"private: cannot write the output: Permission denied; the old tree is unchanged"
    ):
        write_rendering(planned)
    monkeypatch.undo()
    assert snapshot(out) == before


def test_an_old_tree_that_cannot_be_removed_is_told(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = rendering(small("bfd: {multiplier: 4}\n"), out, RenderOptions())

    def refuse(path: Path, ignore_errors: bool = False) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(OutputError, match="the new tree is in place, but the old one cannot be removed"):
        write_rendering(planned)
    with pytest.raises(
        OutputError, match=r"cannot clean up after an earlier run: Permission denied; inspect and remove"
    ):
        rendering(small(), out, RenderOptions())
    monkeypatch.undo()
    assert "multiplier 4" in (out / "switches/spine1.conf").read_text(encoding="utf-8")
    assert not generate(small("bfd: {multiplier: 4}\n"), out)


def test_folders_keep_their_modes(out: Path) -> None:
    for folder, mode in ((out, 0o750), (out / "switches", 0o700), (out / "own", 0o500)):
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
    generate(small("bfd: {multiplier: 4}\n"), out)
    assert [path.stat().st_mode & 0o777 for path in (out, out / "switches", out / "own")] == [0o750, 0o700, 0o500]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call", ["mkdir", "link", "open", "write", "rename", "symlink"])
@pytest.mark.parametrize("nth", [1, 2, 5])
def test_a_crash_at_any_call_leaves_the_old_or_the_new_tree(out: Path, tmp_path: Path, call: str, nth: int) -> None:
    """The process ends without any cleanup at the n-th such call of a write."""
    old = snapshot(out)
    new_text = SMALL + "bfd: {multiplier: 4}\noverrides: {servers: {server-001: {mtu: 4200}}}\n"
    generate(design_of(new_text), tmp_path / "new")
    code = (
        f"import os, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path\nfrom tests.conftest import design_of\n"
        "from ailb_gen.render.artifacts import RenderOptions\n"
        "from ailb_gen.render.generate import rendering, write_rendering\n"
        f"planned = rendering(design_of({new_text!r}), Path({str(out)!r}), RenderOptions())\n"
        f"real, left = os.{call}, [{nth}]\n"
        "def last(*a, **k):\n"
        "    left[0] -= 1\n"
        "    if not left[0]: os._exit(9)\n"
        "    return real(*a, **k)\n"
        f"os.{call} = last\n"
        "write_rendering(planned)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode in (0, 9)
    assert snapshot(out) in (old, snapshot(tmp_path / "new"))
    generate(design_of(new_text), out)
    assert snapshot(out) == snapshot(tmp_path / "new")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "new"}


def test_a_full_disk_leaves_the_old_tree(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot(out)
    real, left = os.write, [3]

    def full(descriptor: int, data: bytes) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    planned = rendering(small("bfd: {multiplier: 5}\n"), out, RenderOptions())
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OutputError, match="No space left on device; the old tree is unchanged"):
        write_rendering(planned)
    assert snapshot(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_without_syncfs_everything_is_synchronized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(writer, "_libc", object)
    monkeypatch.setattr(os, "sync", lambda: calls.append("sync"))
    writer._sync(tmp_path)
    assert calls == ["sync"]


def test_file_systems_without_exchange_or_hard_links(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_exchange", lambda one, other: False)

    def no_link(*args: object, **options: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    leaf = out / "switches" / "stripe1-leaf1.conf"
    os.utime(leaf, (1_000_000_000, 1_000_000_000))
    generate(small("overrides: {leaves: {stripe1-leaf2: {vlan: 99}}}\n"), out)
    assert leaf.stat().st_mtime == 1_000_000_000
    assert "vn99" in (out / "switches" / "stripe1-leaf2.conf").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize("number", [1, 31])
def test_links_to_one_profile_are_one_where_the_file_system_allows(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    links = [path for path in (out / "servers").iterdir() if path.is_symlink()]
    assert 0 < len({path.lstat().st_ino for path in links}) == len({path.readlink() for path in links}) < len(links)

    def no_link(*args: object, **options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", no_link)
    generate(small(), tmp_path / "other")
    others = [path for path in (tmp_path / "other" / "servers").iterdir() if path.is_symlink()]
    assert len({path.lstat().st_ino for path in others}) == len(others) == len(links)
    assert snapshot(out) == snapshot(tmp_path / "other")


def test_a_link_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(OutputError, match="No space left on device"):
        generate(small(), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_run_killed_between_the_two_renames_is_recovered(out: Path, tmp_path: Path) -> None:
    before = snapshot(out)
    out.rename(tmp_path / ".out.ailb-old")
    (tmp_path / ".out.ailb-new").mkdir()
    assert not rendering(small(), out, RenderOptions()).changes
    assert snapshot(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_a_mistaken_exchange_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        writer._exchange(tmp_path / "nothing", tmp_path / "nowhere")


def test_diff_shows_new_changed_and_deleted(out: Path) -> None:
    text = SMALL.replace("spines: 2", "spines: 1").replace("rails: 2", "rails: 3")
    planned: Rendering = rendering(design_of(text), out, RenderOptions())
    lines = "".join(diff(planned.target, planned.tree, planned.changes)).splitlines()
    assert "--- a/switches/spine1.conf" in lines
    assert "--- /dev/null" in lines and "+++ b/switches/stripe1-leaf3.conf" in lines
    assert "--- a/switches/spine2.conf" in lines and "+++ /dev/null" in lines


def test_diff_shows_links(out: Path) -> None:
    planned = rendering(small("overrides: {servers: {server-001: {mtu: 4200}}}\n"), out, RenderOptions())
    lines = "".join(diff(planned.target, planned.tree, planned.changes)).splitlines()
    assert "-link to ../profiles/stripe1" in lines


def test_a_tree_is_written_into_an_empty_directory(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o700)
    generate(small(), tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
