"""The models of `fabric.yaml`: short forms are read into one canonical form."""

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
from ailb_gen.intent.drain import DrainPlan, ShutdownPlan
from ailb_gen.intent.plans import Addressing, Asns, Bgp, Cabling, Loopbacks, Management, RouterIds, Tables, Vlans
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
    NicPattern,
    PortGlob,
    PortName,
    Positive,
    RdmaNames,
    Serial,
    name_pattern,
)
from ailb_gen.intent.servers import (
    MAX_COUNT,
    HostPorts,
    KindName,
    ServerGroup,
    ServerKind,
    ServerOverride,
    Servers,
    Spread,
)
from ailb_gen.intent.settings import PortOverride, Settings, SwitchSettings
from ailb_gen.junos.reader import read_curly
from ailb_gen.validation import Bool, Int, Model, Name, keyed, wrong

# Steps of a validation path that no file has: `servers: 2` is read as `servers: {count: 2}`, and so on.
UNWRITTEN_STEPS = frozenset(
    {"count", "list", "names", "leaf", "mode", "word", "mapping", "pattern", "[key]", "[server]", "[counted]"}
)
DEFAULT_COLORS = ("green", "blue", "red", "orange", "purple", "yellow", "cyan", "magenta")


def checked_junos(text: str) -> str:
    """Check that a user's Junos text is balanced, so that it cannot swallow what stands around it."""
    try:
        read_curly(text)
    except JunosSyntaxError as error:
        raise wrong("bad-junos", f"not usable Junos text: {error}") from error
    return text


ExtraConfig = Annotated[str, Strict(), Field(max_length=1_000_000), AfterValidator(checked_junos)]


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


class Downlinks(Model):
    """Leaf-facing ports of the spines; their speed is that of the uplinks."""

    sub_ports: Positive | None = Field(None, description="number-of-sub-ports; default: the most the port offers")
    first_port: Int = Field(0, ge=0, le=4095, description="index of the first physical port")
    packing: Literal["spread", "packed"] = Field(
        "spread", description="spread: a port of its own per leaf; packed: every sub-port in turn"
    )


class Device(SwitchSettings):
    """Keys of one switch besides its settings."""

    platform: Name | None = Field(None, description="platform of the switch")
    asn: Asn | None = Field(None, description="AS number")
    router_id: Ipv4Address | None = Field(None, description="router-id, also the IPv4 address of lo0")
    loopback: Ipv6Address | None = Field(None, description="IPv6 address of lo0")
    management: Ipv4Interface | None = Field(None, description="management address with its prefix length")
    mac: Mac | None = Field(None, description="MAC address of the management port, for DHCP")
    serial: Serial | None = Field(None, description="serial number of the chassis, for DHCP")
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
    host_ports: HostPorts = Field(
        HostPorts.model_construct(), description="ports of the stripe's leaves to the servers"
    )
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
        None, description="color offset between the links to a spine; default: the number of spines"
    )
    backup: Backup = Field("all", description="all: every other color; none: strict; a list or a mapping: these")


ColorPlan = Annotated[
    Colors,
    keyed(
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
    """Name patterns; {s} stripe, {l} leaf in the stripe, {k} spine, {i} NIC counted from 'hosts.first_nic'."""

    leaf: Annotated[str, name_pattern("sl", ("sl",))] = Field(
        "stripe{s}-leaf{l}", description="names of leaves: {s} stripe, {l} leaf in the stripe"
    )
    spine: Annotated[str, name_pattern("k", ("k",))] = Field("spine{k}", description="names of spines: {k} spine")
    nic: NicPattern = Field(
        "gpu{i}_eth", description="names of GPU NICs: {i} counts from 'hosts.first_nic', 0 by default"
    )


class Hosts(Model):
    """Settings common to all GPU servers."""

    rdma: RdmaNames = Field("mlx5_{i}", description="RDMA devices of the GPU NICs: a pattern, or one name per NIC")
    first_nic: Int = Field(
        0,
        ge=0,
        le=1023,
        description="number of the first NIC and rail in names, tables and files of servers; those before it are in "
        "other fabrics of the cluster",
    )
    forwarding: Bool = Field(False, description="the servers forward packets: accept_ra must be 2")
    out_of_order: Bool = Field(
        False,
        description="the NICs take the packets of a queue pair in any order, which per-packet DLB needs; "
        "sets NCCL_IB_ADAPTIVE_ROUTING",
    )


def _gid_index(value: object) -> object:
    if value != "found" and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 255):
        raise wrong("wrong-value", f"must be 'found' or a number from 1 to 255, not {value!r}; 0 is link-local")
    return value


GidIndex = Annotated[
    Int | Literal["found"],
    BeforeValidator(_gid_index, json_schema_input_type=Annotated[Int, Field(ge=1, le=255)] | Literal["found"]),
]


class Nccl(Model):
    """Settings of the NCCL environment file besides the computed values."""

    socket_nthreads: Int = Field(8, ge=1, le=16, description="NCCL_SOCKET_NTHREADS")
    socket_ifname: EnvValue | None = Field(
        None, description="NCCL_SOCKET_IFNAME: the management NIC, on which sockets set up a job, such as eno1"
    )
    gid_index: GidIndex = Field(
        3, description="UCX_IB_GID_INDEX: the GID that UCX takes, 1 to 255, or found: UCX or `ailb-host gids` finds it"
    )
    environment: dict[EnvName, EnvValue] = Field(
        {},
        description="additional variables of the NCCL environment file; some allow only certain values",
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
    servers: Servers = Field(
        ServerGroup.model_construct(), description="servers per stripe: a number, a list, or a group"
    )
    server_kinds: dict[KindName, ServerKind] = Field(
        {}, description="servers with other NICs, speeds, ports or purposes"
    )
    spare_ports: SparePorts = SparePorts.model_construct()
    colors: ColorPlan | None = Field(
        None, description="a number, a list of names, or a group; default: one per uplink of a leaf"
    )
    bgp: Bgp = Bgp.model_construct()
    aigp: Bool = Field(True, description="send AIGP, so that a prefix prefers its own color over its backups")
    platform: Annotated[
        Platforms,
        BeforeValidator(_one_platform, json_schema_input_type=str | Platforms),
    ] = Field(Platforms.model_construct(), description="one platform for all switches, or one per role")
    platforms: dict[Name, Profile] = Field({}, description="profiles of the fabric's own")
    uplinks: Spread = Spread.model_construct()
    host_ports: HostPorts = HostPorts.model_construct()
    downlinks: Downlinks = Downlinks.model_construct()
    addressing: Addressing = Addressing.model_construct()
    vlans: Vlans = Vlans.model_construct()
    tables: Tables = Tables.model_construct()
    asn: Asns = Asns.model_construct()
    router_ids: RouterIds = RouterIds.model_construct()
    loopbacks: Loopbacks | None = Field(None, description="IPv6 addresses of lo0, advertised without a color")
    management: Management = Management.model_construct()
    cabling: Cabling = Cabling.model_construct()
    names: Names = Names.model_construct()
    hosts: Hosts = Hosts.model_construct()
    nccl: Nccl = Nccl.model_construct()
    drain: DrainPlan = Field((), description="out of service: devices, 'DEVICE PORT', 'DEVICE PEER', colors, or globs")
    graceful_shutdown: ShutdownPlan = Field(
        (),
        description="spines whose routes become the last choice (RFC 8326), so that traffic leaves; names or globs",
    )
    extra_config: ExtraConfig = Field("", description="Junos text in curly braces for every switch")
    overrides: Overrides = Overrides.model_construct()
