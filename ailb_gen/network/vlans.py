"""Which logical interfaces are in which VLAN of a switch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ailb_gen.network.model import Switch

MEMBERS = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")


def vlan_interfaces(switch: Switch) -> Mapping[int, frozenset[str]]:
    """Return the logical interfaces in every VLAN of a switch, its IRB among them."""
    names = {vlan.name: vlan.vlan_id for vlan in switch.vlans}
    found: dict[int, set[str]] = {}
    for vlan in switch.vlans:
        if vlan.vlan_id is not None and vlan.irb is not None and switch.unit(vlan.irb) is not None:
            found.setdefault(vlan.vlan_id, set()).add(vlan.irb)
    for port in switch.ports.values():
        for unit in port.units:
            for word, _ in unit.vlans if unit.switching else ():
                for number in _numbers(word, names):
                    found.setdefault(number, set()).add(unit.name)
    return {vlan: frozenset(members) for vlan, members in found.items()}


def _numbers(word: str, names: Mapping[str, int | None]) -> Sequence[int]:
    """Return the VLANs that a member of `vlan members` stands for: a name, a number, a range of them, or all."""
    if word in names:
        number = names[word]
        return () if number is None else (number,)
    found = MEMBERS.fullmatch("1-4094" if word == "all" else word)
    return range(int(found[1]), int(found[2] or found[1]) + 1) if found is not None else ()
