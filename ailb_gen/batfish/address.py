"""The address of a Batfish service: HOST[:PORT]."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address

from ailb_gen.errors import UsageError

DEFAULT_PORT = 9996

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")
_HINT = f"give HOST[:PORT], for example localhost or localhost:{DEFAULT_PORT}"


def parse_address(text: str, option: str = "--batfish ") -> tuple[str, int]:
    """Return host and port (1 to 65535; 9996 unless given) of HOST[:PORT] or [IPV6][:PORT]. Raises UsageError.

    The error names `option` before the text.
    """
    try:
        return _parsed(text)
    except ValueError as error:
        raise UsageError(f"{option}{text[:200]!r}: {error}; {_HINT}") from error


def _parsed(text: str) -> tuple[str, int]:
    if "://" in text:
        raise ValueError(f"this is a URL; leave {text[: text.index('://') + 3]!r} away")
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError("write an IPv6 address in brackets, followed only by a port: [::1]:9996")
        return _ipv6(host), _port(rest)
    if text.count(":") > 1:
        raise ValueError("write an IPv6 address in brackets: [::1]:9996")
    host, colon, rest = text.partition(":")
    if not host:
        raise ValueError("the host is missing")
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise ValueError(f"{host[:80]!r} is not the name or address of a host")
    return host, _port(colon + rest)


def _ipv6(host: str) -> str:
    try:
        # A zone (fe80::1%eth0) may hold anything, and means nothing in a URL.
        return str(IPv6Address("" if "%" in host else host))
    except AddressValueError as error:
        raise ValueError(f"{host[:80]!r} is not an IPv6 address without a zone") from error


def _port(rest: str) -> int:
    """Return the port of ':PORT' or, where nothing is given, the port that Batfish listens on."""
    if not rest:
        return DEFAULT_PORT
    if not re.fullmatch(r"[0-9]{1,5}", rest[1:]) or not 1 <= int(rest[1:]) <= 65535:
        raise ValueError(f"{rest[1:][:80]!r} is not a port from 1 to 65535")
    return int(rest[1:])
