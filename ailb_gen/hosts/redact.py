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
# The letters of options whose value is a secret, or has one behind a user's name, by the commands that have them.
LETTERS = {
    "sshpass|mysql(?:dump|admin)?|mariadb(?:-dump|-admin)?|(?:id)?racadm7?|login|user(?:add|mod)|ipmipower": "p",
    "ipmitool|zip|unzip": "P",
    "curl": "uU",
    "smbclient|rpcclient": "U",
    "redis-cli": "a",
    "ldap(?:add|compare|delete|modify|modrdn|passwd|search|whoami)": "w",
    "snmp(?:bulk)?(?:get|getnext|set|walk|table|trap|inform|status)": "cAX",
    "htpasswd": "b",
}
# Between a command and its option; what comes behind ssh, such as the port, is no longer the command's own.
OWN = r"(?:(?!\bs(?:sh|cp|ftp)\b)[^|;&]){0,200}?"
OPTIONS = "|".join(rf"(?:{names})\b{OWN}\s-[A-Za-z]{{0,8}}?[{letters}]" for names, letters in LETTERS.items())
# A key with its sign, an option, or a command that reads a secret. Bounded, so that no line takes long.
SECRET = re.compile(
    "|".join(
        (
            rf"""(?:(?:{PARTS})[\w.-]{{0,64}}|{WHOLE})["']?\s*[:=]\s*""",
            rf"(?<![\w-])--?[\w-]{{0,64}}(?:{PARTS})[\w-]{{0,64}}\s+",
            # OpenSSL's, Java's, curl's; and nmcli's `wifi-sec.psk`.
            r"(?<!\S)--?(?:pass(?:in|out)?|(?:store|key)pass|(?:proxy-)?user(?=\s+[^\s:]{1,64}:))\s+",
            rf"[\w-]\.(?:{PARTS})\s+",
            # snmpd.conf, .netrc, and what is piped to a command that asks.
            r"r[ow]community6?\s+",
            r"\bmachine\s.{0,200}?\bpassword\s+",
            r"\bpassword\s+(?=[^\s{]\S*\s*$)",
            r"(?:echo|printf)\s(?=[^|]{0,500}\|\s*(?:sudo\s+)?(?:chpasswd|passwd|cryptsetup|sudo\s+-S)\b)",
            r"\bchpasswd(?:\b[^|;&]{0,200}?<<<|\s*:)\s*",
            r"\bwpa_passphrase\s+\S{1,200}\s+",
            rf"(?-i:\b(?:{OPTIONS})\s*)",
        )
    ),
    re.IGNORECASE,
)
# What a value of several lines begins with (YAML 1.2, 8.1), or its lines alone.
BLOCK = re.compile(r"(?:[|>][-+0-9]*)?(?:\s*#.*)?")
# RFC 7468, and what OpenSSH writes.
BEGIN, END = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY"), "-----END "
# A shell's here-document for the command that sets passwords.
HERE = re.compile(
    r"""\bchpasswd\b[^|;&]{0,200}?<<-?\s*["']?(\w+)"""
    r"""|<<-?\s*["']?(\w+)["']?\s*\|\s*(?:sudo\s+)?chpasswd\b"""
)


def redact_file(text: str) -> str:
    """Return the text of a file with every secret replaced; lines stay lines."""
    return "\n".join(redact_lines(text.split("\n")))


def redact_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines of a file, all of them from the first on, with every secret replaced."""
    return [HASH.sub(MARK, mask_urls(line)) for line in _hidden(lines)]


def _hidden(lines: Iterable[str]) -> Iterator[str]:
    until, deeper, continued, listed = "", -1, False, False
    for line in lines:
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        if until and not words.startswith(until):
            yield MARK
            continue
        until = _until(line)
        # The items of a list may stand as far in as their key.
        if deeper >= 0 and words and len(indent) <= deeper - (listed and words.startswith("- ")):
            deeper = -1
        found = SECRET.search(line)
        if continued or (deeper >= 0 and words):
            continued = continued and line.endswith("\\")
            yield f"{indent}{MARK}"
        elif found is None:
            yield line
        elif line[found.end() :] == "\\":
            continued = True
            yield line
        elif BLOCK.fullmatch(line, found.end()):
            deeper, listed = len(indent), not words.startswith("-")
            yield line
        else:
            yield f"{line[: found.end()]}{MARK}"


def _until(line: str) -> str:
    """Return how the line begins that ends the secret lines after this one; empty where none follow."""
    here = HERE.search(line)
    return END if BEGIN.search(line) else (here[1] or here[2]) if here else ""
