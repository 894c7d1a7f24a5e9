"""Requirements of a lab: programs of Debian's packages, and namespaces."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ailb_gen.errors import LabError
from ailb_gen.programs import program, search_path

# The package of every program. Those that are not always needed are for some verbs.
PACKAGES = {
    "bird": "bird2",
    "ip": "iproute2",
    "nft": "nftables",
    "netplan": "netplan.io",
    "sshd": "openssh-server",
    "unshare": "util-linux",
    "nsenter": "util-linux",
}
ALWAYS = ("bird", "ip")


def require(names: Iterable[str] = ALWAYS) -> None:
    """Raise LabError for programs that are not installed, with the command that installs them."""
    absent = [name for name in names if program(name) is None]
    if absent:
        packages = " ".join(PACKAGES[name] for name in absent)
        raise LabError(f"not installed: {', '.join(absent)}; install with: sudo apt install {packages}")


def located(name: str) -> str:
    """Return the path by which a program is started. Raises LabError if it is not installed."""
    found = program(name)
    if found is None:
        hint = f"; install with: sudo apt install {PACKAGES[name]}" if name in PACKAGES else ""
        raise LabError(f"not installed: {name}{hint}")
    return found


def environment() -> dict[str, str]:
    """Return the environment of programs of a lab: they find the others that only root's PATH leads to."""
    return {**os.environ, "PATH": search_path()}
