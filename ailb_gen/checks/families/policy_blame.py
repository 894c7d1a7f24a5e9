"""Which statement of a chain of policies makes it decide otherwise than it must: often not the term that decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ailb_gen.addresses import Prefix
from ailb_gen.checks.locate import ANY, OR
from ailb_gen.network.policy import Policy, PrefixList, Term

ABOVE = "policy-options policy-statement"
Terms = list[tuple[Policy, Term]]


def blamed(
    chain: Sequence[Policy], prefix_lists: dict[str, PrefixList], pool: Prefix, by: str, found: str, expected: str
) -> str:
    """Return the statement to look at when `by`, a term or empty for the default, does `found` and not `expected`.

    What is inactive in one of the policies comes first, then a term that ought to decide and does not: its condition is
    not evaluated, it lacks its action, or its prefixes are not those of the pool.
    """
    terms = [(policy, term) for policy in chain for term in policy.terms]
    names = [_named(policy, term) for policy, term in terms]
    last = names.index(by) if by in names else len(names)
    choice = _choice(terms[:last], prefix_lists, pool, found == "rejects")
    if not choice and last < len(names):
        policy, term = terms[last]
        choice = next(_prefixes(term, prefix_lists, pool), "") or _statement(policy, term)
        if found == "changes":
            choice = f"{_statement(policy, term)} then"
    own = [f"{ABOVE} {policy.name}" for policy in chain]
    if expected == "a term of its own" and last < len(names):
        own = own[:1]
    return OR.join((*(f"{policy} {ANY}" for policy in own), *([choice] if choice else own[:1])))


def _choice(before: Terms, prefix_lists: dict[str, PrefixList], pool: Prefix, was_rejected: bool) -> str:
    """Return what keeps one of the terms before the deciding one from deciding; empty if nothing does."""
    for policy, term in before:
        conditions = [text for text, _ in term.unknown if text.startswith(("from", "to"))]
        if conditions:
            return f"{_statement(policy, term)} {conditions[0]}"
    for policy, term in before:
        if not term.verdict and not term.load_balance:
            return f"{_statement(policy, term)} then accept"
    for policy, term in before if was_rejected else ():
        if term.verdict == "accept":
            return next(_prefixes(term, prefix_lists, pool), "") or f"{_statement(policy, term)} from"
    return ""


def _prefixes(term: Term, prefix_lists: dict[str, PrefixList], pool: Prefix) -> Iterator[str]:
    """Yield the lists of a term's prefixes that do not hold the pool, or hold more."""
    for name in (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters)):
        listed = prefix_lists.get(name)
        if listed is None or pool not in listed.prefixes:
            other = f" {listed.prefixes[0]}" if listed is not None and listed.prefixes else ""
            yield f"policy-options prefix-list {name}{other}"
        elif len(listed.prefixes) > 1:
            yield f"policy-options prefix-list {name} {next(one for one in listed.prefixes if one != pool)}"


def _named(policy: Policy, term: Term) -> str:
    return f"{policy.name} term {term.name}" if term.name else policy.name


def _statement(policy: Policy, term: Term) -> str:
    return f"{ABOVE} {_named(policy, term)}"
