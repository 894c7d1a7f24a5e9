"""What the intent asks of the control plane, worked out from the intent alone: names, numbers, prefixes, colors."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.checks.wanted import color_names, rails, stripe_settings
from ailb_gen.intent.models import Colors, Device, Fabric, LeafOverride, SpineOverride
from ailb_gen.intent.platforms import shipped
from ailb_gen.intent.settings import CommonSettings, Settings, merged
from ailb_gen.network.fabric import End

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ailb_gen.intent.plans import Addressing
    from ailb_gen.intent.scalars import AsnRange, Cidr

ALL_COLORS = "all-colors"
LEAF, SPINE = "leaf", "spine"


@dataclass(frozen=True, slots=True)
class WantedColor:
    """A color: its community and the color, or all, that back it up; `backup` is empty for none."""

    name: str
    value: str
    backup: str


@dataclass(frozen=True, slots=True)
class WantedSpeaker:
    """What is asked of a switch as a router.

    `prefixes` are a leaf's, one per color in order, `gateways` the leaf's own addresses in them; both are empty on a
    spine, where `vlan` is None.
    """

    name: str
    role: str
    stripe: int
    rail: int
    asn: int
    router_id: str
    vlan: int | None
    prefixes: tuple[Prefix, ...]
    gateways: tuple[int, ...]
    settings: CommonSettings


@dataclass(frozen=True, slots=True)
class Plan:
    """The fabric that the intent asks for."""

    fabric: Fabric
    colors: tuple[WantedColor, ...]
    speakers: Mapping[str, WantedSpeaker]
    pool: Prefix

    @property
    def leaves(self) -> tuple[WantedSpeaker, ...]:
        """The leaves, stripe by stripe."""
        return tuple(speaker for speaker in self.speakers.values() if speaker.role == LEAF)

    @property
    def spines(self) -> tuple[WantedSpeaker, ...]:
        """The spines in order."""
        return tuple(speaker for speaker in self.speakers.values() if speaker.role == SPINE)

    def link_colors(self, spine: int) -> tuple[str, ...]:
        """Return the colors of a leaf's links to a spine, counted from 0: planes of links take the colors in turn."""
        count, spines = len(self.colors), len(self.fabric.spines)
        return tuple(self.colors[(link * spines + spine) % count].name for link in range(self.fabric.links_per_spine))


def plan(fabric: Fabric) -> Plan:
    """Work out what is asked for."""
    pool = fabric.addressing.pool
    speakers = {speaker.name: speaker for speaker in (*_leaves(fabric), *_spines(fabric))}
    return Plan(fabric, colors(fabric), speakers, Prefix(pool.network, pool.length))


def colors(fabric: Fabric) -> tuple[WantedColor, ...]:
    """Return the colors; a list of backups is handed out in turn, because the statement takes one."""
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
        result.append(WantedColor(name, f"color:0:{number + 1}", backup))
    return tuple(result)


def _leaves(fabric: Fabric) -> list[WantedSpeaker]:
    result: list[WantedSpeaker] = []
    for stripe, settings in enumerate(stripe_settings(fabric), 1):
        for number in range(1, rails(fabric, stripe) + 1):
            name = fabric.names.leaf.format(s=stripe, l=number)
            device = fabric.overrides.leaves.get(name, LeafOverride())
            index = len(result)
            prefixes = tuple(
                _prefix(fabric.addressing, stripe, number, k) for k in range(1, len(color_names(fabric)) + 1)
            )
            automatic = fabric.vlans.first + (number - 1 if fabric.vlans.unique == "stripe" else index)
            result.append(
                WantedSpeaker(
                    name=name,
                    role=LEAF,
                    stripe=stripe,
                    rail=number - 1,
                    asn=_asn(device, fabric.asn.leaves, index),
                    router_id=_router_id(device, fabric.router_ids.leaves, index),
                    vlan=device.vlan if device.vlan is not None else automatic,
                    prefixes=prefixes,
                    gateways=tuple(prefix.value + fabric.addressing.gateway for prefix in prefixes),
                    settings=merged(settings, device),
                )
            )
    return result


