"""Servers of `fabric.yaml`: by count, by name or from a CSV file, their NICs, kinds and ports."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Strict, Tag, model_validator

from ailb_gen.intent.scalars import (
    Ipv4Interface,
    Mac,
    NicName,
    NicPattern,
    PortName,
    Positive,
    RdmaName,
    RdmaNames,
    Speed,
    name_pattern,
)
from ailb_gen.validation import Bool, Int, Model, Name, keyed, wrong

MAX_COUNT = 4096
# Other groups of an inventory.
GROUP = re.compile(
    r"(?:leaf|leaves|spines?|switch(?:es)?|servers?|all|ungrouped|stripe[0-9]+|rail[0-9]+)\Z", re.IGNORECASE
)


def _kind_name(name: str) -> str:
    if GROUP.match(name):
        raise wrong("reserved-name", f"{name!r} has a special meaning as a group of devices")
    return name


KindName = Annotated[Name, AfterValidator(_kind_name)]


class Spread(Model):
    """Layout of a row of links over the ports of a switch."""

    speed: Speed = Field(400, description="speed of every link, such as 400g")
    sub_ports: Positive | None = Field(None, description="number-of-sub-ports; default: the most the port offers")
    first_port: Int = Field(0, ge=0, le=4095, description="index of the first physical port")
    packing: Literal["spread", "packed"] = Field(
        "spread", description="spread: a port of its own per neighbor; packed: every sub-port in turn"
    )


class HostPorts(Spread):
    """Server-facing ports of the leaves."""

    first_port: Int = Field(16, ge=0, le=4095, description="index of the first physical port")
    packing: Literal["spread", "packed"] = Field(
        "packed", description="spread: a port of its own per NIC; packed: every sub-port in turn"
    )


class Nic(Model):
    """One GPU NIC of a server; the n-th NIC belongs to the n-th rail."""

    name: NicName | None = Field(None, description="interface name; default: the pattern 'names.nic'")
    rdma: RdmaName | None = Field(None, description="RDMA device; default: 'hosts.rdma'")
    mac: Mac | None = Field(None, description="MAC address, by which netplan finds the NIC")
    port: PortName | None = Field(None, description="port on the leaf")


def _by_number(value: object) -> object:
    """Let a list of NICs stand for a mapping from their numbers."""
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if not isinstance(value, dict):
        raise wrong("wrong-type", "must be a list of NICs, or a mapping from a NIC's number, from 0 on, to the NIC")
    return value


Nics = Annotated[
    dict[Annotated[int, Strict(), Field(ge=0, le=63)], Nic],
    BeforeValidator(_by_number, json_schema_input_type=tuple[Nic, ...] | dict[int, Nic]),
]


class NicCable(Model):
    """Where the cable of a NIC ends."""

    leaf: Name = Field(description="the leaf, which is that of the NIC's rail")
    port: PortName = Field(description="port on the leaf")


class ServerOverride(Model):
    """Settings of one server."""

    management: Ipv4Interface | None = Field(None, description="management address with its prefix length")
    management_mac: Mac | None = Field(None, description="MAC address of the management port, for DHCP")
    mtu: Int | None = Field(None, ge=1280, le=9500, description="MTU of the GPU NICs in bytes")
    nics: Nics = Field({}, description="NICs in order, or single ones by their number: {3: {mac: ...}}")
    cables: dict[NicName, NicCable] = Field({}, description="name of a NIC -> leaf and port that it is cabled to")


class Server(ServerOverride):
    """A server by name; `stripe` counts from 1 and may be left out inside a stripe."""

    name: Name = Field(description="name of the server")
    stripe: Positive | None = Field(None, description="the stripe it is in, counted from 1")
    kind: Name | None = Field(None, description="one of 'server_kinds'; default: a server with a NIC on every rail")


class CountedServers(Model):
    """Servers with a name pattern instead of names."""

    count: Int = Field(0, ge=0, le=MAX_COUNT, description="servers per stripe")
    name: Annotated[str, name_pattern("nsi", ("n", "si"))] | None = Field(
        None,
        description="{n} counts in the fabric, {s} is the stripe, {i} counts in the stripe, each those of the kind; "
        "default: 'server-{n:03}', or the kind and '-{n:03}'",
    )
    kind: Name | None = Field(None, description="one of 'server_kinds'; default: servers with a NIC on every rail")

    @property
    def pattern(self) -> str:
        """The pattern of the names."""
        return self.name or f"{self.kind or 'server'}-{{n:03}}"


class CountedEntry(CountedServers):
    """Counted servers in a list."""

    stripe: Positive | None = Field(None, description="the only stripe with them, counted from 1; default: every one")


def _entry(value: object) -> str:
    return "[counted]" if isinstance(value, dict) and "count" in value else "[server]"


ServerEntry = Annotated[
    Annotated[Server, Tag("[server]")] | Annotated[CountedEntry, Tag("[counted]")], Discriminator(_entry)
]


class ServerGroup(CountedServers):
    """The servers of every stripe: a count with a name pattern, a list, or a CSV file."""

    list: tuple[ServerEntry, ...] = Field((), description="servers by name or by count, after the counted ones")
    csv: Annotated[str, Strict()] | None = Field(None, description="path relative to the fabric file")

    @model_validator(mode="after")
    def _counted(self) -> "ServerGroup":
        if self.kind is not None and "count" not in self.model_fields_set:
            raise wrong("conflict", "'kind' is that of counted servers; add 'count', or give each server its 'kind'")
        return self


Servers = Annotated[
    ServerGroup,
    keyed(
        "list",
        "a number of servers per stripe, a list of servers, or {count, name, kind, list, csv}",
        int | tuple[ServerEntry, ...] | ServerGroup,
    ),
]


class ServerKind(Model):
    """Servers whose NICs, ports or purpose differ from those of the fabric's other servers."""

    rails: Annotated[tuple[Annotated[int, Strict(), Field(ge=0, le=63)], ...], Field(min_length=1)] | None = Field(
        None, description="the rails of the NICs, in the order of the NICs, counted from 0; default: every rail"
    )
    host_ports: HostPorts = Field(HostPorts.model_construct(), description="ports of the leaves to these servers")
    gpus: Bool = Field(True, description="the servers have GPUs and run collectives; off for storage and services")
    mtu: Int | None = Field(None, ge=1280, le=9500, description="MTU of the NICs in bytes")
    nic: NicPattern | None = Field(None, description="names of the NICs; default: 'names.nic'")
    rdma: RdmaNames | None = Field(None, description="RDMA devices of the NICs; default: 'hosts.rdma'")
    out_of_order: Bool | None = Field(
        None, description="the NICs take packets in any order; default: 'hosts.out_of_order'"
    )
