"""The file that keeps a built schema: numbered blocks of JSON, each read when it is needed.

    ailb-gen junos schema 2 <hash of all that follows>
    [length of block 0, length of block 1, …]
    block 0, block 1, …

JSON can be read without trusting its writer, and reading a block costs what the block is long.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

from ailb_gen.errors import OutputError
from ailb_gen.junos.statements import Json

# Raise it when the format, or what the builder makes of the models, changes.
FORMAT = 2
_MAGIC = f"ailb-gen junos schema {FORMAT} ".encode()


def digest(files: Iterable[tuple[str, bytes]]) -> str:
    """Return the name of what is built from files: it changes with their names and contents and with the format."""
    whole = blake2b(_MAGIC, digest_size=16)
    for name, content in files:
        whole.update(f"{name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()


class Blocks:
    """The blocks of a file; `blocks[n]` decodes one."""

    def __init__(self, body: bytes, ends: Sequence[int], start: int) -> None:
        self._body = body
        self._ends = ends
        self._start = start

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> Json:
        return json.loads(self._body[self._start + self._ends[number] : self._start + self._ends[number + 1]])


def encode(blocks: Iterable[Json]) -> bytes:
    """Return the content of a cache file."""
    encoded = [json.dumps(block, separators=(",", ":"), ensure_ascii=False).encode() for block in blocks]
    body = json.dumps([len(block) for block in encoded]).encode() + b"\n" + b"".join(encoded)
    return _MAGIC + blake2b(body, digest_size=16).hexdigest().encode() + b"\n" + body


def decode(content: bytes) -> Blocks | None:
    """Return the blocks of a cache file, None for anything that `encode` did not write in this format."""
    head, _, body = content.partition(b"\n")
    if head != _MAGIC + blake2b(body, digest_size=16).hexdigest().encode():
        return None
    lengths, _, _ = body.partition(b"\n")
    return Blocks(body, [0, *accumulate(json.loads(lengths))], len(lengths) + 1)


def read(path: Path) -> Blocks | None:
    """Return what a cache file holds, None when there is none or it is damaged. Raises OutputError."""
    try:
        return decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"{path}: the cached schema cannot be read: {error.strerror}; set XDG_CACHE_HOME") from error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process builds the same file; make its folder. Raises OutputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise OutputError(
            f"{error.filename or path}: the schema cannot be cached: {error.strerror}; set XDG_CACHE_HOME"
        ) from error
