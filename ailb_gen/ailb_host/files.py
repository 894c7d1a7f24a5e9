"""Files that the kernel and ailb-gen have on a server, below a root directory that tests choose."""

from __future__ import annotations

import ipaddress
import json
import os
from typing import Any, NamedTuple

HOST_FILE = "etc/ailb/host.json"
FORMAT = 1
ENVIRONMENT_FILE = "etc/ailb/nccl.env"
# The variable that names one GID for all NICs.
INDEX = "UCX_IB_GID_INDEX"


class HostError(Exception):
    """Something keeps the program from an answer: what, and what to do about it. Exit code 3."""


class PlannedColor(NamedTuple):
    """A color of a NIC: its prefix, the gateway, the routing table of the server, and the priority of its rule."""

    name: str
    prefix: ipaddress.IPv6Network
    gateway: ipaddress.IPv6Address
    table: int
    priority: int


class PlannedNic(NamedTuple):
    """A NIC as the fabric file has it; `mac` is empty where it does not name one.

    `rail` counts from 0; `dscp` is that of RoCE data, 0 without RoCE.
    """

    name: str
    rdma: str
    rail: int
    dscp: int
    mac: str
    mtu: int
    colors: tuple[PlannedColor, ...]


class PlannedServer(NamedTuple):
    """A server as the fabric file has it; `environment` holds values as they stand in the file, quoted for a shell."""

    fabric: str
    nics: tuple[PlannedNic, ...]
    environment: dict[str, str]

    def color_of(self, address: ipaddress.IPv6Address) -> str:
        """Return the color of an address of any NIC; empty when it has none."""
        found = (color.name for nic in self.nics for color in nic.colors if address in color.prefix)
        return next(found, "")


def read_text(root: str, path: str) -> str | None:
    """Return a file's text without the blanks around it; None when it cannot be read, as many of sysfs cannot."""
    try:
        # Unbuffered: tables of GIDs are thousands of files, and a text file costs five times as much.
        with open(f"{root}/{path}", "rb", 0) as file:
            return os.fsdecode(file.read()).strip()
    except OSError:
        return None


def whole(text: str | None) -> int | None:
    """Return a number of up to 64 bits; None when the text is none."""
    return int(text) if text is not None and text.isdecimal() and len(text) <= 20 else None


def names(root: str, path: str) -> list[str]:
    """Return the sorted entries of a directory, numbers by their value; none when there is no directory."""
    try:
        return sorted(os.listdir(os.path.join(root, path)), key=lambda name: (len(name) if name.isdigit() else 0, name))
    except OSError:
        return []


def load_host(root: str) -> PlannedServer:
    """Read the server's part of the fabric file. Raises HostError."""
    path = os.path.join(root, HOST_FILE)
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if data["format"] != FORMAT:
            reason = f"{path}: format {data['format']}, and this program reads {FORMAT}"
            raise HostError(f"{reason}; push the server's files again")
        nics = tuple(_nic(row) for row in data["nics"])
        return PlannedServer(word(data["fabric"]), nics, read_environment(root))
    except FileNotFoundError:
        raise HostError(f"{path}: there is no such file; push the server's files: ailb-gen deploy") from None
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise HostError(f"{path}: not a file of ailb-gen ({what}); push the server's files again") from error


def read_environment(root: str) -> dict[str, str]:
    """Return the variables of jobs on this server; none without the file."""
    lines = (read_text(root, ENVIRONMENT_FILE) or "").splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value for name, value in pairs}


def _nic(row: dict[str, Any]) -> PlannedNic:
    colors = tuple(
        PlannedColor(
            word(one["name"]),
            ipaddress.IPv6Network(one["prefix"]),
            ipaddress.IPv6Address(one["gateway"]),
            int(one["table"]),
            int(one["priority"]),
        )
        for one in row["colors"]
    )
    rail, dscp = int(row["rail"]), int(row["dscp"] or 0)
    name, rdma, mac = word(row["name"]), word(row["rdma"]), word(row["mac"])
    return PlannedNic(name, rdma, rail, dscp, mac, int(row["mtu"]), colors)


def word(value: object) -> str:
    """Return text that a terminal can show. Raises TypeError."""
    if not isinstance(value, str) or not value.isprintable():
        raise TypeError(f"{value!r} is not a name")
    return value


def slaac_address(prefix: ipaddress.IPv6Network, mac: str) -> ipaddress.IPv6Address:
    """Return the address that a NIC gives itself in a prefix (RFC 4291, appendix A). Raises ValueError for no MAC."""
    octets = bytearray(bytes.fromhex(mac.replace(":", "")))
    if len(octets) != 6:
        raise ValueError(mac)
    octets[0] ^= 2
    suffix = bytes(octets[:3]) + b"\xff\xfe" + bytes(octets[3:])
    return prefix.network_address + int.from_bytes(suffix, "big")
