"""Routing policies of the shadow: the files' own, translated, and those that stand for fabric colors and AIGP.

BGP-DPF does three things that Batfish does not know. `fabric-advertise` announces without asking a policy: a policy
in front of the switch's own does that. A session passes only its color: communities stand for colors and the same
policies filter them. AIGP comes before the AS path: a community stands for it, and gives a route a higher local
preference wherever it is received. The same policies stand for a graceful shutdown (RFC 8326), which the files ask for
in one statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.communities import Communities
from ailb_gen.batfish.numbering import Numbering
from ailb_gen.batfish.unsupported import SENT_ON
from ailb_gen.network.model import Group, Switch
from ailb_gen.network.policy import Policy, Term
from ailb_gen.routing.policy import matches
from ailb_gen.routing.route import DEFAULT_LOCAL_PREFERENCE, GRACEFUL_SHUTDOWN, WELL_KNOWN, Route
from ailb_gen.routing.speaker import Rules, lists_of, originated, rules

# A route's local preference is doubled, so that AIGP fits in between.
SCALE = 2
PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
# What the names of the shadow's own policies begin with.
OURS = "SHADOW-"
VERDICTS = {"accept": "accept", "reject": "reject", "next-term": "next term", "next-policy": "next policy"}
KNOWN_PROTOCOLS = ("bgp", "direct")
Ranges = tuple["IPv4Network", ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Something in a routing policy that the shadow cannot show, and its line."""

    policy: str
    reason: str
    line: int

    @property
    def message(self) -> str:
        """Say which policy, and why."""
        return f"policy {self.policy}: {self.reason}"


