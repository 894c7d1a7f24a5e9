"""Scalar types of `fabric.yaml`: parsed once, at the border, with messages that say what to write instead."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from netaddr import EUI, AddrFormatError, IPNetwork
from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    Strict,
    Tag,
    WithJsonSchema,
)

from ailb_gen.validation import NAME_PATTERN, checked_name, checked_text, matching, schema_of, wrong

NIC_PATTERN = r"^[A-Za-z][A-Za-z0-9_-]{0,14}$"
COLOR_PATTERN = r"^[A-Za-z][A-Za-z0-9_-]{0,30}$"
# fnmatch: `*` stands for slashes and colons, too.
PORT_GLOB = r"^[a-z]{2}-[0-9/:*?\[\]!-]{1,40}$"
PORT_PATTERN = r"^[a-z]{2}-(?:0|[1-9][0-9]{0,2})/(?:0|[1-9][0-9]?)/(?:0|[1-9][0-9]{0,3})(?::(?:0|[1-9][0-9]?))?$"
# Words of the kernel and of netplan, and what YAML 1.1 readers take for something else than a name.
RESERVED_NICS = ("all", "default", "lo", "renderer", "on", "off", "yes", "no", "y", "n", "true", "false", "null")
RESERVED_COLORS = ("all-colors", "local", "apply-groups", "apply-groups-except", "apply-macro")
# What ends a statement, a string or a block in Junos text, or starts a comment, must not come from a name.
FORBIDDEN_TEXT = re.compile(r"[^ -~]|[\"'\\{};#]|/\*|\*/")
# What the speed statement takes (junos-conf-interfaces.yang, 24.4R1); no release has 1600g yet.
SPEEDS_GBPS = (1, 10, 25, 40, 50, 100, 200, 400, 800)
MAX_ASN = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Cidr:
    """An address with its prefix length, as written: `version` 4 or 6, `address` the full integer."""

    version: Literal[4, 6]
    address: int
    length: int

    @property
    def width(self) -> int:
        """Bits of an address of this version."""
        return 32 if self.version == 4 else 128

    @property
    def network(self) -> int:
        """The address with the host bits cleared."""
        return self.address >> (self.width - self.length) << (self.width - self.length)

    @property
    def last(self) -> int:
        """The highest address of the network."""
        return self.network | ((1 << (self.width - self.length)) - 1)

    def overlaps(self, other: "Cidr") -> bool:
        """Return whether the two networks share an address."""
        return self.version == other.version and self.network <= other.last and other.network <= self.last

    def __str__(self) -> str:
        return str(IPNetwork((self.address, self.length), version=self.version))


@dataclass(frozen=True, slots=True)
class AsnRange:
    """Autonomous system numbers `first`…`last`; `shared` when one number was given for all devices."""

    first: int
    last: int
    shared: bool = False

    def __str__(self) -> str:
        return str(self.first) if self.shared else f"{self.first}-{self.last}"


def _plain_text(value: str) -> str:
    found = FORBIDDEN_TEXT.search(value)
    if found:
        raise wrong("unsafe-name", f"{found.group()!r} is not allowed here: it could change the configuration")
    return value


checked_nic = matching("NIC name", NIC_PATTERN, "at most 15 letters, digits, '-' and '_'", "gpu0_eth")


def not_among(reserved: tuple[str, ...], where: str) -> Callable[[str], str]:
    """Make a validator for names that must not be one of `reserved`."""

    def check(value: str) -> str:
        if value.lower() in reserved:
            raise wrong("reserved-name", f"{value!r} has a special meaning {where}")
        return value

    return check


def name_pattern(
    allowed: str, required: tuple[str, ...], rule: Callable[[object], str] = checked_name
) -> AfterValidator:
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


def _printable(value: object) -> str:
    text = checked_text(value, "a value")
    if not text.isprintable():
        raise wrong("unsafe-name", "the value must be printable text on one line")
    return text


def parse_cidr(value: object, version: Literal[4, 6], network_only: bool) -> Cidr:
    """Read `ADDRESS/LENGTH` of the given IP version; with `network_only` the host bits must be zero."""
    text = checked_text(value, "a network" if network_only else "an address")
    example = {4: ("10.255.0.0/24", "192.0.2.11/24"), 6: ("fc00::/16", "fc00:1::1/64")}[version][not network_only]
    try:
        if "/" not in text:
            raise AddrFormatError
        parsed = IPNetwork(text, version=version)
    except (AddrFormatError, ValueError) as error:
        reason = f"{text!r} is not an IPv{version} address with a prefix length, such as {example}"
        raise wrong("bad-address", reason) from error
    result = Cidr(version, int(parsed.ip), parsed.prefixlen)
    _check_unicast(result, text, network_only)
    if network_only and result.address != result.network:
        reason = f"{text} has bits set beyond /{parsed.prefixlen}; did you mean {parsed.cidr}?"
        raise wrong("bad-address", reason)
    return result


def _check_unicast(cidr: Cidr, text: str, network_only: bool) -> None:
    """Refuse what no interface can have: unspecified, loopback, multicast, link-local, the ends of a subnet."""
    probe = cidr if network_only else Cidr(cidr.version, cidr.address, cidr.width)
    for name, special in SPECIAL[cidr.version]:
        if probe.overlaps(special):
            raise wrong("bad-address", f"{text} is or holds {name} addresses ({special}); no interface can have them")
    if not network_only and cidr.version == 4 and cidr.length < 31 and cidr.address in (cidr.network, cidr.last):
        raise wrong("bad-address", f"{text} is the network or broadcast address of its subnet")


# RFC 6890: addresses that no interface of a fabric can have.
SPECIAL: dict[int, tuple[tuple[str, Cidr], ...]] = {
    4: (
        ("unspecified", Cidr(4, 0, 8)),
        ("loopback", Cidr(4, 127 << 24, 8)),
        ("multicast or reserved", Cidr(4, 224 << 24, 3)),
    ),
    6: (
        ("unspecified or loopback", Cidr(6, 0, 127)),
        ("link-local", Cidr(6, 0xFE80 << 112, 10)),
        ("multicast", Cidr(6, 0xFF << 120, 8)),
    ),
}


def parse_address(value: object, version: Literal[4, 6]) -> int:
    """Read one address without prefix length; returns its integer."""
    text = checked_text(value, "an address")
    if "/" in text:
        raise wrong("bad-address", f"{text!r}: give the address alone, without a prefix length")
    return parse_cidr(f"{text}/{32 if version == 4 else 128}", version, network_only=False).address


def parse_mac(value: object) -> str:
    """Read a MAC address in any common notation; returns lower-case `aa:bb:cc:dd:ee:ff`."""
    text = checked_text(value, "a MAC address")
    digits = re.sub(r"[:.-]", "", text)
    if not re.fullmatch(r"[0-9A-Fa-f]{12}", digits):
        raise wrong("bad-mac", f"{text!r} is not a MAC address such as a0:88:c2:3b:50:66")
    mac = EUI(digits)
    if mac.words[0] & 1 or int(mac) == 0:
        raise wrong("bad-mac", f"{text!r} is not the address of one interface (group or all-zero address)")
    return ":".join(f"{word:02x}" for word in mac.words)


def parse_asn_range(value: object) -> AsnRange:
    """Read `N` (one number shared by all) or `FIRST-LAST` (one each), in asplain notation (RFC 5396)."""
    text = (
        str(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else checked_text(value, "an AS range")
    )
    found = re.fullmatch(r" *([0-9]{1,12}) *(?:- *([0-9]{1,12}) *)?", text)
    if not found:
        raise wrong("bad-asn", f"{text[:40]!r} is not an AS number or a range such as 4200000001-4200000999")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise wrong("bad-asn", f"the range {text} ends before it starts")
    if last > MAX_ASN:
        raise wrong("bad-asn", f"{last} does not fit into 32 bits (at most {MAX_ASN})")
    return AsnRange(first, last, shared=found[2] is None)


def parse_speed(value: object) -> int:
    """Read a link speed such as `400g`; returns Gb/s."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise wrong("bad-speed", f"write the speed with its unit: {value}g")
    text = checked_text(value, "a speed").lower()
    known = {f"{speed}g": speed for speed in SPEEDS_GBPS}
    if text == "1600g":
        raise wrong("bad-speed", "no Junos release has ports of 1600g so far; the fastest are 800g, on the QFX5240")
    if text not in known:
        raise wrong("bad-speed", f"{text[:40]!r} is not a link speed; use one of {', '.join(known)}")
    return known[text]


