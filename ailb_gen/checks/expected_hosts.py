"""The expected servers, computed from the intent alone: NICs, routing tables, settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.addresses import Prefix
from ailb_gen.checks.expected_switches import color_names, rails, stripe_settings
from ailb_gen.hosts.model import NetplanNic as HostNic
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.intent.models import Fabric, Nic, ServerOverride
from ailb_gen.intent.settings import Roce
from ailb_gen.layout import NETPLAN, server_folder
from ailb_gen.network.fabric import Network
from ailb_gen.validation import merged

# What holds for an entry that the intent leaves out.
DEFAULT_NIC, DEFAULT_SERVER = Nic(), ServerOverride()


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
    """An expected server; servers with one expectation share an object. `roce` is None when switched off.

    `pool` holds the addresses of the fabric.
    """

    stripe: int
    mtu: int
    nics: tuple[ExpectedNic, ...]
    forwarding: bool
    roce: Roce | None
    environment: tuple[tuple[str, str], ...]
    pool: Prefix


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
    """Iterate over (name, stripe, override of the server), stripe by stripe in the order of their ports."""
    over = fabric.overrides.servers
    for name, stripe, own in _listed(fabric):
        yield name, stripe, merged(own, over[name]) if name in over else own


def _listed(fabric: Fabric) -> Iterator[tuple[str, int, ServerOverride]]:
    counter = iter(range(1, 10**9))
    for number, stripe in enumerate(fabric.stripes, 1):
        own = stripe.servers
        group = own if own is not None else fabric.servers
        for place in range(1, group.count + 1):
            yield group.name.format(n=next(counter), s=number, i=place), number, DEFAULT_SERVER
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
    """Return the expected servers by name."""
    settings = stripe_settings(fabric)
    numbered = tuple(tables(fabric, nic) for nic in range(max(rails(fabric, s) for s in range(1, len(settings) + 1))))
    shared: dict[object, ExpectedHost] = {}
    result = {}
    for name, stripe, given in seats(fabric):
        mtu = given.mtu or settings[stripe - 1].mtu.host
        key = (stripe, mtu, tuple((number, nic.name, nic.rdma, nic.mac) for number, nic in sorted(given.nics.items())))
        if key not in shared:
            nics = []
            for number in range(rails(fabric, stripe)):
                nic = given.nics.get(number, DEFAULT_NIC)
                own = nic.name or fabric.names.nic.format(i=number)
                nics.append(ExpectedNic(own, nic.rdma or _rdma(fabric, number), nic.mac or "", numbered[number]))
            roce = settings[stripe - 1].roce
            shared[key] = ExpectedHost(
                stripe=stripe,
                mtu=mtu,
                nics=tuple(nics),
                forwarding=fabric.hosts.forwarding,
                roce=roce if roce.enabled else None,
                environment=_environment(fabric, tuple(nics)),
                pool=Prefix(fabric.addressing.pool.network, fabric.addressing.pool.length),
            )
        result[name] = shared[key]
    return result


@dataclass(frozen=True, slots=True, eq=False)
class HostGroup:
    """Servers that share a folder and an expectation: they are checked together, so that thousands cost little.

    Only what depends on the cable of a server is checked per server.
    """

    profile: ServerProfile
    servers: tuple[str, ...]
    expected: ExpectedHost

    @property
    def scope(self) -> str:
        """The subject of findings: the server if the folder is its own, else the folder."""
        return self.servers[0] if self.profile.folder == server_folder(self.servers[0]) else self.profile.folder

    @property
    def nics(self) -> dict[str, HostNic]:
        """The GPU NICs in netplan; a host may have other NICs, in files of its own or beside the GPU NICs."""
        names = {nic.name for nic in self.expected.nics}
        found = {name: nic for name, nic in self.profile.nics.items() if nic.file == NETPLAN or name in names}
        # Where a GPU NIC is missing, another one may be that one under a wrong name.
        if not names <= found.keys():
            return found
        return {name: nic for name, nic in found.items() if name in names or not self._is_other(nic)}

    def _is_other(self, nic: HostNic) -> bool:
        """Return whether a NIC has nothing to do with the GPU NICs: neither their names nor their tables or rules."""
        names = {own.name for own in self.expected.nics}
        tables = {table.id for own in self.expected.nics for table in own.tables}
        macs = {self.profile.nics[name].mac for name in names} - {None}
        used = {route.table for route in nic.routes} | {rule.table for rule in nic.rules}
        matched = {str(setting.value) for setting in nic.match if setting.key == "name"} | {nic.name}
        exact = not any(set("*?[") & set(name) for name in matched)
        others = {setting.key for setting in nic.match} <= {"name", "macaddress"}
        return (
            exact
            and others
            and names.isdisjoint({*matched, str(nic.value("set-name"))})
            and nic.mac not in macs
            and tables.isdisjoint(used)
        )


def host_groups(expected: Mapping[str, ExpectedHost], network: Network) -> tuple[HostGroup, ...]:
    """Return the servers that are both expected and there, by folder and expectation."""
    members: dict[tuple[str, int], list[str]] = {}
    for name, host in network.hosts.items():
        if name in expected:
            members.setdefault((host.profile.folder, id(expected[name])), []).append(name)
    return tuple(
        HostGroup(network.hosts[names[0]].profile, tuple(names), expected[names[0]]) for names in members.values()
    )