@dataclass(slots=True)
class Translator:
    """Translator of the policies of one switch.

    `names` are those of its own policies that any group uses, with what they are called in the shadow; `held` is what
    is known already of conditions on prefixes, which most switches share. Collects the communities that are used, and
    what cannot be shown.
    """

    switch: Switch
    numbering: Numbering
    communities: Communities
    names: Mapping[str, str]
    held: dict[object, Ranges]
    used: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)

    def incoming(self, name: str, group: Group) -> Iterator[str]:
        """Yield the policy, under some name, that a group's routes pass before its own import policies."""
        rule = rules(self.switch, group)
        head = f"policy-options policy-statement {name} term"
        yield from self._filter(rule, head)
        yield f"{head} without-aigp then local-preference {SCALE * DEFAULT_LOCAL_PREFERENCE}"
        aigp = self._one(self.communities.aigp)
        if rule.aigp:
            yield f"{head} with-aigp from community {aigp}"
            yield f"{head} with-aigp then local-preference {SCALE * DEFAULT_LOCAL_PREFERENCE + 1}"
        else:
            yield f"{head} with-aigp then community delete {aigp}"
        yield from self._shut_down(rule, head)

    def _shut_down(self, rule: Rules, head: str) -> Iterator[str]:
        """Yield the terms by which routes of a graceful shutdown get its local preference; AIGP decides among them."""
        if rule.shutdown_sender:
            yield f"{head} graceful-shutdown-sender then community add {self._one(GRACEFUL_SHUTDOWN)}"
        if rule.shutdown_preference is None or GRACEFUL_SHUTDOWN not in self.communities.values:
            return
        lowest = SCALE * rule.shutdown_preference
        yield f"{head} graceful-shutdown from community {self._one(GRACEFUL_SHUTDOWN)}"
        yield f"{head} graceful-shutdown then local-preference {lowest}"
        if rule.aigp:
            both = self._named((GRACEFUL_SHUTDOWN, self.communities.aigp))
            yield f"{head} graceful-shutdown-aigp from community {both}"
            yield f"{head} graceful-shutdown-aigp then local-preference {lowest + 1}"

    def outgoing(self, name: str, group: Group) -> Iterator[str]:
        """Yield the policy, under some name, that routes pass before a group's own export policies."""
        rule = rules(self.switch, group)
        head = f"policy-options policy-statement {name} term"
        sent: dict[Route, list[Prefix]] = {}
        for route in self.switch.routes:
            found = originated(self.switch, route, rule)
            if found is not None:
                sent.setdefault(found, []).append(route.prefix)
        for number, (announced, prefixes) in enumerate(sent.items(), 1):
            term = f"{head} fabric-advertise-{number}"
            yield f"{term} from protocol direct"
            yield from _filters(term, self.numbering.ranges(prefixes))
            values = [self.communities.values[value] for value in sorted(announced.communities)]
            if announced.aigp is not None:
                values.append(self.communities.aigp)
            yield from (f"{term} then community add {self._one(value)}" for value in values)
            yield f"{term} then accept"
        if not rule.aigp:
            yield f"{head} without-aigp then community delete {self._one(self.communities.aigp)}"
        yield from self._filter(rule, head)
        if rule.shutdown_sender:
            yield f"{head} graceful-shutdown-sender then community add {self._one(GRACEFUL_SHUTDOWN)}"

    def own(self) -> dict[str, tuple[str, ...]]:
        """Return the switch's own policies that any group imports or exports by; of some nothing is left."""
        return {name: tuple(self._policy(self.switch.policies[name])) for name in self.names}

    def definitions(self) -> Iterator[str]:
        """Yield the definitions of the communities that were used."""
        for name, values in sorted(self.used.items()):
            yield from (f"policy-options community {name} members {value}" for value in values)

    def _filter(self, rule: Rules, head: str) -> Iterator[str]:
        """Yield the term by which a colored session passes no route of another color."""
        others = [value for value in self.communities.colors if value != rule.color] if rule.color is not None else []
        for value in others:
            yield f"{head} other-colors from community {self._one(self.communities.values[value])}"
        if others:
            yield f"{head} other-colors then reject"

    def _policy(self, policy: Policy) -> Iterator[str]:
        head = f"policy-options policy-statement {self.names[policy.name]} term"
        for number, term in enumerate(policy.terms, 1):
            yield from self._term(term, f"{head} {plain_name(term.name, number)}", policy)

    def _term(self, term: Term, head: str, policy: Policy) -> Iterator[str]:
        for text, line in term.unknown:
            self.gaps.append(Gap(policy.name, f"'{text}'", line))
        conditions = self._conditions(term, head, policy)
        if conditions is None:
            return
        actions = list(self._actions(term, head, policy))
        if actions:
            yield from conditions
            yield from actions

    def _conditions(self, term: Term, head: str, policy: Policy) -> list[str] | None:
        """Return the conditions of a term; None for one that no route of the shadow meets."""
        if any(text.startswith(("from", "to")) for text, _ in term.unknown):
            return None
        if term.families and "inet6" not in term.families:
            return None
        found = []
        if term.protocols:
            protocols = [protocol for protocol in KNOWN_PROTOCOLS if protocol in term.protocols]
            if not protocols:
                return None
            found += [f"{head} from protocol {protocol}" for protocol in protocols]
        if term.communities:
            names = [name for word in term.communities for name in self._matching(word, term, policy)]
            if not names:
                return None
            found += [f"{head} from community {name}" for name in dict.fromkeys(names)]
        if term.prefix_lists or term.prefix_list_filters or term.route_filters:
            ranges = self._ranges(term)
            if not ranges:
                return None
            found += _filters(head, ranges)
        return found

    def _ranges(self, term: Term) -> Ranges:
        """Return the networks of the fabric's prefixes that a term's lists and filters hold."""
        lists = lists_of(self.switch)
        named = (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters))
        key = (
            tuple(lists.prefix_lists.get(name) for name in named),
            tuple(match for _, match in term.prefix_list_filters),
            term.route_filters,
        )
        if key not in self.held:
            bare, route = replace(term, families=(), protocols=(), communities=(), unknown=()), Route()
            every = self.numbering.prefixes
            self.held[key] = self.numbering.ranges(prefix for prefix in every if matches(bare, lists, prefix, route))
        return self.held[key]

    def _matching(self, name: str, term: Term, policy: Policy) -> list[str]:
        combinations = self.communities.combinations(self.switch.communities.get(name))
        if combinations is None:
            self.gaps.append(Gap(policy.name, f"community {name} has wildcards for too many values", term.line))
            return []
        return [self._all(values) for values in combinations]

    def _actions(self, term: Term, head: str, policy: Policy) -> Iterator[str]:
        for how, name in term.changes:
            yield from self._change(how, name, head, (term, policy))
        if term.local_preference is not None:
            self.gaps.append(Gap(policy.name, "AIGP together with a local preference", term.line))
            yield f"{head} then local-preference {SCALE * term.local_preference}"
        if term.metric is not None:
            reason = "Batfish compares the MED of all paths, Junos within one neighboring AS"
            self.gaps.append(Gap(policy.name, reason, term.line))
            yield f"{head} then metric {term.metric}"
        if term.verdict:
            yield f"{head} then {VERDICTS[term.verdict]}"

    def _change(self, how: str, name: str, head: str, at: tuple[Term, Policy]) -> Iterator[str]:
        community = self.switch.communities.get(name)
        values = self.communities.matching(community) if how == "delete" else self.communities.added(community)
        term, policy = at
        if how == "set" or not set(values).isdisjoint(self.communities.colors):
            self.gaps.append(Gap(policy.name, "it changes the colors of routes", term.line))
        for known in SENT_ON if how != "delete" else ():
            if WELL_KNOWN[known] in values:
                self.gaps.append(Gap(policy.name, f"Batfish readvertises routes with {known}", term.line))
        for number, value in enumerate(values):
            word = "add" if how == "set" and number else how
            yield f"{head} then community {word} {self._one(self.communities.values[value])}"

    def _one(self, value: str) -> str:
        """Return the name of the community of one value of the shadow."""
        return self._named((value,))

    def _all(self, values: Sequence[str]) -> str:
        """Return the name of the community that routes with all of some values of the files match."""
        return self._named(tuple(self.communities.values[value] for value in values))

    def _named(self, values: tuple[str, ...]) -> str:
        name = "_and_".join(self.communities.names[value] for value in values)
        self.used[name] = values
        return name


def plain_name(name: str, number: int) -> str:
    """Return a name as it is, or one with its number: for none, for one to be quoted, or like one of the shadow's."""
    return name if PLAIN.fullmatch(name) and not name.startswith(OURS) else f"{OURS}{number}"


def _filters(head: str, ranges: Ranges) -> list[str]:
    return [f"{head} from route-filter {found} orlonger" for found in ranges]
