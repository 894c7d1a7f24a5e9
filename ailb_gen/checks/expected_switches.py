"""The expected switches, computed from the intent alone: numbers, prefixes, colors, settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import TypedDict

from ailb_gen.addresses import BITS, Prefix, address_text
from ailb_gen.errors import UsageError
from ailb_gen.intent.models import DEFAULT_COLORS, Colors, Device, Fabric, LeafOverride, SpineOverride, StripeOverride
from ailb_gen.intent.plans import Addressing
from ailb_gen.intent.platforms import Profile, shipped, shipped_names
from ailb_gen.intent.scalars import AsnRange, Cidr
from ailb_gen.intent.settings import PortOverride, Roce, Settings
from ailb_gen.network.model import GIGABIT
from ailb_gen.validation import merged
from ailb_gen.wording import did_you_mean

ALL_COLORS = "all-colors"
# What holds for a part of the fabric that `overrides` leaves out.
PLAIN_STRIPE, PLAIN_LEAF = StripeOverride.model_construct(), LeafOverride.model_construct()
PLAIN_SPINE = SpineOverride.model_construct()
LEAF, SPINE = "leaf", "spine"


@dataclass(frozen=True, slots=True)
class ExpectedColor:
    """A color: its community and the color, or all, that back it up; `backup` is empty for none."""

    name: str
    value: str
    backup: str


@dataclass(frozen=True, slots=True)
class ExpectedSwitch:
    """An expected switch.

    `prefixes` are a leaf's, one per color in order, `gateways` the leaf's own addresses in them; both are empty on a
    spine, where `vlan` is None. `loopback` is the IPv6 address of lo0, `management` the address with length of the
    management port; both are empty where nothing is asked for. `ports` are overrides of single ports, `links` the
    ports that the intent names, by peer. `extra` is the text of `extra_config` of all levels.
    """

    name: str
    role: str
    platform: str
    asn: int
    router_id: str
    loopback: str
    management: str
    ports: Mapping[str, PortOverride]
    links: Mapping[str, tuple[str, ...]]
    settings: Settings
    extra: str = ""
    stripe: int = 0
    rail: int = 0
    vlan: int | None = None
    prefixes: tuple[Prefix, ...] = ()
    gateways: tuple[int, ...] = ()

    @property
    def roce(self) -> Roce | None:
        """The class of service for RDMA, None when it is switched off."""
        return self.settings.roce if self.settings.roce.enabled else None

    def mtu_of(self, port: str) -> int:
        """Return the MTU of a port in bytes, the Ethernet header included."""
        override = self.ports.get(port)
        return override.mtu if override is not None and override.mtu is not None else self.settings.mtu.port


@dataclass(frozen=True, slots=True)
class Outline:
    """The fabric that the intent specifies, before anything is cabled or drained."""

    fabric: Fabric
    colors: tuple[ExpectedColor, ...]
    switches: Mapping[str, ExpectedSwitch]
    pool: Prefix

    @property
    def leaves(self) -> tuple[ExpectedSwitch, ...]:
        """The leaves, stripe by stripe."""
        return tuple(switch for switch in self.switches.values() if switch.role == LEAF)

    @property
    def spines(self) -> tuple[ExpectedSwitch, ...]:
        """The spines in order."""
        return tuple(switch for switch in self.switches.values() if switch.role == SPINE)

    def link_colors(self, spine: int) -> tuple[str, ...]:
        """Return the colors of a leaf's links to a spine, counted from 0: planes of links take the colors in turn."""
        count, asked = len(self.colors), self.fabric.colors
        step = asked.step if asked is not None and asked.step else len(self.fabric.spines)
        return tuple(self.colors[(link * step + spine) % count].name for link in range(self.fabric.links_per_spine))


def outline(fabric: Fabric) -> Outline:
    """Compute colors and switches."""
    pool = fabric.addressing.pool
    switches = {switch.name: switch for switch in (*_leaves(fabric), *_spines(fabric))}
    return Outline(fabric, colors(fabric), switches, Prefix(pool.network, pool.length))


