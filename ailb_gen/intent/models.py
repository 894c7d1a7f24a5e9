"""The models of `fabric.yaml`: short forms are read into one canonical form."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Strict,
    Tag,
)

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.intent import nccl as variables
from ailb_gen.intent.drain import DrainPlan
from ailb_gen.intent.plans import Addressing, Asns, Loopbacks, Management, RouterIds, Tables, Vlans
from ailb_gen.intent.platforms import Profile
from ailb_gen.intent.scalars import (
    Asn,
    ColorName,
    EnvName,
    EnvValue,
    Ipv4Address,
    Ipv4Interface,
    Ipv6Address,
    Mac,
    NicName,
    PortGlob,
    PortName,
    Positive,
    RdmaName,
    Speed,
    checked_nic,
)
from ailb_gen.intent.settings import PortOverride, Settings, SwitchSettings
from ailb_gen.junos.reader import read_curly
from ailb_gen.validation import Bool, Int, Model, Name, checked_name, wrong

# Steps of a validation path that no file has: `servers: 2` is read as `servers: {count: 2}`, and so on.
UNWRITTEN_STEPS = frozenset(
    {"count", "list", "names", "leaf", "mode", "word", "mapping", "pattern", "[key]", "[server]", "[counted]"}
)
DEFAULT_COLORS = ("green", "blue", "red", "orange", "purple", "yellow", "cyan", "magenta")
MAX_COUNT = 4096


def checked_junos(text: str) -> str:
    """Check that a user's Junos text is balanced, so that it cannot swallow what stands around it."""
    try:
        read_curly(text)
    except JunosSyntaxError as error:
        raise wrong("bad-junos", f"not usable Junos text: {error}") from error
    return text


ExtraConfig = Annotated[str, Strict(), Field(max_length=1_000_000), AfterValidator(checked_junos)]


def _pattern(allowed: str, required: tuple[str, ...], rule: Callable[[object], str] = checked_name) -> AfterValidator:
    """Make a validator for name patterns such as `stripe{s}-leaf{l}`; all fields of one of `required` must occur.

    A field is `{s}`, or `{s:03}` with leading zeros; what it expands to must satisfy `rule`.
    """
    fields = ", ".join(f"{{{letter}}}" for letter in allowed)

    def check(pattern: str) -> str:
        parts = re.findall(r"\{([a-z])(?::0[1-9])?\}", pattern)
        literal = re.sub(r"\{[a-z](?::0[1-9])?\}", "", pattern)
        if any(part not in allowed for part in parts) or "{" in literal or "}" in literal:
            raise wrong(
                "bad-pattern", f"{pattern!r} is not a name pattern; it may use {fields}, or {{{allowed[0]}:02}}"
            )
        if not any(set(need) <= set(parts) for need in required):
            needs = " or ".join(" and ".join(f"{{{x}}}" for x in sorted(need)) for need in required)
            raise wrong("bad-pattern", f"{pattern!r} is not unique per device; it needs {needs}")
        rule(pattern.format(**dict.fromkeys(allowed, 63)))
        return pattern

    return AfterValidator(check)


def _counted(what: str, accepts: Any) -> BeforeValidator:
    """Let a count stand for that many empty entries."""

    def expand(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | list):
            raise wrong("wrong-type", f"must be a number of {what} or a list of them")
        if isinstance(value, list):
            return value
        if not 1 <= value <= MAX_COUNT:
            raise wrong("out-of-range", f"must be between 1 and {MAX_COUNT}, not {value}")
        return [{}] * value

    return BeforeValidator(expand, json_schema_input_type=accepts)


def _keyed(many: str, what: str, accepts: Any) -> BeforeValidator:
    """Let a number stand for a mapping with a `count`, a list for one with the key `many`."""

    def expand(value: object) -> object:
        keys = {int: "count", list: many, dict: ""}
        key = keys.get(type(value))
        if key is None:
            raise wrong("wrong-type", f"must be {what}")
        return {key: value} if key else value

    return BeforeValidator(expand, json_schema_input_type=accepts)


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


