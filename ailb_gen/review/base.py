"""The fabric before a change: the files of a git revision, as they were committed.

Files are read from git's objects, without filters, hooks and attributes, which a repository could set. Links are made
last, and only those to places inside stay, so that no file is written or read elsewhere.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ailb_gen.errors import UsageError
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
    """Yield the fabric as of a git revision, in a temporary directory. Raises UsageError."""
    top = Path(os.path.realpath(os.fsdecode(_git(fabric.parent, "rev-parse", "--show-toplevel").rstrip(b"\n"))))
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    commit = _git(top, *words, failure=name).decode().strip()
    inside = [_inside(top, path) for path in (fabric, artifacts)]
    # The fabric file may be a link to another folder, which has the files that it names.
    target = Path(os.path.realpath(fabric))
    linked = {posixpath.dirname(_inside(top, target))} if target.is_relative_to(top) else set()
    folders = sorted({posixpath.dirname(inside[0]), inside[1], *linked})
    with TemporaryDirectory(prefix="ailb-gen-") as temporary:
        folder = Path(temporary)
        _extract(top, commit, folders, folder)
        yield BaseFiles(name, folder / inside[0], folder / inside[1], folder)


def _inside(top: Path, path: Path) -> str:
    """Return a path relative to the top of the repository; its last part may be a link."""
    parent = Path(os.path.realpath(path.parent))
    try:
        return (parent / path.name).relative_to(top).as_posix()
    except ValueError as error:
        raise UsageError(f"{path}: it is outside of the git repository {top}; name both trees with --before") from error


def _git(folder: Path, *words: str, given: bytes = b"", failure: str | None = None) -> bytes:
    """Return the output of a command of git; `failure` is the revision that it looks up. Raises UsageError."""
    git = program("git")
    if git is None:
        raise UsageError("git is not installed; install it, or name the files before the change with --before")
    # Paths are no patterns, and nobody is asked for a password.
    env = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    env |= {"GIT_LITERAL_PATHSPECS": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    words = (*SETTINGS, "-C", str(folder), *words)
    done = subprocess.run([git, *words], input=given, capture_output=True, env=env, check=False)
    if done.returncode:
        told = done.stderr.decode("utf-8", "backslashreplace").strip()[:QUOTED]
        if failure is not None:
            raise UsageError(f"--base {failure!a}: no commit of this repository; {told or FETCH}")
        raise UsageError(f"{folder}: git cannot read the repository: {told}")
    return done.stdout


def _extract(top: Path, commit: str, folders: Sequence[str], out: Path) -> None:
    """Write the files of some folders of a commit below `out`. Raises UsageError for names that lead outside."""
    paths = () if "" in folders else tuple(folders)
    rows = _git(top, "ls-tree", "-r", "-z", "--full-tree", commit, *(("--", *paths) if paths else ()))
    entries = []
    for row in filter(None, rows.split(b"\0")):
        head, _, path = row.partition(b"\t")
        mode, _, identity = head.decode().split()
        if mode in (FILE, PROGRAM, LINK):
            entries.append((mode, identity, os.fsdecode(path)))
    contents = _blobs(top, [identity for _, identity, _ in entries])
    links: list[tuple[Path, str]] = []
    try:
        for (mode, _, name), content in zip(entries, contents, strict=True):
            if {"", ".", ".."} & {*name.split("/")}:
                raise UsageError(f"--base {commit}: {name!a} is not the name of a file; the commit is damaged")
            file = out / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if mode == LINK:
                links.append((file, os.fsdecode(content)))
                continue
            file.write_bytes(content)
            file.chmod(0o755 if mode == PROGRAM else 0o644)
        for file, target in links:
            file.symlink_to(target)
        # Where a link leads depends on the other ones: they are followed when all are there. The file of one that leads
        # out is missing then, and a finding.
        for file, _ in links:
            if not is_below(out, file):
                file.unlink()
    except OSError as error:
        raise UsageError(f"--base {commit}: its files cannot be written below {out}: {error.strerror}") from error


def is_below(folder: Path, path: Path) -> bool:
    """Return whether a path leads to a place below a folder, all links followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _blobs(top: Path, identities: Sequence[str]) -> Iterator[bytes]:
    """Yield the contents of objects in the order of their names."""
    data = _git(top, "cat-file", "--batch", given="".join(f"{identity}\n" for identity in identities).encode())
    at = 0
    for _ in identities:
        end = data.index(b"\n", at)
        name, kind, *sizes = data[at:end].decode().split()
        if not sizes:
            raise UsageError(f"{top}: git cannot read the repository: object {name} is {kind}; run 'git fsck'")
        size = int(sizes[0])
        yield data[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
