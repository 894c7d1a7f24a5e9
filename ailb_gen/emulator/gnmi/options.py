"""How a fleet answers gNMI; without gRPC, so that a fleet without gNMI needs no extra."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GnmiOptions:
    """The ports of gNMI: consecutive from `base_port` in the order of the devices, free ones where it is 0.

    `plain` leaves TLS out.
    """

    base_port: int = 0
    plain: bool = False
