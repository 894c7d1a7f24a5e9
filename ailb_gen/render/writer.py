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
from ailb_gen.manifest import manifest_bytes
from ailb_gen.render.artifacts import LINK, Tree
from ailb_gen.render.compare import Changes

# In the names of what is beside an output directory while it is written.
OWN = ".ailb-"
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
    syncfs = getattr(_libc(), "syncfs", None)
    if syncfs is None:
        # Not Linux.
        os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two directories atomically; False when this kernel or file system cannot."""
    # Not every C library has it (glibc since 2.28).
    rename = getattr(_libc(), "renameat2", None)
    if rename is None:
        return False
    names = (AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other))
    if rename(*names, ctypes.c_uint(RENAME_EXCHANGE)) == 0:
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


def _refuse(error: OSError) -> None:
    raise error


def _carry_over(old: Path, stage: Path, dropped: set[str]) -> list[tuple[str, Path]]:
    """Link everything of the old tree that is neither rewritten nor deleted into the stage.

    Returns all folders, old and new, for their modes to follow when nothing is written there any more.
    """
    root = str(old)
    seen = []
    for folder, folders, files in os.walk(root, onerror=_refuse):
        relative = os.path.relpath(folder, root)
        prefix = "" if relative == "." else f"{relative}/"
        links = [name for name in folders if os.path.islink(f"{folder}/{name}")]
        kept = [name for name in (*files, *links) if f"{prefix}{name}" not in dropped]
        if kept or not (files or folders):
            os.makedirs(stage / relative, exist_ok=True)
        seen.append((folder, stage / relative))
        for name in kept:
            _keep(f"{folder}/{name}", f"{stage}/{prefix}{name}")
    return seen


def _make_folder(folder: str, made: set[str]) -> None:
    if folder not in made:
        _make_folder(folder.rpartition("/")[0], made)
        with suppress(FileExistsError):
            os.mkdir(folder)
        made.add(folder)


def _link(target: bytes, name: str, made: dict[bytes, str]) -> None:
    """Make a symbolic link; one to a target that had one is another name of that one, which costs no new inode.

    Nobody can edit a link in place, so what happens to one name leaves the others alone.
    """
    if target in made:
        try:
            os.link(made[target], name, follow_symlinks=False)
        except OSError as error:
            if error.errno not in NO_LINK:
                raise
        else:
            return
    os.symlink(os.fsdecode(target), name)
    made[target] = name


def _write_files(stage: Path, tree: Tree, paths: list[str]) -> None:
    """Write the files; plain system calls, because a large fabric has tens of thousands of them."""
    made, links = {str(stage)}, dict[bytes, str]()
    for path in paths:
        name = f"{stage}/{path}"
        _make_folder(name.rpartition("/")[0], made)
        artifact = tree[path]
        if artifact.mode == LINK:
            try:
                _link(artifact.content, name, links)
            except FileExistsError as error:
                reason = "the directory would become a link, but has files that ailb-gen did not write; move them away"
                raise OutputError(f"{path}: {reason}") from error
            continue
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, artifact.mode)
        try:
            rest = memoryview(artifact.content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Hold the lock of an output directory: a file beside it, which goes when the lock does."""
    path = target.parent / f".{target.name}{OWN}lock"
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        # The holder before may have removed the file: then this lock is on a file without a name.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                break
        os.close(descriptor)
    try:
        yield
    finally:
        path.unlink()
        os.close(descriptor)


def _old_name(target: Path) -> Path:
    return target.parent / f".{target.name}{OWN}old"


def _stage_name(target: Path) -> Path:
    return target.parent / f".{target.name}{OWN}new"


def _recover(target: Path) -> None:
    """Clean up after a run that was killed: its stage goes, and an old tree that was moved aside comes back."""
    old = _old_name(target)
    if old.exists() and not target.exists():
        old.rename(target)
    for leftover in (old, _stage_name(target)):
        if leftover.exists():
            shutil.rmtree(leftover)


def _swap(stage: Path, target: Path) -> Path | None:
    """Replace the target by the stage; returns where the old tree is now."""
    if not target.exists():
        stage.rename(target)
        return None
    if _exchange(stage, target):
        return stage
    # Without an atomic exchange there is a moment without a tree; `_recover` ends it after a crash.
    old = _old_name(target)
    target.rename(old)
    stage.rename(target)
    return old


def recover(target: Path) -> None:
    """Bring back or finish what a killed run left. Raises OutputError."""
    if not (_old_name(target).exists() or _stage_name(target).exists()):
        return
    try:
        with _locked(target):
            _recover(target)
    except OSError as error:
        leftovers = f"{_stage_name(target).name} or {_old_name(target).name}"
        reason = f"cannot clean up after an earlier run: {error.strerror}; inspect and remove {leftovers}"
        raise OutputError(f"{target}: {reason}") from error


def _build(stage: Path, target: Path, tree: Tree, changes: Changes) -> None:
    stage.mkdir()
    folders = []
    if target.exists():
        folders = _carry_over(target, stage, {*changes.changed, *changes.deleted, *changes.new})
    _write_files(stage, tree, [*changes.new, *changes.changed])
    for old, new in reversed(folders):
        if new.is_dir():
            shutil.copymode(old, new)
    _sync(stage)


def write(target: Path, tree: Tree, changes: Changes, seen: bytes | None) -> None:
    """Write `tree` into the directory `target`; keep all other files in it.

    `seen` is the manifest that `changes` were computed against. Raises OutputError, with the old tree untouched, when
    the disk is full or read-only, or another run has written since.
    """
    if not changes:
        return
    stage = _stage_name(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target):
            _recover(target)
            if manifest_bytes(target) != seen:
                raise OutputError(f"{target}: another run has written this tree in the meantime; run the command again")
            try:
                _build(stage, target, tree, changes)
                old = _swap(stage, target)
            except BaseException:
                shutil.rmtree(stage, ignore_errors=True)
                raise
            _remove_old(old, target)
    except OSError as error:
        # Names of this program's own, beside the target or below it, say nothing to who chose the target.
        where = target if OWN in str(error.filename) else error.filename or target
        reason = f"{error.strerror or error}; the old tree is unchanged"
        raise OutputError(f"{where}: cannot write the output: {reason}") from error


def _remove_old(old: Path | None, target: Path) -> None:
    try:
        if old is not None:
            shutil.rmtree(old)
    except OSError as error:
        reason = f"the new tree is in place, but the old one cannot be removed: {error.strerror}"
        raise OutputError(f"{target}: {reason}; inspect and remove {old}") from error
