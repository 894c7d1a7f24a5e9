"""From Batfish's names of devices, interfaces and lines to those of the artifact directory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from pathlib import PurePosixPath

from ailb_gen.errors import BatfishError, Place
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch

# Advice for answers that differ from those of the release that this package was written for.
UPDATE = "update both: docker pull batfish/batfish, pip install -U pybatfish"
INTERFACE = re.compile(r'"?([^"\[\]]+)"?\["?([^"\[\]]+)"?\]')
LINES = re.compile(r"(.+?):\[([\d, ]*)\]")


def by_node(network: Network) -> dict[str, Switch]:
    """Map the names that Batfish gives to devices to the switches; those that share a host name have none.

    Batfish writes host names in small letters, and gives devices of one host name names of its own.
    """
    return {node: found[0] for node, found in sharing(network).items() if len(found) == 1}


def sharing(network: Network) -> dict[str, list[Switch]]:
    """Map host names in small letters to the switches that have them; without one, Batfish takes the file's name."""
    found: dict[str, list[Switch]] = {}
    for name, switch in network.switches.items():
        found.setdefault((switch.host_name or name).lower(), []).append(switch)
    return found


def shadow_nodes(names: Iterable[str]) -> dict[str, str]:
    """Map the names that Batfish gives to devices of the shadow to those of the switches."""
    return {name.lower(): name for name in names}


def by_file(network: Network) -> dict[str, Switch]:
    """Map the files of the snapshot to the switches."""
    return {f"configs/{PurePosixPath(switch.file).name}": switch for switch in network.switches.values()}


def interface(text: object) -> tuple[str, str]:
    """Read `leaf1[et-0/0/0:0]`: the node and the interface. Raises BatfishError."""
    found = INTERFACE.fullmatch(str(text))
    if found is None:
        raise odd("an interface", text)
    return found[1], found[2]


def integer_of(value: object) -> int:
    """Read a whole number. Raises BatfishError."""
    try:
        return int(str(value))
    except ValueError as error:
        raise odd("a number", value) from error


def address_of(value: object) -> IPv4Address:
    """Read an IPv4 address. Raises BatfishError."""
    try:
        return IPv4Address(str(value))
    except ValueError as error:
        raise odd("an IPv4 address", value) from error


def network_of(value: object) -> IPv4Network:
    """Read an IPv4 prefix. Raises BatfishError."""
    try:
        return IPv4Network(str(value))
    except ValueError as error:
        raise odd("an IPv4 prefix", value) from error


def odd(what: str, value: object) -> BatfishError:
    """Return the error for an answer of another kind than this program knows."""
    return BatfishError(f"Batfish answers {str(value)[:80]!r} where {what} belongs; {UPDATE}")


def lines(value: object) -> Iterator[tuple[str, list[int]]]:
    """Read `configs/leaf1.cfg:[92, 93]`, alone or in a list: files with lines."""
    for text in value if isinstance(value, list) else [value]:
        found = LINES.fullmatch(str(text))
        if found is not None:
            yield found[1], [int(number) for number in found[2].replace(" ", "").split(",") if number]


def place(files: Mapping[str, Switch], value: object) -> tuple[Switch | None, Place | None]:
    """Return the switch and the place of the first of some lines; None and None where Batfish names none."""
    for file, numbers in lines(value):
        switch = files.get(file)
        if switch is not None:
            return switch, Place(switch.file, numbers[0] if numbers else 1)
    return None, None
