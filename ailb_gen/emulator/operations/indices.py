"""Numbers that a device gives to its interfaces and next hops: the same while its configuration names the same ones."""

from __future__ import annotations

from ailb_gen.network.model import Switch

# Where the numbers of interfaces, their numbers in SNMP, and those of next hops begin; those below are Junos's own.
FIRST_INTERFACE, FIRST_SNMP, FIRST_NEXT_HOP = 1000, 501, 512
# Several next hops together have a number in a range of its own.
FIRST_LIST = 1048574


def places(switch: Switch) -> dict[str, int]:
    """Return the place, from 0, of every port and logical interface among all of a switch."""
    names = [name for port in switch.ports.values() for name in (port.name, *(unit.name for unit in port.units))]
    return {name: at for at, name in enumerate(names)}


def unit_index(switch: Switch, interface: str) -> int:
    """Return the number of a logical interface, 0 for one that is not configured."""
    at = places(switch).get(interface)
    return FIRST_INTERFACE + at if at is not None else 0


def next_hop_index(switch: Switch, interface: str) -> int:
    """Return the number of the next hop over a logical interface, 0 for one that is not configured."""
    port = interface.rpartition(".")[0]
    return FIRST_NEXT_HOP + list(switch.ports).index(port) if port in switch.ports else 0