def _list_or_word(value: object) -> str:
    return "names" if isinstance(value, list | tuple) else "word"


AS_TEXT = PlainSerializer(str, return_type=str)

NicName = Annotated[
    str,
    PlainValidator(checked_nic),
    AfterValidator(not_among(RESERVED_NICS, "to the kernel, netplan or YAML")),
    schema_of("string", NIC_PATTERN, "gpu0_eth"),
]
RdmaName = Annotated[
    str,
    PlainValidator(matching("RDMA device name", NAME_PATTERN, "letters, digits, '-' and '_'", "mlx5_0")),
    schema_of("string", "", "mlx5_0"),
]
ColorName = Annotated[
    str,
    PlainValidator(matching("color name", COLOR_PATTERN, "letters, digits, '-' and '_'", "green")),
    AfterValidator(not_among(RESERVED_COLORS, "in the rendered configuration")),
    schema_of("string", COLOR_PATTERN, "green"),
]
PortName = Annotated[
    str,
    PlainValidator(matching("port name", PORT_PATTERN, "TYPE-FPC/PIC/PORT[:CHANNEL]", "et-0/0/16:0")),
    schema_of("string", PORT_PATTERN, "et-0/0/16:0"),
]
PortGlob = Annotated[
    str,
    PlainValidator(matching("port name or glob", PORT_GLOB, "TYPE-FPC/PIC/PORT[:CHANNEL], *, ?, [...]", "et-0/0/6*")),
    schema_of("string", PORT_GLOB, "et-0/0/6*"),
]
NicPattern = Annotated[str, name_pattern("i", ("i",), checked_nic)]
RdmaNames = Annotated[
    Annotated[str, name_pattern("i", ("i",)), Tag("word")] | Annotated[tuple[RdmaName, ...], Tag("names")],
    Discriminator(_list_or_word),
]
EnvName = Annotated[
    str,
    PlainValidator(matching("variable name", r"^[A-Za-z_][A-Za-z0-9_]*$", "letters, digits and '_'", "NCCL_DEBUG")),
    schema_of("string", "", "NCCL_DEBUG"),
]
EnvValue = Annotated[
    str,
    PlainValidator(_printable),
    schema_of("string", "", "INFO"),
]
Text = Annotated[str, Strict(), Field(min_length=1, max_length=200), AfterValidator(_plain_text)]
Positive = Annotated[int, Strict(), Field(ge=1)]
Ipv4Network = Annotated[
    Cidr, PlainValidator(lambda v: parse_cidr(v, 4, True)), AS_TEXT, schema_of("string", "", "10.255.0.0/24")
]
Ipv6Network = Annotated[
    Cidr, PlainValidator(lambda v: parse_cidr(v, 6, True)), AS_TEXT, schema_of("string", "", "fc00::/16")
]
Ipv4Interface = Annotated[
    Cidr, PlainValidator(lambda v: parse_cidr(v, 4, False)), AS_TEXT, schema_of("string", "", "192.0.2.11/24")
]
Ipv4Address = Annotated[int, PlainValidator(lambda v: parse_address(v, 4)), schema_of("string", "", "10.255.0.1")]
Ipv6Address = Annotated[int, PlainValidator(lambda v: parse_address(v, 6)), schema_of("string", "", "fd00::1")]
Mac = Annotated[str, PlainValidator(parse_mac), schema_of("string", "", "a0:88:c2:3b:50:66")]
Serial = Annotated[str, Strict(), Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$")]
Asn = Annotated[int, Strict(), Field(ge=1, le=MAX_ASN)]
AsnPlan = Annotated[
    AsnRange,
    PlainValidator(parse_asn_range),
    AS_TEXT,
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^\d+(-\d+)?$"}]}),
]
Speed = Annotated[
    int,
    PlainValidator(parse_speed),
    PlainSerializer(lambda gbps: f"{gbps}g", return_type=str),
    schema_of("string", r"^\d+g$", "400g"),
]
