"""Which statement is wrong where a name is used that nothing defines: the one that uses it, or the definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches

from ailb_gen.checks.locate import ANY, OR
from ailb_gen.network.model import Switch
from ailb_gen.network.policy import Policy


def at_fault(above: str, name: str, reference: str, unused: Collection[str], is_known: bool) -> str:
    """Return the statement to look at for a name that is used by `reference` and not defined below `above`.

    It is the definition if that is inactive, or if other switches have it (`is_known`): then one of the `unused`
    definitions, that is like it, has its name wrong, or it is missing. Else it is the reference; an empty one says that
    the finding stays where it is.
    """
    choices = [f"{above} {name} {ANY}"]
    if not is_known:
        return OR.join((*choices, reference))
    instead = get_close_matches(name, unused, 1, 0.5)
    return OR.join((*choices, f"{above} {instead[0] if instead else name}"))


def known_names(defined: Iterable[Mapping[str, Collection[str]]]) -> dict[str, set[str]]:
    """Return the names of every kind that any switch defines."""
    found: dict[str, set[str]] = defaultdict(set)
    for kinds in defined:
        for kind, names in kinds.items():
            found[kind].update(names)
    return found


def used_policies(switch: Switch) -> Iterator[Policy]:
    """Iterate over the policies that sessions or the forwarding table refer to; others have no effect."""
    used = {name for group in switch.groups for name in (*group.imports, *group.exports)} | switch.balancing.policies
    return (policy for policy in switch.policies.values() if policy.name in used)
