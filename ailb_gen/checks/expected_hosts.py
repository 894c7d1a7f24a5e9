"""The expected servers, computed from the intent alone: NICs, routing tables, settings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count

from ailb_gen.addresses import Prefix
from ailb_gen.checks.expected_switches import PLAIN_STRIPE, color_names, rails, stripe_settings
from ailb_gen.errors import UsageError
from ailb_gen.hosts.model import NetplanNic as HostNic
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.servers import CountedEntry, CountedServers, HostPorts, Nic, Server, ServerKind, ServerOverride
from ailb_gen.intent.settings import Roce
from ailb_gen.layout import ENVIRONMENT, NETPLAN, PLAIN_FILES, QOS_FILES, drop_in_file, profile_folder, server_folder
from ailb_gen.network.fabric import Network
from ailb_gen.validation import merged

# What holds for an entry that the intent leaves out.
DEFAULT_NIC, DEFAULT_SERVER = Nic.model_construct(), ServerOverride.model_construct()
DEFAULT_KIND = ServerKind.model_construct()


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

    `environment` (NCCL's) is None for a server without GPUs. `pool` holds the addresses of the fabric. `profile` is the
    folder of the files that such servers share, empty for a server whose files are its own. The rails in the
    server's own files count from `first_nic`.
    """

    stripe: int
    rails: tuple[int, ...]
    mtu: int
    nics: tuple[ExpectedNic, ...]
    forwarding: bool
    roce: Roce | None
    environment: tuple[tuple[str, str], ...] | None
    pool: Prefix
    profile: str = field(compare=False)
    first_nic: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the server."""
        own = tuple(file for file in PLAIN_FILES if file != ENVIRONMENT or self.environment is not None)
        return own + (QOS_FILES if self.roce else ()) + tuple(drop_in_file(nic.name) for nic in self.nics)


def tables(fabric: Fabric, nic: int) -> tuple[ExpectedTable, ...]:
    """Return the tables of a NIC, counted from 0 in the fabric: id = first + colors x NIC + (color - 1)."""
    colors, nic = color_names(fabric), fabric.hosts.first_nic + nic
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


@dataclass(frozen=True, slots=True)
class ExpectedPlace:
    """A server and where it is: its kind in the intent, the rails of its NICs, and its place in its row of ports."""

    name: str
    stripe: int
    given: ServerOverride
    kind: ServerKind
    kind_name: str
    rails: tuple[int, ...]
    ports: HostPorts
    position: int


def places(fabric: Fabric) -> Iterator[ExpectedPlace]:
    """Iterate over the servers, stripe by stripe in the order of their ports. Raises UsageError for an unknown kind."""
    over = fabric.overrides.servers
    taken: Counter[tuple[int, HostPorts]] = Counter()
    known: dict[tuple[int, str | None], HostPorts] = {}
    for name, stripe, kind_name, own in _listed(fabric):
        if kind_name is not None and kind_name not in fabric.server_kinds:
            raise UsageError(f"server {name}: no kind of server is called {kind_name!r}")
        kind = fabric.server_kinds[kind_name] if kind_name is not None else DEFAULT_KIND
        given = merged(own, over[name]) if name in over else own
        if (stripe, kind_name) not in known:
            levels = (fabric.stripes[stripe - 1], fabric.overrides.stripes.get(stripe, PLAIN_STRIPE), kind)
            known[stripe, kind_name] = reduce(merged, (level.host_ports for level in levels), fabric.host_ports)
        ports = known[stripe, kind_name]
        on = tuple(range(rails(fabric, stripe))) if kind.rails is None else kind.rails
        yield ExpectedPlace(name, stripe, given, kind, kind_name or "", on, ports, taken[stripe, ports])
        taken[stripe, ports] += 1


def _listed(fabric: Fabric) -> Iterator[tuple[str, int, str | None, ServerOverride]]:
    """Iterate over name, stripe and kind of every server, with its entry in the intent."""
    numbers = defaultdict[str, Iterator[int]](lambda: count(1))
    for number, stripe in enumerate(fabric.stripes, 1):
        own = stripe.servers
        whole = fabric.servers if own is None else own
        in_stripe = defaultdict[str, Iterator[int]](lambda: count(1))
        rows: list[Server | CountedServers] = [whole]
        rows += [entry for entry in fabric.servers.list if _is_in(entry, number, own is None, len(fabric.stripes))]
        rows += own.list if own is not None else ()
        for row in rows:
            if isinstance(row, Server):
                yield row.name, number, row.kind, row
                continue
            kind = row.kind or ""
            for _ in range(row.count):
                name = row.pattern.format(n=next(numbers[kind]), s=number, i=next(in_stripe[kind]))
                yield name, number, row.kind, DEFAULT_SERVER


def _is_in(entry: Server | CountedEntry, stripe: int, counted: bool, stripes: int) -> bool:
    """Return whether an entry of the fabric's list is about a stripe; one without a number may be `counted` there."""
    if entry.stripe is not None:
        return entry.stripe == stripe
    return counted if isinstance(entry, CountedEntry) else stripes == 1


