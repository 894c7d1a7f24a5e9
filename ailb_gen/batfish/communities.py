"""Standard communities that stand for Junos's: colors become numbers, wildcards the values that they match."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from ailb_gen.network.fabric import Network
from ailb_gen.network.policy import Community
from ailb_gen.routing.policy import has_community, members
from ailb_gen.routing.route import COLOR, GRACEFUL_SHUTDOWN, WELL_KNOWN

# The community that a route carries in the shadow where it has the AIGP attribute in the fabric.
AIGP = "aigp"
STANDARD = re.compile(r"(\d{1,5}):(\d{1,5})")
# Private AS numbers (RFC 6996): the first that no community of the fabric uses is taken.
OWN = range(65534, 64511, -1)
# A community of wildcards that stands for more combinations of values than this is not written out.
MOST = 64


@dataclass(frozen=True)
class Communities:
    """The value in the shadow of every community value in the files; `aigp` is the one of AIGP."""

    values: Mapping[str, str]
    aigp: str

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name of the community of every value of the shadow: that of color:0:1 is color-0-1.

        A name never begins with a digit: Batfish might take it for a number.
        """
        known = {number: name for name, number in WELL_KNOWN.items()}
        words = {short: re.sub(r"[^A-Za-z0-9]+", "-", known.get(value, value)) for value, short in self.values.items()}
        used = Counter([*words.values(), AIGP])
        plain = {short for short, word in words.items() if word[:1].isalpha() and used[word] == 1}
        named = {short: word if short in plain else f"value-{short.replace(':', '-')}" for short, word in words.items()}
        return named | {self.aigp: AIGP}

    @cached_property
    def colors(self) -> tuple[str, ...]:
        """All values that are colors."""
        return tuple(value for value in self.values if value.startswith(COLOR))

    def added(self, community: Community | None) -> tuple[str, ...]:
        """Return the values that adding a community adds."""
        return tuple(sorted(members(community)))

    def matching(self, community: Community | None) -> tuple[str, ...]:
        """Return the values that any member of a community stands for."""
        if community is None:
            return ()
        return tuple(sorted({value for member in community.members for value in self._alternatives(member)}))

    def combinations(self, community: Community | None) -> tuple[tuple[str, ...], ...] | None:
        """Return the sets of values any of which makes a route match; None for too many."""
        if community is None or not community.members:
            return ()
        alternatives = [self._alternatives(member) for member in community.members]
        count = 1
        for values in alternatives:
            count *= len(values)
        if count > MOST:
            return None
        return tuple(dict.fromkeys(tuple(sorted(set(found))) for found in product(*alternatives)))

    def _alternatives(self, member: str) -> tuple[str, ...]:
        alone = Community("", (member,))
        return tuple(value for value in self.values if has_community(alone, frozenset({value})))


def communities(network: Network) -> Communities:
    """Collect the values of all communities that any switch names, or adds in a graceful shutdown, in order."""
    named = (community for switch in network.switches.values() for community in switch.communities.values())
    groups = (group for switch in network.switches.values() for group in switch.groups)
    own_values = {GRACEFUL_SHUTDOWN} if any(group.shutdown_sender for group in groups) else set[str]()
    values = sorted(own_values.union(value for community in named for value in members(community)))
    own = _free(values)
    table, count = {}, 0
    for value in values:
        if _is_standard(value):
            table[value] = value
        else:
            count += 1
            table[value] = f"{own}:{count}"
    return Communities(table, f"{own}:0")


def _is_standard(value: str) -> bool:
    match = STANDARD.fullmatch(value)
    return match is not None and all(int(part) <= 65535 for part in match.groups())


def _free(values: Iterable[str]) -> int:
    used = {value.partition(":")[0] for value in values}
    return next(number for number in OWN if str(number) not in used)
