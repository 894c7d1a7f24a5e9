"""Answers of a Batfish service: its protocol, without pybatfish, and the names and numbers in rows parsed.

Batfish's names of devices, interfaces and lines become those of the artifact directory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeVar

from ailb_gen.errors import BatfishError, Place
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch

T = TypeVar("T")

# One row of an answer, by column: str, int, bool, None, or a list of these.
Row = dict[str, object]
# Waits for the rows of an answer, and for all work begun on the service before. Raises BatfishError.
Answer = Callable[[], list[Row]]

# Advice for answers that differ from those of the release that this package was written for.
UPDATE = "update both: docker pull batfish/batfish, pip install -U pybatfish"
INTERFACE = re.compile(r'"?([^"\[\]]+)"?\["?([^"\[\]]+)"?\]')
LINES = re.compile(r"(.+?):\[([\d, ]*)\]")


class Batfish(Protocol):
    """A Batfish service with a network of its own.

    It does all work in the background, in the order of the calls. What fails is raised as BatfishError by the first
    answer that is waited for, in that order.

    `version` is the service's. `left_behind` is empty, or says, once everything is done, what could not be deleted.
    """

    version: str
    left_behind: str

    def upload(self, snapshot: str, folder: Path) -> None:
        """Upload a snapshot to the service for parsing; `folder` holds `configs/`."""

    def fork(
        self, base: str, snapshot: str, nodes: Sequence[str] = (), interfaces: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Copy a snapshot without some nodes and interfaces (node, name), which Batfish takes on trust."""

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> Answer:
        """Ask a question; return a function that waits for the answer.

        `dst_ips` and `start` constrain the header and the start of flows.
        """


def switches_by_node(network: Network) -> dict[str, Switch]:
    """Map the names that Batfish gives to devices to the switches, without those that share a host name.

    Batfish writes host names in small letters, and gives devices of one host name names of its own.
    """
    return {node: mine[0] for node, mine in switches_by_host_name(network).items() if len(mine) == 1}


def switches_by_host_name(network: Network) -> dict[str, list[Switch]]:
    """Map host names in small letters to the switches that have them; without one, Batfish takes the file's name."""
    switches: dict[str, list[Switch]] = {}
    for name, switch in network.switches.items():
        switches.setdefault((switch.host_name or name).lower(), []).append(switch)
    return switches


def switches_by_file(network: Network) -> dict[str, Switch]:
    """Map the files of the snapshot to the switches."""
    return {f"configs/{PurePosixPath(switch.file).name}": switch for switch in network.switches.values()}


def shadow_nodes(names: Iterable[str]) -> dict[str, str]:
    """Map the names that Batfish gives to devices of the shadow to those of the switches."""
    return {name.lower(): name for name in names}


def listed(value: object) -> list[str]:
    """Return the texts of a list; none for a value that is no list."""
    return [str(element) for element in value] if isinstance(value, list) else []


def parse_interface(text: object) -> tuple[str, str]:
    """Parse `leaf1[et-0/0/0:0]`: the node and the interface. Raises BatfishError."""
    match = INTERFACE.fullmatch(str(text))
    if match is None:
        raise unexpected("an interface", text)
    return match[1], match[2]


def parse_integer(value: object) -> int:
    """Parse a whole number. Raises BatfishError."""
    return _parsed(int, "a number", value)


def parse_ipv4(value: object) -> IPv4Address:
    """Parse an IPv4 address. Raises BatfishError."""
    return _parsed(IPv4Address, "an IPv4 address", value)


def parse_network(value: object) -> IPv4Network:
    """Parse an IPv4 prefix. Raises BatfishError."""
    return _parsed(IPv4Network, "an IPv4 prefix", value)


def _parsed(parse: Callable[[str], T], kind: str, value: object) -> T:
    try:
        return parse(str(value))
    except ValueError as error:
        raise unexpected(kind, value) from error


def unexpected(kind: str, value: object) -> BatfishError:
    """Return the error for a value that is not of the kind that this program expects."""
    return BatfishError(f"Batfish answers {str(value)[:80]!r} instead of {kind}; {UPDATE}")


def parse_lines(value: object) -> Iterator[tuple[str, list[int]]]:
    """Parse `configs/leaf1.cfg:[92, 93]`, alone or in a list: files with lines."""
    for text in value if isinstance(value, list) else [value]:
        match = LINES.fullmatch(str(text))
        if match is not None:
            yield match[1], [int(number) for number in match[2].replace(" ", "").split(",") if number]


def first_place(files: Mapping[str, Switch], value: object) -> tuple[Switch | None, Place | None]:
    """Return the switch and the place of the first of some lines; None and None where Batfish names none."""
    for file, numbers in parse_lines(value):
        switch = files.get(file)
        if switch is not None:
            return switch, Place(switch.file, numbers[0] if numbers else 1)
    return None, None
