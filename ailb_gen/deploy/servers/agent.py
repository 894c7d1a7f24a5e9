"""The script on the host, and how it is called: as one text on the standard input of a shell.

The command on the host is always `sh -s`: no argument, no file and no secret shows in a list of processes or in
sudo's log. The call stands in braces, so that a text that was cut off is a syntax error, and nothing of it runs.
"""

import base64
import hashlib
import io
import re
import shlex
import tarfile
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from stat import S_IMODE

from ailb_gen.deploy.servers.model import HostFile

PARTS = ("common", "runs", "network", "files", "probe", "verbs")
RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")
END = "AILB_END_OF_DATA"


@cache
def script() -> str:
    """Return the functions of the script, without a call."""
    folder = files("ailb_gen.deploy.servers") / "host"
    return "\n".join((folder / f"{part}.sh").read_text(encoding="utf-8") for part in PARTS)


def call(verb: str, *words: str, data: str = "") -> str:
    """Return the text that makes a host do something; `data` is what the verb reads from its standard input."""
    arguments = " ".join(map(shlex.quote, (verb, *words)))
    return f"{script()}\n{{\nmain {arguments} <<'{END}'\n{data.rstrip()}\n{END}\nexit\n}}\n"


def pack(tree: Mapping[str, HostFile]) -> tuple[str, str]:
    """Return the files of a run for `apply`, a tar archive in base64, and the digest of its list of files."""
    listing = "".join(f"{file.digest} {path}\n" for path, file in sorted(tree.items())).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        _add(archive, "agent", f'{script()}\nmain "$@"\n'.encode(), 0o700)
        _add(archive, "wanted", listing, 0o600)
        for path, file in sorted(tree.items()):
            if file.is_link:
                member = tarfile.TarInfo(f"tree/{path}")
                member.type, member.linkname = tarfile.SYMTYPE, file.content.decode()
                archive.addfile(member)
            else:
                _add(archive, f"tree/{path}", file.content, S_IMODE(file.mode))
    return base64.encodebytes(buffer.getvalue()).decode(), hashlib.sha256(listing).hexdigest()


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), mode
    archive.addfile(member, io.BytesIO(content))
