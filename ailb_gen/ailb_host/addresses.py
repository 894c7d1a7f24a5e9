"""The addresses of this server by color, and those of others: `ailb-host addresses --json` prints them on each."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from .files import HostError, PlannedServer, read_text, word
from .gids import own_addresses

TABLE = "proc/net/if_inet6"
# Flags of addresses that are not to be sent from: temporary, duplicate, deprecated, tentative (linux/if_addr.h).
UNUSABLE = 0x01 | 0x08 | 0x20 | 0x40
MAX_CHARACTERS = 64 << 20


class ColorAddress(NamedTuple):
    """An address of a server: its NIC, the rail and the color."""

    nic: str
    rail: int
    color: str
    address: ipaddress.IPv6Address


class MissingAddress(NamedTuple):
    """A color of a NIC without an address that can be used."""

    server: str
    nic: str
    rail: int
    color: str

    def __str__(self) -> str:
        return f"{self.color}: {self.nic} of {self.server} has no usable address; check there: ailb-host gids"


class Peer(NamedTuple):
    """A server with its addresses, one per NIC and color, and colors that have none."""

    name: str
    addresses: tuple[ColorAddress, ...]
    missing: tuple[MissingAddress, ...]


class AddressPair(NamedTuple):
    """Two addresses of one color: of this server, and of the peer of that name."""

    source: ColorAddress
    peer: str
    target: ColorAddress


class Peers(NamedTuple):
    """A peers file: servers, names of switches by address, and spines by color."""

    servers: tuple[Peer, ...]
    switches: dict[ipaddress.IPv6Address, str]
    spines: dict[str, tuple[str, ...]]


def usable_addresses(root: str) -> dict[str, list[ipaddress.IPv6Address]]:
    """Return the addresses that the kernel sends from now, by interface. Raises HostError."""
    text = read_text(root, TABLE)
    if text is None:
        raise HostError(f"/{TABLE} cannot be read; switch IPv6 on: sysctl net.ipv6.conf.all.disable_ipv6=0")
    usable: dict[str, list[ipaddress.IPv6Address]] = {}
    # Names of interfaces are bytes, and may have what is a space or the end of a line to `str` only.
    for line in os.fsencode(text).split(b"\n"):
        if line:
            number, _, _, _, flags, name = line.split(None, 5)
            if not int(flags, 16) & UNUSABLE:
                usable.setdefault(os.fsdecode(name), []).append(ipaddress.IPv6Address(int(number, 16)))
    return usable


def this_server(host: PlannedServer, root: str) -> Peer:
    """Return this server with the addresses that it can send from now, in the order of the plan. Raises HostError."""
    usable, name, found, missing = usable_addresses(root), socket.gethostname(), [], []
    for nic in host.nics:
        from_mac = own_addresses(nic, root)
        for color in nic.colors:
            own = [address for address in usable.get(nic.name, ()) if address in color.prefix]
            if own:
                # Of several, jobs use the one from the MAC; `ailb-host gids` reports the others.
                best = min(own, key=lambda address: (address not in from_mac, address))
                found.append(ColorAddress(nic.name, nic.rail, color.name, best))
            else:
                missing.append(MissingAddress(name, nic.name, nic.rail, color.name))
    return Peer(name, tuple(found), tuple(missing))


def as_json(peer: Peer) -> dict[str, Any]:
    """Return a server as a peers file has it; the address is None where there is none."""
    rows: list[dict[str, Any]] = [{**one._asdict(), "address": str(one.address)} for one in peer.addresses]
    rows += [{"nic": one.nic, "rail": one.rail, "color": one.color, "address": None} for one in peer.missing]
    return {"server": peer.name, "addresses": rows}


def read_peers(file: str) -> Peers:
    """Read JSON objects, one after the other, from a file or for `-` from standard input. Raises HostError."""
    if file == "-" and sys.stdin.isatty():
        raise HostError("no peers: name a file with --peers, or pipe in what their 'ailb-host addresses --json' prints")
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            text = sys.stdin.read(MAX_CHARACTERS)
        else:
            with open(file, encoding="utf-8") as opened:
                text = opened.read(MAX_CHARACTERS)
        return _peers(text)
    except OSError as error:
        raise HostError(f"{name}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise HostError(
            f"{name}: not the output of 'ailb-host addresses --json' ({reason}); collect it again"
        ) from error


def _peers(text: str) -> Peers:
    result = Peers((), {}, {})
    servers: dict[str, Peer] = {}
    for row in _objects(text):
        if "server" in row:
            peer = _peer(row)
            if servers.setdefault(peer.name, peer) != peer:
                raise ValueError(f"{peer.name} is there twice, with different addresses")
        elif not {"switches", "spines"} & row.keys():
            raise ValueError("an object has neither 'server' nor 'switches' nor 'spines'")
        names = row.get("switches", {}).items()
        result.switches.update((ipaddress.IPv6Address(address), word(name)) for address, name in names)
        for color, spines in row.get("spines", {}).items():
            if not isinstance(spines, list):
                raise TypeError(f"the spines of {color} must be a list")
            result.spines[color] = tuple(word(name) for name in spines)
    return result._replace(servers=tuple(servers.values()))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        row, at = decoder.raw_decode(text, at)
        yield row


def _peer(row: dict[str, Any]) -> Peer:
    name, found, missing = word(row["server"]), [], []
    for one in row["addresses"]:
        nic, rail, color = word(one["nic"]), int(one["rail"]), word(one["color"])
        if one["address"] is None:
            missing.append(MissingAddress(name, nic, rail, color))
            continue
        address = ipaddress.IPv6Address(word(one["address"]))
        if address.is_multicast or address.is_link_local or address.is_unspecified or address.is_loopback:
            raise ValueError(f"{address} is not the address of a server")
        found.append(ColorAddress(nic, rail, color, address))
    return Peer(name, tuple(found), tuple(missing))
