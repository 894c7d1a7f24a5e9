"""The switches of the fabric by name, with position, platform and overrides."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ailb_gen.design.model import Role
from ailb_gen.design.ports import Ports
from ailb_gen.design.precedence import plain_settings, resolve
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import Device, Fabric, LeafOverride, SpineOverride, StripeOverride
from ailb_gen.intent.platforms import shipped, shipped_names
from ailb_gen.intent.settings import Settings
from ailb_gen.validation import merged
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path

# What switches of other vendors, and their systems, are called.
OTHER_VENDORS = re.compile(
    r"(?i)arista|cisco|nexus|n9k|nvidia|mellanox|cumulus|sonic|dell|huawei|nokia|edgecore|celestica|broadcom|"
    r"\beos\b|nx-?os|ios-?xr|sr-?linux|^(sn|dcs|ce|msn)-?[0-9]{4}|^7[0-9]{3}[a-z]"
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A switch before anything is computed for it; `levels` are the paths that may say something about it.

    The most specific level comes first, the fabric's own keys last. `explicit_links` are ports by peer, where the
    intent names them.
    """

    name: str
    role: Role
    index: int
    stripe: int
    number: int
    settings: Settings
    device: Device
    ports: Ports
    explicit_links: dict[str, tuple[str, ...]]
    vlan: int | None
    extra_config: tuple[str, ...]
    levels: tuple[Path, ...]

    @property
    def links_key(self) -> str:
        """The key under which the intent names ports to peers, and the fabric's key of their layout."""
        return "uplinks" if self.role == "leaf" else "downlinks"

    @property
    def own(self) -> tuple[Path, ...]:
        """The levels that are about this switch alone."""
        return self.levels[:1] if self.role == "leaf" else self.levels[:2]


@dataclass(frozen=True, slots=True)
class StripeSlot:
    """A stripe with its leaves, one per rail."""

    number: int
    settings: Settings
    levels: tuple[Path, ...]
    leaves: tuple[Slot, ...]


class PlatformProfiles:
    """Finds profiles by name: the fabric's own first, then the shipped ones."""

    __slots__ = ("fabric", "known", "problems")

    def __init__(self, fabric: Fabric, problems: Problems) -> None:
        self.fabric, self.problems = fabric, problems
        self.known: dict[str, Ports] = {}

    def path(self, levels: tuple[Path, ...], role: str) -> Path:
        """Return where the platform of a switch was chosen."""
        path = self.problems.where(levels, "platform")
        return ("platform", role) if path == ("platform",) else path

    def find(self, name: str, path: Path) -> Ports:
        """Return the platform; notes a problem and returns the generic one if it is unknown."""
        names = [*self.fabric.platforms, *shipped_names()]
        if name not in names:
            hint = did_you_mean(name, names) or f"known: {', '.join(names)}; or describe it under platforms:"
            reason = f"no platform is called {name!r}"
            if OTHER_VENDORS.search(name):
                reason += ": this program writes Junos, for switches of Juniper alone"
            self.problems.error("unknown-platform", path, reason, hint)
        if name not in self.known:
            own = self.fabric.platforms.get(name)
            self.known[name] = Ports(name, own or shipped(name if name in names else "generic"))
        return self.known[name]


def _check_names(kind: str, given: Iterable[str | int], known: Iterable[str | int], problems: Problems) -> None:
    names = set(known)
    singular = {"stripes": "stripe", "leaves": "leaf", "spines": "spine"}[kind]
    for name in given:
        if name not in names:
            hint = did_you_mean(name, map(str, names)) if isinstance(name, str) else f"there are {len(names)}"
            problems.error("unknown-device", ("overrides", kind, name), f"the fabric has no such {singular}", hint)


def stripes(fabric: Fabric, platforms: PlatformProfiles, problems: Problems) -> tuple[StripeSlot, ...]:
    """Return every stripe with its leaves."""
    base = plain_settings(fabric)
    result: list[StripeSlot] = []
    index = 0
    for position, stripe in enumerate(fabric.stripes):
        number = position + 1
        over = fabric.overrides.stripes.get(number, StripeOverride())
        settings = resolve(base, stripe, over)
        levels: tuple[Path, ...] = (("overrides", "stripes", number), ("stripes", position), ())
        rails = over.rails or stripe.rails or fabric.rails
        leaves = []
        for rail in range(rails):
            name = fabric.names.leaf.format(s=number, l=rail + 1)
            device = fabric.overrides.leaves.get(name) or LeafOverride()
            platform = device.platform or over.platform or stripe.platform or fabric.platform.leaf
            extra = (fabric.extra_config, stripe.extra_config, over.extra_config, device.extra_config)
            own: tuple[Path, ...] = (("overrides", "leaves", name), *levels)
            leaves.append(
                Slot(
                    name=name,
                    role="leaf",
                    index=index,
                    stripe=number,
                    number=rail + 1,
                    settings=resolve(settings, device),
                    device=device,
                    ports=platforms.find(platform, platforms.path(own, "leaf")),
                    explicit_links=device.uplinks,
                    vlan=device.vlan,
                    extra_config=tuple(text.strip("\n") for text in extra if text.strip()),
                    levels=own,
                )
            )
            index += 1
        result.append(StripeSlot(number, settings, levels, tuple(leaves)))
    _check_names("stripes", fabric.overrides.stripes, range(1, len(fabric.stripes) + 1), problems)
    _check_names("leaves", fabric.overrides.leaves, (leaf.name for s in result for leaf in s.leaves), problems)
    return tuple(result)


def spines(fabric: Fabric, platforms: PlatformProfiles, problems: Problems) -> tuple[Slot, ...]:
    """Return every spine; an entry in the list and an override by name merge, the override wins."""
    base = plain_settings(fabric)
    result: list[Slot] = []
    for position, entry in enumerate(fabric.spines):
        name = entry.name or fabric.names.spine.format(k=position + 1)
        override = fabric.overrides.spines.get(name) or SpineOverride()
        device = merged(entry, override)
        platform = device.platform or fabric.platform.spine
        levels: tuple[Path, ...] = (("overrides", "spines", name), ("spines", position), ())
        extra = (fabric.extra_config, entry.extra_config, override.extra_config)
        result.append(
            Slot(
                name=name,
                role="spine",
                index=position,
                stripe=0,
                number=position + 1,
                settings=resolve(base, device),
                device=device,
                ports=platforms.find(platform, platforms.path(levels, "spine")),
                explicit_links=device.downlinks,
                vlan=None,
                extra_config=tuple(text.strip("\n") for text in extra if text.strip()),
                levels=levels,
            )
        )
    _check_names("spines", fabric.overrides.spines, (slot.name for slot in result), problems)
    return tuple(result)
