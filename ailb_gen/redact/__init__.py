"""Secrets kept out of everything that people read: messages, records, reports, differences, collected files.

`text` is the one entrance: whatever the text is, its statements (`statements`, Junos), its lines (`lines`: YAML, INI,
shell) and its forms (`forms`: hashes, URLs, keys in PEM, XML) are looked at. `known` replaces values that are known,
wherever they stand. Here are the names that hold a secret, for all of them: of Junos statements, XML elements, keys of
YAML and INI, parameters of URLs.
"""

import re

MARK = "***"
# At the end of a name, behind `-`, `_` or `.`. All leaves of Juniper's models of the type `unreadable` end so, or are
# in SECRET_WORDS, or are of those that depend on what they are below (`statements.py`).
ENDINGS = (
    r"passw(?:or)?d|passphrase|secret|token|psk|cak"
    r"|(?:auth(?:entication)?|privacy|private|pre-?shared|shared|api|access|encryption)[-_]?key"
)
# Whole names. `community-name` is of SNMP; `ascii-text` and `hexadecimal` follow `pre-shared-key`.
SECRET_WORDS = frozenset({"ascii-text", "community-name", "hexadecimal", "keyname", "plain-text-password-value"})
# A value that is no secret but the place of one: a file in a directory where such files are.
FILE = r"""["']?(?:[\w.-]{1,64}:)?(?:~|/(?:etc|home|mnt|opt|root|run|srv|tmp|usr|var))/"""
# Bounded, so that no text takes long.
NAME = rf"(?:[\w.-]{{0,64}}[-_.])?(?:{ENDINGS})|{'|'.join(sorted(SECRET_WORDS))}"
SECRET_NAME = re.compile(NAME, re.IGNORECASE)
# The end of a word that is such a name; a quick look before the exact one.
TAILS = (
    *("passwd", "password", "passphrase", "secret", "token", "psk", "cak", "key"),
    *("ascii-text", "community-name", "hexadecimal", "keyname", "-value"),
)


def is_secret_name(word: str) -> bool:
    """Return whether a word is a name that holds a secret."""
    return word.lower().endswith(TAILS) and SECRET_NAME.fullmatch(word) is not None
