"""Read the kernel state of a device: links, addresses, routes, rules and counters of its namespace.

Who waits for links and routes reads them ten times a second, and a program that prints all routes takes milliseconds:
`Kernels` reads them again only after the kernel has reported a change (rtnetlink(7)).
"""

from __future__ import annotations

import errno
import json
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ailb_gen.addresses import Prefix, address_value, interface_value
from ailb_gen.emulator.fabric_state import TrafficCounters
from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import inside, open_socket, output

MAIN = 254
# RTPROT_BIRD of linux/rtnetlink.h.
BIRD = 12
# The files of the namespace that the thread is in, not of that which the process started in.
FILES = Path("/proc/thread-self/net")
# RTMGRP_… of linux/rtnetlink.h.
LINKS, ADDRESSES, ROUTES = 0x1, 0x100, 0x400
MOST_BYTES = 65535
# IFA_F_… of linux/if_addr.h.
TENTATIVE, DUPLICATE = 0x40, 0x08
HOP = re.compile(r"(?:via (\S+) )?dev (\S+)(.*)")
RULE_KEYS = frozenset({"priority", "src", "srclen", "table", "protocol"})
# Kinds of routes that ip(8) writes in front of a destination, and that forward nothing.
KINDS = frozenset({"unreachable", "blackhole", "prohibit", "throw", "local", "anycast", "multicast", "broadcast"})


class KernelNextHop(NamedTuple):
    """A next hop: the link, and the address of the gateway; None on the link itself."""

    link: str
    gateway: int | None


# The next hops of every prefix of a table.
KernelRoutes = dict[Prefix, frozenset[KernelNextHop]]


@dataclass(frozen=True, slots=True)
class KernelLink:
    """A link: whether it is enabled and has carrier, the MTU without Ethernet header, the MAC address, the group.

    `bridge` is the bridge that it is a port of, empty for none.
    """

    name: str
    enabled: bool
    carrier: bool
    mtu: int
    mac: str
    group: int
    bridge: str = ""


@dataclass(frozen=True, slots=True)
class KernelAddress:
    """An IPv6 address of a link; a `duplicate` one lost its detection."""

    link: str
    value: int
    length: int
    tentative: bool
    duplicate: bool


@dataclass(frozen=True, slots=True)
class KernelRule:
    """A routing rule: packets from a prefix, ::/0 for all, use a table; `others` are further conditions."""

    priority: int
    source: Prefix
    table: int
    others: tuple[str, ...] = ()


def links(name: str) -> dict[str, KernelLink]:
    """Return the links of a device by name. Raises LabError."""
    return {
        entry["ifname"]: KernelLink(
            name=entry["ifname"],
            enabled="UP" in entry["flags"],
            carrier="LOWER_UP" in entry["flags"],
            mtu=entry["mtu"],
            mac=entry.get("address", ""),
            group=int(entry["group"]),
            bridge=entry.get("master", ""),
        )
        for entry in _json(name, "link", "show")
    }


def addresses(name: str) -> tuple[KernelAddress, ...]:
    """Return the IPv6 addresses of a device. Raises LabError."""
    found = []
    # See proc(5), /proc/net/if_inet6.
    for line in _file(name, "if_inet6"):
        value, _, length, _, flags, link = line.split()
        bits = int(flags, 16)
        tentative, duplicate = bool(bits & TENTATIVE), bool(bits & DUPLICATE)
        found.append(KernelAddress(link, int(value, 16), int(length, 16), tentative, duplicate))
    return tuple(found)


def counters(name: str) -> dict[str, TrafficCounters]:
    """Return the traffic of every link of a device. Raises LabError."""
    found = {}
    # See proc(5), /proc/net/dev: two lines of headings, eight columns for each direction.
    for line in _file(name, "dev")[2:]:
        link, _, rest = line.rpartition(":")
        numbers = [int(word) for word in rest.split()]
        found[link.strip()] = TrafficCounters(numbers[0], numbers[8], numbers[1], numbers[9])
    return found


def routes(name: str, table: int = MAIN, protocol: int | None = None) -> KernelRoutes:
    """Return the next hops that a device uses for every prefix of a table, or for those of a protocol.

    Next hops without carrier are not used; a prefix without any that is, or to be rejected, has none. A table without
    routes is empty. Raises LabError.
    """
    words = ["ip", "-6", "-o", "route", "show", "table", str(table)]
    try:
        text = output(name, [*words, *(["proto", str(protocol)] if protocol is not None else [])])
    except LabError as error:
        # The kernel makes a table with its first route.
        if "FIB table does not exist" in str(error):
            return {}
        raise
    return read_routes(text)


