"""Secrets of a server's files kept out of what people read: YAML, INI, shell, and keys in PEM.

There is no grammar that all these files share, so it goes by the names of keys, and hides too much rather than too
little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ailb_gen.junos.redact import HASH, MARK, mask_urls

# In the name of a key, or the whole name: netplan's `password` and `keys`, WireGuard's `PrivateKey`, `psk` of
# wpa_supplicant, variables such as BMC_PASSWORD. `rocommunity` is of snmpd.conf.
PARTS = r"passw(?:or)?d|passphrase|secret|token|psk|(?:private|preshared|api|access)[-_]?key|credential|authorization"
WHOLE = r"(?<![\w-])(?:key|private)"
# A key with its sign, or an option of a command. Bounded, so that no line takes long.
SECRET = re.compile(
    rf"""(?:(?:{PARTS})[\w.-]{{0,64}}|{WHOLE})["']?\s*[:=]\s*"""
    rf"""|--[\w-]{{0,64}}(?:{PARTS})[\w-]{{0,64}}\s+|r[ow]community6?\s+""",
    re.IGNORECASE,
)
# What a value of several lines begins with (YAML 1.2, 8.1), or its lines alone.
BLOCK = re.compile(r"(?:[|>][-+0-9]*)?(?:\s*#.*)?")
# RFC 7468, and what OpenSSH writes.
BEGIN, END = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY"), "-----END "


def redact_file(text: str) -> str:
    """Return the text of a file with every secret replaced; lines stay lines."""
    return "\n".join(redact_lines(text.split("\n")))


def redact_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines of a file, all of them from the first on, with every secret replaced."""
    return [HASH.sub(MARK, mask_urls(line)) for line in _hidden(lines)]


def _hidden(lines: Iterable[str]) -> Iterator[str]:
    in_key, deeper = False, -1
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if in_key and not line.lstrip().startswith(END):
            yield MARK
            continue
        in_key = BEGIN.search(line) is not None
        if deeper >= 0 and line.strip() and depth <= deeper:
            deeper = -1
        found = SECRET.search(line)
        if deeper >= 0 and line.strip():
            yield f"{line[:depth]}{MARK}"
        elif found is None:
            yield line
        elif BLOCK.fullmatch(line, found.end()):
            deeper = depth
            yield line
        else:
            yield f"{line[: found.end()]}{MARK}"
