"""Routing policies as written: terms, conditions and actions; `routing` evaluates them."""

from __future__ import annotations

from dataclasses import dataclass

from ailb_gen.addresses import Prefix
from ailb_gen.textio import line_field


@dataclass(frozen=True, slots=True)
class Community:
    """`policy-options community`: a route matches when it has all members."""

    name: str
    members: tuple[str, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class PrefixList:
    """`policy-options prefix-list`; IPv4 entries are counted, not kept. `by_path`: `apply-path` fills it."""

    name: str
    prefixes: tuple[Prefix, ...]
    other: int
    by_path: bool = False
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class RouteFilter:
    """A prefix with a match type; `low` and `high` are the lengths of `prefix-length-range` and `upto`."""

    prefix: Prefix
    match: str
    low: int = 0
    high: int = 128
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Term:
    """A term: all kinds of conditions must hold, of each kind any one. `name` is empty for a policy's own `then`.

    `verdict` is accept, reject, next-term, next-policy or empty. `unknown` are conditions and actions that this
    program does not evaluate, with their lines.
    """

    name: str
    families: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    communities: tuple[str, ...] = ()
    prefix_lists: tuple[str, ...] = ()
    prefix_list_filters: tuple[tuple[str, str], ...] = ()
    route_filters: tuple[RouteFilter, ...] = ()
    # (add, set or delete, community)
    changes: tuple[tuple[str, str], ...] = ()
    local_preference: int | None = None
    metric: int | None = None
    load_balance: str = ""
    verdict: str = ""
    unknown: tuple[tuple[str, int], ...] = ()
    line: int = line_field()

    @property
    def matches_all(self) -> bool:
        """Return whether there is no condition that an IPv6 route could fail."""
        listed = (self.protocols, self.communities, self.prefix_lists, self.prefix_list_filters, self.route_filters)
        unknown = any(text.startswith(("from", "to")) for text, _ in self.unknown)
        return not any(listed) and not unknown and (not self.families or "inet6" in self.families)


def is_expression(name: str) -> bool:
    """Return whether the name of a policy is an expression of several, such as `( A && B )`, which is not evaluated."""
    return any(mark in name for mark in "()!&|")


@dataclass(frozen=True, slots=True)
class Policy:
    """`policy-options policy-statement`."""

    name: str
    terms: tuple[Term, ...]
    line: int = line_field()
