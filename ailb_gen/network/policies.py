"""`policy-options` of a switch's tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ailb_gen.addresses import BITS, Prefix, interface_value
from ailb_gen.junos.tree import Node, Reuse
from ailb_gen.network.bgp import as_number
from ailb_gen.network.model import AsList
from ailb_gen.network.policy import Community, Policy, PrefixList, RouteFilter, Term
from ailb_gen.network.ports import number, sorted_out

MATCHES = ("exact", "orlonger", "longer", "upto", "prefix-length-range")
LIST_MATCHES = ("exact", "orlonger", "longer")
VERDICTS = {
    ("accept",): "accept",
    ("reject",): "reject",
    ("next", "term"): "next-term",
    ("next", "policy"): "next-policy",
}
KNOWN_CONDITIONS = frozenset({"family", "protocol", "community", "prefix-list", "prefix-list-filter", "route-filter"})
# Both names mean the same: a hash of each packet's flow chooses the next hop.
PER_FLOW = ("per-packet", "per-flow")
CHANGES = {"add": "add", "set": "set", "delete": "delete", "+": "add", "=": "set", "-": "delete"}


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """Everything below `policy-options`, by name."""

    communities: dict[str, Community]
    as_lists: dict[str, AsList]
    prefix_lists: dict[str, PrefixList]
    policies: dict[str, Policy]


def policy_options(top: Node, reuse: Reuse) -> PolicyOptions:
    """Read `policy-options`."""
    return PolicyOptions(
        {node.word: Community(node.word, node.values("members"), node.line) for node in top.each("community")},
        {node.word: reuse(_as_list, node) for node in top.each("as-list")},
        {node.word: reuse(_prefix_list, node) for node in top.each("prefix-list")},
        {node.word: reuse(_policy, node) for node in top.each("policy-statement")},
    )


def _policy(node: Node, _: Reuse) -> Policy:
    return Policy(node.word, tuple(_terms(node)), node.line)


def _as_list(node: Node, _: Reuse) -> AsList:
    good, bad = sorted_out(node.each("members"), _range)
    return AsList(node.word, tuple(pair for _, pair in good), bad, node.line)


def _range(text: str) -> tuple[int, int] | None:
    low, dash, high = text.partition("-")
    first, last = as_number(low), as_number(high if dash else low)
    return (first, last) if first is not None and last is not None and first <= last else None


def _prefix_list(node: Node, _: Reuse) -> PrefixList:
    good, bad = sorted_out(node, _masked)
    return PrefixList(node.word, tuple(prefix for _, prefix in good), len(bad), node.has("apply-path"), node.line)


def _masked(text: str) -> Prefix | None:
    """Return a prefix as a device takes it in lists and filters: host bits are cleared; None if it is not IPv6."""
    found = interface_value(text if "/" in text else f"{text}/{BITS}")
    return found[1] if found is not None else None


def _terms(node: Node) -> Iterator[Term]:
    for entry in node.each("term"):
        yield _term(entry.word, entry)
    if node.has("from") or node.has("then") or node.has("to"):
        yield _term("", node)


def _term(name: str, node: Node) -> Term:
    filters, unknown = [], []
    for entry in node.each("from", "route-filter"):
        found = [_route_filter(entry.word, kind) for kind in entry]
        if not found or None in found:
            unknown.append((f"from route-filter {entry.word}", entry.line))
        filters += [name for name in found if name is not None]
    for entry in node.each("from", "prefix-list-filter"):
        # An action behind the filter is taken in place of the term's own.
        odd = [kind for kind in entry if kind.word not in LIST_MATCHES or kind.children]
        unknown += [(f"from prefix-list-filter {entry.word}", entry.line)] * len(odd)
    unknown += [(f"from {entry.word}", entry.line) for entry in node.each("from") if entry.word not in KNOWN_CONDITIONS]
    unknown += [("to", entry.line) for entry in node.each("to")]
    known: dict[str, Any] = {}
    changes: list[tuple[str, str]] = []
    for entry in node.each("then"):
        _action(entry, known, changes, unknown)
    return Term(
        name=name,
        families=node.values("from", "family"),
        protocols=node.values("from", "protocol"),
        communities=node.values("from", "community"),
        prefix_lists=node.values("from", "prefix-list"),
        prefix_list_filters=tuple(
            (entry.word, match) for entry in node.each("from", "prefix-list-filter") for match in entry.children
        ),
        route_filters=tuple(filters),
        changes=tuple(changes),
        unknown=tuple(unknown),
        line=node.line,
        **known,
    )


def _route_filter(text: str, kind: Node) -> RouteFilter | None:
    """Read one route filter; None for an IPv4 prefix, a match type or an action of its own that is not evaluated."""
    prefix = _masked(text)
    if prefix is None:
        return None
    low, high = prefix.length, BITS
    if kind.word in ("upto", "prefix-length-range"):
        sizes = [size.lstrip("/") for size in (kind.value() or "").split("-")]
        if len(kind.children) > 1 or any(size.children for size in kind):
            return None
        if not all(size.isascii() and size.isdigit() and len(size) <= 3 for size in sizes):
            return None
        low, high = (prefix.length, int(sizes[0])) if kind.word == "upto" else (int(sizes[0]), int(sizes[-1]))
    elif kind.word not in MATCHES or kind.children:
        return None
    return RouteFilter(prefix, kind.word, low, high, kind.line)


def _action(node: Node, known: dict[str, Any], changes: list[tuple[str, str]], unknown: list[tuple[str, int]]) -> None:
    """Sort one action into what a Term knows; what it does not know goes into `unknown`."""
    verdict = VERDICTS.get((node.word, *list(node.children)[:1]) if node.word == "next" else (node.word,))
    if verdict is not None:
        known["verdict"] = verdict
    elif node.word == "community":
        for how in node:
            if how.word in CHANGES:
                changes.extend((CHANGES[how.word], name) for name in how.children)
            else:
                unknown.append((f"then community {how.word}", how.line))
    elif node.word == "load-balance":
        known["load_balance"] = node.value() or ""
        if known["load_balance"] not in PER_FLOW:
            unknown.append((f"then load-balance {known['load_balance']}".rstrip(), node.line))
    elif node.word in ("local-preference", "metric") and number(node) is not None:
        known[node.word.replace("-", "_")] = number(node)
    else:
        unknown.append((f"then {node.word}", node.line))
