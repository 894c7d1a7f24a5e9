"""The addresses of a server's GPU ports, as expected and as observed, and their differences.

A NIC has a GID for every address of its port, in the order in which it got them: any address that is not of the plan
takes a GID, and those after it have other numbers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

from ailb_gen.addresses import Prefix, address_text, address_value, eui64
from ailb_gen.checks import subjects as about
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.servers.files import whole
from ailb_gen.deploy.switch_state import deviation
from ailb_gen.network.model import speed_text

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
# Letters of the longest address, and some more; of the name of an interface, and its end.
LONGEST, IFNAMSIZ = 64, 16
# Seconds, as the kernel writes "forever"; Mbit/s of an unknown speed.
FOREVER = 0xFFFFFFFF
SPEED = re.compile(r"-|-1|[0-9]{1,10}")
# Advertisements that may be lost before a leaf counts as silent.
LOST = 3
FLUSH = "run: ailb-net apply --flush-stale; if it comes back, a leaf advertises it"


@dataclass(frozen=True, slots=True)
class Advertised:
    """How a leaf advertises a prefix: the preferred lifetime of addresses, the time between advertisements; seconds."""

    preferred_s: int
    interval_s: int


@dataclass(frozen=True, slots=True)
class ExpectedGpuPort:
    """A GPU port: its prefixes, and what the files or the leaf's configuration say beyond them.

    `mac` is None where no file names one, `speed_bps` where the leaf's port has none. `advertised` is by prefix.
    """

    prefixes: tuple[Prefix, ...]
    mac: str | None = None
    speed_bps: int | None = None
    advertised: Mapping[Prefix, Advertised] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostAddress:
    """An address of an interface; `value` is None for IPv4. `flags` are the kernel's, `preferred_s` as it counts."""

    text: str
    length: int
    value: int | None
    flags: frozenset[str]
    preferred_s: int


@dataclass(frozen=True, slots=True)
class HostInterface:
    """An interface of a server: its MAC as the kernel writes it, and its addresses without those of the link."""

    mac: str
    addresses: tuple[HostAddress, ...]

    def within(self, prefix: Prefix) -> tuple[HostAddress, ...]:
        """Return its addresses in a prefix."""
        return tuple(one for one in self.addresses if _within(one, prefix))


@dataclass(frozen=True, slots=True)
class NicHardware:
    """A NIC as sysfs and ethtool have it: Mbit/s (None where it has no speed), driver, firmware; empty if unknown."""

    speed_mbps: int | None
    driver: str
    firmware: str


# Words of `ip -j address` that are true of an address.
FLAGS = ("temporary", "deprecated", "tentative", "dadfailed", "dynamic")


def read_interfaces(rows: Iterable[dict[str, Any]]) -> dict[str, HostInterface]:
    """Read `ip -j address show`. Raises ValueError, KeyError, TypeError."""
    return {
        _name(row["ifname"]): HostInterface(str(row.get("address", ""))[:LONGEST], tuple(_addresses(row["addr_info"])))
        for row in rows
    }


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable() or len(value) >= IFNAMSIZ:
        raise ValueError("a name that no interface has")
    return value


def _addresses(rows: Iterable[dict[str, Any]]) -> Iterator[HostAddress]:
    for row in rows:
        if "local" not in row or (row["family"] == "inet6" and row["scope"] == "link"):
            continue
        text, length = str(row["local"])[:LONGEST], whole(row["prefixlen"])
        value = address_value(text)
        if value is None:
            IPv4Address(text)
        flags = frozenset(flag for flag in FLAGS if row.get(flag) is True)
        yield HostAddress(text, length, value, flags, whole(row.get("preferred_life_time", FOREVER)))


def read_hardware(lines: Iterable[str]) -> dict[str, NicHardware]:
    """Read the lines `NIC SPEED DRIVER FIRMWARE` of the probe, `-` for what is not known. Raises ValueError."""
    found = {}
    for line in lines:
        nic, speed, driver, firmware = line.split(" ", 3)
        if SPEED.fullmatch(speed) is None:
            raise ValueError("a speed that is none")
        # -1: the link is down, or its speed is unknown; an old kernel writes 4294967295.
        mbps = int(speed) if speed.isdecimal() and int(speed) < FOREVER else None
        found[nic] = NicHardware(mbps, driver.strip("-"), firmware.strip().strip("-")[:LONGEST])
    return found


def _within(address: HostAddress, prefix: Prefix) -> bool:
    return address.value is not None and prefix.holds(address.value)


