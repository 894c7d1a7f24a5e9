"""What a collector observes of a device: the device as it is asked, and the containers that have its state."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import BgpSession
from ailb_gen.emulator.gnmi.paths import ANY, Steps
from ailb_gen.emulator.operations.class_of_service import QueueClass, configured, forwarding_classes
from ailb_gen.emulator.operations.ports import data_ports, positions, shown_ports
from ailb_gen.junos.tree import Node
from ailb_gen.network.model import Port, Switch

Value = bool | int | float | str
Values = Mapping[str, Value]
# The values of the keys of a container, in the order in which its path has them.
Keys = tuple[str, ...]
KEY = re.compile(r"\[([a-z-]+)(?:=([^\]]*))?\]")


class DeviceView:
    """A device as a collector observes it."""

    def __init__(self, device: EmulatedDevice) -> None:
        self.device = device
        self._classes: tuple[Node, list[QueueClass]] | None = None
        self._positions: tuple[Switch, Mapping[str, int]] | None = None

    def classes(self) -> list[QueueClass]:
        """Return the forwarding classes of the active configuration."""
        active = self.device.committed()
        if self._classes is None or self._classes[0] is not active:
            self._classes = active, forwarding_classes(configured(self.device))
        return self._classes[1]

    def positions(self) -> Mapping[str, int]:
        """Return the positions of all interfaces, from which their numbers follow."""
        switch = self.device.switch
        if self._positions is None or self._positions[0] is not switch:
            self._positions = switch, positions(switch)
        return self._positions[1]

    def ports(self) -> Iterator[Port]:
        """Iterate over the ports that `show interfaces` shows."""
        return shown_ports(self.device.switch)

    def fabric_ports(self) -> Iterator[Port]:
        """Iterate over the ports that `show interfaces queue` shows."""
        return data_ports(self.device, "")

    def sessions(self) -> tuple[BgpSession, ...]:
        """Return the BGP neighbors."""
        return self.device.fabric.sessions(self.device.name)


@dataclass(frozen=True, slots=True)
class Container:
    """Leaves under a path of the schema, as `/interfaces/interface[name]/state`.

    `entries` yields the keys of each instance with what `values` takes; `counted` tells that the values are counters or
    measured, which change all the time: nobody is told of every change of them.
    """

    path: str
    leaves: tuple[str, ...]
    entries: Callable[[DeviceView], Iterable[tuple[Keys, Any]]]
    values: Callable[[DeviceView, Any], Values]
    counted: bool = False
    _parts: tuple[tuple[str, tuple[tuple[str, str | None], ...]], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = []
        for part in self.path.strip("/").split("/"):
            keys = tuple((one[1], one[2]) for one in KEY.finditer(part))
            found.append((part.partition("[")[0], tuple(sorted(keys))))
        object.__setattr__(self, "_parts", tuple(found))

    def steps(self, keys: Keys) -> Steps:
        """Return the path of an instance."""
        own = iter(keys)
        return tuple(
            (name, tuple((key, next(own) if value is None else value) for key, value in row))
            for name, row in self._parts
        )

    def schema(self) -> Steps:
        """Return the path of all instances: every key is a wildcard."""
        return tuple(
            (name, tuple((key, ANY if value is None else value) for key, value in row)) for name, row in self._parts
        )
