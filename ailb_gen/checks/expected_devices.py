"""What the intent asks of servers and switches, worked out from the intent alone: names, levels of settings, tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.intent.models import (
    DEFAULT_COLORS,
    Device,
    Fabric,
    LeafOverride,
    Nic,
    ServerOverride,
    SpineOverride,
    StripeOverride,
)
from ailb_gen.intent.settings import CommonSettings, PortOverride, Roce, Settings
from ailb_gen.validation import merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What stands behind an entry that was left out.
NOTHING, NOTHING_SAID = Nic(), ServerOverride()


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """A routing table of a server (the validated design's Table 8); the prefix is that of the leaf and the color."""

    id: int
    name: str
    priority: int
    color: str


@dataclass(frozen=True, slots=True)
class ExpectedNic:
    """A GPU NIC; `mac` is empty when the intent knows none."""

    name: str
    rdma: str
    mac: str
    tables: tuple[ExpectedTable, ...]


@dataclass(frozen=True, slots=True)
class ExpectedHost:
    """What is asked of a server; servers that are to be alike share one object. `roce` is None when switched off."""

    stripe: int
    mtu: int
    nics: tuple[ExpectedNic, ...]
    forwarding: bool
    roce: Roce | None
    environment: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ExpectedSwitch:
    """What is asked of a switch; MTUs in bytes, `ports` are overrides by port."""

    stripe: int
    port_mtu: int
    irb_mtu: int
    roce: Roce | None
    ports: Mapping[str, PortOverride]

    def mtu_of(self, port: str) -> int:
        """Return the MTU of a port."""
        override = self.ports.get(port)
        return override.mtu if override is not None and override.mtu is not None else self.port_mtu


def color_names(fabric: Fabric) -> tuple[str, ...]:
    """Return the names of the colors in order; without any there are as many as uplinks per leaf."""
    expected_fabric = fabric.colors
    if expected_fabric is not None and expected_fabric.names:
        return expected_fabric.names
    count = (expected_fabric.count if expected_fabric is not None else None) or len(
        fabric.spines
    ) * fabric.links_per_spine
    return (*DEFAULT_COLORS, *(f"color{number}" for number in range(len(DEFAULT_COLORS) + 1, count + 1)))[:count]


def _resolved(base: Settings, *levels: CommonSettings) -> Settings:
    for level in levels:
        base = merged(base, level)
    return base


def _plain(fabric: Fabric) -> Settings:
    return Settings.model_construct(**{key: getattr(fabric, key) for key in Settings.model_fields})


def stripe_settings(fabric: Fabric) -> tuple[Settings, ...]:
    """Return the settings of every stripe."""
    base = _plain(fabric)
    over = fabric.overrides.stripes
    return tuple(
        _resolved(base, stripe, over.get(number, StripeOverride())) for number, stripe in enumerate(fabric.stripes, 1)
    )


def rails(fabric: Fabric, stripe: int) -> int:
    """Return how many leaves a stripe has; stripes count from 1."""
    over = fabric.overrides.stripes.get(stripe, StripeOverride())
    return over.rails or fabric.stripes[stripe - 1].rails or fabric.rails


def _switch(stripe: int, base: Settings, device: Device) -> ExpectedSwitch:
    settings = _resolved(base, device)
    roce = settings.roce if settings.roce.enabled else None
    return ExpectedSwitch(stripe, settings.mtu.port, settings.mtu.irb, roce, device.ports)


def expected_switches(fabric: Fabric) -> dict[str, ExpectedSwitch]:
    """Return what is asked of every switch, by name."""
    result = {}
    for number, settings in enumerate(stripe_settings(fabric), 1):
        for leaf in range(1, rails(fabric, number) + 1):
            name = fabric.names.leaf.format(s=number, l=leaf)
            result[name] = _switch(number, settings, fabric.overrides.leaves.get(name, LeafOverride()))
    base = _plain(fabric)
    for number, spine in enumerate(fabric.spines, 1):
        name = spine.name or fabric.names.spine.format(k=number)
        device = merged(spine, fabric.overrides.spines.get(name, SpineOverride()))
        result[name] = _switch(0, base, device)
    return result


def tables(fabric: Fabric, nic: int) -> tuple[ExpectedTable, ...]:
    """Return the tables of a NIC, counted from 0: id = first + colors x NIC + (color - 1)."""
    colors = color_names(fabric)
    first = len(colors) * nic
    return tuple(
        ExpectedTable(
            id=fabric.tables.first + first + number,
            name=f"gpu{nic}_subnet{number + 1}",
            priority=fabric.tables.priority + first + number,
            color=color,
        )
        for number, color in enumerate(colors)
    )


def seats(fabric: Fabric) -> Iterator[tuple[str, int, ServerOverride]]:
    """Iterate over (name, stripe, what is said about the server), stripe by stripe in the order of their ports."""
    over = fabric.overrides.servers
    for name, stripe, said in _listed(fabric):
        yield name, stripe, merged(said, over[name]) if name in over else said


def _listed(fabric: Fabric) -> Iterator[tuple[str, int, ServerOverride]]:
    counter = iter(range(1, 10**9))
    for number, stripe in enumerate(fabric.stripes, 1):
        own = stripe.servers
        group = own if own is not None else fabric.servers
        for place in range(1, group.count + 1):
            yield group.name.format(n=next(counter), s=number, i=place), number, NOTHING_SAID
        for server in fabric.servers.list:
            if server.stripe == number or (server.stripe is None and len(fabric.stripes) == 1):
                yield server.name, number, server
        for server in own.list if own is not None else ():
            yield server.name, number, server


def _environment(fabric: Fabric, nics: tuple[ExpectedNic, ...]) -> tuple[tuple[str, str], ...]:
    """Return the NCCL environment (the validated design, Running the NCCL Job); the intent's own values win."""
    values = {
        "NCCL_NET_PLUGIN": "juniper-ib",
        "NCCL_IB_QPS_PER_CONNECTION": str(len(color_names(fabric))),
        "NCCL_IB_SPLIT_DATA_ON_QPS": "1",
        "NCCL_IB_ADDR_FAMILY": "AF_INET6",
        "NCCL_SOCKET_FAMILY": "AF_INET6",
        "NCCL_SOCKET_NTHREADS": str(fabric.nccl.socket_nthreads),
        "UCX_IB_GID_INDEX": str(fabric.nccl.gid_index),
        "UCX_NET_DEVICES": ",".join(f"{nic.rdma}:1" for nic in nics),
        "LD_LIBRARY_PATH": "/usr/local/lib",
    }
    return tuple((values | fabric.nccl.environment).items())


def _rdma(fabric: Fabric, number: int) -> str:
    names = fabric.hosts.rdma
    if isinstance(names, str):
        return names.format(i=number)
    return names[number] if number < len(names) else ""


def expected_hosts(fabric: Fabric) -> dict[str, ExpectedHost]:
    """Return what is asked of every server, by name."""
    settings = stripe_settings(fabric)
    numbered = tuple(tables(fabric, nic) for nic in range(max(rails(fabric, s) for s in range(1, len(settings) + 1))))
    alike: dict[object, ExpectedHost] = {}
    result = {}
    for name, stripe, given in seats(fabric):
        mtu = given.mtu or settings[stripe - 1].mtu.host
        key = (stripe, mtu, tuple((number, nic.name, nic.rdma, nic.mac) for number, nic in sorted(given.nics.items())))
        if key not in alike:
            nics = []
            for number in range(rails(fabric, stripe)):
                nic = given.nics.get(number, NOTHING)
                own = nic.name or fabric.names.nic.format(i=number)
                nics.append(ExpectedNic(own, nic.rdma or _rdma(fabric, number), nic.mac or "", numbered[number]))
            roce = settings[stripe - 1].roce
            alike[key] = ExpectedHost(
                stripe=stripe,
                mtu=mtu,
                nics=tuple(nics),
                forwarding=fabric.hosts.forwarding,
                roce=roce if roce.enabled else None,
                environment=_environment(fabric, tuple(nics)),
            )
        result[name] = alike[key]
    return result
