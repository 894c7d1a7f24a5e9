"""Ports that the intent leaves free on purpose."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import filter as matching

from ailb_gen.design.inventory import Slot
from ailb_gen.design.ports import PortUse, breakouts, sort_key
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import SparePorts


def _all_ports(slot: Slot, uses: Iterable[PortUse]) -> list[str]:
    split = {row.interface: row.sub_ports for row in breakouts(uses)}
    every = [f"{name}:{n}" for name, count in split.items() for n in range(count)]
    return every + [name for name in slot.ports.names if name not in split]


def spare_ports(
    slots: Iterable[Slot], uses: Mapping[str, Sequence[PortUse]], plan: SparePorts, problems: Problems
) -> dict[str, tuple[str, ...]]:
    """Return by switch the free ports, and free sub-ports of ports that are split, that the plan names.

    Switches of a role may differ in platform and in servers. Notes entries that name no port of any of them, or none
    that is free.
    """
    result: dict[str, set[str]] = {}
    # Entries by role and number: whether a switch has the port, and whether one has it free; a switch to show.
    named: dict[tuple[str, int], bool] = {}
    free: set[tuple[str, int]] = set()
    shown: dict[str, Slot] = {}
    for slot in slots:
        patterns = getattr(plan, slot.role)
        mine = result.setdefault(slot.name, set())
        if not patterns:
            continue
        every, used = _all_ports(slot, uses[slot.name]), {use.interface for use in uses[slot.name]}
        shown.setdefault(slot.role, slot)
        for number, pattern in enumerate(patterns):
            found, entry = set(matching(every, pattern)), (slot.role, number)
            named[entry] = named.get(entry, False) or bool(found)
            if found - used:
                free.add(entry)
            mine |= found - used
    for role, number in named.keys() - free:
        path, pattern, names = ("spare_ports", role, number), getattr(plan, role)[number], shown[role].ports.names
        if named[role, number]:
            problems.error("duplicate-port", path, f"{pattern} is in use on every {role}: no port there is spare")
        else:
            hint = f"{shown[role].name} has {names[0]} to {names[-1]}; a sub-port is there if servers or links split it"
            problems.error("no-such-port", path, f"no {role} has a port {pattern}", hint)
    return {name: tuple(sorted(ports, key=sort_key)) for name, ports in result.items()}
