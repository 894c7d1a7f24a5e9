"""Secrets in lines of text, as the files of servers have them: YAML, INI, shell.

There is no grammar that all these files share, so it goes by the names of keys, and hides too much rather than too
little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ailb_gen.redact.names import MARK, NAME

# In the name of a key, or the whole name: netplan's `password`, WireGuard's `PrivateKey`, networkd's `InputKey`, `psk`
# and `wep_key0` of wpa_supplicant, variables such as BMC_PASSWORD. `rocommunity` is of snmpd.conf.
KEYS = "access|api|auth(?:entication)?|encryption|input|output|pre[-_]?shared|privacy|private|shared|wep"
PARTS = (
    rf"passw(?:or)?d|passphrase|secret|token|psk|(?:{KEYS})[-_]?key|credential|authorization|authtok|jwt"
    r"|(?<![A-Za-z0-9])cak"
)
WHOLE = r"(?<![\w-])(?:key|private)"
# Where a secret is: networkd's `PrivateKeyFile`, with a path.
PATH = r"""(?:(?:[-_.]?(?:file|path|dir)(?:name)?)["']?\s*[:=]\s*["']?(?:[/~%.]|\$\{?\w{1,32}\}?/))"""
# The letters of options whose value is a secret, or has one behind a user's name, by the commands that have them.
LETTERS = {
    "sshpass|mysql(?:dump|admin)?|mariadb(?:-dump|-admin)?|(?:id)?racadm7?|login|user(?:add|mod)|ipmipower": "p",
    "ipmitool|zip|unzip": "P",
    "curl": "uU",
    "smbclient|rpcclient": "U",
    "redis-cli": "a",
    "ldap(?:add|compare|delete|modify|modrdn|passwd|search|whoami)": "w",
    "snmp(?:bulk)?(?:get|getnext|set|walk|table|trap|inform|status)|trapsess": "cAX",
    "ssh-keygen": "NP",
    "htpasswd": "b",
}
# Between a command and its option; what comes behind ssh, such as the port, is no longer the command's own.
OWN = r"(?:(?!\bs(?:sh|cp|ftp)\b)[^|;&]){0,200}?"
OPTIONS = "|".join(rf"(?:{names})\b{OWN}\s-[A-Za-z]{{0,8}}?[{letters}]" for names, letters in LETTERS.items())
# A key with its sign, an option, or a command that reads a secret. Bounded, so that no line takes long.
SECRET = re.compile(
    "|".join(
        (
            # Not the end of a path: `/etc/passwd: cannot be read`; nor sudo's NOPASSWD. A message: `password value: x`.
            rf"""(?:(?<!/)(?<!\bNO)(?:{PARTS})(?!{PATH})[\w.-]{{0,64}}(?:\svalue)?|{WHOLE})(?:\\{{0,3}}["'])?\s*[:=]\s*""",
            # Netplan's keys of a tunnel: a block, or in braces.
            r"""(?<![\w.])(?<!\w-)keys["']?\s*:\s*(?=\{|$)""",
            # JSON, also of Junos and of Docker.
            rf"""\"(?:{NAME}|auth)\\{{0,3}}\"\s*:\s*""",
            # Variables such as MYSQL_PWD and REDISCLI_AUTH.
            r"(?<![\w-])(?:\w{0,64}_)?(?:(?:pass|pwd|passcode|pin|otp)\s*=|auth=)\s*",
            r"^\s*(?:-\s+)?\w{0,64}(?:(?<![a-z])(?:pass|pin|otp)|pwd|passcode)[\"']?\s*:\s+",
            r"(?-i:\b\w{1,64}(?:[a-z]Pass|[a-z]Pwd|[A-Za-z]PW)\s*[:=]\s*)",
            r"(?-i:(?<![\w-])(?![A-Z0-9_]{0,64}PUBLIC)[A-Z0-9_]{1,64}_KEY=)",
            rf"(?<![\w-])--?[\w-]{{0,64}}(?:{PARTS})[\w-]{{0,64}}\s+",
            # OpenSSL's, Java's, curl's; and nmcli's `wifi-sec.psk`.
            r"(?<!\S)--?(?:pass(?:in|out)?|(?:store|key)pass|(?:proxy-)?user(?=\s+[^\s:]{1,64}:))\s+",
            rf"[\w-]\.(?:{PARTS})\s+(?:\*\*\*\s+(?=[^\s;]+\s*$))?",
            # snmpd.conf, .netrc, and what is piped to a command that asks.
            r"(?:r[ow]|trap)community6?\s+",
            r"\bsnmp-server\s+community\s+",
            r"\b(?:trap2?|inform)sink\s+\S{1,128}\s+",
            r"\busmuser\s+",
            r"\bcom2sec6?\s+\S{1,64}\s+\S{1,64}\s+",
            r"\bcreateuser\s+(?:-e\s+\S{1,64}\s+)?\S{1,64}\s+\S{1,16}\s+",
            r"\bmachine\s.{0,200}?\bpassword\s+",
            r"\bpassword\s+(?=[^\s{]\S*\s*$)",
            # Behind what was taken for it: GRUB's user, the number of a cipher, an option.
            r"\b(?:secret|passw(?:or)?d)\s+\*\*\*\s+(?!pam_)(?=[^\s;]+\s*$)",
            # LDAP's, Redis's; Cisco's and FRR's with the number of a cipher.
            r"(?<![\w-])\w{0,32}(?:bindpw|rootpw)\s*[:=]?\s*",
            r"(?:\brequirepass|\bmasterauth)\s+",
            r"^\s*user\s(?=[^>]{0,200}\s>)[^>]{1,200}>",
            r"\b(?:radius|tacacs)-server\b.{0,128}?\skey\s+",
            r"\bkey-string\s+",
            # Keys of ntpd and chrony: a number, an algorithm, the key. What a switch says of a value.
            r"(?-i:^\s*\d{1,10}\s+(?:M|MD5|SHA-?\d{1,3}|SHA3-\d{1,3}|AES\d{1,3}(?:CMAC)?|RMD160)\s+)",
            rf"\bvalue:?\s+(?=[\"']?\S{{1,256}}\s+(?:for|of|in)\b.{{0,128}}?\b(?:{NAME})\b)",
            rf"\bvalue:?\s+(?=(?P<quote>[\"']).{{1,256}}?(?P=quote)\s+(?:for|of|in)\b.{{0,128}}?(?:{NAME})\b)",
            # Commands that take it as a word.
            r"\brclone\s+obscure\s+",
            r"--from-literal[=\s][\w.-]{1,64}=",
            r"(?:echo|printf)\s(?=[^|]{0,500}\|\s*(?:sudo\s+)?(?:chpasswd|passwd|cryptsetup|sudo\s+-S)\b)",
            r"\bchpasswd(?:\b[^|;&]{0,200}?<<<|\s*:)\s*",
            r"\bwpa_passphrase\s+\S{1,200}\s+",
            # HTTP; Kickstart, OpenVPN, keepalived; FRR; keys of ip-macsec(8) and ip-xfrm(8).
            r"\bcookie\s*:\s*",
            r"^askpass\s+|\bauth_pass\s+",
            r"\bmessage-digest-key\s+\d{1,3}\s+md5\s+",
            r"\bip\s+macsec\s.{0,200}?\skey\s+\S{1,64}\s+",
            r"\bxfrm\s.{0,200}?\s(?:aead|auth|auth-trunc|enc)\s+\S{1,64}\s+(?=0x)",
            rf"(?-i:\b(?:{OPTIONS})\s*)",
        )
    ),
    re.IGNORECASE,
)
# What a value of several lines begins with (YAML 1.2, 8.1), or its lines alone.
BLOCK = re.compile(r"(?:[|>][-+0-9]*)?(?:\s*#.*)?")
# A value of brackets that this line does not close.
BRACKETS = re.compile(r"[\[{\s]*[\[{]\s*")
# A value that begins with a quote which this line does not close.
OPEN = re.compile(r"""([\"'])(?:(?!\1)[^\\]|\\.)*+$""")
# The end of quoted text, which stays where the secret is a part of it: a description that has one.
CLOSED = re.compile(r'"\s*+(?:;\s*+)?$')
# What was replaced already.
DONE = (MARK, f'"{MARK}', f"'{MARK}")
# A shell's here-document for the command that sets passwords.
HERE = re.compile(
    r"""\bchpasswd\b[^|;&]{0,200}?<<-?\s*["']?(\w+)"""
    r"""|<<-?\s*["']?(\w+)["']?\s*\|\s*(?:sudo\s+)?chpasswd\b"""
)


# Without one of these, in lower case, no line has a secret. Looking for words is much faster than for what they mean.
HINTS = (
    *("pin:", "pin=", "otp:", "otp="),
    *("passw", "passphrase", "secret", "token", "psk", "private", "preshared", "api", "access", "credential"),
    *("authoriz", "key", "-pass", "-user", "community", "machine", "sudo", "cryptsetup", "sshpass", "curl", "mysql"),
    *("mariadb", "racadm", "login", "useradd", "usermod", "ipmi", "zip", "smbclient", "rpcclient", "redis-cli"),
    *(
        "cookie",
        "askpass",
        "auth_pass",
        "rootpw",
        "xfrm",
        'auth"',
        "auth\\",
        "ldap",
        "snmp",
        "pass=",
        "pwd=",
        "auth=",
        "com2sec",
        "createuser",
        "cak",
        "keyname",
        "ascii-text",
        "hexadecimal",
        *("pass", "pwd", "pw:", "pw ", "pw=", "authtok", "jwt", "masterauth", "usmuser", "sink", "trapsess", "obscure"),
        *("from-literal", "user ", " m ", "md5", "sha", " aes", "rmd160"),
    ),
)


# Of a long line so many letters are searched at once, and so many again with the next: no name of a secret, with what
# stands in front of it, is longer. One search holds up all threads of the program.
WINDOW, OVERLAP = 32 << 10, 2 << 10
# A unified diff: the first letter of every line is not the file's.
DIFF = re.compile(r"^@@ -\d", re.MULTILINE)


def mask_lines(text: str) -> str:
    """Return text with every secret replaced that a line shows; lines stay lines, also those of a unified diff."""
    lower = text.lower()
    present = [hint for hint in HINTS if hint in lower]
    if not present:
        return text
    lines, at = text.split("\n"), 1 if DIFF.search(text) else 0
    hidden = _hidden((line[at:] for line in lines), present)
    return "\n".join(line[:at] + shown for line, shown in zip(lines, hidden, strict=True))


def _hidden(lines: Iterable[str], hints: Sequence[str]) -> Iterator[str]:
    until, quote, deeper, continued, listed, brackets = "", "", -1, False, False, 0
    for line in lines:
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        if quote:
            quote = "" if _closes(line, quote) else quote
            yield f"{indent}{MARK}"
            continue
        if brackets > 0:
            brackets += _opened(line, 0)
            yield f"{indent}{MARK}" if any(map(str.isalnum, line)) else line
            continue
        if until and not words.startswith(until):
            yield MARK
            continue
        until = _until(line) if "chpasswd" in line else ""
        # The items of a list may stand as far in as their key.
        if deeper >= 0 and words and len(indent) <= deeper - (listed and words.startswith("- ")):
            deeper = -1
        lower = line.lower()
        found = _secret(line) if any(hint in lower for hint in hints) else None
        if continued or (deeper >= 0 and words):
            continued = continued and line.endswith("\\")
            yield f"{indent}{MARK}"
        elif found is None:
            yield line
        elif line[found.end() :] == "\\":
            continued = True
            yield line
        elif BRACKETS.fullmatch(line, found.end()):
            brackets = _opened(line, found.end())
            yield line
        elif BLOCK.fullmatch(line, found.end()):
            deeper, listed = len(indent), not words.startswith("-")
            yield line
        else:
            opened = OPEN.match(line, found.end())
            quote = opened[1] if opened else ""
            brackets = _opened(line, found.end()) if line.startswith(("[", "{"), found.end()) else 0
            yield f"{line[: found.end()]}{MARK}{_tail(line, found.end())}"


def _secret(line: str) -> re.Match[str] | None:
    """Return the first place of a line behind which a secret stands that is not replaced yet."""
    for at in range(0, len(line), WINDOW):
        for found in SECRET.finditer(line, at, at + WINDOW + OVERLAP):
            if not line.startswith(DONE, found.end()):
                return found
    return None


def _opened(line: str, at: int) -> int:
    """Return how many brackets a line opens from a place on, and does not close."""
    return sum(line.count(one, at) for one in "[{") - sum(line.count(one, at) for one in "]}")


def _tail(line: str, at: int) -> str:
    """Return what ends the quoted text that the secret at a place of a line is a part of; empty where it is none."""
    closed = CLOSED.search(line, at) if line.count('"', 0, at) % 2 else None
    return closed[0] if closed else ""


def _closes(line: str, quote: str) -> bool:
    """Return whether a line closes a quote."""
    return re.search(rf"(?:^|[^\\]){quote}", line) is not None


def _until(line: str) -> str:
    """Return how the line begins that ends the secret lines after this one; empty where none follow."""
    here = HERE.search(line)
    return (here[1] or here[2]) if here else ""
