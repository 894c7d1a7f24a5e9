"""Communities as Junos writes them, and as BIRD does: standard, extended (RFC 4360) and large ones (RFC 8092)."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address
from typing import NamedTuple

STANDARD, EXTENDED, LARGE = "bgp_community", "bgp_ext_community", "bgp_large_community"
WELL_KNOWN = {"no-export": "65535:65281", "no-advertise": "65535:65282", "no-export-subconfed": "65535:65283"}
# Type and subtype of extended communities. Color: RFC 9012, section 4.3; its first two flags are the first number.
COLOR = 0x030B
KINDS = {"target": 0x02, "origin": 0x03}
BIRD_KINDS = {"rt": "target", "ro": "origin"}
# What is before the subtype: two-octet AS number, IPv4 address, four-octet AS number.
TWO_OCTETS, IPV4, FOUR_OCTETS = 0x00, 0x01, 0x02
SHORT, LONG = 1 << 16, 1 << 32
COLORS = ", ".join(f"(generic, 0x{COLOR << 16 | flags << 14:08x}, *)" for flags in range(4))
# A list of communities in an answer of BIRD's.
ANSWERED = re.compile(r"\(([^()]*)\)")


class Pattern(NamedTuple):
    """A community for BIRD, or a set of them: the attribute that holds it, and the literal."""

    attribute: str
    literal: str


def value(member: str) -> Pattern | None:
    """Return a community without wildcards for BIRD; None if it is none that BIRD can hold."""
    fields = WELL_KNOWN.get(member, member).split(":")
    numbers = [_number(text) for text in fields]
    match fields, numbers:
        case [_, _], [int(high), int(low)] if high < SHORT and low < SHORT:
            return Pattern(STANDARD, f"({high}, {low})")
        case ["large", _, _, _], [_, int(one), int(two), int(three)] if max(one, two, three) < LONG:
            return Pattern(LARGE, f"({one}, {two}, {three})")
        case ["color", _, _], [_, int(flags), int(low)] if flags < 4 and low < LONG:
            return _extended(COLOR << 16 | flags << 14, low)
        case ["target" | "origin", administrator, _], [_, _, int(low)]:
            found = administered(fields[0], administrator)
            if found is not None and low <= found.most:
                return _extended(found.high, found.low + low)
    return None


class Administered(NamedTuple):
    """Route targets or origins of one administrator: both halves, and the biggest number that is added to the lower."""

    high: int
    low: int
    most: int


def administered(kind: str, administrator: str) -> Administered | None:
    """Return the route targets or origins of 65000, 4200000000L or 192.0.2.1; None if that is no administrator."""
    subtype = KINDS[kind]
    number = _number(administrator.removesuffix("L"))
    if number is not None and number < SHORT and not administrator.endswith("L"):
        return Administered((TWO_OCTETS << 8 | subtype) << 16 | number, 0, LONG - 1)
    if number is None:
        try:
            number, form = int(IPv4Address(administrator)), IPV4
        except AddressValueError:
            return None
    else:
        form = FOUR_OCTETS
    if number >= LONG:
        return None
    return Administered((form << 8 | subtype) << 16 | number >> 16, (number & 0xFFFF) << 16, SHORT - 1)


def _extended(high: int, low: int) -> Pattern:
    return Pattern(EXTENDED, f"(generic, 0x{high:08x}, 0x{low:08x})")


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None


def read(text: str) -> frozenset[str]:
    """Return the communities in a line of BIRD's as Junos writes them; those of unknown types as 0x…:0x….

    Raises ValueError.
    """
    return frozenset(_read([word.strip() for word in found.split(",")]) for found in ANSWERED.findall(text))


def _read(words: list[str]) -> str:
    match words:
        case [high, low]:
            return f"{int(high)}:{int(low)}"
        case ["generic", high, low]:
            return _generic(int(high, 16), int(low, 16))
        case ["rt" | "ro" as kind, administrator, low]:
            wide = "L" if "." not in administrator and int(administrator) >= SHORT else ""
            return f"{BIRD_KINDS[kind]}:{administrator}{wide}:{int(low)}"
        case [one, two, three]:
            return f"large:{int(one)}:{int(two)}:{int(three)}"
    raise ValueError(f"({', '.join(words)}) is not a community")


def _generic(high: int, low: int) -> str:
    if high >> 16 == COLOR and not high & 0x3FFF:
        return f"color:{high >> 14 & 3}:{low}"
    return f"0x{high:08x}:0x{low:08x}"