class Downlinks(Model):
    """Leaf-facing ports of the spines; their speed is that of the uplinks."""

    sub_ports: Positive | None = Field(None, description="number-of-sub-ports; default: the most the port offers")
    first_port: Int = Field(0, ge=0, le=4095, description="index of the first physical port")
    packing: Literal["spread", "packed"] = Field(
        "spread", description="spread: a port of its own per leaf; packed: every sub-port in turn"
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


class ServerOverride(Model):
    """Settings of one server."""

    management: Ipv4Interface | None = Field(None, description="management address with its prefix length")
    mtu: Int | None = Field(None, ge=1280, le=9500, description="MTU of the GPU NICs in bytes")
    nics: Nics = Field({}, description="NICs in order, or single ones by their number: {3: {mac: ...}}")


class Server(ServerOverride):
    """A server by name; `stripe` counts from 1 and may be left out inside a stripe."""

    name: Name = Field(description="name of the server")
    stripe: Positive | None = Field(None, description="the stripe it is in, counted from 1")
    kind: Name | None = Field(None, description="one of 'server_kinds'; default: a server with a NIC on every rail")


class CountedServers(Model):
    """Servers with a name pattern instead of names."""

    count: Int = Field(0, ge=0, le=MAX_COUNT, description="servers per stripe")
    name: Annotated[str, _pattern("nsi", ("n", "si"))] | None = Field(
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


Servers = Annotated[
    ServerGroup,
    _keyed(
        "list",
        "a number of servers per stripe, a list of servers, or {count, name, kind, list, csv}",
        int | tuple[ServerEntry, ...] | ServerGroup,
    ),
]


def _list_or_word(value: object) -> str:
    return "names" if isinstance(value, list | tuple) else "word"


NicPattern = Annotated[str, _pattern("i", ("i",), checked_nic)]
RdmaNames = Annotated[
    Annotated[str, _pattern("i", ("i",)), Tag("word")] | Annotated[tuple[RdmaName, ...], Tag("names")],
    Discriminator(_list_or_word),
]


class ServerKind(Model):
    """Servers whose NICs, ports or purpose differ from those of the fabric's other servers."""

    rails: Annotated[tuple[Annotated[int, Strict(), Field(ge=0, le=63)], ...], Field(min_length=1)] | None = Field(
        None, description="the rails of the NICs, in the order of the NICs, counted from 0; default: every rail"
    )
    host_ports: HostPorts = Field(HostPorts(), description="ports of the leaves to these servers")
    gpus: Bool = Field(True, description="the servers have GPUs and run collectives; off for storage and services")
    mtu: Int | None = Field(None, ge=1280, le=9500, description="MTU of the NICs in bytes")
    nic: NicPattern | None = Field(None, description="names of the NICs; default: 'names.nic'")
    rdma: RdmaNames | None = Field(None, description="RDMA devices of the NICs; default: 'hosts.rdma'")


class Device(SwitchSettings):
    """Keys of one switch besides its settings."""

    platform: Name | None = Field(None, description="platform of the switch")
    asn: Asn | None = Field(None, description="AS number")
    router_id: Ipv4Address | None = Field(None, description="router-id, also the IPv4 address of lo0")
    loopback: Ipv6Address | None = Field(None, description="IPv6 address of lo0")
    management: Ipv4Interface | None = Field(None, description="management address with its prefix length")
    ports: dict[PortName, PortOverride] = Field({}, description="settings of single ports, by port name")
    extra_config: ExtraConfig = Field(
        "", description="Junos text in curly braces that follows the generated configuration"
    )


class LeafOverride(Device):
    """Keys of one leaf."""

    vlan: Int | None = Field(None, description="VLAN id and IRB unit")
    uplinks: dict[Name, tuple[PortName, ...]] = Field({}, description="spine -> ports, one per link")


class SpineOverride(Device):
    """Keys of one spine."""

    downlinks: dict[Name, tuple[PortName, ...]] = Field({}, description="leaf -> ports, one per link")


class Spine(SpineOverride):
    """A spine in a list of spines."""

    name: Name | None = Field(None, description="name of the spine; default: the pattern 'names.spine'")


class StripeOverride(Settings):
    """Keys of one stripe."""

    rails: Annotated[int, Strict(), Field(ge=1, le=64)] | None = Field(None, description="leaves of the stripe")
    platform: Name | None = Field(None, description="platform of the stripe's leaves")
    host_ports: HostPorts = Field(HostPorts(), description="ports of the stripe's leaves to the servers")
    extra_config: ExtraConfig = Field("", description="Junos text for every switch of the stripe")


class Stripe(StripeOverride):
    """A stripe in a list of stripes."""

    servers: Servers | None = Field(None, description="servers of the stripe: a number, a list, or a group")


def _shape(value: object) -> str:
    if isinstance(value, dict):
        return "mapping"
    return "names" if isinstance(value, list | tuple) else "word"


Backup = Annotated[
    Annotated[Literal["all", "none"], Tag("word")]
    | Annotated[tuple[ColorName, ...], Field(min_length=1), Tag("names")]
    | Annotated[dict[ColorName, ColorName], Tag("mapping")],
    Discriminator(_shape),
]


class SparePorts(Model):
    """Ports that the fabric leaves free, with a description and disabled: names or globs, by role."""

    leaf: tuple[PortGlob, ...] = Field((), description="spare ports of every leaf")
    spine: tuple[PortGlob, ...] = Field((), description="spare ports of every spine")


class Colors(Model):
    """Fabric colors in order: `color:0:1` for the first, and so on."""

    count: Int | None = Field(
        None, ge=1, le=MAX_COUNT, description="number of colors; default: one per uplink of a leaf"
    )
    names: tuple[ColorName, ...] = Field((), description="names of the colors, in order")
    step: Positive | None = Field(
        None, description="by how many colors the next link to a spine is further on; default: the number of spines"
    )
    backup: Backup = Field("all", description="all: every other color; none: strict; a list or a mapping: these")


ColorPlan = Annotated[
    Colors,
    _keyed(
        "names",
        "a number of colors, a list of their names, or {count, names, backup}",
        int | tuple[ColorName, ...] | Colors,
    ),
]


class Platforms(Model):
    """The platform of each role."""

    leaf: Name = Field("qfx5240-64od", description="platform of the leaves")
    spine: Name = Field("qfx5240-64od", description="platform of the spines")


def _one_platform(value: object) -> object:
    return {"leaf": value, "spine": value} if isinstance(value, str) else value


class Names(Model):
    """Name patterns; {s} stripe, {l} leaf in the stripe, {k} spine, {i} NIC counted from 0."""

    leaf: Annotated[str, _pattern("sl", ("sl",))] = Field(
        "stripe{s}-leaf{l}", description="names of leaves: {s} stripe, {l} leaf in the stripe"
    )
    spine: Annotated[str, _pattern("k", ("k",))] = Field("spine{k}", description="names of spines: {k} spine")
    nic: NicPattern = Field("gpu{i}_eth", description="names of GPU NICs: {i} counts from 0")


class Hosts(Model):
    """Settings common to all GPU servers."""

    rdma: RdmaNames = Field("mlx5_{i}", description="RDMA devices of the GPU NICs: a pattern, or one name per NIC")
    forwarding: Bool = Field(False, description="the servers forward packets: accept_ra must be 2")


class Nccl(Model):
    """Settings of the NCCL environment file besides the computed values."""

    socket_nthreads: Int = Field(8, ge=1, le=16, description="NCCL_SOCKET_NTHREADS")
    gid_index: Int = Field(3, ge=0, le=255, description="UCX_IB_GID_INDEX: which GID the RDMA stack takes")
    environment: dict[EnvName, EnvValue] = Field(
        {},
        description="further variables of the NCCL environment file; some take certain values alone",
        json_schema_extra=variables.schema(),
    )


class Overrides(Model):
    """Exceptions by name; they win over everything but a port."""

    stripes: dict[Int, StripeOverride] = Field({}, description="by number, counted from 1")
    leaves: dict[Name, LeafOverride] = Field({}, description="by name")
    spines: dict[Name, SpineOverride] = Field({}, description="by name")
    servers: dict[Name, ServerOverride] = Field({}, description="by name")


class Fabric(Settings):
    """A GPU backend fabric."""

    name: Name = Field(description="name of the fabric")
    stripes: Annotated[
        tuple[Stripe, ...], _counted("stripes", int | list[Stripe]), Field(min_length=1, max_length=MAX_COUNT)
    ] = Field(description="a number, or a list with one entry per stripe")
    rails: Annotated[int, Strict(), Field(ge=1, le=64)] = Field(8, description="leaves per stripe, NICs per server")
    spines: Annotated[
        tuple[Spine, ...], _counted("spines", int | list[Spine]), Field(min_length=1, max_length=MAX_COUNT)
    ] = Field(description="a number, or a list with one entry per spine")
    links_per_spine: Annotated[int, Strict(), Field(ge=1, le=64)] = Field(
        1, description="links between a leaf and a spine"
    )
    servers: Servers = Field(ServerGroup(), description="servers per stripe: a number, a list, or a group")
    server_kinds: dict[Name, ServerKind] = Field({}, description="servers with other NICs, speeds, ports or purposes")
    spare_ports: SparePorts = SparePorts()
    colors: ColorPlan | None = Field(
        None, description="a number, a list of names, or a group; default: one per uplink of a leaf"
    )
    aigp: Bool = Field(True, description="send AIGP, by which a prefix prefers its own color over its backups")
    platform: Annotated[
        Platforms,
        BeforeValidator(_one_platform, json_schema_input_type=str | Platforms),
    ] = Field(Platforms(), description="one platform for all switches, or one per role")
    platforms: dict[Name, Profile] = Field({}, description="profiles of the fabric's own")
    uplinks: Spread = Spread()
    host_ports: HostPorts = HostPorts()
    downlinks: Downlinks = Downlinks()
    addressing: Addressing = Addressing()
    vlans: Vlans = Vlans()
    tables: Tables = Tables()
    asn: Asns = Asns()
    router_ids: RouterIds = RouterIds()
    loopbacks: Loopbacks | None = Field(None, description="IPv6 addresses of lo0, advertised without a color")
    management: Management = Management()
    names: Names = Names()
    hosts: Hosts = Hosts()
    nccl: Nccl = Nccl()
    drain: DrainPlan = Field((), description="out of service: devices, 'DEVICE PORT', 'DEVICE PEER', colors, or globs")
    extra_config: ExtraConfig = Field("", description="Junos text in curly braces for every switch")
    overrides: Overrides = Overrides()
