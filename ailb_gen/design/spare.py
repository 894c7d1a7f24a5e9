"""Ports that the intent leaves free on purpose."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ailb_gen.design.inventory import Slot
from ailb_gen.design.ports import PortUse, breakouts, sort_key
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import SparePorts


def spare_ports(slot: Slot, uses: Iterable[PortUse], plan: SparePorts, problems: Problems) -> tuple[str, ...]:
    """Return the free ports of a switch, and free sub-ports of ports that are split, that the plan names.

    Notes entries that name no port of the platform, or none that is free.
    """
    patterns = getattr(plan, slot.role)
    if not patterns:
        return ()
    taken = list(uses)
    used = {use.interface for use in taken}
    split = {row.interface: row.sub_ports for row in breakouts(taken)}
    every = [f"{name}:{n}" for name, count in split.items() for n in range(count)]
    every += [name for name in slot.ports.names if name not in split]
    result: set[str] = set()
    for number, pattern in enumerate(patterns):
        named = {name for name in every if fnmatchcase(name, pattern)}
        path = ("spare_ports", slot.role, number)
        if not named:
            ends = f"its ports are {slot.ports.names[0]} to {slot.ports.names[-1]}"
            problems.error("no-such-port", path, f"{slot.ports.name} has no port {pattern} on {slot.name}", ends)
        elif named <= used:
            problems.error("duplicate-port", path, f"{pattern} of {slot.name} is in use: no port there is spare")
        result |= named - used
    return tuple(sorted(result, key=sort_key))
