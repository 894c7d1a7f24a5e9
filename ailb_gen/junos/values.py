"""The types of the models as functions that check whether a word is a value.

A function takes the word and returns None when it fits, else why not. The models call every address a string; the
names of their types say more, and what those mean is in `_NAMED`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from socket import AF_INET, AF_INET6, inet_pton
from typing import NamedTuple

from ailb_gen.junos.regex import regex
from ailb_gen.junos.statements import Json


class Wrong(NamedTuple):
    """Why a word does not fit: a kind of finding, our words and Juniper's; `names` are the words that would."""

    kind: str
    message: str
    juniper: str = ""
    names: tuple[str, ...] = ()


_BITS = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "digit": "0-9", "xdigit": "0-9a-fA-F", "lower": "a-z", "upper": "A-Z",
    "space": r" \t\n\r\f\v", "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "print": " -~", "graph": "!-~",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?[0-9]+|0[xX][0-9a-fA-F]+")
_DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def compile_type(made: Json, unreadable: Callable[[str, str], object]) -> Callable[[str], Wrong | None] | None:
    """Return the function of a type, None where every word fits.

    `unreadable` is called with a pattern that cannot be compiled, and why; it checks nothing then.
    """
    name = made[0]
    if name == "union":
        members = [member for member in made[1] if member[0] not in {"wildcard", "empty"}]
        return _union([compile_type(member, unreadable) for member in members])
    if name == "string":
        return _string(made[1], made[2], unreadable)
    if name in _BITS:
        return _integer(name, made[1] if len(made) > 1 else "")
    simple = _SIMPLE.get(name)
    return simple(made) if simple is not None else None


def is_address(made: Json) -> bool:
    """Return whether values of a type are addresses or prefixes, which can be written in several ways."""
    if made[0] == "union":
        return any(map(is_address, made[1]))
    return made[0] == "junos" and str(made[1]).startswith(("ipaddr", "ipv4", "ipv6", "ipprefix"))


def takes_empty(made: Json) -> bool:
    """Return whether a value may be left out."""
    return made[0] == "empty" or (made[0] == "union" and any(map(takes_empty, made[1])))


def _union(members: list[Callable[[str], Wrong | None] | None]) -> Callable[[str], Wrong | None] | None:
    if not members or None in members:
        return None
    functions = [member for member in members if member is not None]
    if len(functions) == 1:
        return functions[0]

    def fits(word: str) -> Wrong | None:
        wrong = None
        for function in functions:
            wrong = function(word)
            if wrong is None:
                return None
        return wrong

    return fits


def _enumeration(names: list[str]) -> Callable[[str], Wrong | None]:
    known = frozenset(names)
    several = tuple(names)

    def fits(word: str) -> Wrong | None:
        if word in known:
            return None
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        return Wrong("enumeration", f"{_short(word)} is not one of {shown}", "", several)

    return fits


def _spans(text: str, low: float, high: float, number: Callable[[str], float]) -> list[tuple[float, float]]:
    spans = []
    for part in text.split("|"):
        first, _, last = part.partition("..")
        a = low if first.strip() == "min" else number(first)
        b = a if not last.strip() else high if last.strip() == "max" else number(last)
        spans.append((a, b))
    return spans


def _said(spans: list[tuple[float, float]]) -> str:
    return " or ".join(f"{a:g}" if a == b else f"{a:.15g}-{b:.15g}" for a, b in spans)


def _whole(word: str) -> int:
    # Python refuses to read thousands of digits; what is that long is out of any range.
    return int(word, 16 if word[:2] in {"0x", "0X"} else 10) if len(word) < 40 else 10**40


