"""The number of paths of a prefix for the kernel: BIRD merges all equal paths or none, for all sessions together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ailb_gen.lab.bird.model import Untranslated
from ailb_gen.network.model import Group, Switch

# BIRD's own limit.
MOST_PATHS = 255


@dataclass(frozen=True, slots=True)
class Merging:
    """Whether equal paths are merged, and how many at most."""

    on: bool
    limit: int

    @property
    def statement(self) -> str:
        """BIRD's statement with a space before it; empty when only the active path is installed."""
        return f" merge paths on limit {self.limit};" if self.on else ""


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


def merging(switch: Switch, sessions: Sequence[tuple[Group, int]], untranslated: list[Untranslated]) -> Merging:
    """Decide for the sessions of a switch, given by group and the peer's AS number; adds what BIRD does otherwise.

    Junos keeps, of the paths that are equal to the active one, those of groups with multipath if the active one's has
    it; without multiple-as only those of the same neighboring AS. The forwarding table takes them if a load-balancing
    policy says so.
    """
    limit = min(max(switch.balancing.maximum_ecmp, 1), MOST_PATHS)
    groups = list({group.name: group for group, _ in sessions}.values())
    several = [group for group in groups if group.multipath]
    if not switch.balancing.per_packet or not several:
        return Merging(False, limit)
    peers = {asn for _, asn in sessions}
    if len(several) < len(groups):
        for group in groups:
            if not group.multipath:
                reason = "other groups have multipath: BIRD merges the paths of this one, too"
                untranslated.append(
                    Untranslated(f"protocols bgp group {group.name} without multipath", reason, group.line)
                )
    if all(group.multiple_as for group in several) or len(peers) == 1:
        return Merging(True, limit)
    narrow = [group for group in several if not group.multiple_as]
    # Where every neighbor is in an AS of its own, no two paths are of one neighboring AS.
    if len(narrow) == len(several) and len(peers) == len(sessions):
        return Merging(False, limit)
    on = len(narrow) < len(several)
    done = "merges paths of different neighboring ASes, too" if on else "merges no paths"
    for group in narrow:
        statement = f"protocols bgp group {group.name} multipath without multiple-as"
        untranslated.append(Untranslated(statement, f"BIRD {done}", group.line))
    return Merging(on, limit)