def _spines(fabric: Fabric) -> list[WantedSpeaker]:
    base = Settings.model_construct(**{key: getattr(fabric, key) for key in Settings.model_fields})
    result = []
    for index, spine in enumerate(fabric.spines):
        name = spine.name or fabric.names.spine.format(k=index + 1)
        device = merged(spine, fabric.overrides.spines.get(name, SpineOverride()))
        asn, router_id = _asn(device, fabric.asn.spines, index), _router_id(device, fabric.router_ids.spines, index)
        result.append(WantedSpeaker(name, SPINE, 0, 0, asn, router_id, None, (), (), merged(base, device)))
    return result


def _asn(device: Device, asked: AsnRange, index: int) -> int:
    if device.asn is not None:
        return device.asn
    return asked.first if asked.shared else asked.first + index


def _router_id(device: Device, pool: Cidr, index: int) -> str:
    """Return the router-id; a pool of one or two addresses is all hosts (RFC 3021)."""
    if device.router_id is not None:
        return str(IPv4Address(device.router_id))
    first = pool.network if pool.last - pool.network < 2 else pool.network + 1
    return str(IPv4Address(first + index))


def _prefix(addressing: Addressing, stripe: int, leaf: int, color: int) -> Prefix:
    """Return the /64 of a leaf and color (seed 001, Table 2): three numbers in their bits of the pool."""
    value = addressing.pool.network
    for (_, last), number in ((addressing.stripe, stripe), (addressing.leaf, leaf), (addressing.uplink, color)):
        value |= number << (BITS - 1 - last)
    return Prefix(value, 64)


def wanted_links(wanted: Plan) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the colors of the links of every leaf and spine, in the order of the links."""
    found = {}
    for leaf in wanted.leaves:
        for number, spine in enumerate(wanted.spines):
            found[leaf.name, spine.name] = wanted.link_colors(number)
    return found


def explicit_ends(wanted: Plan) -> dict[tuple[str, str], tuple[End, ...]]:
    """Return the ports that the intent names for links: (device, peer) to the device's ports."""
    found: dict[tuple[str, str], tuple[End, ...]] = {}
    over = wanted.fabric.overrides
    for name, leaf in over.leaves.items():
        for peer, ports in leaf.uplinks.items():
            found[name, peer] = tuple(End(name, port) for port in ports)
    for number, spine in enumerate(wanted.spines):
        listed = merged(wanted.fabric.spines[number], over.spines.get(spine.name, SpineOverride()))
        for peer, ports in listed.downlinks.items():
            found[spine.name, peer] = tuple(End(spine.name, port) for port in ports)
    return found


def native_speeds(wanted: Plan) -> dict[str, dict[str, str]]:
    """Return, per switch and port, the speed that the port has without a `speed` statement (platform profile)."""
    tables: dict[str, dict[str, str]] = {}
    found = {}
    for name, speaker in wanted.speakers.items():
        platform = _platform(wanted, speaker)
        if platform not in tables:
            profile = wanted.fabric.platforms.get(platform) or shipped(platform)
            tables[platform] = {port: f"{group.native}g" for group in profile.port_groups for port in group.names()}
        found[name] = tables[platform]
    return found


def _platform(wanted: Plan, speaker: WantedSpeaker) -> str:
    fabric = wanted.fabric
    if speaker.role == SPINE:
        listed = fabric.spines[[spine.name for spine in wanted.spines].index(speaker.name)]
        own = merged(listed, fabric.overrides.spines.get(speaker.name, SpineOverride())).platform
        return own or fabric.platform.spine
    leaf, over = fabric.overrides.leaves.get(speaker.name), fabric.overrides.stripes.get(speaker.stripe)
    levels = (
        leaf.platform if leaf is not None else None,
        over.platform if over is not None else None,
        fabric.stripes[speaker.stripe - 1].platform,
    )
    return next((level for level in levels if level), fabric.platform.leaf)
