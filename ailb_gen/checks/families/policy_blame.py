"""Which statement of a chain of policies makes it decide otherwise than it must: often not the term that decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ailb_gen.addresses import Prefix
from ailb_gen.checks.locate import ANY, OR
from ailb_gen.network.policy import Community, Policy, PrefixList, Term
from ailb_gen.routing.route import BGP, DIRECT

ABOVE = "policy-options policy-statement"
Terms = list[tuple[Policy, Term]]


def blamed(
    chain: Sequence[Policy],
    prefix_lists: dict[str, PrefixList],
    own_prefixes: Sequence[Prefix],
    by: str,
    found: str,
    expected: str,
) -> str:
    """Return the statement to look at when `by`, a term or empty for the default, does `found` and not `expected`.

    What is inactive in one of the policies comes first, then a term that ought to decide and does not: its condition is
    not evaluated, it lacks its action, or its prefixes are not `own_prefixes`, those of the fabric.
    """
    terms = [(policy, term) for policy in chain for term in policy.terms]
    names = [_named(policy, term) for policy, term in terms]
    last = names.index(by) if by in names else len(names)
    alone = expected == "a term of its own"
    wanted = "reject" if alone else "accept" if found == "rejects" else ""
    choice = _choice(terms[:last], prefix_lists, own_prefixes, wanted)
    if not choice and last < len(names):
        policy, term = terms[last]
        choice = next(_prefixes(term, prefix_lists, own_prefixes), "") or next(
            _conditions(policy, term, own_prefixes), _statement(policy, term)
        )
        lists = (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters))
        listed = [prefix for name in lists if name in prefix_lists for prefix in prefix_lists[name].prefixes]
        listed += [entry.prefix for entry in term.route_filters]
        rejected = found == "rejects" and bool(listed) and all(prefix in own_prefixes for prefix in listed)
        accepted = found == "accepts" and term.matches_all and term is policy.terms[-1]
        # Where a term matches what it is for, its action is wrong; the last one is for everything else.
        if found == "changes" or rejected or accepted:
            choice = f"{_statement(policy, term)} then"
    own = [f"{ABOVE} {policy.name}" for policy in chain]
    if alone and last < len(names):
        own = own[:1]
    return OR.join((*(f"{policy} {ANY}" for policy in own), *([choice] if choice else own[:1])))


def mistaken_mark(
    chain: Sequence[Policy], communities: Mapping[str, Community], mark: frozenset[str], colors: Sequence[str]
) -> str:
    """Return the definition of the community that spines add, where it is more than `mark` and no color; else empty."""
    terms = [term for policy in chain for term in policy.terms]
    names = [name for term in terms for name in (*term.communities, *(name for _, name in term.changes))]
    for name in names:
        members = communities[name].members if name in communities else ()
        if mark and members and not mark.issuperset(members) and not set(colors).intersection(members):
            return f"policy-options community {name} members"
    return ""


def _choice(before: Terms, prefix_lists: dict[str, PrefixList], own_prefixes: Sequence[Prefix], wanted: str) -> str:
    """Return the statement that keeps a term before the deciding one from deciding; empty if none does."""
    for policy, term in before:
        conditions = [text for text, _ in term.unknown if text.startswith(("from", "to"))]
        if conditions:
            return f"{_statement(policy, term)} {conditions[0]}"
    for policy, term in before:
        if term.verdict.startswith("next"):
            return f"{_statement(policy, term)} then next"
        if not term.verdict and not term.load_balance:
            return f"{_statement(policy, term)} then accept"
    for policy, term in before:
        if wanted and term.verdict == wanted:
            return next(_prefixes(term, prefix_lists, own_prefixes), "") or _narrowest(policy, term)
    return ""


def _prefixes(term: Term, prefix_lists: dict[str, PrefixList], own_prefixes: Sequence[Prefix]) -> Iterator[str]:
    """Yield the lists of a term's prefixes that hold none of the fabric's, or others."""
    for name in (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters)):
        listed = prefix_lists.get(name)
        prefixes = listed.prefixes if listed is not None else ()
        others = [one for one in prefixes if one not in own_prefixes]
        if others or not prefixes:
            yield " ".join(("policy-options prefix-list", name, *map(str, others[:1])))


def _narrowest(policy: Policy, term: Term) -> str:
    """Return the condition of a term that holds for a prefix and not for those inside it, or all of its conditions."""
    filters = [f"prefix-list-filter {name} {match}" for name, match in term.prefix_list_filters]
    filters += [f"route-filter {entry.prefix} {entry.match}" for entry in term.route_filters]
    narrow = next((f" {one}" for one in filters if not one.endswith(" orlonger")), "")
    return f"{_statement(policy, term)} from{narrow}"


def _conditions(policy: Policy, term: Term, own_prefixes: Sequence[Prefix]) -> Iterator[str]:
    """Yield the conditions of a term that hold for more than the fabric's routes."""
    above = f"{_statement(policy, term)} from"
    yield from (f"{above} protocol {protocol}" for protocol in term.protocols if protocol not in (BGP, DIRECT))
    others = (
        entry.prefix for entry in term.route_filters if not any(own.contains(entry.prefix) for own in own_prefixes)
    )
    yield from (f"{above} route-filter {prefix}" for prefix in others)


def _named(policy: Policy, term: Term) -> str:
    return f"{policy.name} term {term.name}" if term.name else policy.name


def _statement(policy: Policy, term: Term) -> str:
    return f"{ABOVE} {_named(policy, term)}"