def colors(fabric: Fabric) -> tuple[ExpectedColor, ...]:
    """Return the colors; a list of backups is assigned in turn, because the statement takes one."""
    asked = fabric.colors or Colors()
    names = color_names(fabric)
    result = []
    for number, name in enumerate(names):
        if isinstance(asked.backup, str):
            backup = ALL_COLORS if asked.backup == "all" and len(names) > 1 else ""
        elif isinstance(asked.backup, dict):
            backup = asked.backup.get(name, "")
        else:
            others = [other for other in asked.backup if other != name]
            backup = others[number % len(others)] if others else ""
        result.append(ExpectedColor(name, f"color:0:{number + 1}", backup))
    return tuple(result)


def color_names(fabric: Fabric) -> tuple[str, ...]:
    """Return the names of the colors in order; without any there are as many as uplinks per leaf."""
    asked = fabric.colors or Colors()
    if asked.names:
        return asked.names
    count = asked.count or len(fabric.spines) * fabric.links_per_spine
    return (*DEFAULT_COLORS, *(f"color{number}" for number in range(len(DEFAULT_COLORS) + 1, count + 1)))[:count]


def _plain(fabric: Fabric) -> Settings:
    return Settings.model_construct(**{key: getattr(fabric, key) for key in Settings.model_fields})


def stripe_settings(fabric: Fabric) -> tuple[Settings, ...]:
    """Return the settings of every stripe."""
    base = _plain(fabric)
    over = fabric.overrides.stripes
    return tuple(
        merged(merged(base, stripe), over.get(number, PLAIN_STRIPE)) for number, stripe in enumerate(fabric.stripes, 1)
    )


def rails(fabric: Fabric, stripe: int) -> int:
    """Return how many leaves a stripe has; stripes count from 1."""
    over = fabric.overrides.stripes.get(stripe, PLAIN_STRIPE)
    return over.rails or fabric.stripes[stripe - 1].rails or fabric.rails


def _leaves(fabric: Fabric) -> Iterator[ExpectedSwitch]:
    loopbacks = fabric.loopbacks.leaves if fabric.loopbacks is not None else None
    pools = _Pools(fabric.asn.leaves, fabric.router_ids.leaves, loopbacks, fabric.management.leaves)
    index = 0
    for stripe, settings in enumerate(stripe_settings(fabric), 1):
        over, own = fabric.overrides.stripes.get(stripe, PLAIN_STRIPE), fabric.stripes[stripe - 1]
        for number in range(1, rails(fabric, stripe) + 1):
            name = fabric.names.leaf.format(s=stripe, l=number)
            device = fabric.overrides.leaves.get(name, PLAIN_LEAF)
            colors = range(1, len(color_names(fabric)) + 1)
            prefixes = tuple(_prefix(fabric.addressing, stripe, number, color) for color in colors)
            automatic = fabric.vlans.first + (number - 1 if fabric.vlans.unique == "stripe" else index)
            yield ExpectedSwitch(
                name=name,
                role=LEAF,
                platform=device.platform or over.platform or own.platform or fabric.platform.leaf,
                **pools.numbers(device, index),
                ports=device.ports,
                links=device.uplinks,
                settings=merged(settings, device),
                extra=_extra(fabric.extra_config, own.extra_config, over.extra_config, device.extra_config),
                stripe=stripe,
                rail=number - 1,
                vlan=device.vlan if device.vlan is not None else automatic,
                prefixes=prefixes,
                gateways=tuple(prefix.value + fabric.addressing.gateway for prefix in prefixes),
            )
            index += 1


