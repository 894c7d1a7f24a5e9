"""Files of a git revision: as they were committed, and none elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.review.base import BaseFiles, _objects, is_below, revision
from tests.review.fabric import CHANGED, FABRIC, commit, git, write


def files(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Return the files and links below a folder by name, with their mode bits for programs."""
    return {
        path.relative_to(folder).as_posix(): (
            path.lstat().st_mode & 0o111 and not path.is_symlink(),
            str(path.readlink()) if path.is_symlink() else path.read_bytes(),
        )
        for path in folder.rglob("*")
        if ".git" not in path.parts and (path.is_symlink() or path.is_file())
    }


@pytest.mark.parametrize("below", ["", "sites/one"])
def test_the_files_are_those_of_the_commit(below: str, tmp_path: Path) -> None:
    site = tmp_path / below
    fabric, artifacts = write(site, FABRIC)
    before = files(site)
    (site / "README.md").write_text("x")
    old = commit(tmp_path)
    write(site, CHANGED)
    commit(tmp_path)
    for name in (old, old[:9], "HEAD^1", "main~1"):
        with revision(name, fabric, artifacts) as base:
            assert not base.missing and base.name == name
            assert base.folder is not None and files(base.folder / below) == before
            folder = base.folder
        assert not folder.exists()


def test_neither_filters_nor_attributes_nor_hooks_change_them(tmp_path: Path) -> None:
    fabric, artifacts = write(tmp_path, FABRIC)
    (tmp_path / ".gitattributes").write_text("* export-ignore\n*.yaml export-subst ident filter=loud\n")
    commit(tmp_path)
    git(tmp_path, "config", "filter.loud.smudge", "touch smudged; cat")
    with revision("HEAD", fabric, artifacts) as base:
        assert base.fabric.read_text() == FABRIC
        assert base.artifacts.joinpath("manifest.json").is_file()
    assert not (tmp_path / "smudged").exists()


