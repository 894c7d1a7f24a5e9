"""Routing policies as BIRD's functions: terms in order, of each kind of condition any one, and so on as in Junos.

A function returns NEXT, ACCEPT or REJECT. Local preference is held twice as large, plus one for a route with AIGP, so
that BIRD prefers such a route (RFC 7311, section 4.1) in its choice of parallel paths, too. BIRD 2.0 gives `&&` and
`||` the same precedence: what belongs together is always in parentheses.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.junos.regex import is_pattern
from ailb_gen.lab.bird.communities import EXTENDED, LARGE, STANDARD, Pattern, value
from ailb_gen.lab.bird.model import Untranslated
from ailb_gen.lab.bird.wildcards import patterns
from ailb_gen.network.model import Switch
from ailb_gen.network.policy import Policy, RouteFilter, Term

NEXT, ACCEPT, REJECT = 0, 1, 2
SOURCES = {"direct": "RTS_DEVICE", "bgp": "RTS_BGP"}
# Twice the local preference, plus one, must fit into 32 bits.
MOST_PREFERENCE = (1 << 31) - 1
# What the sender of a graceful shutdown adds to a route, and the test for it (RFC 8326).
SHUTDOWN = "(65535, 0)"
MARK = f"{STANDARD}.add({SHUTDOWN});"
MARKED = f"{SHUTDOWN} ~ {STANDARD}"
NOT_A_WORD = re.compile(r"[^A-Za-z0-9_.:-]")
LONGEST = 48


@dataclass(slots=True)
class Symbols:
    """Names of BIRD's symbols, each different, as close to those of Junos as BIRD's letters allow."""

    given: dict[tuple[str, str], str] = field(default_factory=dict)

    def symbol(self, kind: str, name: str) -> str:
        """Return the symbol of something with a kind and a name, in quotes."""
        if (kind, name) not in self.given:
            plain, taken = f"{kind}-{NOT_A_WORD.sub('-', name)[:LONGEST]}", set(self.given.values())
            symbols = (f"{plain}:{number}" if number > 1 else plain for number in count(1))
            self.given[kind, name] = next(symbol for symbol in symbols if symbol not in taken)
        return f"'{self.given[kind, name]}'"


@dataclass(slots=True)
class Reasons:
    """Why routes are hidden, by numbers from 1."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Return the number of a reason."""
        return self.numbers.setdefault(text, len(self.numbers) + 1)


def rejects_all(policies: Iterable[Policy]) -> bool:
    """Return whether a chain of policies rejects all routes, with any attributes."""
    for policy in policies:
        for term in policy.terms:
            if term.verdict in ("accept", "next-policy"):
                return False
            if term.verdict == "reject" and term.matches_all:
                return True
    return False


@dataclass(slots=True)
class Policies:
    """The policies of a switch as functions; statements that are not translated are collected."""

    switch: Switch
    names: Symbols
    reasons: Reasons
    untranslated: list[Untranslated] = field(default_factory=list)

    def function(self, policy: Policy) -> str:
        """Return the function of a policy."""
        lines = [f"function {self.names.symbol('policy', policy.name)}()", "{"]
        for term in policy.terms:
            lines += self._term(policy, term)
            # What follows a verdict without conditions is never reached.
            if lines[-1].startswith("  return"):
                return "\n".join([*lines, "}"])
        return "\n".join([*lines, f"  return {NEXT};", "}"])

    def _term(self, policy: Policy, term: Term) -> Iterator[str]:
        where = f"policy-options policy-statement {policy.name}" + (f" term {term.name}" if term.name else "")
        for text, line in term.unknown:
            kept = "the term matches nothing" if text.startswith(("from", "to")) else "it is left out"
            self._miss(f"{where} {text}", f"not evaluated: {kept}", line)
        conditions = self._conditions(where, term)
        if conditions is None:
            return
        actions = [*self._actions(where, policy, term)]
        if term.name:
            yield f"  # term {NOT_A_WORD.sub('-', term.name)}"
        if not conditions:
            yield from (f"  {action}" for action in actions)
        elif actions:
            yield f"  if {' && '.join(conditions)} then {{"
            yield from (f"    {action}" for action in actions)
            yield "  }"

    def _conditions(self, where: str, term: Term) -> list[str] | None:
        """Return the conditions of a term; None if they never hold."""
        if any(text.startswith(("from", "to")) for text, _ in term.unknown):
            return None
        if term.families and "inet6" not in term.families:
            return None
        found = []
        if term.protocols:
            sources = [f"source = {SOURCES[name]}" for name in SOURCES if name in term.protocols]
            if not sources:
                return None
            found += sources if len(sources) < len(SOURCES) else []
        if term.communities:
            several = [self._community(where, name, term.line) for name in term.communities]
            found.append(any_of(text for text in several if text))
        if term.prefix_lists or term.prefix_list_filters or term.route_filters:
            found.append(any_of((*self._listed(term), *route_filtered(term.route_filters))))
        return None if "" in found else found

    def _community(self, where: str, name: str, line: int) -> str:
        """Return the test for all members of a community; empty if no route can have them."""
        community = self.switch.communities.get(name)
        tests = []
        for member in community.members if community is not None else ():
            test = self._member(where, member, line)
            if not test:
                return ""
            tests.append(test)
        return all_of(tests)

    def _member(self, where: str, member: str, line: int) -> str:
        if is_pattern(member):
            return any_of(f"{attribute} ~ {found}" for attribute, found in self._patterns(where, member, line))
        known = value(member)
        if known is None:
            self._miss(f"{where} community member {member}", "unknown to the lab: no route has it", line)
            return ""
        return f"{known.literal} ~ {known.attribute}"

    def _patterns(self, where: str, member: str, line: int) -> list[Pattern]:
        found = patterns(member)
        if len(found) > 1:
            others = "targets, origins" + (" and large communities" if None in found else "")
            self._miss(f"{where} community member {member}", f"BIRD does not match it against {others}", line)
        elif None in found:
            self._miss(f"{where} community member {member}", "not a pattern that BIRD can test: no route has it", line)
        return [one for one in found if one is not None]

    def _listed(self, term: Term) -> Iterator[str]:
        listed = [*((name, "exact") for name in term.prefix_lists), *term.prefix_list_filters]
        entries = [
            prefix_pattern(RouteFilter(prefix, match))
            for name, match in listed
            if name in self.switch.prefix_lists
            for prefix in self.switch.prefix_lists[name].prefixes
        ]
        yield prefix_set(entries)

    def _actions(self, where: str, policy: Policy, term: Term) -> Iterator[str]:
        for how, name in term.changes:
            yield from self._change(where, how, name, term.line)
        if term.local_preference is not None:
            if term.local_preference > MOST_PREFERENCE:
                self._miss(f"{where} then local-preference", f"treated as {MOST_PREFERENCE}", term.line)
            yield from set_preference(min(term.local_preference, MOST_PREFERENCE))
        if term.metric is not None:
            yield f"bgp_med = {term.metric};"
        if term.verdict == "accept":
            yield f"return {ACCEPT};"
        elif term.verdict == "reject":
            by = f"{policy.name} term {term.name}" if term.name else policy.name
            yield f"ailb_hidden = {self.reasons.number(f'rejected by {by}')};"
            yield f"return {REJECT};"
        elif term.verdict == "next-policy":
            yield f"return {NEXT};"

    def _change(self, where: str, how: str, name: str, line: int) -> Iterator[str]:
        community = self.switch.communities.get(name)
        members = community.members if community is not None else ()
        if how == "set":
            yield from (f"{attribute}.empty;" for attribute in (STANDARD, EXTENDED, LARGE))
        for member in members:
            known = value(member)
            if is_pattern(member):
                found = self._patterns(where, member, line) if how == "delete" else []
                yield from (f"{attribute}.delete({values});" for attribute, values in found)
            elif known is None:
                self._miss(f"{where} community member {member}", "unknown to the lab: left out", line)
            elif how == "delete":
                yield f"{known.attribute}.delete([{known.literal}]);"
            else:
                yield f"{known.attribute}.add({known.literal});"

    def _miss(self, statement: str, reason: str, line: int) -> None:
        self.untranslated.append(Untranslated(statement, reason, line))


