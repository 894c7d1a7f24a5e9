"""What the files of a snapshot define and name: undefined and unused structures, in Batfish's words.

Recorded are the words for export policies, VLANs, l3-interfaces, prefix-lists and communities in `from`; the others
are from Batfish's sources, but for the one of communities in `then`, which is a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.batfish.plain_text import match

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.batfish.plain_model import Device
    from tests.batfish.plain_text import Line

TERM = "policy-options policy-statement * term *"
GROUP = "protocols bgp group *"
# The first words of the statements that define a structure, and its type.
DEFINED = {
    "policy-options policy-statement *": "policy-statement",
    "policy-options prefix-list *": "prefix-list",
    "policy-options community *": "community",
    "vlans *": "vlan",
    GROUP: "bgp group",
}
# The statements that name a structure with their last word, its type, and Batfish's words for the statement.
NAMED = {
    "routing-options forwarding-table export *": ("policy-statement", "forwarding-table export policy-statement"),
    f"{GROUP} import *": ("policy-statement", "bgp import policy-statement"),
    f"{GROUP} export *": ("policy-statement", "bgp export policy-statement"),
    f"{GROUP} neighbor * import *": ("policy-statement", "bgp import policy-statement"),
    f"{GROUP} neighbor * export *": ("policy-statement", "bgp export policy-statement"),
    "interfaces * unit * family ethernet-switching vlan members *": ("vlan", "interface vlan"),
    "vlans * l3-interface *": ("interface", "vlan l3-interface"),
    f"{TERM} from prefix-list *": ("prefix-list", "policy-statement prefix-list"),
    f"{TERM} from prefix-list-filter * exact|orlonger|longer": ("prefix-list", "policy-statement prefix-list-filter"),
    f"{TERM} from community *": ("community", "policy-statement from community"),
    f"{TERM} then community add|set|delete *": ("community", "policy-statement then community"),
}
STARTS = [(pattern.split(), type_) for pattern, type_ in DEFINED.items()]
WHOLE = [(pattern.split(), named) for pattern, named in NAMED.items()]


class Reference(NamedTuple):
    """A structure that a line names."""

    type: str
    name: str
    context: str


def definitions(device: Device) -> dict[tuple[str, str], list[int]]:
    """Return the lines of every structure: a policy, prefix-list, community, VLAN or BGP group, braces included."""
    found: dict[tuple[str, str], set[int]] = {}
    for line in device.lines:
        for pattern, type_ in STARTS:
            depth = len(pattern)
            if match(pattern, line.words[:depth]) is not None:
                braces = (number for words, *pair in line.blocks if words >= depth for number in pair)
                found.setdefault((type_, line.words[depth - 1]), set()).update((line.number, *braces))
    return {structure: sorted(lines) for structure, lines in found.items()}


def references(device: Device) -> Iterator[tuple[Reference, int]]:
    """Iterate over what every line names."""
    for line in device.lines:
        for pattern, (type_, context) in WHOLE:
            if match(pattern, line.words) is not None:
                name = line.words[len(pattern) - 1 - pattern[::-1].index("*")]
                # A VLAN that is named by its number is no reference.
                if not (type_ == "vlan" and name.isdigit()):
                    yield Reference(type_, name, context), line.number


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
    used |= {("bgp group", name) for name in map(_group_with_neighbor, device.lines) if name is not None}
    return {structure: lines for structure, lines in definitions(device).items() if structure not in used}


def _group_with_neighbor(line: Line) -> str | None:
    found = match(f"{GROUP} neighbor *".split(), line.words[:6])
    return found[0] if found else None