def _environment(fabric: Fabric, kind: ServerKind, nics: tuple[ExpectedNic, ...]) -> tuple[tuple[str, str], ...]:
    """Return the NCCL environment (the validated design, Running the NCCL Job); the intent's own values win."""
    values = {
        "NCCL_NET_PLUGIN": "juniper-ib",
        "NCCL_IB_QPS_PER_CONNECTION": str(len(color_names(fabric))),
        "NCCL_IB_SPLIT_DATA_ON_QPS": "1",
        "NCCL_IB_ADDR_FAMILY": "AF_INET6",
        "NCCL_SOCKET_FAMILY": "AF_INET6",
        "NCCL_SOCKET_NTHREADS": str(fabric.nccl.socket_nthreads),
        "UCX_IB_GID_INDEX": str(fabric.nccl.gid_index).replace("found", "auto"),
        "UCX_NET_DEVICES": ",".join(f"{nic.rdma}:1" for nic in nics),
        "LD_LIBRARY_PATH": "/usr/local/lib",
    }
    if fabric.nccl.socket_ifname is not None:
        values["NCCL_SOCKET_IFNAME"] = fabric.nccl.socket_ifname
    if fabric.hosts.out_of_order if kind.out_of_order is None else kind.out_of_order:
        values["NCCL_IB_ADAPTIVE_ROUTING"] = "1"
    return tuple((values | fabric.nccl.environment).items())


def nic_name(fabric: Fabric, kind: ServerKind, number: int) -> str:
    """Return the name that a NIC has by the pattern of its kind; `number` counts from 0."""
    return (kind.nic or fabric.names.nic).format(i=fabric.hosts.first_nic + number)


def _rdma(fabric: Fabric, kind: ServerKind, number: int) -> str:
    names = kind.rdma if kind.rdma is not None else fabric.hosts.rdma
    if isinstance(names, str):
        return names.format(i=fabric.hosts.first_nic + number)
    return names[number] if number < len(names) else ""


def expected_hosts(fabric: Fabric) -> dict[str, ExpectedHost]:
    """Return the expected servers by name. Raises UsageError for an unknown kind of server."""
    settings = stripe_settings(fabric)
    numbered = tuple(tables(fabric, nic) for nic in range(max(rails(fabric, s) for s in range(1, len(settings) + 1))))
    shared: dict[object, ExpectedHost] = {}
    result = {}
    for place in places(fabric):
        kind, given = place.kind, place.given
        mtu = given.mtu or kind.mtu or settings[place.stripe - 1].mtu.host
        own = tuple((number, nic.name, nic.rdma, nic.mac) for number, nic in sorted(given.nics.items()))
        key = (place.stripe, place.kind_name, mtu, own)
        if key not in shared:
            nics = []
            for number in range(len(place.rails)):
                nic = given.nics.get(number, DEFAULT_NIC)
                name = nic.name or nic_name(fabric, kind, number)
                rdma = nic.rdma or _rdma(fabric, kind, number)
                nics.append(ExpectedNic(name, rdma, nic.mac or "", numbered[number]))
            roce = settings[place.stripe - 1].roce
            alone = given.mtu or any(nic[1:] != (None, None, None) for nic in own)
            profile = "-".join(filter(None, (f"stripe{place.stripe}", place.kind_name)))
            shared[key] = ExpectedHost(
                stripe=place.stripe,
                rails=place.rails,
                mtu=mtu,
                nics=tuple(nics),
                forwarding=fabric.hosts.forwarding,
                roce=roce if roce.enabled else None,
                environment=_environment(fabric, kind, tuple(nics)) if kind.gpus else None,
                pool=Prefix(fabric.addressing.pool.network, fabric.addressing.pool.length),
                profile="" if alone else profile_folder(profile),
                first_nic=fabric.hosts.first_nic,
            )
        result[place.name] = shared[key]
    return result


def with_profiles(hosts: Mapping[str, ExpectedHost], folders: Mapping[str, str]) -> dict[str, ExpectedHost]:
    """Return servers that share other folders than the intent says, by server; what is equal stays one object."""
    shared: dict[tuple[int, str], ExpectedHost] = {}
    for name, host in hosts.items():
        key = (id(host), folders[name])
        if key not in shared:
            shared[key] = replace(host, profile=folders[name])
    return {name: shared[id(host), folders[name]] for name, host in hosts.items()}


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
