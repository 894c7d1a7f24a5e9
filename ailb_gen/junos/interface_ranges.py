"""The effective configuration with interface ranges: `interface-range` statements copied to their members.

Source: Junos, "Interface Ranges for Physical Interfaces". A device expands ranges before it reads the configuration:
members that are not configured come into being, what is configured on a member wins over its range, an earlier range
wins over a later one, groups come last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import product
from math import prod

from ailb_gen.junos.block_layout import lay_out
from ailb_gen.junos.grammar import inside
from ailb_gen.junos.groups import Steps, active, expand_groups, inherit, inherited
from ailb_gen.junos.tree import ENDS, FLAT, Node, copy

RANGE = "interface-range"
MEMBERSHIP = ("member", "member-range")
# What `*` stands for, whatever the platform has. Source: as above.
EVERY = range(48)
# Members are created up to this number; beyond it (`et-*/*/*`) only interfaces that are configured take part.
MOST = 4096
# A name of a physical interface, where every number may be a pattern.
NAME = re.compile(r"([a-z]+)-([^/:]+)/([^/:]+)/([^/:]+)(?::([^/:]+))?")
MOST_DIGITS = 4
SPAN = re.compile(rf"(\d{{1,{MOST_DIGITS}}})(?:-(\d{{1,{MOST_DIGITS}}}))?", re.ASCII)

Numbers = tuple[int, ...]
# What one part of a name may be.
Choices = dict[int, None] | range


def effective(root: Node) -> Node:
    """Return the tree that counts: no inactive statements, groups inherited, interface ranges copied to their members.

    Neither `groups` nor `interface-range` is left. The tree itself if nothing changes. Raises ExpansionError when
    groups apply each other in a circle, and for what takes too many steps.
    """
    return expand_ranges(root, inherited(root))


def expand_ranges(root: Node, found: Node) -> Node:
    """Return the effective tree of a root whose inherited tree is known; this one if there is no range.

    Raises ExpansionError for what takes too many steps.
    """
    ranges = found.get("interfaces", RANGE)
    if ranges is None:
        return found
    steps = Steps("interface ranges", ranges.line)
    members = _members(ranges, found, steps)
    result = copy(active(root))
    if result.flags & FLAT:
        lay_out(result)
    interfaces = result.children.setdefault("interfaces", Node("interfaces", ranges.line, ENDS))
    for source in ranges:
        if any(child.word not in MEMBERSHIP for child in source):
            for name, line in members[source.word].items():
                interfaces.children.setdefault(name, Node(name, line, ENDS))
    # Twice: the device's own ranges win over groups, and those of groups are known only after them.
    _expand(result, members, steps)
    grouped = expand_groups(result)
    if grouped is not result:
        _expand(grouped, members, steps)
    grouped.children["interfaces"].children.pop(RANGE, None)
    return grouped


def _expand(root: Node, members: dict[str, dict[str, int]], steps: Steps) -> None:
    """Copy what ranges say to their members, and where a range is named, name its members instead."""
    interfaces = root.children["interfaces"]
    for source in interfaces.each(RANGE):
        common = Node(source.word, source.line)
        common.children = {word: child for word, child in source.children.items() if word not in MEMBERSHIP}
        for name in members.get(source.word, ()):
            if name in interfaces.children:
                inherit(interfaces.children[name], common, inside("interfaces", name), steps)
    stack = [root]
    while stack:
        node = stack.pop()
        if node.word == "interface" and any(child.word.partition(".")[0] in members for child in node):
            _name_members(node, members, steps)
        stack += (child for child in node if child.word != RANGE)


def _name_members(node: Node, members: dict[str, dict[str, int]], steps: Steps) -> None:
    """Replace the entries of ranges by entries of their members."""
    children: dict[str, Node] = {}
    for child in node:
        name, dot, unit = child.word.partition(".")
        if name not in members:
            children.setdefault(child.word, child)
            continue
        for member in members[name]:
            word = f"{member}{dot}{unit}"
            there = children.get(word) or node.children.get(word)
            if there is None:
                steps.take(1 + sum(map(len, child.paths())))
                there = copy(child)
                there.word = word
            else:
                inherit(there, child, "interface", steps)
            children[word] = there
    node.children = children


def _members(ranges: Node, root: Node, steps: Steps) -> dict[str, dict[str, int]]:
    """Return the members of every range with the line that names them."""
    configured = {word: _numbers(word) for word in root.values("interfaces")}
    found: dict[str, dict[str, int]] = {}
    for entry in ranges:
        names = found[entry.word] = {}
        for member in entry.each("member"):
            # `member et-0/0/[0-3]` without quotes is read as a list behind `et-0/0/`.
            pattern = f"{member.word}[{','.join(member.children)}]" if member.children else member.word
            steps.take(len(pattern) + len(configured))
            for name in _matching(pattern, configured, steps):
                steps.take(1)
                names.setdefault(name, member.line)
        for first in entry.each("member-range"):
            for last in first.each("to"):
                steps.take(1 + len(configured))
                for name in _between(first.word, last.word, configured):
                    steps.take(1)
                    names.setdefault(name, last.line)
    return found


def _numbers(name: str) -> tuple[str, Numbers] | None:
    """Return the type of a physical interface and its numbers; None for other names."""
    found = NAME.fullmatch(name)
    parts = [part for part in found.groups()[1:] if part is not None] if found else []
    if found is None or not all(part.isascii() and part.isdigit() and len(part) <= MOST_DIGITS for part in parts):
        return None
    return found[1], tuple(map(int, parts))


def _matching(pattern: str, configured: dict[str, tuple[str, Numbers] | None], steps: Steps) -> Iterator[str]:
    """Yield the interfaces of a `member` statement: those configured, and those that come into being."""
    found = NAME.fullmatch(pattern)
    parts = [_choices(part, steps) for part in found.groups()[1:] if part is not None] if found else []
    if found is None or any(choices is None for choices in parts):
        yield from (name for name in configured if fnmatchcase(name, pattern))
        if not any(mark in pattern for mark in "*?["):
            yield pattern
        return
    choices = [part for part in parts if part is not None]
    for name, known in configured.items():
        # Some platforms have more than EVERY ports; `*` is taken to mean these, and channels, too.
        if known is not None and known[0] == found[1] and _speaks(choices, known[1]):
            yield name
    if prod(map(len, choices)) <= MOST:
        yield from (_named(found[1], numbers) for numbers in product(*choices))


def _choices(part: str, steps: Steps) -> Choices | None:
    """Return the numbers that one part of a name may be; None if it is no pattern of Junos."""
    if part == "*":
        return EVERY
    inner = part[1:-1] if part[:1] == "[" and part[-1:] == "]" else part
    numbers: list[int] = []
    for piece in inner.replace(",", " ").split():
        span = SPAN.fullmatch(piece)
        if span is None:
            return None
        some = range(int(span[1]), int(span[2] or span[1]) + 1)
        steps.take(1 + len(some))
        numbers += some
    return dict.fromkeys(numbers) or None


def _speaks(choices: list[Choices], numbers: Numbers) -> bool:
    if len(numbers) != len(choices) and not (len(numbers) == len(choices) + 1 and choices[-1] is EVERY):
        return False
    return all(some is EVERY or number in some for some, number in zip(choices, numbers, strict=False))


def _between(first: str, last: str, configured: dict[str, tuple[str, Numbers] | None]) -> Iterator[str]:
    """Yield the interfaces of `member-range FIRST to LAST`, both included."""
    low, high = _numbers(first), _numbers(last)
    if low is None or high is None or low[0] != high[0] or len(low[1]) != len(high[1]):
        # Not a range; a device refuses it. What it names is taken to be meant.
        yield from (first, last)
        return
    for name, known in configured.items():
        if known is not None and known[0] == low[0] and len(known[1]) == len(low[1]) and low[1] <= known[1] <= high[1]:
            yield name
    tops = [max(ends) for ends in zip(low[1], high[1], strict=True)]
    if low[1][:-1] == high[1][:-1]:
        spans = [range(number, number + 1) for number in low[1][:-1]] + [range(low[1][-1], high[1][-1] + 1)]
    else:
        spans = [range(low[1][0], high[1][0] + 1)] + [range(max(top + 1, len(EVERY))) for top in tops[1:]]
        # No line card of these switches has a second PIC.
        spans[1] = range(tops[1] + 1)
    if prod(map(len, spans)) <= MOST:
        yield from (_named(low[0], numbers) for numbers in product(*spans) if low[1] <= numbers <= high[1])


def _named(kind: str, numbers: Numbers) -> str:
    name = f"{kind}-{'/'.join(map(str, numbers[:3]))}"
    return f"{name}:{numbers[3]}" if len(numbers) > 3 else name