def _integer(name: str, bounds: str) -> Callable[[str], Wrong | None]:
    sign, bits = _BITS[name]
    low, high = (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    spans = _spans(bounds, low, high, int) if bounds else [(low, high)]
    return _within(_NUMBER, "a whole number", _whole, spans)


def _decimal(bounds: str) -> Callable[[str], Wrong | None]:
    spans = _spans(bounds, float("-inf"), float("inf"), float) if bounds else []
    return _within(_DECIMAL, "a decimal number", float, spans)


def _within(
    pattern: re.Pattern[str], what: str, number: Callable[[str], float], spans: list[tuple[float, float]]
) -> Callable[[str], Wrong | None]:
    def fits(word: str) -> Wrong | None:
        if not pattern.fullmatch(word):
            return Wrong("type", f"{_short(word)} is not {what}")
        if not spans or any(a <= number(word) <= b for a, b in spans):
            return None
        return Wrong("range", f"{word[:40]} is not within {_said(spans)}")

    return fits


def _string(
    length: str, patterns: list[list[str]], unreadable: Callable[[str, str], object]
) -> Callable[[str], Wrong | None] | None:
    spans = _spans(length, 0, float("inf"), int) if length else []
    tests: list[tuple[Callable[[str], object], bool, str, str]] = []
    for dialect, pattern, message in patterns:
        negated = dialect == "posix" and pattern.startswith("!")
        try:
            found = regex(posix(pattern[negated:]) if dialect == "posix" else pattern)
        except ValueError as error:
            unreadable(pattern, str(error))
            continue
        tests.append((found.search if dialect == "posix" else found.fullmatch, negated, pattern, message))
    if not spans and not tests:
        return None

    def fits(word: str) -> Wrong | None:
        if spans and not any(a <= len(word) <= b for a, b in spans):
            return Wrong("length", f"{len(word)} characters are not within {_said(spans)}")
        for test, negated, pattern, message in tests:
            if (test(word) is not None) == negated:
                return Wrong("pattern", f"{_short(word)} does not match {_short(pattern)}", message)
        return None

    return fits


def _short(text: str) -> str:
    return repr(text) if len(text) < 60 else repr(text[:56] + "…")


def posix(pattern: str) -> str:
    """Translate an extended regular expression of POSIX: in brackets a backslash is itself, `$` is the very end."""
    made: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "[":
            position, translated = _bracket(pattern, position)
            made.append(translated)
            continue
        if character == "\\" and position + 1 < len(pattern):
            position += 1
            made.append(re.escape(pattern[position]))
        else:
            made.append(r"\z" if character == "$" else character)
        position += 1
    return "".join(made)


def _bracket(pattern: str, start: int) -> tuple[int, str]:
    position = start + 1
    made = "["
    if pattern[position : position + 1] == "^":
        made, position = "[^", position + 1
    first = True
    while position < len(pattern) and (first or pattern[position] != "]"):
        named = re.match(r"\[:([a-z]+):\]", pattern[position:])
        if named and named[1] in _CLASSES:
            made, position = made + _CLASSES[named[1]], position + named.end()
        else:
            made += "\\" + pattern[position] if pattern[position] in "[]\\&~|^" else pattern[position]
            position += 1
        first = False
    return position + 1, made + "]"


@lru_cache(65536)
def packed(word: str) -> bytes | None:
    """Return an address in network order, or None; an IPv6 zone is left out."""
    try:
        return inet_pton(AF_INET6, word.partition("%")[0]) if ":" in word else inet_pton(AF_INET, word)
    except (OSError, ValueError):
        return None


@lru_cache(65536)
def canonical(word: str) -> object:
    """Return an address or prefix in a form that is the same however it was written; other words are themselves."""
    text, slash, mask = word.partition("/")
    found = _network(text) if slash else packed(text)
    return (found, mask) if found is not None else word


def _network(text: str) -> bytes | None:
    """Return the address of a prefix; octets that are left out are 0, as in `10/8` and `0/0`."""
    return packed(text if ":" in text else text + ".0" * (3 - text.count(".")))


def _address(size: int, what: str) -> Callable[[str], Wrong | None]:
    return _fitting(lambda word: len(packed(word) or "") == size, what)


def _prefix(versions: tuple[int, ...], what: str, length: str) -> Callable[[str], Wrong | None]:
    """Return the function of a prefix; its length is `mandatory`, or `optional`.

    `only` says no more: a device takes host bits in prefix lists, of that type, and clears them.
    """

    def fits(word: str) -> Wrong | None:
        text, slash, mask = word.partition("/")
        found = _network(text) if slash else packed(text)
        if found is None or len(found) not in versions:
            return Wrong("type", f"{_short(word)} is not {what}")
        if not slash:
            return None if length != "mandatory" else Wrong("type", f"{_short(word)} lacks the length, such as /64")
        if not _is_length(mask, len(found)):
            return Wrong("type", f"the length of {_short(word)} is not a number from 0 to {8 * len(found)}")
        return None

    return fits


def _is_length(text: str, size: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= 8 * size


def prefix_bits(word: str) -> tuple[int, int] | None:
    """Return the address of a prefix as a number and how many bits are behind its length; None for other words."""
    text, slash, mask = word.partition("/")
    found = _network(text) if slash else None
    return (int.from_bytes(found), 8 * len(found) - int(mask)) if found and _is_length(mask, len(found)) else None


def _pattern(pattern: str, what: str) -> Callable[[str], Wrong | None]:
    return _fitting(re.compile(pattern, re.ASCII).fullmatch, what)


def _fitting(test: Callable[[str], object], what: str) -> Callable[[str], Wrong | None]:
    return lambda word: None if test(word) else Wrong("type", f"{_short(word)} is not {what}")


_IPV4, _IPV6 = (4,), (16,)
_MAC = _pattern(
    r"([0-9a-fA-F]{1,2}[:.-]){5}[0-9a-fA-F]{1,2}|([0-9a-fA-F]{4}[.:]){2}[0-9a-fA-F]{4}|[0-9a-fA-F]{12}", "a MAC address"
)


def _host(word: str) -> Wrong | None:
    """Take an address or the name of a host, not an address with a slip in it."""
    if packed(word) is not None or not (":" in word or _NEARLY_IPV4.fullmatch(word)):
        return None
    return Wrong("type", f"{_short(word)} is not an IPv4 or IPv6 address")


_NEARLY_IPV4 = re.compile(r"[0-9.]+(/[0-9]*)?", re.ASCII)

# The types of junos-common-types that are checked; every word is taken for the others: names of files and interfaces,
# secrets, regular expressions.
_NAMED = {
    "ipaddr": _host,
    "ipv4addr": _address(4, "an IPv4 address"),
    "ipv6addr": _address(16, "an IPv6 address"),
    **{
        f"{name}{suffix}": _prefix(versions, f"an {what} prefix", length)
        for name, versions, what in (
            ("ipprefix", _IPV4 + _IPV6, "IPv4 or IPv6"),
            ("ipv4prefix", _IPV4, "IPv4"),
            ("ipv6prefix", _IPV6, "IPv6"),
        )
        for suffix, length in (("", "optional"), *((f"-{one}", one) for one in ("mandatory", "optional", "only")))
    },
    "mac-addr": _MAC,
    "mac-unicast": _MAC,
    "mac-multicast": _MAC,
    "areaid": _pattern(r"[0-9]{1,10}|[0-9]{1,3}(\.[0-9]{1,3}){3}", "an area: a number or four of them"),
    "esi": _pattern(r"([0-9a-fA-F]{1,2}:){9}[0-9a-fA-F]{1,2}", "an Ethernet segment identifier"),
    "isosysid": _pattern(r"[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4}){2}", "a system identifier"),
    "unsigned-float": _pattern(r"[0-9]+(\.[0-9]+)?", "a decimal number"),
}

_SIMPLE: dict[str, Callable[[Json], Callable[[str], Wrong | None] | None]] = {
    "enumeration": lambda made: _enumeration(made[1]),
    "boolean": lambda made: _enumeration(["true", "false"]),
    "decimal64": lambda made: _decimal(made[1] if len(made) > 1 else ""),
    "junos": lambda made: _NAMED.get(made[1]),
}


# Behind these words a device refuses a prefix with bits behind its length; elsewhere it clears them, or they mean
# something: in prefix-list, route-filter, SNMP client lists, `allow` of BGP, addresses of interfaces. The models give
# most of them the same type. Source: commits on vJunos 25.4.
_REFUSED = re.compile(
    r"(?:^| )(?:"
    r"(?:static|aggregate|generate) route"
    r"|area-range"
    r"|from (?:source-|destination-)?address"
    r"|next-ip6?(?: address)?"
    r"|if-route-exists(?: .*)?"
    r")$"
)


def has_host_bits(word: str) -> bool:
    """Return whether a prefix has bits set behind its length."""
    found = prefix_bits(word)
    return found is not None and found[0] & ((1 << found[1]) - 1) != 0


def host_bits(path: Iterable[str], word: str) -> Wrong | None:
    """Return why a prefix cannot stand behind the words of a path, None where it can or is no prefix."""
    if not has_host_bits(word) or not _REFUSED.search(" ".join(path)):
        return None
    return Wrong("type", f"{word!r} has bits set beyond its length")
