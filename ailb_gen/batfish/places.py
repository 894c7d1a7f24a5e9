"""From Batfish's names of devices, interfaces and lines to those of the artifact directory."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ailb_gen.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Switch

INTERFACE = re.compile(r'"?([^"\[\]]+)"?\["?([^"\[\]]+)"?\]')
LINES = re.compile(r"(.+?):\[([\d, ]*)\]")


def by_node(network: Network) -> dict[str, Switch]:
    """Map the names that Batfish gives to devices to the switches: it writes host names in small letters."""
    return {(switch.host_name or name).lower(): switch for name, switch in network.switches.items()}


def by_file(network: Network) -> dict[str, Switch]:
    """Map the files of the snapshot to the switches."""
    return {f"configs/{PurePosixPath(switch.file).name}": switch for switch in network.switches.values()}


def interface(text: object) -> tuple[str, str]:
    """Read `leaf1[et-0/0/0:0]`: the node and the interface. Raises ValueError."""
    found = INTERFACE.fullmatch(str(text))
    if found is None:
        raise ValueError(f"not an interface: {text}")
    return found[1], found[2]


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
