"""Writes a tree as a whole: the new tree is built beside the old one and takes its place in one step.

Files that stay the same are hard links to the old ones, so they keep their modification time. A crash at any
moment leaves the old tree or the new one, never a mixture.
"""

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ailb_gen.errors import OutputError
from ailb_gen.render.artifacts import LINK, Tree
from ailb_gen.render.compare import Changes

AT_FDCWD = -100
RENAME_EXCHANGE = 2
NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)
NO_LINK = (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV)


def check_target(out: Path) -> Path:
    """Return the real path of the output directory. Raises OutputError if it cannot be replaced as a whole."""
    try:
        target = out.resolve()
        exists, is_folder = target.exists(), target.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"{str(out)[:200]}: not a usable output directory: {reason}") from error
    if exists and not is_folder:
        raise OutputError(f"{out}: the output must be a directory, this is a file")
    if target == Path.cwd() or target in Path.cwd().parents:
        reason = "the output directory is replaced as a whole and must not be, or hold, the current directory"
        raise OutputError(f"{out}: {reason}; run the command from elsewhere, or choose a subdirectory")
    if os.path.ismount(target):
        raise OutputError(f"{out}: a mount point cannot be replaced as a whole; choose a directory inside it")
    return target


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _sync(folder: Path) -> None:
    """Bring everything written below `folder` to disk before the swap makes it visible."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _libc().syncfs(descriptor)
    finally:
        os.close(descriptor)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two directories atomically; False when this kernel or file system cannot."""
    done: int = _libc().renameat2(
        AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), ctypes.c_uint(RENAME_EXCHANGE)
    )
    if done == 0:
        return True
    number = ctypes.get_errno()
    if number in NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _keep(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINK:
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def _carry_over(old: Path, stage: Path, dropped: set[str]) -> None:
    """Link everything of the old tree that is neither rewritten nor deleted into the stage."""
    root = str(old)
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root)
        prefix = "" if relative == "." else f"{relative}/"
        links = [name for name in folders if os.path.islink(f"{folder}/{name}")]
        kept = [name for name in (*files, *links) if f"{prefix}{name}" not in dropped]
        if kept or not (files or folders):
            os.makedirs(stage / relative, exist_ok=True)
        for name in kept:
            _keep(f"{folder}/{name}", f"{stage}/{prefix}{name}")


def _make_folder(folder: str, made: set[str]) -> None:
    if folder not in made:
        _make_folder(folder.rpartition("/")[0], made)
        with suppress(FileExistsError):
            os.mkdir(folder)
        made.add(folder)


def _write_files(stage: Path, tree: Tree, paths: list[str]) -> None:
    """Write the files; plain system calls, because a large fabric has tens of thousands of them."""
    made = {str(stage)}
    for path in paths:
        name = f"{stage}/{path}"
        _make_folder(name.rpartition("/")[0], made)
        artifact = tree[path]
        if artifact.mode == LINK:
            os.symlink(os.fsdecode(artifact.content), name)
            continue
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, artifact.mode)
        try:
            rest = memoryview(artifact.content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock on the parent folder, so that two runs do not swap the same tree at once."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _old_name(target: Path) -> Path:
    return target.parent / f".{target.name}.ailb-old"


def _stage_name(target: Path) -> Path:
    return target.parent / f".{target.name}.ailb-new"


def _recover(target: Path) -> None:
    """Clean up after a run that was killed: its stage goes, and an old tree that was moved aside comes back."""
    old = _old_name(target)
    if old.exists() and not target.exists():
        old.rename(target)
    for leftover in (old, _stage_name(target)):
        if leftover.exists():
            shutil.rmtree(leftover)


def _swap(stage: Path, target: Path) -> None:
    if not target.exists():
        stage.rename(target)
        return
    if _exchange(stage, target):
        shutil.rmtree(stage)
        return
    # Without an atomic exchange there is a moment without a tree; `_recover` ends it after a crash.
    old = _old_name(target)
    target.rename(old)
    stage.rename(target)
    shutil.rmtree(old)


def recover(target: Path) -> None:
    """Bring back or finish what a killed run left. Raises OutputError."""
    if not target.parent.is_dir():
        return
    try:
        with _locked(target.parent):
            _recover(target)
    except OSError as error:
        raise OutputError(f"{target}: cannot clean up after an earlier run: {error}") from error


def write(target: Path, tree: Tree, changes: Changes) -> None:
    """Make the directory `target` hold `tree`, together with whatever else was in it.

    Raises OutputError, with the old tree untouched, when the disk is full, read-only, and so on.
    """
    if not changes:
        return
    stage = _stage_name(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.parent):
            try:
                _recover(target)
                stage.mkdir()
                if target.exists():
                    shutil.copymode(target, stage)
                    _carry_over(target, stage, {*changes.changed, *changes.deleted, *changes.new})
                _write_files(stage, tree, [*changes.new, *changes.changed])
                _sync(stage)
                _swap(stage, target)
            finally:
                if stage.exists():
                    shutil.rmtree(stage, ignore_errors=True)
    except OSError as error:
        where = error.filename or target
        reason = f"{error.strerror or error}; the old tree is as it was"
        raise OutputError(f"{where}: cannot write the output: {reason}") from error
