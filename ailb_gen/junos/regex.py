"""Regular expressions that users write, on RE2: it does not go back, and its time is linear in the text.

Junos's are extended ones of POSIX (Juniper, "Understanding How to Define BGP Communities and Extended Communities").
What RE2 lacks, references to groups and looking around, they lack, too.
"""

from __future__ import annotations

import re
from functools import lru_cache

import re2

# What a compiled expression may take, in bytes; no expression of the models or of published configurations needs 1 %.
MOST_MEMORY = 2 << 20
MOST_CHARACTERS = 4096
WILDCARD = re.compile(r"[*.^$\[\]()|?+{}]")
# An address in a community, as in target:192.0.2.1:7: its dots stand for themselves.
DOTTED = re.compile(r"\b[0-9]+(?:\.[0-9]+){3}\b", re.ASCII)
# `*` alone stands for any number.
ALONE = re.compile(r"(?<![.\])])\*")


@lru_cache(maxsize=1024)
def regex(pattern: str, ignore_case: bool = False) -> re2._Regexp[str]:
    """Compile an expression; raises ValueError with the reason."""
    if len(pattern) > MOST_CHARACTERS:
        raise ValueError(f"more than {MOST_CHARACTERS:,} characters")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.max_mem = MOST_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        raise ValueError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from error


@lru_cache(4096)
def is_pattern(member: str) -> bool:
    """Return whether a member of a community stands for several values."""
    return WILDCARD.search(DOTTED.sub("", member)) is not None


def community_pattern(member: str) -> re2._Regexp[str]:
    """Compile a member of a community that is a pattern; it holds for the whole of a value. Raises ValueError."""
    return regex(ALONE.sub(".*", member))


def community_fault(member: str) -> str | None:
    """Return why a member of a community that looks like a pattern is no expression, None for all others."""
    try:
        if is_pattern(member):
            community_pattern(member)
    except ValueError as error:
        return str(error)
    return None
