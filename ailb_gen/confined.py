"""Writing many files into one directory, and nowhere else.

Every folder on the way is opened by its name in the one before it and never through a link (openat(2), O_NOFOLLOW), so
neither a name nor a link that is made meanwhile leads out. Only their owner can read the files: 0600 in 0700.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def private_directory(path: Path) -> Iterator[int]:
    """Yield a descriptor of a directory, made with mode 0700 if it is not there. Raises OSError."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    # The directory itself may be a link: the user has named it.
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_below(directory: int, name: str, data: bytes, executable: bool = False) -> None:
    """Write a file below an open directory, in one step; its folders are made if they are not there.

    Only the owner can run an executable file.

    Raises OSError: ENOTDIR or ELOOP where a link or a file stands in place of a folder, EISDIR for a folder in place of
    the file; ValueError for a name that is not relative and plain.
    """
    with _opened(directory, name, make=True) as (folders, last):
        _replace(folders[-1], last, data, 0o700 if executable else 0o600)


@contextmanager
def _opened(directory: int, name: str, make: bool) -> Iterator[tuple[list[int], str]]:
    """Yield descriptors of the folders on the way to a file, the given one first, and the file's own name."""
    *folders, last = parts_of(name)
    with ExitStack() as stack:
        opened = [directory]
        for folder in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700, dir_fd=opened[-1])
            opened.append(os.open(folder, FOLDER, dir_fd=opened[-1]))
            stack.callback(os.close, opened[-1])
        yield opened, last


def parts_of(name: str) -> list[str]:
    """Return the parts of a relative name. Raises ValueError for any other, and for control characters."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or not name.isprintable():
        raise ValueError(f"{name!a} is not a plain name below a directory")
    return parts


def remove_below(directory: int, name: str) -> None:
    """Remove a file below an open directory, and its folders as far as they are empty then. Raises as write_below."""
    try:
        with _opened(directory, name, make=False) as (opened, last):
            os.unlink(last, dir_fd=opened[-1])
            for folder, above in zip(reversed(parts_of(name)[:-1]), reversed(opened[:-1]), strict=True):
                os.rmdir(folder, dir_fd=above)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise


def _replace(folder: int, name: str, data: bytes, mode: int) -> None:
    """Put data into a file of a folder; what stood there, a link too, gives way."""
    beside = f".{name[:80]}.{secrets.token_hex(8)}"
    descriptor = os.open(beside, NEW_FILE, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)
        raise
