"""Names of Junos releases and of images, and an image on this machine.

Source: Juniper, "Junos OS Release Numbers"; the names of images on Juniper's download pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ailb_gen.errors import UsageError

# 24.4R1-EVO, 24.4R1.8-EVO, 23.4R2-S3.11: the number behind the last dot counts builds of a release.
RELEASE = r"[0-9]{2}\.[0-9](?:R|X|B|F)[0-9]+(?:-[SD][0-9]+)?(?:\.[0-9]+)?(?:-EVO)?"
PARTS = re.compile(r"(?P<base>[0-9]{2}\.[0-9](?:R|X|B|F)[0-9]+(?:-[SD][0-9]+)?)(?:\.(?P<build>[0-9]+))?(?P<evo>-EVO)?")
# `junos-evo-install-qfx-ms-x86-64-24.4R1.8-EVO.iso`: the family, the release.
PACKAGE = re.compile(rf"(?P<family>[a-z][a-z0-9-]*?)-(?P<release>{RELEASE})(?:-[a-z-]+)?(?:\.iso|\.tgz)?")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
DIGEST = re.compile(r"[0-9a-f]{64}")
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Image:
    """A file with software: its size in bytes, its SHA-256 in hexadecimal, the release that is in it.

    `family` is the part of its name in front of the release, empty where the name has none.
    """

    path: Path
    size: int
    sha256: str
    release: str
    family: str

    @property
    def name(self) -> str:
        """The name of the file, here and on the device."""
        return self.path.name


def same_release(expected: str, found: str) -> bool:
    """Return whether a device runs a release; one without the number of its build is meant with any."""
    if expected == found:
        return True
    wanted, there = PARTS.fullmatch(expected), PARTS.fullmatch(found)
    if wanted is None or there is None:
        return False
    same = (wanted["base"], wanted["evo"]) == (there["base"], there["evo"])
    return same and wanted["build"] in (None, there["build"])


def is_evolved(release: str) -> bool:
    """Return whether a release is one of Junos OS Evolved, which is another system than Junos OS."""
    return release.endswith("-EVO")


def package_of(name: str) -> tuple[str, str]:
    """Return the family and the release that a package, or an image, has by its name; empty where it has none."""
    found = PACKAGE.fullmatch(name)
    return (found["family"], found["release"]) if found is not None else ("", "")


def read_image(path: Path, digest: str, release: str, advance: Callable[[int], None] = lambda count: None) -> Image:
    """Read an image and compute its digest. An empty `digest` is not compared; an empty `release` is the name's.

    Raises UsageError: the file cannot be read, or is not what is given.
    """
    family, named = package_of(path.name)
    if not NAME.fullmatch(path.name):
        raise UsageError(f"{path}: a device takes only letters, digits, '.', '_' and '-' in the name; rename the file")
    if release and not PARTS.fullmatch(release):
        raise UsageError(f"--release {release}: this is no Junos release; write it as 24.4R1-EVO or 24.4R1.8-EVO")
    if not release and not named:
        raise UsageError(f"{path}: the name has no release; give it with --release, as 24.4R1-EVO")
    if release and named and not same_release(release, named):
        raise UsageError(f"{path}: by its name this is {named}, and --release is {release}; correct one of them")
    expected = digest.lower()
    if expected and not DIGEST.fullmatch(expected):
        raise UsageError(f"--sha256 {digest}: a SHA-256 has 64 hexadecimal digits")
    size, found = _digest(path, advance)
    if not size:
        raise UsageError(f"{path}: the file is empty; download it again")
    if expected and found != expected:
        raise UsageError(f"{path}: its SHA-256 is {found}, and --sha256 is {expected}; download it again")
    return Image(path, size, found, release or named, family)


def _digest(path: Path, advance: Callable[[int], None]) -> tuple[int, str]:
    """Return size and SHA-256 of a file. Raises UsageError."""
    size, digest = 0, sha256()
    try:
        with path.open("rb") as file:
            while data := file.read(CHUNK):
                size += len(data)
                digest.update(data)
                advance(len(data))
    except OSError as error:
        raise UsageError(f"{path}: the image cannot be read: {error.strerror}; check the path") from error
    return size, digest.hexdigest()
