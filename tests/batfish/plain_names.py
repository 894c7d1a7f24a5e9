"""What the files of an IPv4 shadow define and name: undefined and unused structures, in Batfish's words.

Recorded are the words for export policies, VLANs, l3-interfaces, prefix-lists and communities in `from`; the others
are from Batfish's sources, but for the one of communities in `then`, which is a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.batfish.plain_model import Device
    from tests.batfish.plain_text import Statement

# The type of structure that a statement's first word defines.
DEFINED = {
    "vlan-id": "vlan",
    "l3-interface": "vlan",
    "prefix-list": "prefix-list",
    "community": "community",
    "balance": "policy-statement",
}
# The type of structure that a statement names, by which of its values, and Batfish's word for the statement.
NAMED = {
    "table-export": ("policy-statement", 0, "forwarding-table export policy-statement"),
    "group-import": ("policy-statement", 1, "bgp import policy-statement"),
    "group-export": ("policy-statement", 1, "bgp export policy-statement"),
    "neighbor-import": ("policy-statement", 2, "bgp import policy-statement"),
    "neighbor-export": ("policy-statement", 2, "bgp export policy-statement"),
    "member": ("vlan", 1, "interface vlan"),
    "l3-interface": ("interface", 1, "vlan l3-interface"),
    "from-prefix-list": ("prefix-list", 2, "policy-statement prefix-list"),
    "from-prefix-list-filter": ("prefix-list", 2, "policy-statement prefix-list-filter"),
    "from-community": ("community", 2, "policy-statement from community"),
    "then-community": ("community", 3, "policy-statement then community"),
}


class Reference(NamedTuple):
    """A structure that a line names."""

    type: str
    name: str
    context: str


def definitions(device: Device) -> dict[tuple[str, str], list[int]]:
    """Return the lines of every structure: a policy, prefix-list, community, VLAN or BGP group."""
    found: dict[tuple[str, str], list[int]] = {}
    for one in device.statements:
        type_ = _type(one)
        if type_ is not None:
            found.setdefault((type_, one.values[0]), []).append(one.line)
    return found


def references(device: Device) -> Iterator[tuple[Reference, int]]:
    """Iterate over what every line names."""
    for one in device.statements:
        if one.kind in NAMED:
            type_, place, context = NAMED[one.kind]
            # A VLAN that is named by its number is no reference.
            if not (one.kind == "member" and one.values[place].isdigit()):
                yield Reference(type_, one.values[place], context), one.line


def undefined(device: Device) -> dict[Reference, list[int]]:
    """Return the structures that are named and not defined, and the lines that name them."""
    known = set(definitions(device)) | {("interface", port.name) for port in device.ports}
    found: dict[Reference, list[int]] = {}
    for reference, line in references(device):
        if (reference.type, reference.name) not in known:
            found.setdefault(reference, []).append(line)
    return found


def unused(device: Device) -> dict[tuple[str, str], list[int]]:
    """Return the structures that nothing names; a BGP group is used if it has neighbors."""
    used = {(reference.type, reference.name) for reference, _ in references(device)}
    used |= {("bgp group", neighbor.group) for neighbor in device.neighbors}
    return {structure: lines for structure, lines in definitions(device).items() if structure not in used}


def _type(one: Statement) -> str | None:
    if one.kind.startswith(("group", "neighbor")):
        return "bgp group"
    if one.kind.startswith(("from-", "then-")):
        return "policy-statement"
    return DEFINED.get(one.kind)
