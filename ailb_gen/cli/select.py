"""`--limit`: which devices a command is about."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from ailb_gen.design.model import Design

ROLES = {
    "leaf": ("leaf",),
    "leaves": ("leaf",),
    "spine": ("spine",),
    "spines": ("spine",),
    "switches": ("leaf", "spine"),
    "server": ("server",),
    "servers": ("server",),
}


def device_roles(design: Design) -> dict[str, str]:
    """Return every device's role by name."""
    rows = {switch.name: str(switch.role) for switch in design.switches}
    return rows | {server.name: "server" for server in design.servers}


def select(design: Design, limits: list[str]) -> set[str] | None:
    """Return the names that the patterns pick, or None for no limit.

    A pattern is a name, a glob, or a role; several may be given, also separated by commas.
    Raises UsageError for a pattern that picks nothing.
    """
    if not limits:
        return None
    patterns = [pattern for limit in limits for pattern in limit.split(",")]
    roles = device_roles(design)
    chosen: set[str] = set()
    for pattern in patterns:
        if not pattern:
            raise UsageError("--limit: an empty pattern; leave the option out to mean every device")
        if pattern in ROLES:
            found = {name for name, role in roles.items() if role in ROLES[pattern]}
        else:
            found = {name for name in roles if fnmatchcase(name, pattern)}
        if not found:
            from ailb_gen.intent.messages import did_you_mean

            hint = did_you_mean(pattern, [*roles, *ROLES]) or f"names, globs, or {', '.join(ROLES)}"
            raise UsageError(f"--limit {pattern!r}: no device is called that; {hint}")
        chosen |= found
    return chosen
