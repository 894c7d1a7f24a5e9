"""The software of an emulated device: the releases that it has, the files that were copied to it, and installing one.

Of a copied file only its size and its digests are kept. Which release is in an image is read from its name, as
Juniper names images of Junos OS Evolved.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PACKAGE = "junos-evo-install-qfx-ms-x86-64-"
IMAGE = re.compile(rf"{PACKAGE}(?P<release>[0-9]{{2}}\.[0-9][0-9A-Za-z.-]*-EVO)\.iso")
# Where images are copied to, and what fits there, in KiB: 45 GiB are free.
DIRECTORY = "/var/tmp"  # noqa: S108 - of the emulated device
TOTAL_KIB, USED_KIB = 49152000, 1966080


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file on the device: its size in bytes, its digests by algorithm."""

    size: int
    digests: Mapping[str, str] = field(default_factory=dict)


class Software:
    """The releases of a device: the one that runs, the one that boots next, all with the time of their installation."""

    def __init__(self, release: str, when: float) -> None:
        self.running = self.following = release
        self.installed = {release: when}
        self.files: dict[str, CopiedFile] = {}
        # A fault: the next package is refused.
        self.refusing = False

    @property
    def used_kib(self) -> int:
        """What is used of the file system that files are copied to."""
        return min(USED_KIB + sum(-(-file.size // 1024) for file in self.files.values()), TOTAL_KIB)

    @property
    def free_bytes(self) -> int:
        """What is free there."""
        return (TOTAL_KIB - self.used_kib) * 1024

    def install(self, path: str, when: float) -> str:
        """Install an image, to boot next; return what is wrong with it, empty for nothing."""
        if path not in self.files:
            return f"ERROR: package: {path} is not found or empty"
        name = posixpath.basename(path)
        found, refused = IMAGE.fullmatch(name), self.refusing
        self.refusing = False
        if found is None or refused:
            return f"ERROR: {name} is not a valid package for this platform"
        self.following = found["release"]
        self.installed[self.following] = when
        return ""

    def boot(self) -> None:
        """Run the release that was to boot next."""
        self.running = self.following

    def mark(self, release: str) -> str:
        """Return the sign that `show system software list` has in front of a release."""
        if release == self.running:
            return "-"
        return ">" if release == self.following else " "
