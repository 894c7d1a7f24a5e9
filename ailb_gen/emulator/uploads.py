"""Files that are copied to a device over SCP, with the faults of copying. Nothing is written on this machine."""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
import stat
from dataclasses import dataclass, field
from hashlib import md5, sha1, sha256
from typing import Any, cast

import asyncssh

from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.host import DeviceHost
from ailb_gen.emulator.software import DIRECTORY, CopiedFile

ALGORITHMS = {"md5": md5, "sha1": sha1, "sha-256": sha256}


@dataclass(slots=True)
class _Upload:
    """A file while it comes: its digests so far."""

    path: str
    faults: dict[str, Fault]
    size: int = 0
    hashes: dict[str, Any] = field(default_factory=lambda: {name: made() for name, made in ALGORITHMS.items()})


class Uploads(asyncssh.SFTPServer):
    """The file system that SCP sees: one directory, into which files can be written."""

    def __init__(self, host: DeviceHost, channel: asyncssh.SSHServerChannel[bytes]) -> None:
        super().__init__(channel)
        self._host, self._to = host, channel

    def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        """Return what a path is. Raises SFTPNoSuchFile."""
        name = posixpath.normpath(path.decode(errors="replace"))
        if name == DIRECTORY:
            return asyncssh.SFTPAttrs(type=asyncssh.FILEXFER_TYPE_DIRECTORY, permissions=stat.S_IFDIR | 0o1777)
        if name in self._host.device.software.files:
            return asyncssh.SFTPAttrs(type=asyncssh.FILEXFER_TYPE_REGULAR, permissions=stat.S_IFREG | 0o644)
        raise asyncssh.SFTPNoSuchFile(f"{name}: No such file or directory")

    async def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        """Begin to write a file. Raises SFTPPermissionDenied, ConnectionLost for a fault."""
        name = posixpath.normpath(path.decode(errors="replace"))
        if not pflags & asyncssh.FXF_WRITE or posixpath.dirname(name) != DIRECTORY:
            raise asyncssh.SFTPPermissionDenied(f"{name}: Permission denied")
        device = self._host.device
        upload = _Upload(name, {fault.kind: fault for fault in device.faults.take("copy")})
        # A file that is replaced is gone with the first byte.
        device.software.files.pop(name, None)
        if "slow" in upload.faults:
            await asyncio.sleep(upload.faults["slow"].lasts_s)
        self._drop(upload, "drop-before")
        return upload

    def write(self, file_obj: object, offset: int, data: bytes) -> int:
        """Take the next bytes. Raises OSError where the disk is full."""
        assert isinstance(file_obj, _Upload)  # noqa: S101 - what `open` returned
        full = "disk-full" in file_obj.faults
        if full or file_obj.size + len(data) > self._host.device.software.free_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        for one in file_obj.hashes.values():
            one.update(data)
        file_obj.size += len(data)
        return len(data)

    def close(self, file_obj: object) -> None:
        """Keep size and digests of the file, whole or not."""
        assert isinstance(file_obj, _Upload)  # noqa: S101 - what `open` returned
        if "damaged" in file_obj.faults:
            for one in file_obj.hashes.values():
                one.update(b"\0")
        digests = {name: one.hexdigest() for name, one in file_obj.hashes.items()}
        self._host.device.software.files[file_obj.path] = CopiedFile(file_obj.size, digests)
        self._drop(file_obj, "drop-after")

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        """Take times and modes, which nothing shows."""

    def _drop(self, upload: _Upload, kind: str) -> None:
        if kind in upload.faults:
            self._to.get_connection().abort()


def upload_session(host: DeviceHost) -> asyncssh.SSHServerSession[bytes]:
    """Return the session of a channel on which `scp` runs."""
    return asyncssh.stream.SSHServerStreamSession(
        None,
        lambda channel: Uploads(host, cast("asyncssh.SSHServerChannel[bytes]", channel)),
        sftp_version=3,
        allow_scp=True,
    )
