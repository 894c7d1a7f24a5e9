"""The number of paths of a prefix for the kernel: BIRD merges all equal paths or none, for all sessions together."""

from __future__ import annotations

from collections.abc import Sequence

from ailb_gen.lab.bird.model import Untranslated
from ailb_gen.network.model import Group, Switch

# BIRD's own limit.
MOST_PATHS = 255


def most_paths(switch: Switch) -> int:
    """Return how many equal paths are merged at most."""
    return min(max(switch.balancing.maximum_ecmp, 1), MOST_PATHS)


def metrics(switch: Switch, groups: Sequence[Group], peers: Sequence[int], untranslated: list[Untranslated]) -> None:
    """Add the terms that set a MED, if sessions to several ASes, given by session, let it matter.

    Junos drops a path that another one of its neighboring AS beats by MED; BIRD compares MED with the active path only.
    """
    if len(set(peers)) < 2 or len(set(peers)) == len(peers):
        return
    for name in dict.fromkeys(name for group in groups for name in group.imports):
        policy = switch.policies.get(name)
        for term in policy.terms if policy is not None else ():
            if term.metric is not None:
                where = f"policy-options policy-statement {name}" + (f" term {term.name}" if term.name else "")
                reason = "BIRD compares MED with the active path only: a path of another neighboring AS may stay"
                untranslated.append(Untranslated(f"{where} then metric", reason, term.line))


def merges(switch: Switch, sessions: Sequence[tuple[Group, int]], untranslated: list[Untranslated]) -> bool:
    """Return whether equal paths are merged, for sessions given by group and the peer's AS number.

    Adds the statements that BIRD does otherwise.

    Junos keeps, of the paths that are equal to the active one, those of groups with multipath if the active one's has
    it; without multiple-as only those of the same neighboring AS. The forwarding table takes them if a load-balancing
    policy says so.
    """
    groups = list({group.name: group for group, _ in sessions}.values())
    several = [group for group in groups if group.multipath]
    if not switch.balancing.per_packet or not several:
        return False
    peers = {asn for _, asn in sessions}
    if len(several) < len(groups):
        for group in groups:
            if not group.multipath:
                reason = "other groups have multipath: BIRD merges the paths of this one, too"
                untranslated.append(
                    Untranslated(f"protocols bgp group {group.name} without multipath", reason, group.line)
                )
    if all(group.multiple_as for group in several) or len(peers) == 1:
        return True
    narrow = [group for group in several if not group.multiple_as]
    # Where every neighbor is in an AS of its own, no two paths are of one neighboring AS.
    if len(narrow) == len(several) and len(peers) == len(sessions):
        return False
    on = len(narrow) < len(several)
    done = "merges paths of different neighboring ASes, too" if on else "merges no paths"
    for group in narrow:
        statement = f"protocols bgp group {group.name} multipath without multiple-as"
        untranslated.append(Untranslated(statement, f"BIRD {done}", group.line))
    return on
