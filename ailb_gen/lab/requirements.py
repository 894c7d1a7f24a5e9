"""Requirements of a lab: programs of Debian's packages, and namespaces."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

from ailb_gen.errors import LabError

# Where distributions keep daemons; it is not in everybody's PATH.
SYSTEM = ("/usr/sbin", "/sbin", "/usr/local/sbin")
# The package of every program. The last ones only for some verbs.
PACKAGES = {"bird": "bird2", "ip": "iproute2", "nft": "nftables", "netplan": "netplan.io", "sshd": "openssh-server"}
ALWAYS = ("bird", "ip")


def program(name: str) -> str | None:
    """Return the path of a program, also where only root looks; None if it is not installed."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(SYSTEM))


def require(names: Iterable[str] = ALWAYS) -> None:
    """Raise LabError for programs that are not installed, with the command that installs them."""
    absent = [name for name in names if program(name) is None]
    if absent:
        packages = " ".join(PACKAGES[name] for name in absent)
        raise LabError(f"not installed: {', '.join(absent)}; install with: sudo apt install {packages}")
