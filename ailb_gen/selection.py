"""Devices picked by name, glob or role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from ailb_gen.errors import UsageError
from ailb_gen.wording import did_you_mean

ROLES = {
    "leaf": ("leaf",),
    "leaves": ("leaf",),
    "spine": ("spine",),
    "spines": ("spine",),
    "switches": ("leaf", "spine"),
    "server": ("server",),
    "servers": ("server",),
}


def patterns_of(option: str, values: Iterable[str]) -> list[str]:
    """Split the values of an option at commas. Raises UsageError for an empty pattern."""
    patterns = [pattern.strip() for value in values for pattern in value.split(",")]
    if not all(pattern.removeprefix("!") for pattern in patterns):
        raise UsageError(f"{option}: an empty pattern; leave the option out to mean everything")
    return patterns


def pick_devices(roles: Mapping[str, str], values: Iterable[str], option: str = "--limit") -> set[str] | None:
    """Return the names of the devices that the patterns pick, or None for no pattern.

    A pattern is a name, a glob or a role; `option` is where they were given. Raises UsageError for a pattern that picks
    nothing.
    """
    patterns = patterns_of(option, values)
    chosen: set[str] = set()
    for pattern in patterns:
        if pattern in ROLES:
            found = {name for name, role in roles.items() if role in ROLES[pattern]}
        else:
            found = {name for name in roles if fnmatchcase(name, pattern)}
        if not found:
            # A role has no number in it, a device mostly has.
            near = (roles,) if any(map(str.isdigit, pattern)) else (ROLES, roles)
            hint = next(filter(None, (did_you_mean(pattern, names) for names in near)), "")
            hint = hint or f"names, globs, or {', '.join(ROLES)}"
            raise UsageError(f"{option} {pattern!r}: no device is called that; {hint}")
        chosen |= found
    return chosen if patterns else None
