"""Devices picked by name, glob or role."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from ailb_gen.errors import UsageError
from ailb_gen.wording import did_you_mean

# Before a pattern that leaves something out.
NOT = "!"
# More devices are not named in a hint.
NAMED = 8
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
    if not all(pattern.removeprefix(NOT) for pattern in patterns):
        raise UsageError(f"{option}: an empty pattern; leave the option out to mean everything")
    return patterns


def pick_devices(roles: Mapping[str, str], values: Iterable[str], option: str = "--limit") -> set[str] | None:
    """Return the names of the devices that the patterns pick, or None for no pattern.

    A pattern is a name, a glob or a role; `!` before one leaves out what it picks, of all devices if no other pattern
    is there. `option` is where they were given. Raises UsageError for a pattern that picks nothing, and for none left.
    """
    patterns = patterns_of(option, values)
    chosen: set[str] = set()
    excluded: set[str] = set()
    for word in patterns:
        pattern = word.removeprefix(NOT)
        if pattern in ROLES:
            found = {name for name, role in roles.items() if role in ROLES[pattern]}
        else:
            found = {name for name in roles if fnmatchcase(name, pattern)}
        if not found:
            # A role has no number in it, a device mostly has.
            near = (roles,) if any(map(str.isdigit, pattern)) else (ROLES, roles)
            hint = next(filter(None, (did_you_mean(pattern, names) for names in near)), "")
            hint = hint or f"names, globs, or {', '.join(ROLES)}"
            raise UsageError(f"{option} {word!r}: no device is called that; {hint}")
        (chosen if word == pattern else excluded).update(found)
    if not patterns:
        return None
    if all(pattern.startswith(NOT) for pattern in patterns):
        chosen = set(roles)
    if chosen <= excluded:
        raise UsageError(f"{option} {','.join(patterns)!r}: no device is left")
    return chosen - excluded


def limit_to(names: Iterable[str], all_names: Iterable[str]) -> str:
    """Return the option that picks exactly some devices of all, as for a shell: by globs where these are fewer."""
    chosen = dict.fromkeys(names)
    others = [name for name in all_names if name not in chosen]
    globs = dict.fromkeys(glob for name in chosen for glob in _globs(name))
    # Of each glob the names that it picks: none of the others, and more than one.
    picked = {glob: frozenset(name for name in chosen if fnmatchcase(name, glob)) for glob in globs}
    usable = {
        glob: found
        for glob, found in picked.items()
        if len(found) > 1 and not any(fnmatchcase(name, glob) for name in others)
    }
    patterns, left = [], set(chosen)
    while usable:
        glob = max(usable, key=lambda one: len(usable[one] & left))
        if len(usable[glob] & left) < 2:
            break
        patterns.append(glob)
        left -= usable.pop(glob)
    return shlex.join(["--limit", ",".join([*patterns, *(name for name in chosen if name in left)])])


def _globs(name: str) -> Iterator[str]:
    """Yield a name with one of its numbers as any text."""
    for number in re.finditer("[0-9]+", name):
        yield f"{name[: number.start()]}*{name[number.end() :]}"


def limit_without(names: Sequence[str]) -> str:
    """Return the option that leaves devices out, as for a shell; of more than NAMED its form."""
    shown = ",".join(f"{NOT}{name}" for name in names) if len(names) <= NAMED else f"{NOT}NAME,..."
    return shlex.join(["--limit", shown])
