"""The design: everything computed from the intent, frozen, complete, and ready to be written as text.

Addresses are kept as integers where they are computed with and as text where they are only printed. What a large
fabric has a hundred thousand of is a named tuple, which is made faster.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

Role = Literal["leaf", "spine"]


@dataclass(frozen=True, slots=True)
class Color:
    """A fabric color; `community` is its BGP community, `backup` what `backup-color` says (empty: strict)."""

    number: int
    name: str
    community: str
    backup: str


@dataclass(frozen=True, slots=True)
class ColorPrefix:
    """The /64 of one color on one leaf (the validated design's Table 2)."""

    color: Color
    network: int
    text: str
    gateway: str


@dataclass(frozen=True, slots=True)
class DesignVlan:
    """A VLAN and its IRB unit, which has the same number."""

    id: int
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Breakout:
    """A physical port that is split into `sub_ports` ports of `speed`."""

    kind: ClassVar[str] = "breakout"
    interface: str
    sub_ports: int
    speed: str


class LinkAddresses(NamedTuple):
    """The /127 of a link with a static neighbor at one end: its own address, the peer's and its AS number."""

    own: str
    peer: str
    peer_asn: int


class FabricPort(NamedTuple):
    """One end of a leaf-spine link; `mtu` in bytes, `speed` is empty when a breakout or the platform sets it.

    `addresses` is None where the neighbor is discovered.
    """

    interface: str
    description: str
    mtu: int
    speed: str
    disabled: bool
    color: Color
    peer: str
    peer_interface: str
    addresses: LinkAddresses | None = None
    kind: str = "fabric"


class HostPort(NamedTuple):
    """A leaf's port to a GPU NIC."""

    interface: str
    description: str
    mtu: int
    speed: str
    disabled: bool
    server: str
    nic: str
    speed_gbps: int
    kind: str = "host"


class SparePort(NamedTuple):
    """A port that the fabric leaves free: written with its description, out of service."""

    interface: str
    description: str
    kind: str = "spare"


@dataclass(frozen=True, slots=True)
class DesignAsList:
    """`policy-options as-list`: numbers and ranges a BGP group accepts."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BgpGroup:
    """A BGP group with its sessions, one per port; `color` is None where each neighbor has its own.

    With discovered neighbors, `neighbor` names the dynamic neighbor and `as_list` the AS numbers that it accepts.
    """

    name: str
    color: Color | None
    neighbor: str
    as_list: str
    ports: tuple[FabricPort, ...]

    @property
    def interfaces(self) -> tuple[str, ...]:
        """The logical interfaces of the sessions."""
        return tuple(f"{port.interface}.0" for port in self.ports)


@dataclass(frozen=True, slots=True)
class BfdTimers:
    """BFD of every session."""

    interval_ms: int
    multiplier: int


@dataclass(frozen=True, slots=True)
class RaTimers:
    """Router advertisement timers in seconds; a lifetime of None is the Junos default and not written."""

    max_interval_s: int
    min_interval_s: int
    router_lifetime_s: int
    valid_lifetime_s: int | None
    preferred_lifetime_s: int | None


@dataclass(frozen=True, slots=True)
class DlbSettings:
    """`enhanced-hash-key ecmp-dlb`; `quantization` is (min, max, rate weightage) in percent."""

    mode: str
    inactivity_interval_us: int
    flowset_table_size: int
    prob_threshold: int
    quality_delta: int
    sampling_rate: int
    quantization: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class RoceClasses:
    """Class of service for RoCEv2; code points as Junos prints them, percentages as numbers."""

    dscp_bits: str
    cnp_bits: str
    pfc_priority: int
    pfc_bits: str
    queue: int
    cnp_queue: int
    cnp_percent: int
    pfc_watchdog: bool
    ecn_fill: tuple[int, int]
    ecn_probability: int
    buffers: "BufferShares | None"


@dataclass(frozen=True, slots=True)
class BufferShares:
    """Shares of the packet buffer in percent."""

    lossless: int
    lossless_headroom: int
    lossy: int
    dynamic_threshold: int
    dedicated_ingress: int
    dedicated_egress: int


@dataclass(frozen=True, slots=True)
class DeviceSettings:
    """The settings of one switch, resolved from all levels; MTUs in bytes; None is switched off."""

    irb_mtu: int
    port_mtu: int
    bfd: BfdTimers | None
    ra: RaTimers
    dlb: DlbSettings | None
    glb: bool
    roce: RoceClasses | None


@dataclass(frozen=True, slots=True)
class DesignManagement:
    """The management port of a switch; `mac` and the chassis' `serial` are empty where the intent lacks them."""

    interface: str
    address: str
    gateway: str
    mac: str = ""
    serial: str = ""


@dataclass(frozen=True, slots=True)
class DesignSwitch:
    """A leaf or a spine. `vlan` and `prefixes` are empty on spines; `number` counts from 1 in the stripe.

    `graceful_shutdown`: its peers use its routes last.
    """

    name: str
    role: Role
    stripe: int
    number: int
    platform: str
    asn: int
    router_id: str
    loopback: str
    management: DesignManagement | None
    vlan: DesignVlan | None
    prefixes: tuple[ColorPrefix, ...]
    interfaces: tuple[Breakout | FabricPort | HostPort | SparePort, ...]
    fabric_ports: tuple[FabricPort, ...]
    port_types: tuple[str, ...]
    groups: tuple[BgpGroup, ...]
    as_lists: tuple[DesignAsList, ...]
    maximum_ecmp: int
    device_settings: DeviceSettings
    extra_config: tuple[str, ...]
    graceful_shutdown: bool = False


@dataclass(frozen=True, slots=True)
class HostTable:
    """A routing table of a server: default route and prefix route of one prefix."""

    id: int
    name: str
    priority: int
    prefix: ColorPrefix


@dataclass(frozen=True, slots=True)
class HostNic:
    """A GPU NIC on a rail, which is `server_rail` among the rails of all fabrics of its server; `mtu` in bytes.

    `addresses` (SLAAC: RFC 4291, appendix A) are empty without a known MAC.
    """

    index: int
    rail: int
    server_rail: int
    name: str
    rdma: str
    mac: str
    mtu: int
    speed_gbps: int
    leaf: str
    vlan: int
    tables: tuple[HostTable, ...]
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostQos:
    """RoCEv2 settings of a NIC; `pfc_mask` has a 0 or 1 per priority, with commas."""

    dscp: int
    traffic_class: int
    pfc_priority: int
    pfc_mask: str
    cnp_dscp: int
    cnp_priority: int


@dataclass(frozen=True, slots=True)
class HostConfig:
    """Everything that is configured on a server; servers that are alike share one object.

    `profile` names what they share; it is empty for a server with a MAC, a name or an MTU of its own. `environment`
    (NCCL's) is empty for servers without GPUs.
    """

    profile: str
    nics: tuple[HostNic, ...]
    accept_ra: int
    max_addresses: int
    qos: HostQos | None
    environment: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DesignServer:
    """A GPU server; `ports` are the leaf ports of its NICs, in NIC order; `kind` is its key in `server_kinds`.

    `management_mac` is empty where the intent lacks it.
    """

    name: str
    stripe: int
    management: str
    ports: tuple[str, ...]
    config: HostConfig
    management_mac: str = ""
    kind: str = ""


class Link(NamedTuple):
    """A leaf-spine link."""

    leaf: str
    leaf_interface: str
    spine: str
    spine_interface: str
    color: Color
    speed_gbps: int


class PublishedOptic(NamedTuple):
    """An optic with its part number, for a port of `speed_gbps` in all; `media` is smf or mmf."""

    speed_gbps: int
    media: str
    name: str
    part: str


@dataclass(frozen=True, slots=True)
class Hardware:
    """What people buy for a platform that the fabric uses; `cage` is the form factor of its optics, if known."""

    platform: str
    description: str
    cage: str
    optics: tuple[PublishedOptic, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """A whole fabric; `drained` are lines that say what is out of service.

    `host_speed_gbps` is the speed of server ports in stripes and for servers without one of their own.
    """

    name: str
    digest: str
    pool: str
    aigp: bool
    local_community: str
    colors: tuple[Color, ...]
    leaves: tuple[DesignSwitch, ...]
    spines: tuple[DesignSwitch, ...]
    servers: tuple[DesignServer, ...]
    links: tuple[Link, ...]
    host_speed_gbps: int
    drained: tuple[str, ...]
    loopback_pools: tuple[str, ...]
    hardware: tuple[Hardware, ...] = ()

    @property
    def switches(self) -> tuple[DesignSwitch, ...]:
        """Leaves, then spines."""
        return self.leaves + self.spines

    @property
    def roles(self) -> dict[str, str]:
        """The role of every device: leaf, spine or server."""
        return {switch.name: switch.role for switch in self.switches} | {one.name: "server" for one in self.servers}
