"""GPU servers: names, NICs, leaf ports, and the host tables that pin every prefix to its gateway."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ailb_gen.addresses import address_text, eui64
from ailb_gen.design.inventory import Slot, StripeSlot
from ailb_gen.design.model import ColorPrefix, DesignServer, DesignVlan, HostConfig, HostNic, HostTable
from ailb_gen.design.ports import LaidOut, Layout, Ports, PortUse
from ailb_gen.design.precedence import host_qos
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import (
    CountedEntry,
    CountedServers,
    Fabric,
    HostPorts,
    Nic,
    Server,
    ServerGroup,
    ServerKind,
    ServerOverride,
)
from ailb_gen.validation import merged
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path

# Linux keeps at most 16 addresses per interface, the link-local one included (ip-sysctl: max_addresses).
LINUX_MAX_ADDRESSES = 16
HOST_PORTS: Path = ("host_ports",)
PLAIN_NIC, PLAIN_SERVER, PLAIN_KIND = Nic(), ServerOverride(), ServerKind()


@dataclass(frozen=True, slots=True)
class StripeKind:
    """The servers of a kind in a stripe: `rails` of their NICs, the `row` of ports that they share, paths about them.

    The kind without a name is that of servers with a NIC on every rail.
    """

    name: str
    kind: ServerKind
    rails: tuple[int, ...]
    row: HostPorts
    levels: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Seat:
    """A server before its design: who it is, its place in its row of ports, and the paths that are about it."""

    name: str
    position: int
    kind: StripeKind
    given: ServerOverride
    levels: tuple[Path, ...]


class HostPortUse(NamedTuple):
    """A leaf port that a NIC occupies."""

    leaf: str
    use: PortUse
    server: str
    nic: str
    path: Path


def _entry_path(group: Path, number: int, problems: Problems) -> Path:
    """Return the path of a listed server: the list is the group itself, or under its key."""
    path = (*group, number)
    return path if path in problems.intent.source.places else (*group, "list", number)


class _Names:
    """Expands name patterns; every kind of server is counted on its own."""

    __slots__ = ("of_fabric", "of_stripe")

    def __init__(self) -> None:
        self.of_fabric: Counter[str] = Counter()
        self.of_stripe: Counter[tuple[int, str]] = Counter()

    def next(self, pattern: str, kind: str, stripe: int) -> str:
        """Return the name of the next counted server of a kind in a stripe."""
        self.of_fabric[kind] += 1
        self.of_stripe[stripe, kind] += 1
        return pattern.format(n=self.of_fabric[kind], s=stripe, i=self.of_stripe[stripe, kind])


# Name, kind, what is written about it, and where.
_Entry = tuple[str, str | None, ServerOverride, Path]


def _counted(group: CountedServers, stripe: int, names: _Names, path: Path) -> Iterator[_Entry]:
    for _ in range(group.count):
        yield names.next(group.pattern, group.kind or "", stripe), group.kind, PLAIN_SERVER, path


def _entries(stripe: int, fabric: Fabric, names: _Names, problems: Problems) -> Iterator[_Entry]:
    """Return the servers of a stripe in the order of their ports."""
    own = fabric.stripes[stripe - 1].servers
    group, base = (own, ("stripes", stripe - 1, "servers")) if own is not None else (fabric.servers, ("servers",))
    yield from _counted(group, stripe, names, (*base, "name"))
    lists: list[tuple[ServerGroup, Path]] = [(fabric.servers, ("servers",))]
    if own is not None:
        lists.append((own, base))
    for rows, where in lists:
        for number, entry in enumerate(rows.list):
            path = _entry_path(where, number, problems)
            if rows is own and entry.stripe not in (None, stripe):
                problems.error("conflict", (*path, "stripe"), f"this server is listed in stripe {stripe}")
            elif entry.stripe not in (None, stripe):
                continue
            elif isinstance(entry, CountedEntry):
                # What a stripe says itself replaces what is counted for every stripe.
                if rows is group or entry.stripe == stripe:
                    yield from _counted(entry, stripe, names, path)
            elif rows is own or entry.stripe == stripe or len(fabric.stripes) == 1:
                yield entry.name, entry.kind, entry, path


def _check_stripes(fabric: Fabric, problems: Problems) -> None:
    for number, entry in enumerate(fabric.servers.list):
        path = _entry_path(("servers",), number, problems)
        if isinstance(entry, Server) and entry.stripe is None and len(fabric.stripes) > 1:
            problems.error("missing-key", path, f"server {entry.name!r} needs a stripe", "add 'stripe:'")
        elif entry.stripe is not None and entry.stripe > len(fabric.stripes):
            reason = f"there is no stripe {entry.stripe}; the fabric has {len(fabric.stripes)}"
            problems.error("out-of-range", (*path, "stripe"), reason)


class _Kinds:
    """The kinds of servers by stripe; kinds with the same layout of ports share one row of ports."""

    __slots__ = ("fabric", "known", "problems", "rows")

    def __init__(self, fabric: Fabric, problems: Problems) -> None:
        self.fabric, self.problems = fabric, problems
        self.known: dict[tuple[int, str], StripeKind] = {}
        self.rows: dict[object, HostPorts] = {}

    def find(self, name: str | None, stripe: StripeSlot, path: Path) -> StripeKind:
        """Return the kind of a server; notes a problem with an unknown one and returns the plain one for it."""
        kinds = self.fabric.server_kinds
        if name is not None and name not in kinds:
            hint = did_you_mean(name, kinds) or f"known: {', '.join(kinds)}" if kinds else "describe it in server_kinds"
            self.problems.error("unknown-kind", path, f"no kind of server is called {name!r}", hint)
            name = None
        key = (stripe.number, name or "")
        if key not in self.known:
            self.known[key] = self._kind(name, stripe)
        return self.known[key]

    def _kind(self, name: str | None, stripe: StripeSlot) -> StripeKind:
        fabric = self.fabric
        kind = fabric.server_kinds[name] if name is not None else PLAIN_KIND
        levels = ((("server_kinds", name), *stripe.levels)) if name is not None else stripe.levels
        row = fabric.host_ports
        for level in (fabric.stripes[stripe.number - 1], fabric.overrides.stripes.get(stripe.number), kind):
            row = merged(row, level.host_ports) if level is not None else row
        row = self.rows.setdefault(tuple(row.model_dump().values()), row)
        rails = kind.rails if kind.rails is not None else tuple(range(len(stripe.leaves)))
        last = len(stripe.leaves) - 1
        for number, rail in enumerate(rails):
            path = (*levels[0], "rails", number)
            if rail > last:
                reason = f"stripe {stripe.number} has no rail {rail}: its rails are 0 to {last}"
                self.problems.error("out-of-range", path, reason)
            elif rail in rails[:number]:
                self.problems.error("conflict", path, f"rail {rail} is there twice; a server has one NIC on a rail")
        return StripeKind(name or "", kind, tuple(rail for rail in rails if rail <= last), row, levels)


def seats(fabric: Fabric, stripes: tuple[StripeSlot, ...], problems: Problems) -> tuple[tuple[Seat, ...], ...]:
    """Return the servers of every stripe in order, overrides applied."""
    _check_stripes(fabric, problems)
    numbers, kinds = _Names(), _Kinds(fabric, problems)
    result = []
    names: set[str] = set()
    for stripe in stripes:
        row = []
        taken: Counter[int] = Counter()
        for name, kind_name, given, path in _entries(stripe.number, fabric, numbers, problems):
            kind = kinds.find(kind_name, stripe, (*(path[:-1] if path[-1] == "name" else path), "kind"))
            override = fabric.overrides.servers.get(name)
            whole = merged(given, override) if override else given
            levels = (("overrides", "servers", name), path) if override else (path,)
            row.append(Seat(name, taken[id(kind.row)], kind, whole, levels))
            taken[id(kind.row)] += 1
            names.add(name)
        result.append(tuple(row))
    for name in fabric.overrides.servers:
        if name not in names:
            hint = did_you_mean(name, names)
            problems.error("unknown-device", ("overrides", "servers", name), "the fabric has no such server", hint)
    _check_kinds_used(fabric, kinds, problems)
    return tuple(result)


def _check_kinds_used(fabric: Fabric, kinds: _Kinds, problems: Problems) -> None:
    used = {name for _, name in kinds.known}
    for name in fabric.server_kinds:
        if name not in used:
            problems.warning("unused-kind", ("server_kinds", name), "no server is of this kind", "give servers 'kind:'")


def tables(nic: int, prefixes: tuple[ColorPrefix, ...], fabric: Fabric) -> tuple[HostTable, ...]:
    """Return the routing tables of a NIC (the validated design's Table 8)."""
    first = len(prefixes) * nic
    return tuple(
        HostTable(
            id=fabric.tables.first + first + k,
            name=f"gpu{nic}_subnet{k + 1}",
            priority=fabric.tables.priority + first + k,
            prefix=prefix,
        )
        for k, prefix in enumerate(prefixes)
    )


def environment(fabric: Fabric, rdma: tuple[str, ...], colors: int) -> tuple[tuple[str, str], ...]:
    """Return the NCCL environment (the validated design, Running the NCCL Job); the intent's own values win."""
    values = {
        "NCCL_NET_PLUGIN": "juniper-ib",
        "NCCL_IB_QPS_PER_CONNECTION": str(colors),
        "NCCL_IB_SPLIT_DATA_ON_QPS": "1",
        "NCCL_IB_ADDR_FAMILY": "AF_INET6",
        "NCCL_SOCKET_FAMILY": "AF_INET6",
        "NCCL_SOCKET_NTHREADS": str(fabric.nccl.socket_nthreads),
        "UCX_IB_GID_INDEX": str(fabric.nccl.gid_index),
        "UCX_NET_DEVICES": ",".join(f"{name}:1" for name in rdma),
        "LD_LIBRARY_PATH": "/usr/local/lib",
    }
    return tuple((values | fabric.nccl.environment).items())


def _all_named(seat: Seat) -> bool:
    return all(seat.given.nics.get(number, PLAIN_NIC).port for number in range(len(seat.kind.rails)))


def host_mtu(stripe: StripeSlot, seat: Seat) -> int:
    """Return the MTU of a server's NICs in bytes."""
    return seat.given.mtu or seat.kind.kind.mtu or stripe.settings.mtu.host


class ServerBuilder:
    """Designs servers; servers that are configured alike share one `HostConfig`."""

    __slots__ = ("configs", "fabric", "laid_out", "management", "prefixes", "problems", "tables", "uses", "vlans")

    def __init__(
        self,
        fabric: Fabric,
        prefixes: Mapping[str, tuple[ColorPrefix, ...]],
        vlans: Mapping[str, DesignVlan],
        management: Mapping[str, str],
        problems: Problems,
    ) -> None:
        self.fabric, self.prefixes, self.vlans, self.problems = fabric, prefixes, vlans, problems
        self.management = management
        # By platform, row of ports and number of servers: None where they do not fit.
        self.laid_out: dict[tuple[str, int, int], LaidOut | None] = {}
        self.configs: dict[object, HostConfig] = {}
        self.tables: dict[tuple[str, int], tuple[HostTable, ...]] = {}
        self.uses: list[HostPortUse] = []

    def _rdma(self, kind: ServerKind, number: int) -> str:
        names = kind.rdma or self.fabric.hosts.rdma
        if isinstance(names, str):
            return names.format(i=number)
        return names[number] if number < len(names) else f"rdma{number}"

    def check_rdma(self, kinds: Iterable[StripeKind]) -> None:
        """Note lists of RDMA names that are not one per NIC of the largest server that takes its names from them."""
        lists: dict[Path, tuple[tuple[str, ...], int]] = {}
        for kind in kinds:
            names = kind.kind.rdma or self.fabric.hosts.rdma
            if not isinstance(names, str):
                path: Path = (*kind.levels[0], "rdma") if kind.kind.rdma else ("hosts", "rdma")
                lists[path] = (names, max(len(kind.rails), lists.get(path, (names, 0))[1]))
        for path, (names, nics) in lists.items():
            if len(names) != nics:
                reason = f"{nics} names are needed, one per NIC; {len(names)} are given"
                self.problems.error("wrong-count", path, reason)

    def _check_twice(self, seat: Seat, nics: tuple[HostNic, ...]) -> None:
        for key, what, values in (
            ("name", "NIC name", [nic.name.lower() for nic in nics]),
            ("rdma", "RDMA device", [nic.rdma for nic in nics]),
        ):
            for number, value in enumerate(values):
                if value in values[:number]:
                    path = self.problems.where(seat.levels, "nics", number, key)
                    first = values.index(value)
                    reason = f"the {what} {value} of NIC {number} of {seat.name} is already that of NIC {first}"
                    self.problems.error("duplicate-name", path, reason)

    def _nic(self, number: int, leaf: Slot, seat: Seat, mtu: int) -> HostNic:
        if (leaf.name, number) not in self.tables:
            self.tables[leaf.name, number] = tables(number, self.prefixes[leaf.name], self.fabric)
        rows = self.tables[leaf.name, number]
        given, kind = seat.given.nics.get(number, PLAIN_NIC), seat.kind.kind
        suffix = eui64(given.mac) if given.mac else 0
        return HostNic(
            index=number,
            rail=leaf.number - 1,
            name=given.name or (kind.nic or self.fabric.names.nic).format(i=number),
            rdma=given.rdma or self._rdma(kind, number),
            mac=given.mac or "",
            mtu=mtu,
            speed_gbps=seat.kind.row.speed,
            leaf=leaf.name,
            vlan=self.vlans[leaf.name].id,
            tables=rows,
            addresses=tuple(address_text(row.prefix.network | suffix) for row in rows) if suffix else (),
        )

    def _config(self, stripe: StripeSlot, seat: Seat) -> HostConfig:
        kind, mtu = seat.kind, host_mtu(stripe, seat)
        personal = {n: row for n, nic in seat.given.nics.items() if any(row := (nic.name, nic.rdma, nic.mac))}
        key = (stripe.number, kind.name, mtu, frozenset(personal.items()))
        if key not in self.configs:
            leaves = [stripe.leaves[rail] for rail in kind.rails]
            nics = tuple(self._nic(number, leaf, seat, mtu) for number, leaf in enumerate(leaves))
            addresses = len(nics[0].tables) + 1
            self._check_twice(seat, nics)
            rdma = tuple(nic.rdma for nic in nics)
            shared = f"stripe{stripe.number}-{kind.name}" if kind.name else f"stripe{stripe.number}"
            self.configs[key] = HostConfig(
                profile="" if seat.given.mtu or personal else shared,
                nics=nics,
                accept_ra=2 if self.fabric.hosts.forwarding else 1,
                max_addresses=addresses + 1 if addresses >= LINUX_MAX_ADDRESSES else 0,
                qos=host_qos(stripe.settings.roce),
                environment=environment(self.fabric, rdma, addresses - 1) if kind.kind.gpus else (),
            )
        return self.configs[key]

    def _layout(self, ports: Ports, row: HostPorts) -> Layout:
        return ports.layout(row, row.speed, 1)

    def _laid_out(self, stripe: StripeSlot, kinds: Iterable[StripeKind], servers: int) -> dict[int, LaidOut] | None:
        """Return by rail the ports of so many servers of kinds that share a row and name no port themselves.

        Notes a problem and returns None when they do not fit.
        """
        result: dict[int, LaidOut | None] = {}
        for kind in kinds:
            for rail in kind.rails:
                ports, row = stripe.leaves[rail].ports, kind.row
                key = (ports.name, id(row), servers)
                if key not in self.laid_out:
                    layout, what = self._layout(ports, row), f"{servers} server ports of {stripe.leaves[rail].name}"
                    path = self.problems.where((*kind.levels, ()), *HOST_PORTS)
                    fits = ports.check_layout(layout, servers, what, path, self.problems)
                    self.laid_out[key] = ports.uses(layout, servers) if fits else None
                result[rail] = self.laid_out[key]
        rows = {rail: laid_out for rail, laid_out in result.items() if laid_out is not None}
        return rows if len(rows) == len(result) else None

    def _rows(self, stripe: StripeSlot, seated: tuple[Seat, ...]) -> dict[int, dict[int, LaidOut] | None]:
        """Return the ports of a stripe by row of ports and rail."""
        kinds: dict[int, dict[str, StripeKind]] = defaultdict(dict)
        automatic: Counter[int] = Counter()
        for seat in seated:
            if not _all_named(seat):
                row = id(seat.kind.row)
                kinds[row][seat.kind.name] = seat.kind
                automatic[row] = max(automatic[row], seat.position + 1)
        return {row: self._laid_out(stripe, given.values(), automatic[row]) for row, given in kinds.items()}

    def stripe(self, stripe: StripeSlot, seated: tuple[Seat, ...]) -> list[DesignServer]:
        """Design the servers of a stripe; notes problems with their NICs and ports."""
        rows = self._rows(stripe, seated)
        result = []
        for seat in seated:
            given, count = seat.given.nics, len(seat.kind.rails)
            if given and max(given) >= count:
                reason = f"there is no NIC {max(given)}: a server has {count}, one per rail, counted from 0"
                self.problems.error("wrong-count", self.problems.where(seat.levels, "nics"), reason)
                continue
            if not count:
                continue
            config = self._config(stripe, seat)
            named = {number: nic.port for number, nic in given.items() if nic.port}
            laid_out = rows.get(id(seat.kind.row))
            ports = []
            for number, (rail, nic) in enumerate(zip(seat.kind.rails, config.nics, strict=True)):
                leaf = stripe.leaves[rail]
                path = self.problems.where((*seat.kind.levels, ()), *HOST_PORTS)
                if number in named:
                    path = self.problems.where(seat.levels, "nics", number, "port")
                    layout = self._layout(leaf.ports, seat.kind.row)
                    use = leaf.ports.explicit(named[number], layout, path, self.problems)
                elif laid_out is not None:
                    use = laid_out[rail][seat.position][0]
                else:
                    continue
                ports.append(use.interface)
                self.uses.append(HostPortUse(leaf.name, use, seat.name, nic.name, path))
            result.append(DesignServer(seat.name, stripe.number, self.management[seat.name], tuple(ports), config))
        return result