def test_a_revision_without_the_fabric(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("x")
    commit(tmp_path)
    with revision("HEAD", *write(tmp_path, FABRIC)) as base:
        assert base.missing == "HEAD:fabric.yaml"


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_revision_has(name: str, tmp_path: Path) -> None:
    fabric, artifacts = write(tmp_path, FABRIC)
    commit(tmp_path)
    with pytest.raises(UsageError, match="no revision has such a name"), revision(name, fabric, artifacts):
        pass


@pytest.mark.parametrize("name", ["nowhere", "--output=x", "HEAD:fabric.yaml", "", "a b", "HEAD^{tree}"])
def test_what_is_no_commit(name: str, tmp_path: Path) -> None:
    fabric, artifacts = write(tmp_path, FABRIC)
    commit(tmp_path)
    before = files(tmp_path)
    with pytest.raises(UsageError, match="no commit of this repository"), revision(name, fabric, artifacts):
        pass
    assert files(tmp_path) == before


def test_no_repository_and_a_path_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    fabric, artifacts = write(tmp_path / "plain", FABRIC)
    with pytest.raises(UsageError, match="git cannot read the repository"), revision("HEAD", fabric, artifacts):
        pass
    inside, _ = write(tmp_path / "repository", FABRIC)
    commit(tmp_path / "repository")
    with pytest.raises(UsageError, match="outside of the git repository"), revision("HEAD", inside, artifacts):
        pass


def test_git_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ailb_gen.review.base.program", lambda name: None)
    with pytest.raises(UsageError, match="git is not installed"), revision("HEAD", tmp_path / "f", tmp_path):
        pass


def test_links_that_lead_out_are_not_made(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    fabric, artifacts = write(repository, FABRIC)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    inside = {"near": "manifest.json", "up": "../fabric.yaml", "deep": "switches"}
    # The last one climbs by way of another link, which its text does not show.
    outside = {"far": str(secret), "above": "../../secret", "climb": "deep/../../../secret"}
    for name, target in {**inside, **outside}.items():
        (artifacts / name).symlink_to(target)
    commit(repository)
    with revision("HEAD", fabric, artifacts) as base:
        assert {name for name in (*inside, *outside) if (base.artifacts / name).is_symlink()} == set(inside)


def test_a_link_that_leads_out_only_with_later_ones_is_not_made(tmp_path: Path) -> None:
    """Read by its text it stays inside; each `x` that it climbs back from is the top itself."""
    repository = tmp_path / "repository"
    fabric, artifacts = write(repository, FABRIC)
    deep = 20
    (artifacts / "climb").symlink_to("x/" * deep + "../" * deep + str(tmp_path / "secret").lstrip("/"))
    (artifacts / "x").symlink_to(".")
    (tmp_path / "secret").write_text("secret")
    commit(repository)
    with revision("HEAD", fabric, artifacts) as base:
        assert (base.artifacts / "x").is_symlink() and not (base.artifacts / "climb").is_symlink()


def test_a_fabric_file_that_is_a_link_to_another_folder(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    fabric, artifacts = write(tmp_path / "site", FABRIC)
    fabric.rename(tmp_path / "common/fabric.yaml")
    fabric.symlink_to("../common/fabric.yaml")
    commit(tmp_path)
    with revision("HEAD", fabric, artifacts) as base:
        assert not base.missing and base.fabric.read_text() == FABRIC


def test_artifacts_that_are_a_link_to_another_folder(tmp_path: Path) -> None:
    fabric, artifacts = write(tmp_path / "site", FABRIC)
    artifacts.rename(tmp_path / "generated")
    artifacts.symlink_to("../generated")
    commit(tmp_path)
    with revision("HEAD", fabric, artifacts) as base:
        assert not base.missing and (base.artifacts / "manifest.json").is_file()


def test_files_that_the_fabric_file_names_are_there(tmp_path: Path) -> None:
    """Names that git cannot look up, and those of no file of the commit, are errors of the fabric file."""
    (tmp_path / "common").mkdir()
    (tmp_path / "common/near.csv").write_text("near")
    (tmp_path / "link.csv").symlink_to("common/near.csv")
    (tmp_path.parent / "far.csv").write_text("far")
    (tmp_path / "out.csv").symlink_to("../far.csv")
    inside, outside = ("../link.csv", "../common/near.csv"), ("../out.csv", "../../far.csv")
    names = (*inside, *outside, "a\nb.csv", "a\0b", "a missing", "")
    rows = "".join(f"  - servers: {{csv: {json.dumps(name)}}}\n" for name in names)
    fabric, artifacts = write(tmp_path / "site", FABRIC)
    fabric.write_text(f"stripes:\n{rows}servers: {{csv: .}}\ncabling: {{csv: generated/cabling.csv}}\n")
    commit(tmp_path)
    with revision("HEAD", fabric, artifacts) as base:
        assert base.folder is not None
        found = files(base.folder)
        assert {name for name in found if not name.startswith("site/generated/")} == {
            *("site/fabric.yaml", "link.csv", "common/near.csv")
        }
        assert found["link.csv"] == (0, b"near") and "site/generated/cabling.csv" in found


def test_a_fabric_file_at_the_top_names_files(tmp_path: Path) -> None:
    fabric, artifacts = write(tmp_path, FABRIC)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/a b ü.csv").write_text("old")
    (tmp_path / "far.csv").write_text("far")
    fabric.write_text(f"servers: {{csv: tables/a b ü.csv}}\ncabling: {{csv: {tmp_path}/far.csv}}\n")
    commit(tmp_path)
    (tmp_path / "tables/a b ü.csv").write_text("new")
    with revision("HEAD", fabric, artifacts) as base:
        assert base.folder is not None
        found = files(base.folder)
        assert found["tables/a b ü.csv"] == (0, b"old") and "far.csv" not in found


def test_files_in_a_submodule_are_not_there(tmp_path: Path) -> None:
    """A commit has the name of a submodule's commit, and none of its files."""
    fabric, artifacts = write(tmp_path / "site", FABRIC)
    commit(tmp_path / "site")
    commit(tmp_path)
    with revision("HEAD", fabric, artifacts) as base:
        assert not base.missing
    fabric.rename(tmp_path / "fabric.yaml")
    (tmp_path / "fabric.yaml").write_text("servers: {csv: site/servers.csv}\ncabling: {csv: site}\n")
    commit(tmp_path)
    with revision("HEAD", tmp_path / "fabric.yaml", tmp_path / "site") as base:
        assert base.missing == "HEAD:site" and base.folder is not None and [*files(base.folder)] == ["fabric.yaml"]


def test_a_submodule_as_newer_versions_of_git_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Since 2.51, `git cat-file --batch` writes IDENTITY submodule."""
    monkeypatch.setattr("ailb_gen.review.base._git", lambda *words, **options: b"0123 submodule\n4567 blob 1\nx\n")
    assert [*_objects(tmp_path, ["a", "b"])] == [("", "", b""), ("4567", "blob", b"x")]


def test_a_file_beside_the_fabric_file_is_not_read(tmp_path: Path) -> None:
    """It may have any size: its object is missing, on which git would fail."""
    fabric, artifacts = write(tmp_path, FABRIC)
    (tmp_path / "dump.bin").write_bytes(b"x")
    commit(tmp_path)
    blob = git(tmp_path, "rev-parse", "HEAD:dump.bin")
    (tmp_path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with revision("HEAD", fabric, artifacts) as base:
        assert base.folder is not None and not base.missing
        assert {path.name for path in base.folder.iterdir()} == {"fabric.yaml", "generated"}


@pytest.mark.parametrize("name", [".", "site/.."])
def test_artifacts_at_the_top(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    fabric, artifacts = write(tmp_path, FABRIC)
    for path in artifacts.iterdir():
        path.rename(tmp_path / path.name)
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    with revision("HEAD", Path(fabric.name), Path(name)) as base:
        assert not base.missing and (base.artifacts / "manifest.json").is_file()


def test_a_directory_with_a_line_break(tmp_path: Path) -> None:
    fabric, artifacts = write(tmp_path, FABRIC)
    commit(tmp_path)
    with pytest.raises(UsageError, match="line break"), revision("HEAD", fabric, artifacts.rename(tmp_path / "a\nb")):
        pass


def test_a_folder_that_poses_as_a_repository(tmp_path: Path) -> None:
    """Its settings would name a program that fetches what is missing."""
    fabric, artifacts = write(tmp_path / "site", FABRIC)
    site = tmp_path / "site"
    for name in ("objects", "refs/heads"):
        (site / name).mkdir(parents=True)
    (site / "HEAD").write_text("ref: refs/heads/main\n")
    (site / "refs/heads/main").write_text(f"{'1' * 40}\n")
    program = f'sshCommand = "touch {tmp_path}/ran; false"'
    (site / "config").write_text(
        f"[core]\nrepositoryformatversion = 1\nbare = false\nworktree = .\n{program}\n"
        '[extensions]\npartialClone = o\n[remote "o"]\nurl = ssh://h/x\npromisor = true\n'
    )
    with pytest.raises(UsageError, match="cannot use bare repository"), revision("main", fabric, artifacts):
        pass
    assert not (tmp_path / "ran").exists()


def test_a_hook_of_git_names_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fabric, artifacts = write(tmp_path / "site", FABRIC)
    commit(tmp_path)
    monkeypatch.setenv("GIT_DIR", ".git")
    with revision("HEAD", fabric, artifacts) as base:
        assert not base.missing


def test_a_name_of_the_repository_that_is_not_utf8(tmp_path: Path) -> None:
    fabric, artifacts = write(tmp_path / os.fsdecode(b"caf\xe9"), FABRIC)
    commit(fabric.parent)
    with revision("HEAD", fabric, artifacts) as base:
        assert base.fabric.read_text() == FABRIC


def test_a_damaged_repository(tmp_path: Path) -> None:
    fabric, artifacts = write(tmp_path, FABRIC)
    commit(tmp_path)
    blob = git(tmp_path, "rev-parse", "HEAD:generated/cabling.csv")
    (tmp_path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    told = f"object {blob} is missing; run 'git fsck'"
    with pytest.raises(UsageError, match=told), revision("HEAD", fabric, artifacts):
        pass


def tree(folder: Path, rows: str) -> str:
    """Store a tree that git itself would not make; return its name."""
    data = b"".join(
        f"{mode} {name}\0".encode() + bytes.fromhex(identity)
        for mode, name, identity in (row.split() for row in rows.splitlines())
    )
    words = ["git", "-C", str(folder), "hash-object", "-t", "tree", "-w", "--stdin", "--literally"]
    return subprocess.run(words, input=data, capture_output=True, check=True).stdout.decode().strip()


@pytest.mark.parametrize("kind", ["dots", "through a link"])
def test_names_that_lead_out_write_nothing(kind: str, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    fabric, artifacts = write(repository, FABRIC)
    commit(repository)
    blob = git(repository, "rev-parse", "HEAD:fabric.yaml")
    (repository / "target").write_text(str(tmp_path))
    link = git(repository, "hash-object", "-w", str(repository / "target"))
    below = tree(repository, f"100644 evil {blob}")
    rows = {"dots": f"40000 .. {below}", "through a link": f"120000 x {link}\n40000 x {below}"}[kind]
    top = tree(repository, f"40000 generated {tree(repository, rows)}")
    head = git(repository, "commit-tree", top, "-m", "x")
    with pytest.raises(UsageError, match=r"^revision "), revision(head, fabric, artifacts):
        pass
    assert not list(tmp_path.rglob("evil"))


def test_errors_name_files_as_in_the_revision(tmp_path: Path) -> None:
    base = BaseFiles("main", tmp_path / "f", tmp_path / "a", tmp_path)
    assert base.explained(ValueError(f"{tmp_path}/f:3: wrong")) == "main:f:3: wrong"
    assert BaseFiles("old", tmp_path / "f", tmp_path).explained(ValueError("x")) == "x"
    assert is_below(tmp_path, tmp_path / "f") and not is_below(tmp_path / "a", tmp_path / "f")
