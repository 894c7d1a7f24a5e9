"""Files of servers that hold secrets at places without a name: which these are, by the names of the files."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from ailb_gen.redact import MARK
from ailb_gen.redact.lines import DIFF
from ailb_gen.redact.text import redact

# Of a line the first word stays, up to a blank or a colon.
NAMELESS = (
    *("chap-secrets", "pap-secrets", "*.secrets", "*ntp.keys", "chrony.keys", "*.psk", "*.tsig"),
    *("*pgpass*", "userlist.txt", "shadow*", "gshadow*", "*htpasswd*", "*.passwd", "*passwd-s3fs", "*_passwd"),
    *(
        "pam_radius*",
        "pam_tacplus*",
        "smbpasswd*",
        "vsftpd*login*",
        "esmtp*",
        "sasl_passwd*",
        "munge.key",
        "authkey",
        "*.ovpn-pass",
    ),
    *(".netrc", "_netrc", "netrc", "auth.conf", ".git-credentials"),
)
COMMENTS = ("#", ";", "!")
FIRST = re.compile(r"\s*[^\s:]*[\s:]*")


def redact_file(path: str, text: str) -> str:
    """Return the text of a file, or of its unified diff, with every secret replaced; lines stay lines."""
    shown = redact(text)
    name = path.rpartition("/")[2]
    if not any(fnmatchcase(name, pattern) for pattern in NAMELESS):
        return shown
    at = 1 if DIFF.search(text) else 0
    return "\n".join(_hidden(line, at) for line in shown.split("\n"))


def _hidden(line: str, at: int) -> str:
    """Return the first word of a line; heads of a diff and comments stay."""
    head = at and line.startswith(("--- ", "+++ ", "@@ ", "\\"))
    if head or line[at:].lstrip().startswith(COMMENTS):
        return line
    rest = FIRST.sub("", line[at:], count=1)
    alone = not rest and line[at:].strip() != ""
    return f"{line[:at]}{MARK}" if alone else f"{line[: len(line) - len(rest)]}{MARK if rest else ''}"