def read_routes(text: str) -> KernelRoutes:
    """Read the output of `ip -6 -o route`: of routes to one prefix those with the lowest metric count."""
    found: KernelRoutes = {}
    metrics: dict[Prefix, int] = {}
    known: dict[str, frozenset[KernelNextHop]] = {}
    for line in text.splitlines():
        head, *others = line.split("\\\tnexthop ")
        first, _, rest = head.partition(" ")
        rejected = first in KINDS
        destination = rest.partition(" ")[0] if rejected else first
        usable: frozenset[KernelNextHop] = frozenset()
        for part in () if rejected else others or (rest,):
            if part not in known:
                known[part] = _hops(part)
            usable |= known[part]
        prefix, metric = _prefix(destination), _metric(rest)
        if prefix not in found or metric < metrics[prefix]:
            found[prefix], metrics[prefix] = usable, metric
        elif metric == metrics[prefix]:
            found[prefix] |= usable
    return found


def _hops(text: str) -> frozenset[KernelNextHop]:
    """Read one next hop; none if the kernel does not use it."""
    words = HOP.search(text)
    if words is None or "dead" in words[3].split():
        return frozenset()
    return frozenset({KernelNextHop(words[2], address_value(words[1]) if words[1] else None)})


def _metric(text: str) -> int:
    words = text.split()
    return int(words[words.index("metric") + 1]) if "metric" in words else 0


def _prefix(text: str) -> Prefix:
    if text == "default":
        return Prefix(0, 0)
    found = interface_value(text if "/" in text else f"{text}/128")
    if found is None:
        raise LabError(f"ip route writes {text!r} instead of a prefix")
    return found[1]


def rules(name: str) -> tuple[KernelRule, ...]:
    """Return the IPv6 routing rules of a device, in order. Raises LabError."""
    found = []
    for entry in _json(name, "rule", "show"):
        source = _prefix("default" if entry["src"] == "all" else f"{entry['src']}/{entry.get('srclen', 128)}")
        others = tuple(f"{key} {value}" for key, value in entry.items() if key not in RULE_KEYS)
        found.append(KernelRule(entry["priority"], source, int(entry.get("table", 0)), others))
    return tuple(found)


def _json(name: str, *words: str) -> list[Any]:
    text = output(name, ("ip", "-6", "-N", "-j", *words))
    # ip(8) leaves empty objects where it leaves out an entry.
    return [entry for entry in json.loads(text or "[]") if entry]


def _file(name: str, file: str) -> list[str]:
    with inside(name):
        try:
            return (FILES / file).read_text(encoding="ascii").splitlines()
        except OSError as error:
            raise LabError(f"{name}: {FILES / file} cannot be read: {error.strerror}") from error


def subscribe(name: str, groups: int) -> socket.socket:
    """Return a socket by which the kernel of a device reports changes. Raises LabError."""
    made = open_socket(name, socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    made.bind((0, groups))
    return made


def drain(changes: socket.socket) -> bool:
    """Take everything from such a socket; returns whether there was something. Raises LabError."""
    found = False
    while True:
        try:
            changes.recv(MOST_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return found
        except OSError as error:
            # More than fits; that there were some is all that counts.
            if error.errno != errno.ENOBUFS:
                raise LabError(f"changes in the kernel cannot be received: {error.strerror}") from error
        found = True


class Kernels:
    """The links of devices, and the routes that BIRD gave them. Methods raise LabError.

    Threads may ask at once, but not about the same device.
    """

    def __init__(self) -> None:
        self._changes: dict[str, socket.socket] = {}
        self._changing: set[str] = set()
        self._links: dict[str, Mapping[str, KernelLink]] = {}
        self._routes: dict[str, KernelRoutes] = {}

    def links(self, name: str) -> Mapping[str, KernelLink]:
        """Return the links of a device by name."""
        self._forget_changed(name)
        if name not in self._links:
            self._links[name] = links(name)
        return self._links[name]

    def routes(self, name: str) -> KernelRoutes:
        """Return the next hops that a device uses for BIRD's prefixes, as `kernel.routes` does."""
        self._forget_changed(name)
        if name not in self._routes:
            self._routes[name] = routes(name, protocol=BIRD)
        return self._routes[name]

    def _forget_changed(self, name: str) -> None:
        if name not in self._changes:
            self._changes[name] = subscribe(name, LINKS | ROUTES)
            return
        changed = drain(self._changes[name])
        if changed or name in self._changing:
            self._links.pop(name, None)
            # The kernel does not use routes over a link without carrier, and reports the link alone.
            self._routes.pop(name, None)
        # It may report before it has done that: values read right after a change are read once more.
        (self._changing.add if changed else self._changing.discard)(name)

    def close(self) -> None:
        """Close the sockets."""
        for one in self._changes.values():
            one.close()
