"""GPU servers: names, NICs, leaf ports, and the host tables that pin every prefix to its gateway."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ailb_gen.addresses import address_text, eui64
from ailb_gen.design.inventory import Slot, StripeSlot
from ailb_gen.design.model import ColorPrefix, DesignServer, DesignVlan, HostConfig, HostNic, HostTable
from ailb_gen.design.ports import LaidOut, Layout, Ports, PortUse
from ailb_gen.design.precedence import host_qos
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import Fabric, Nic, ServerGroup, ServerOverride
from ailb_gen.intent.models import Server as ServerIntent
from ailb_gen.validation import merged
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path

# Linux keeps at most 16 addresses per interface, the link-local one included (ip-sysctl: max_addresses).
LINUX_MAX_ADDRESSES = 16
HOST_PORTS: Path = ("host_ports",)
PLAIN_NIC = Nic()


@dataclass(frozen=True, slots=True)
class Seat:
    """A server before its design: who it is, where it sits, and the paths that say something about it."""

    name: str
    position: int
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


def _seats_of_stripe(
    stripe: int, fabric: Fabric, counter: Iterator[int], problems: Problems
) -> Iterator[tuple[str, ServerOverride, Path]]:
    own = fabric.stripes[stripe - 1].servers
    group, base = (own, ("stripes", stripe - 1, "servers")) if own is not None else (fabric.servers, ("servers",))
    for number in range(1, group.count + 1):
        yield group.name.format(n=next(counter), s=stripe, i=number), ServerOverride(), (*base, "name")
    lists: list[tuple[ServerGroup, Path]] = [(fabric.servers, ("servers",))]
    if own is not None:
        lists.append((own, base))
    for rows, where in lists:
        for number, server in enumerate(rows.list):
            path = _entry_path(where, number, problems)
            if rows is own and server.stripe not in (None, stripe):
                problems.error("conflict", (*path, "stripe"), f"this server is listed in stripe {stripe}")
            elif rows is own or server.stripe == stripe or (server.stripe is None and len(fabric.stripes) == 1):
                yield server.name, server, path


def _check_stripes(rows: tuple[ServerIntent, ...], fabric: Fabric, problems: Problems) -> None:
    for number, server in enumerate(rows):
        path = _entry_path(("servers",), number, problems)
        if server.stripe is None and len(fabric.stripes) > 1:
            problems.error("missing-key", path, f"server {server.name!r} needs a stripe", "add 'stripe:'")
        elif server.stripe is not None and server.stripe > len(fabric.stripes):
            reason = f"there is no stripe {server.stripe}; the fabric has {len(fabric.stripes)}"
            problems.error("out-of-range", (*path, "stripe"), reason)


def seats(fabric: Fabric, problems: Problems) -> tuple[tuple[Seat, ...], ...]:
    """Return the servers of every stripe in order, overrides applied."""
    _check_stripes(fabric.servers.list, fabric, problems)
    counter = iter(range(1, 10**9))
    result = []
    names: set[str] = set()
    for stripe in range(1, len(fabric.stripes) + 1):
        row = []
        for position, (name, given, path) in enumerate(_seats_of_stripe(stripe, fabric, counter, problems)):
            override = fabric.overrides.servers.get(name)
            whole = merged(given, override) if override else given
            levels = (("overrides", "servers", name), path) if override else (path,)
            row.append(Seat(name, position, whole, levels))
            names.add(name)
        result.append(tuple(row))
    for name in fabric.overrides.servers:
        if name not in names:
            hint = did_you_mean(name, names)
            problems.error("unknown-device", ("overrides", "servers", name), "the fabric has no such server", hint)
    return tuple(result)


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


def _all_named(stripe: StripeSlot, seat: Seat) -> bool:
    return all(seat.given.nics.get(number, PLAIN_NIC).port for number in range(len(stripe.leaves)))


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
        # By platform and number of servers: None where they do not fit.
        self.laid_out: dict[tuple[str, int], LaidOut | None] = {}
        self.configs: dict[object, HostConfig] = {}
        self.tables: dict[str, tuple[HostTable, ...]] = {}
        self.uses: list[HostPortUse] = []

    def _rdma(self, number: int) -> str:
        names = self.fabric.hosts.rdma
        if isinstance(names, str):
            return names.format(i=number)
        return names[number] if number < len(names) else f"rdma{number}"

    def check_rdma(self, nics: int) -> None:
        """Note a list of RDMA names that is not one per NIC of the largest server."""
        names = self.fabric.hosts.rdma
        if not isinstance(names, str) and nics and len(names) != nics:
            reason = f"{nics} names are needed, one per NIC; {len(names)} are given"
            self.problems.error("wrong-count", ("hosts", "rdma"), reason)

    def _check_twice(self, seat: Seat, nics: tuple[HostNic, ...]) -> None:
        for key, what, values in (
            ("name", "NIC name", [nic.name.lower() for nic in nics]),
            ("rdma", "RDMA device", [nic.rdma for nic in nics]),
        ):
            for number, value in enumerate(values):
                if value in values[:number]:
                    path = self.problems.where(seat.levels, "nics", number, key)
                    first = values.index(value)
                    reason = f"the {what} {value} of NIC {number} of {seat.name} is already used by NIC {first}"
                    self.problems.error("duplicate-name", path, reason)

    def _nic(self, number: int, leaf: Slot, given: Nic, mtu: int) -> HostNic:
        if leaf.name not in self.tables:
            self.tables[leaf.name] = tables(number, self.prefixes[leaf.name], self.fabric)
        rows = self.tables[leaf.name]
        suffix = eui64(given.mac) if given.mac else 0
        return HostNic(
            index=number,
            name=given.name or self.fabric.names.nic.format(i=number),
            rdma=given.rdma or self._rdma(number),
            mac=given.mac or "",
            mtu=mtu,
            leaf=leaf.name,
            vlan=self.vlans[leaf.name].id,
            tables=rows,
            addresses=tuple(address_text(row.prefix.network | suffix) for row in rows) if suffix else (),
        )

    def _config(self, stripe: StripeSlot, seat: Seat) -> HostConfig:
        given = seat.given.nics
        mtu = seat.given.mtu or stripe.settings.mtu.host
        personal = {number: row for number, nic in given.items() if any(row := (nic.name, nic.rdma, nic.mac))}
        key = (stripe.number, mtu, frozenset(personal.items()))
        if key not in self.configs:
            nics = tuple(
                self._nic(number, leaf, given.get(number, PLAIN_NIC), mtu) for number, leaf in enumerate(stripe.leaves)
            )
            addresses = len(nics[0].tables) + 1
            self._check_twice(seat, nics)
            self.configs[key] = HostConfig(
                profile="" if seat.given.mtu or personal else f"stripe{stripe.number}",
                nics=nics,
                accept_ra=2 if self.fabric.hosts.forwarding else 1,
                max_addresses=addresses + 1 if addresses >= LINUX_MAX_ADDRESSES else 0,
                qos=host_qos(stripe.settings.roce),
                environment=environment(self.fabric, tuple(nic.rdma for nic in nics), addresses - 1),
            )
        return self.configs[key]

    def _layout(self, ports: Ports) -> Layout:
        return ports.layout(self.fabric.host_ports, self.fabric.host_ports.speed, 1)

    def _laid_out(self, stripe: StripeSlot, servers: int) -> list[LaidOut] | None:
        """Return for every leaf of the stripe the ports of so many servers that name none themselves.

        Notes a problem and returns None when they do not fit.
        """
        for leaf in stripe.leaves:
            if (leaf.ports.name, servers) not in self.laid_out:
                layout, what = self._layout(leaf.ports), f"{servers} server ports of {leaf.name}"
                fits = leaf.ports.check_layout(layout, servers, what, HOST_PORTS, self.problems)
                self.laid_out[leaf.ports.name, servers] = leaf.ports.uses(layout, servers) if fits else None
        found = [self.laid_out[leaf.ports.name, servers] for leaf in stripe.leaves]
        rows = [row for row in found if row is not None]
        return rows if len(rows) == len(found) else None

    def stripe(self, stripe: StripeSlot, row: tuple[Seat, ...]) -> list[DesignServer]:
        """Design the servers of a stripe; notes problems with their NICs and ports."""
        automatic = [seat.position + 1 for seat in row if not _all_named(stripe, seat)]
        rows = self._laid_out(stripe, max(automatic, default=0))
        result = []
        for seat in row:
            given = seat.given.nics
            if given and max(given) >= len(stripe.leaves):
                rails = len(stripe.leaves)
                reason = f"there is no NIC {max(given)}: a server has {rails}, one per rail, counted from 0"
                self.problems.error("wrong-count", self.problems.where(seat.levels, "nics"), reason)
                continue
            config = self._config(stripe, seat)
            named = {number: nic.port for number, nic in given.items() if nic.port}
            ports = []
            for number, (leaf, nic) in enumerate(zip(stripe.leaves, config.nics, strict=True)):
                path = HOST_PORTS
                if number in named:
                    path = self.problems.where(seat.levels, "nics", number, "port")
                    use = leaf.ports.explicit(named[number], self._layout(leaf.ports), path, self.problems)
                elif rows is not None:
                    use = rows[number][seat.position][0]
                else:
                    continue
                ports.append(use.interface)
                self.uses.append(HostPortUse(leaf.name, use, seat.name, nic.name, path))
            result.append(DesignServer(seat.name, stripe.number, self.management[seat.name], tuple(ports), config))
        return result
