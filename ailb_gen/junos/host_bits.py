"""Where a device refuses a prefix with bits behind its length; elsewhere it clears them, or they mean something.

Taken are prefix-list, route-filter, SNMP client lists, `allow` of BGP, addresses of interfaces. The models give most of
them the same type. Source: commits on vJunos 25.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ailb_gen.junos.values import Wrong, prefix_bits

_REFUSED = re.compile(
    r"(?:^| )(?:"
    r"(?:static|aggregate|generate) route"
    r"|area-range"
    r"|from (?:source-|destination-)?address"
    r"|next-ip6?(?: address)?"
    r"|if-route-exists(?: .*)?"
    r")$"
)


def host_bits(path: Iterable[str], word: str) -> Wrong | None:
    """Return why a prefix cannot stand behind the words of a path, None where it can or is no prefix."""
    found = prefix_bits(word)
    if found is None or not found[0] & ((1 << found[1]) - 1) or not _REFUSED.search(" ".join(path)):
        return None
    return Wrong("type", f"{word!r} has bits behind its length")