def _spines(fabric: Fabric) -> Iterator[ExpectedSwitch]:
    loopbacks = fabric.loopbacks.spines if fabric.loopbacks is not None else None
    pools = _Pools(fabric.asn.spines, fabric.router_ids.spines, loopbacks, fabric.management.spines)
    for index, spine in enumerate(fabric.spines):
        name = spine.name or fabric.names.spine.format(k=index + 1)
        over = fabric.overrides.spines.get(name, PLAIN_SPINE)
        device = merged(spine, over)
        yield ExpectedSwitch(
            name=name,
            role=SPINE,
            platform=device.platform or fabric.platform.spine,
            **pools.numbers(device, index),
            ports=device.ports,
            links=device.downlinks,
            settings=merged(_plain(fabric), device),
            extra=_extra(fabric.extra_config, spine.extra_config, over.extra_config),
        )


def _extra(*texts: str) -> str:
    """Join the texts of the levels, in the order of the file."""
    return "\n".join(text for text in texts if text.strip())


class _Numbers(TypedDict):
    asn: int
    router_id: str
    loopback: str
    management: str


@dataclass(frozen=True, slots=True)
class _Pools:
    """The pools of the numbers of the leaves, or of the spines."""

    asn: AsnRange
    router_ids: Cidr
    loopbacks: Cidr | None
    management: Cidr | None

    def numbers(self, device: Device, index: int) -> _Numbers:
        """Return the numbers of a switch; those of the switch itself win."""
        automatic = self.asn.first if self.asn.shared else self.asn.first + index
        router_id = device.router_id if device.router_id is not None else _nth(self.router_ids, index)
        loopback = device.loopback
        if loopback is None and self.loopbacks is not None:
            loopback = _nth(self.loopbacks, index)
        return {
            "asn": device.asn if device.asn is not None else automatic,
            "router_id": str(IPv4Address(router_id)),
            "loopback": address_text(loopback) if loopback else "",
            "management": management_address(device.management, self.management, index),
        }


def _nth(pool: Cidr, index: int) -> int:
    """Return an address of a pool; one of one or two addresses is all hosts (RFC 3021, RFC 6164)."""
    return (pool.network if pool.last - pool.network < 2 else pool.network + 1) + index


def management_address(given: Cidr | None, first: Cidr | None, index: int) -> str:
    """Return a management address with length: the given one, else the index-th after the first; may be empty."""
    if given is not None:
        return f"{IPv4Address(given.address)}/{given.length}"
    return f"{IPv4Address(first.address + index)}/{first.length}" if first is not None else ""


def _prefix(addressing: Addressing, stripe: int, leaf: int, color: int) -> Prefix:
    """Return the /64 of a leaf and color (the validated design's Table 2): three numbers in their bits of the pool."""
    value = addressing.pool.network
    for (_, last), number in ((addressing.stripe, stripe), (addressing.leaf, leaf), (addressing.uplink, color)):
        value |= number << (BITS - 1 - last)
    return Prefix(value, 64)


def native_speeds(expected: Outline) -> dict[str, dict[str, int]]:
    """Return, per switch and port, the bit/s that the port has without a `speed` statement. Raises UsageError."""
    tables: dict[str, dict[str, int]] = {}
    for platform in {switch.platform for switch in expected.switches.values()}:
        profile = profile_of(expected.fabric, platform)
        tables[platform] = {port: group.native * GIGABIT for group in profile.port_groups for port in group.names()}
    return {name: tables[switch.platform] for name, switch in expected.switches.items()}


def management_interface(expected: Outline, switch: ExpectedSwitch) -> str:
    """Return the name of a switch's management port. Raises UsageError."""
    return profile_of(expected.fabric, switch.platform).management_interface


def profile_of(fabric: Fabric, platform: str) -> Profile:
    """Return a platform. Raises UsageError for an unknown one."""
    known = [*fabric.platforms, *shipped_names()]
    if platform not in known:
        hint = did_you_mean(platform, known) or f"known: {', '.join(known)}"
        raise UsageError(f"the intent names an unknown platform {platform!r}; {hint}")
    return fabric.platforms.get(platform) or shipped(platform)
