"""From the artifact directory to what a server gets: modes, the links that enable its services, nothing dubious."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from ailb_gen.deploy.servers.model import HostFile, Tree, link, plain
from ailb_gen.deploy.switch import DeviceError, Phase
from ailb_gen.hosts.model import Host
from ailb_gen.hosts.text import MAX_BYTES, ini

# Where files of a fabric may go on a server, and with which permissions. Netplan warns about files that others can
# read; version control keeps no more of a mode than whether the file can be executed.
PLACES = (("etc/netplan/", 0o600), ("usr/local/sbin/", 0o755), ("etc/", 0o644), ("usr/local/", 0o644))
PATH = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[A-Za-z0-9@._+:-]+(?:/[A-Za-z0-9@._+:-]+)+")
UNITS = "etc/systemd/system"
SERVICE = re.compile(rf"^{UNITS}/([^/]+\.service)$")


def files_of(root: Path, host: Host) -> Tree:
    """Read the files of a server below the artifact directory. Raises DeviceError for what cannot be pushed."""
    if host.profile.defects:
        defect = host.profile.defects[0]
        raise DeviceError(host.name, Phase.READ, f"{defect.place}: {defect.reason}", "run 'ailb-gen validate'")
    folder = root / host.profile.folder
    tree = {path: _file(host.name, folder, path) for path in sorted(_paths(host.name, folder))}
    if not tree:
        raise DeviceError(host.name, Phase.READ, f"{folder} holds no files", "generate the artifacts again")
    return {**tree, **dict(_enabled(tree))}


def _paths(name: str, folder: Path) -> Iterator[str]:
    """Yield the files of a folder, relative to it."""

    def fail(error: OSError) -> None:
        raise DeviceError(name, Phase.READ, f"{error.filename}: {error.strerror}") from error

    for at, _, files in os.walk(folder, onerror=fail):
        yield from (str((Path(at) / file).relative_to(folder)) for file in files)


def permissions(path: str) -> int | None:
    """Return the permissions of a file by its place on the server; None where no file of a fabric goes."""
    return next((mode for place, mode in PLACES if path.startswith(place)), None)


def _file(name: str, folder: Path, path: str) -> HostFile:
    mode = permissions(path)
    if mode is None or PATH.fullmatch(path) is None:
        places = ", ".join(place for place, _ in PLACES)
        reason = f"{folder / path!s}: this is not a file that is pushed"
        raise DeviceError(name, Phase.READ, reason, f"move it away: files go to {places}, with plain names")
    try:
        status = (folder / path).lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            reason = f"{folder / path!s}: only plain files of up to {MAX_BYTES >> 20} MiB are pushed"
            raise DeviceError(name, Phase.READ, reason, "move it away")
        return plain((folder / path).read_bytes(), mode)
    except OSError as error:
        raise DeviceError(name, Phase.READ, f"{folder / path!s}: {error.strerror or error}") from error


def _enabled(tree: Tree) -> Iterator[tuple[str, HostFile]]:
    """Yield the links that `systemctl enable` would make: so they are backed up and restored like any file."""
    for path, file in tree.items():
        found = SERVICE.match(path)
        if found is None:
            continue
        for setting in ini(file.content.decode("utf-8", "replace")):
            if (setting.section, setting.key) == ("Install", "WantedBy"):
                for target in str(setting.value).split():
                    yield f"{UNITS}/{target}.wants/{found[1]}", link(f"/{path}")
