"""The fabric before a change: the files of a git revision, as they were committed.

Files are read from git's objects, without filters, hooks and attributes, which a repository could set. Links are made
last, and only those to places inside stay, so that no file is written or read elsewhere.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ailb_gen.errors import UsageError
from ailb_gen.intent.load import csv_names
from ailb_gen.programs import program

FETCH = "fetch it first: 'git fetch --depth 1 origin REVISION', or check out with more depth"
LINK, PROGRAM, FILE = "120000", "100755", "100644"
# As much of git's own message as an error quotes.
QUOTED = 300
# A folder of the commit could pose as a repository without work tree, whose settings name programs.
SETTINGS = ("-c", "safe.bareRepository=explicit")
# Hooks of git set these, for another folder; the repository is that of the fabric file.
FOREIGN = frozenset(("GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX"))


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """The fabric before a change; `name` is for people, `folder` holds files of git that are removed at the end.

    `fabric` and `artifacts` may not exist: then the fabric is new.
    """

    name: str
    fabric: Path
    artifacts: Path
    folder: Path | None = None

    @property
    def missing(self) -> str:
        """The fabric file or the directory if there is none, named as in the revision; else empty."""
        absent = [self.fabric] * (not self.fabric.is_file()) + [self.artifacts] * (not self.artifacts.is_dir())
        return self.explained(absent[0]) if absent else ""

    def explained(self, error: object) -> str:
        """Return a path, or the message of an error, with files as they are in the revision."""
        return str(error).replace(f"{self.folder}/", f"{self.name}:") if self.folder is not None else str(error)


@contextmanager
def revision(name: str, fabric: Path, artifacts: Path) -> Iterator[BaseFiles]:
    """Yield the fabric as of a git revision, in a temporary directory. Raises UsageError.

    The fabric file, the CSV files that it names, and the artifacts are read, and no other file of the repository.
    """
    top = Path(os.path.realpath(os.fsdecode(_git(fabric.parent, "rev-parse", "--show-toplevel").rstrip(b"\n"))))
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    commit = _git(top, *words, failure=name).decode().strip()
    inside = [_inside(top, path) for path in (fabric, artifacts)]
    with TemporaryDirectory(prefix="ailb-gen-") as temporary:
        folder = Path(temporary)
        with _writing(commit, folder):
            _extract_files(top, commit, inside[:1], folder)
            near = posixpath.dirname(inside[0])
            csv = (posixpath.normpath(posixpath.join(near, one)) for one in csv_names(folder / inside[0]))
            _extract_files(top, commit, [one for one in csv if one[0] != "/"], folder)
            _extract_folder(top, commit, inside[1], folder)
        yield BaseFiles(name, folder / inside[0], folder / inside[1], folder)


def _inside(top: Path, path: Path) -> str:
    """Return a path relative to the top of the repository; its last part may be a link."""
    named = path if path.name not in ("", "..") else Path(os.path.realpath(path))
    try:
        return (Path(os.path.realpath(named.parent)) / named.name).relative_to(top).as_posix()
    except ValueError as error:
        raise UsageError(
            f"{path}: it is outside of the git repository {top}; name directories instead of a revision"
        ) from error


@contextmanager
def _writing(commit: str, out: Path) -> Iterator[None]:
    """Turn errors of writing into UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"revision {commit}: its files cannot be written below {out}: {error.strerror}") from error


def _git(folder: Path, *words: str, given: bytes = b"", failure: str | None = None) -> bytes:
    """Return the output of a command of git; `failure` is the revision that it looks up. Raises UsageError."""
    git = program("git")
    if git is None:
        raise UsageError("git is not installed; install it, or name directories instead of a revision")
    # Paths are no patterns, and nobody is asked for a password.
    env = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    env |= {"GIT_LITERAL_PATHSPECS": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    words = (*SETTINGS, "-C", str(folder), *words)
    try:
        done = subprocess.run([git, *words], input=given, capture_output=True, env=env, check=False)
    except ValueError as error:
        # No command line takes a NUL, nor half a character.
        raise UsageError(f"revision {failure!a}: no revision has such a name; {error}") from error
    if done.returncode:
        told = done.stderr.decode("utf-8", "backslashreplace").strip()[:QUOTED]
        if failure is not None:
            raise UsageError(f"revision {failure!a}: no commit of this repository; {told or FETCH}")
        raise UsageError(f"{folder}: git cannot read the repository: {told}")
    return done.stdout


def _extract_files(top: Path, commit: str, names: Sequence[str], out: Path) -> None:
    """Write the files of a commit that have one of some names, or are what a link of that name leads to.

    Names without a file in the commit are passed over. No link is below `out` yet.
    """
    # Git reads names line by line, and no name leads out of the commit.
    usable = [name for name in names if not re.search(r"[\n\0]|\A\.\.(/|\Z)", name)]
    for name, (_, kind, content) in zip(usable, _objects(top, [f"{commit}:{name}" for name in usable]), strict=True):
        if kind == "blob":
            file = out / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def _extract_folder(top: Path, commit: str, folder: str, out: Path) -> None:
    """Write the files of a folder of a commit, which may be a link to it. Raises UsageError for names that lead out."""
    if "\n" in folder:
        raise UsageError(f"{folder!a}: git cannot look up a name with a line break; rename the directory")
    ((tree, kind, _),) = _objects(top, [f"{commit}:{'' if folder == '.' else folder}"])
    if kind != "tree":
        return
    entries = []
    for row in filter(None, _git(top, "ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")):
        head, _, path = row.partition(b"\t")
        mode, _, identity = head.decode().split()
        if mode in (FILE, PROGRAM, LINK):
            entries.append((mode, identity, os.fsdecode(path)))
    links: list[tuple[Path, str]] = []
    found = _objects(top, [identity for _, identity, _ in entries])
    for (mode, identity, name), (_, kind, content) in zip(entries, found, strict=True):
        if {"", ".", ".."} & {*name.split("/")}:
            raise UsageError(f"revision {commit}: {name!a} is not the name of a file; the commit is damaged")
        if kind != "blob":
            raise UsageError(f"{top}: git cannot read the repository: object {identity} is missing; run 'git fsck'")
        file = out / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if mode == LINK:
            links.append((file, os.fsdecode(content)))
            continue
        file.write_bytes(content)
        file.chmod(0o755 if mode == PROGRAM else 0o644)
    for file, target in links:
        # The fabric file may name a file of this folder.
        file.unlink(missing_ok=True)
        file.symlink_to(target)
    # Where a link leads depends on the other ones: they are followed when all are there. The file of one that leads
    # out is missing then, and a finding.
    for file, _ in links:
        if not is_below(out, file):
            file.unlink()


def is_below(folder: Path, path: Path) -> bool:
    """Return whether a path leads to a place below a folder, all links followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _objects(top: Path, names: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
    """Yield the identity, kind and content of objects in the order of their names; empty for one that is not there."""
    given = b"".join(os.fsencode(f"{name}\n") for name in names)
    data = _git(top, "cat-file", "--batch", "--follow-symlinks", given=given)
    at = 0
    for _ in names:
        end = data.index(b"\n", at)
        words = data[at:end].decode("utf-8", "surrogateescape").split(" ")
        at = end + 1
        match words:
            case [*_, "missing" | "submodule"]:
                yield "", "", b""
            case [identity, kind, size]:
                yield identity, kind, data[at : at + int(size)]
                at += int(size) + 1
            case [_, size]:
                # A link without a target, or with one outside of the commit.
                yield "", "", b""
                at += int(size) + 1