def set_preference(preference: int) -> Iterator[str]:
    """Yield the statements that set the local preference, in BIRD's measure."""
    yield f"bgp_local_pref = {2 * preference};"
    yield f"if defined(bgp_aigp) then bgp_local_pref = {2 * preference + 1};"


def chain(names: Sequence[str]) -> Iterator[str]:
    """Yield the statements that put the verdict of a chain of functions into `verdict`."""
    for number, name in enumerate(names):
        yield f"  verdict = {name}();" if not number else f"  if verdict = {NEXT} then verdict = {name}();"


def prefix_set(texts: Iterable[str]) -> str:
    """Return the test whether a route's prefix is among patterns; empty if there is none."""
    found = list(dict.fromkeys(text for text in texts if text))
    return f"net ~ [ {', '.join(found)} ]" if found else ""


def prefix_pattern(entry: RouteFilter) -> str:
    """Return BIRD's pattern of a prefix and a match type; empty if it matches nothing."""
    length = entry.prefix.length
    low, high = {
        "exact": (length, length),
        "orlonger": (length, BITS),
        "longer": (length + 1, BITS),
    }.get(entry.match, (max(entry.low, length), min(entry.high, BITS)))
    if low > high:
        return ""
    if (low, high) == (length, length):
        return str(entry.prefix)
    return f"{entry.prefix}+" if (low, high) == (length, BITS) else f"{entry.prefix}{{{low},{high}}}"


def route_filtered(filters: Sequence[RouteFilter]) -> Iterator[str]:
    """Yield the test of route filters: of those that hold a prefix only the longest count."""
    by_length: dict[int, list[RouteFilter]] = defaultdict(list)
    for entry in filters:
        by_length[entry.prefix.length].append(entry)
    test = ""
    for length, entries in sorted(by_length.items()):
        matching = prefix_set(prefix_pattern(entry) for entry in entries)
        below = [entry.prefix for entry in entries]
        # What a longer filter holds is its own affair, even if it does not match there.
        if test and any(shorter.contains(prefix) for prefix in below for shorter in _shorter(filters, length)):
            holding = prefix_set(f"{prefix}+" for prefix in below)
            test = any_of((matching, all_of((f"! ({holding})", test))))
        else:
            test = any_of((matching, test))
    if test:
        yield test


def _shorter(filters: Iterable[RouteFilter], length: int) -> Iterator[Prefix]:
    return (entry.prefix for entry in filters if entry.prefix.length < length)


def any_of(tests: Iterable[str]) -> str:
    """Join tests into one that any of them satisfies; empty ones never hold."""
    return _joined([test for test in tests if test], " || ")


def all_of(tests: Iterable[str]) -> str:
    """Join tests that must all hold."""
    return _joined(list(tests), " && ")


def _joined(tests: list[str], operator: str) -> str:
    return f"({operator.join(tests)})" if len(tests) > 1 else "".join(tests)
