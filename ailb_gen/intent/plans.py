"""Number plans: where addresses, VLANs, tables and AS numbers start, and how far they may go."""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, Strict, WithJsonSchema

from ailb_gen.intent.scalars import AsnPlan, AsnRange, Ipv4Address, Ipv4Interface, Ipv4Network, Ipv6Network, parse_cidr
from ailb_gen.validation import Int, Model, wrong


def _bits(value: object) -> object:
    """Read a 16-bit group number (1-4) or a range of bits such as `48-55`; gives first and last bit."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 4:
        return (16 * (value - 1), 16 * value - 1)
    found = re.fullmatch(r"([0-9]{1,2})-([0-9]{1,2})", value) if isinstance(value, str) else None
    if found and int(found[1]) <= int(found[2]) <= 63:
        return (int(found[1]), int(found[2]))
    raise wrong("bad-range", "must be a 16-bit group of the prefix, 1 to 4, or a range of bits such as '48-55'")


CsvFile = Annotated[str, Strict()]
Field64 = Annotated[
    tuple[int, int],
    PlainValidator(_bits),
    PlainSerializer(lambda bits: f"{bits[0]}-{bits[1]}", return_type=str),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 4}, {"type": "string"}]}),
]


class Addressing(Model):
    """The address plan: which bits of the /64 carry stripe, leaf and uplink number (the validated design's Table 2)."""

    pool: Ipv6Network = Field(
        parse_cidr("fc00::/16", 6, True), description="the prefix that holds every /64 of the fabric"
    )
    stripe: Field64 = Field((16, 31), description="bits with the number of the stripe")
    leaf: Field64 = Field((32, 47), description="bits with the number of the leaf in its stripe")
    uplink: Field64 = Field((48, 63), description="bits with the number of the color")
    gateway: Int = Field(1, ge=1, le=0xFFFF, description="interface identifier of the leaf's own address")


class Vlans(Model):
    """VLAN ids, which are also the IRB units."""

    first: Int = Field(2, ge=0, le=4095, description="the first VLAN id")
    unique: Literal["fabric", "stripe"] = Field("fabric", description="stripe: ids repeat in every stripe")


class Tables(Model):
    """Host routing tables (the validated design's Table 8): id = first + colors x NIC + (color - 1)."""

    first: Int = Field(10000, ge=256, le=2**31 - 1, description="id of the first table")
    priority: Int = Field(10000, ge=1, le=32765, description="priority of the first rule; below the main table's")


class Asns(Model):
    """AS numbers: FIRST-LAST gives every device its own, a single number is shared."""

    leaves: AsnPlan = Field(AsnRange(4200100001, 4200199999), description="AS numbers of the leaves")
    spines: AsnPlan = Field(AsnRange(4200000001, 4200000999), description="AS numbers of the spines")


class RouterIds(Model):
    """Router-ids, also the IPv4 address of lo0: the n-th device gets the n-th address."""

    leaves: Ipv4Network = Field(parse_cidr("10.255.16.0/20", 4, True), description="the network for the leaves")
    spines: Ipv4Network = Field(parse_cidr("10.255.0.0/22", 4, True), description="the network for the spines")


def _not_ipv4(value: object) -> object:
    found = re.match(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", value) if isinstance(value, str) else None
    if found:
        reason = f"{value!r} is IPv4; these are the IPv6 addresses of lo0: its IPv4 addresses are those of router_ids"
        raise wrong("bad-address", reason)
    return value


LoopbackPool = Annotated[Ipv6Network, BeforeValidator(_not_ipv4)]


class Loopbacks(Model):
    """IPv6 addresses of lo0, advertised without a color."""

    leaves: LoopbackPool = Field(description="the prefix for the leaves")
    spines: LoopbackPool = Field(description="the prefix for the spines")


class Bgp(Model):
    """How BGP sessions between switches are written; discovered neighbors have the color of their group."""

    neighbors: Literal["discovered", "static"] = Field(
        "discovered", description="discovered: found by IPv6 neighbor discovery; static: written with their addresses"
    )
    groups: Literal["per-color", "single"] = Field(
        "per-color", description="single: one group, with fabric-color at each neighbor; needs static neighbors"
    )
    links: Ipv6Network = Field(
        parse_cidr("fd00::/64", 6, True),
        description="the prefix of the /127 of every link with static neighbors: stripe, leaf and link, 16 bits each",
    )


class Management(Model):
    """Management addresses: the first of each row; the others follow."""

    gateway: Ipv4Address | None = Field(None, description="default gateway of the management network")
    leaves: Ipv4Interface | None = Field(None, description="address of the first leaf, with its prefix length")
    spines: Ipv4Interface | None = Field(None, description="address of the first spine, with its prefix length")
    servers: Ipv4Interface | None = Field(None, description="address of the first server, with its prefix length")
    csv: CsvFile | None = Field(None, description="addresses of single switches: path relative to the fabric file")


class Cabling(Model):
    """The cables as they are: ports that differ from the layout."""

    csv: CsvFile | None = Field(None, description="path relative to the fabric file; columns as in `cabling.csv`")
