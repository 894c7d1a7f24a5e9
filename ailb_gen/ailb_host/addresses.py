"""The addresses that a server has on its colors, and those of others, as `ailb-host addresses --json` prints them."""

from __future__ import annotations

import ipaddress
import json
import socket
import sys
from typing import Any, Iterator, NamedTuple

from .files import HostError, PlannedServer, read_text

TABLE = "proc/net/if_inet6"
# Flags of addresses that the kernel does not use as a source (linux/if_addr.h): duplicate, deprecated, tentative.
UNUSABLE = 0x08 | 0x20 | 0x40
MAX_BYTES = 64 << 20


class ColorAddress(NamedTuple):
    """An address of a server: its NIC, the rail of that, and the color."""

    nic: str
    rail: int
    color: str
    address: ipaddress.IPv6Address


class Peer(NamedTuple):
    """A server with its addresses."""

    name: str
    addresses: tuple[ColorAddress, ...]


def own(plan: PlannedServer, root: str) -> Peer:
    """Return this server with the addresses that it can send from now. Raises HostError."""
    text = read_text(root, TABLE)
    if text is None:
        raise HostError(f"/{TABLE} cannot be read; is IPv6 switched off?")
    nics = {nic.name: nic for nic in plan.nics}
    found = []
    for line in text.splitlines():
        number, _, _, _, flags, name = line.split()
        address = ipaddress.IPv6Address(int(number, 16))
        nic = nics.get(name)
        color = next((one.name for one in nic.colors if address in one.prefix), "") if nic is not None else ""
        if nic is not None and color and not int(flags, 16) & UNUSABLE:
            found.append(ColorAddress(name, nic.rail, color, address))
    return Peer(socket.gethostname(), tuple(sorted(found)))


def as_json(peer: Peer) -> dict[str, Any]:
    """Return a server as the file of peers has it."""
    rows = [{**one._asdict(), "address": str(one.address)} for one in peer.addresses]
    return {"server": peer.name, "addresses": rows}


def read_peers(file: str) -> list[Peer]:
    """Read servers from a file, or from standard input for `-`: JSON objects one after the other. Raises HostError."""
    try:
        if file == "-":
            text = sys.stdin.read(MAX_BYTES)
        else:
            with open(file, encoding="utf-8") as opened:
                text = opened.read(MAX_BYTES)
        return [_peer(row) for row in _objects(text)]
    except OSError as error:
        raise HostError(f"{file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise HostError(f"{file}: not what 'ailb-host addresses --json' prints ({what})") from error


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        row, at = decoder.raw_decode(text, at)
        yield row


def _peer(row: dict[str, Any]) -> Peer:
    rows = [
        ColorAddress(str(one["nic"]), int(one["rail"]), str(one["color"]), ipaddress.IPv6Address(one["address"]))
        for one in row["addresses"]
    ]
    return Peer(str(row["server"]), tuple(rows))