def addresses(
    name: str, expected: Mapping[str, ExpectedGpuPort], observed: Mapping[str, HostInterface]
) -> Iterator[Finding]:
    """Yield every address and MAC of a server's GPU ports that is not of the plan; a missing address is not told here.

    Where an address stands in a prefix of the fabric on an interface that is no GPU port, this is told, too.
    """
    for nic, port in expected.items():
        interface = observed.get(nic)
        if interface is None:
            continue
        if port.mac is not None and interface.mac != port.mac:
            reason = f"its MAC is {interface.mac!a}, the files have {port.mac}"
            yield deviation(name, "MAC", f"{nic}: {reason}; correct the one that is wrong", about.nic(name, nic))
        if MAC.fullmatch(interface.mac) is None:
            reason = f"its MAC is {interface.mac!a}, and gives no addresses; is it the NIC's name?"
            yield deviation(name, "MAC", f"{nic}: {reason}", about.nic(name, nic))
            continue
        yield from _port(name, nic, port, interface)
    for nic, interface in observed.items():
        if nic not in expected:
            yield from _elsewhere(name, nic, interface, expected)


def _port(name: str, nic: str, port: ExpectedGpuPort, interface: HostInterface) -> Iterator[Finding]:
    suffix = eui64(interface.mac)
    own = {prefix: prefix.value | suffix for prefix in port.prefixes}
    for address in interface.addresses:
        prefix = next((one for one in port.prefixes if _within(address, one)), None)
        if prefix is not None and address.value == own[prefix]:
            reason = _silent(address, prefix, port.advertised.get(prefix))
            if reason:
                yield deviation(name, "advertisement", f"{nic}: {reason}", about.nic(name, nic))
            continue
        lacking = prefix is not None and not any(one.value == own[prefix] for one in interface.addresses)
        item, reason = _foreign(address, prefix, address_text(own[prefix]) if prefix is not None and lacking else "")
        removed = f"ip addr del {address.text}/{address.length} dev {nic}"
        repair = FLUSH if address.value is not None and "dynamic" in address.flags else f"remove it: {removed}"
        yield deviation(name, item, f"{nic}: {reason} takes a GID; {repair}", about.nic(name, nic))


def _foreign(address: HostAddress, prefix: Prefix | None, instead_of: str) -> tuple[str, str]:
    """Return the item and the description of an address that is none of the port's; `instead_of` the one it lacks."""
    if address.value is None:
        return "IPv4 address", f"the IPv4 address {address.text}/{address.length}"
    if "temporary" in address.flags:
        return "temporary address", f"the temporary address {address.text} (use_tempaddr must be 0)"
    if instead_of:
        return (
            "foreign address",
            f"{address.text}, not the {instead_of} of its MAC (addr_gen_mode must be 0),",
        )
    if prefix is not None:
        return "second address", f"{address.text}, a second address in {prefix},"
    if "dynamic" in address.flags:
        return "stale address", f"{address.text}, which was advertised and is of no color,"
    return "foreign address", f"{address.text}, which is of no color,"


def _silent(address: HostAddress, prefix: Prefix, leaf: Advertised | None) -> str:
    """Return why the lifetime of an address of the plan says that its leaf is silent; empty when it does not."""
    look = "on the leaf: show ipv6 router-advertisement"
    if "deprecated" in address.flags or address.preferred_s <= 0:
        return f"{address.text} is deprecated: the leaf no longer advertises {prefix}; {look}"
    if leaf is None or not address.preferred_s <= leaf.preferred_s < FOREVER:
        return ""
    age = leaf.preferred_s - address.preferred_s
    if age <= LOST * leaf.interval_s:
        return ""
    return f"{prefix} was last advertised {age} s ago, and must be every {leaf.interval_s} s; {look}"


def _elsewhere(
    name: str, nic: str, interface: HostInterface, expected: Mapping[str, ExpectedGpuPort]
) -> Iterator[Finding]:
    for address in interface.addresses:
        owner = next(
            (one for one, port in expected.items() if any(_within(address, prefix) for prefix in port.prefixes)), None
        )
        if owner is not None:
            removed = f"ip addr del {address.text}/{address.length} dev {nic}"
            reason = f"{address.text} is in a prefix of {owner}; remove it: {removed}"
            yield deviation(name, "foreign address", f"{nic}: {reason}", about.nic(name, owner))


def speeds(
    name: str, expected: Mapping[str, ExpectedGpuPort], observed: Mapping[str, NicHardware]
) -> Iterator[Finding]:
    """Yield the GPU ports whose link has another speed than the leaf's port."""
    for nic, port in expected.items():
        found = observed.get(nic)
        if None in (port.speed_bps, found) or found is None or found.speed_mbps is None:
            continue
        if found.speed_mbps * 1_000_000 != port.speed_bps:
            speed = f"{found.speed_mbps // 1000} Gbit/s" if found.speed_mbps >= 1000 else f"{found.speed_mbps} Mbit/s"
            reason = f"the link has {speed}, the leaf's port {speed_text(port.speed_bps)}; check NIC, cable and optics"
            yield deviation(name, "speed", f"{nic}: {reason}", about.nic(name, nic))
