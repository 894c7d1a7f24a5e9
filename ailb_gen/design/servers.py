"""GPU servers: names, NICs, leaf ports, and the host tables that pin every prefix to its gateway."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ailb_gen.addresses import address_text, eui64
from ailb_gen.design.inventory import Slot, StripeSlot
from ailb_gen.design.model import ColorPrefix, DesignServer, DesignVlan, HostConfig, HostNic, HostTable
from ailb_gen.design.ports import LaidOut, Layout, Ports, PortUse
from ailb_gen.design.precedence import host_qos
from ailb_gen.design.problems import Problems
from ailb_gen.design.seats import Seat, StripeKind, host_mtu
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.nccl import QUEUE_PAIRS, SOCKET_NAMES
from ailb_gen.intent.servers import HostPorts, Nic
from ailb_gen.wording import counted, did_you_mean
from ailb_gen.yamlio import Path

# Linux keeps at most 16 addresses per interface, the link-local one included (ip-sysctl: max_addresses).
LINUX_MAX_ADDRESSES = 16
PLAIN_NIC = Nic()


class HostPortUse(NamedTuple):
    """A leaf port that a NIC occupies."""

    leaf: str
    use: PortUse
    server: str
    nic: str
    path: Path


def tables(nic: int, prefixes: tuple[ColorPrefix, ...], fabric: Fabric) -> tuple[HostTable, ...]:
    """Return the routing tables of a NIC (the validated design's Table 8), which counts from 0."""
    nic += fabric.hosts.first_nic
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


def environment(fabric: Fabric, kind: StripeKind, rdma: tuple[str, ...], colors: int) -> tuple[tuple[str, str], ...]:
    """Return the NCCL environment (the validated design, Running the NCCL Job); the intent's own values win."""
    values = {
        "NCCL_NET_PLUGIN": "juniper-ib",
        QUEUE_PAIRS: str(colors),
        "NCCL_IB_SPLIT_DATA_ON_QPS": "1",
        "NCCL_IB_ADDR_FAMILY": "AF_INET6",
        "NCCL_SOCKET_FAMILY": "AF_INET6",
        **({} if fabric.nccl.socket_ifname is None else {SOCKET_NAMES: fabric.nccl.socket_ifname}),
        "NCCL_SOCKET_NTHREADS": str(fabric.nccl.socket_nthreads),
        # Data and its completion as two requests: in one, packets would have to arrive in order.
        **({"NCCL_IB_ADAPTIVE_ROUTING": "1"} if kind.out_of_order else {}),
        "UCX_IB_GID_INDEX": "auto" if fabric.nccl.gid_index == "found" else str(fabric.nccl.gid_index),
        "UCX_NET_DEVICES": ",".join(f"{name}:1" for name in rdma),
        "LD_LIBRARY_PATH": "/usr/local/lib",
    }
    return tuple((values | fabric.nccl.environment).items())


def _nic_name(seat: Seat, number: int) -> str:
    return seat.given.nics.get(number, PLAIN_NIC).name or seat.kind.nic_name(number)


def _named_ports(seat: Seat) -> dict[int, str]:
    """Return the ports that the intent names, by number of the NIC; a cable is named by the name of the NIC."""
    ports = {number: nic.port for number, nic in seat.given.nics.items() if nic.port}
    if cables := seat.given.cables:
        for number in range(len(seat.kind.rails)):
            if found := cables.get(_nic_name(seat, number)):
                ports.setdefault(number, found.port)
    return ports


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

    def check_rdma(self, kinds: Iterable[StripeKind]) -> None:
        """Note lists of RDMA names that are not one per NIC of the largest server that takes its names from them."""
        lists: dict[Path, tuple[tuple[str, ...], int]] = {}
        for kind in kinds:
            said = self.fabric.server_kinds[kind.name].rails if kind.name else None
            # Rails that are there twice, or not at all, have an error of their own.
            if not isinstance(kind.rdma, str) and (said is None or len(said) == len(kind.rails)):
                path = self.problems.where((kind.own, ("hosts",)), "rdma")
                lists[path] = (kind.rdma, max(len(kind.rails), lists.get(path, (kind.rdma, 0))[1]))
        for path, (names, nics) in lists.items():
            if len(names) != nics:
                reason = f"one name per NIC is needed, {nics} in all; {len(names)} given"
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
                    reason = f"the {what} {value} of NIC {number} of {seat.name} is already used by NIC {first}"
                    self.problems.error("duplicate-name", path, reason)

    def _check_cables(self, stripe: StripeSlot, seat: Seat, config: HostConfig) -> None:
        """Note cables of NICs that the server lacks, to another leaf than that of the rail, or to another port."""
        nics = {nic.name: (nic, stripe.leaves[nic.rail].name) for nic in config.nics}
        for name, cable in seat.given.cables.items():
            path = self.problems.where(seat.levels, "cables", name)
            if name not in nics:
                hint = did_you_mean(name, nics) or f"it has {', '.join(nics)}"
                self.problems.error("unknown-device", path, f"{seat.name} has no NIC {name}", hint)
                continue
            nic, leaf = nics[name]
            port = seat.given.nics.get(nic.index, PLAIN_NIC).port
            if cable.leaf != leaf:
                reason = f"{name} of {seat.name} is cabled to {cable.leaf}; on rail {nic.rail} of its stripe is {leaf}"
                self.problems.error("conflict", (*path, "leaf"), reason, "move the cable, or correct the file")
            elif port not in (None, cable.port):
                reason = f"{name} of {seat.name} has port {cable.port} here, and {port} where its NIC is described"
                self.problems.error("conflict", (*path, "port"), reason)

    def _nic(self, number: int, leaf: Slot, seat: Seat, mtu: int) -> HostNic:
        if (leaf.name, number) not in self.tables:
            self.tables[leaf.name, number] = tables(number, self.prefixes[leaf.name], self.fabric)
        rows = self.tables[leaf.name, number]
        given = seat.given.nics.get(number, PLAIN_NIC)
        suffix = eui64(given.mac) if given.mac else 0
        return HostNic(
            index=number,
            rail=leaf.number - 1,
            server_rail=self.fabric.hosts.first_nic + leaf.number - 1,
            name=_nic_name(seat, number),
            rdma=given.rdma or seat.kind.rdma_name(number),
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
                environment=environment(self.fabric, kind, rdma, addresses - 1) if kind.gpus else (),
            )
        return self.configs[key]

    def _layout(self, ports: Ports, row: HostPorts) -> Layout:
        return ports.layout(row, row.speed, 1)

    def _laid_out(self, stripe: StripeSlot, seats: list[Seat]) -> dict[int, LaidOut] | None:
        """Return by rail the ports of servers that share a row.

        Notes a problem and returns None when they do not fit.
        """
        servers, fit = seats[-1].position + 1, True
        result: dict[int, LaidOut] = {}
        for kind in {seat.kind.name: seat.kind for seat in seats}.values():
            for rail in kind.rails:
                ports, row = stripe.leaves[rail].ports, kind.row
                key = (ports.name, id(row), servers)
                if key not in self.laid_out:
                    layout = self._layout(ports, row)
                    what = f"{counted(servers, 'server port')} of {stripe.leaves[rail].name}"
                    fits = ports.check_layout(layout, servers, what, kind.row_path, self.problems)
                    self.laid_out[key] = ports.uses(layout, servers) if fits else None
                laid_out = self.laid_out[key]
                if laid_out is None:
                    fit = False
                else:
                    result[rail] = laid_out
        return result if fit else None

    def _rows(self, stripe: StripeSlot, seated: tuple[Seat, ...]) -> dict[int, dict[int, LaidOut] | None]:
        """Return the ports of a stripe by row of ports and rail, of servers that do not name all theirs."""
        rows: dict[int, list[Seat]] = defaultdict(list)
        for seat in seated:
            if not _named_ports(seat).keys() >= set(range(len(seat.kind.rails))):
                rows[id(seat.kind.row)].append(seat)
        return {row: self._laid_out(stripe, seats) for row, seats in rows.items()}

    def stripe(self, stripe: StripeSlot, seated: tuple[Seat, ...]) -> list[DesignServer]:
        """Design the servers of a stripe; notes problems with their NICs and ports."""
        rows = self._rows(stripe, seated)
        result = []
        for seat in seated:
            given, count = seat.given.nics, len(seat.kind.rails)
            if given and max(given) >= count:
                who = f"a server of kind {seat.kind.name}" if seat.kind.name else "a server"
                reason = f"there is no NIC {max(given)}: {who} has {count}, one per rail, counted from 0"
                self.problems.error("wrong-count", self.problems.where(seat.levels, "nics"), reason)
                continue
            if not count:
                continue
            config = self._config(stripe, seat)
            named = _named_ports(seat)
            self._check_cables(stripe, seat, config)
            laid_out = rows.get(id(seat.kind.row))
            ports = []
            for number, (rail, nic) in enumerate(zip(seat.kind.rails, config.nics, strict=True)):
                leaf = stripe.leaves[rail]
                path = seat.kind.row_path
                if number in named:
                    key = (
                        ("nics", number, "port") if given.get(number, PLAIN_NIC).port else ("cables", nic.name, "port")
                    )
                    path = self.problems.where(seat.levels, *key)
                    layout = self._layout(leaf.ports, seat.kind.row)
                    use = leaf.ports.explicit(named[number], layout, path, self.problems)
                elif laid_out is not None:
                    use = laid_out[rail][seat.position][0]
                else:
                    continue
                ports.append(use.interface)
                self.uses.append(HostPortUse(leaf.name, use, seat.name, nic.name, path))
            address, mac = self.management[seat.name], seat.given.management_mac or ""
            kind = seat.kind.name
            result.append(DesignServer(seat.name, stripe.number, address, tuple(ports), config, mac, kind))
        return result
