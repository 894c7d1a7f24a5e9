"""Settings of single switches and ports over those of all: `switches.exceptions` of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.balancers import BALANCERS, DLB
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.scenario.models import EcnPart, SwitchException
from ailb_gen.sim.scenario.names import switches_or_ports
from ailb_gen.sim.settings import UNSET_OF_LINKS, UNSET_OF_SWITCHES, BalancerSettings, BufferSettings

# Keys that whole switches have, with the field of their settings.
OF_SWITCHES = {
    "shared_buffer": "shared_buffer_bytes",
    "egress_alpha": "egress_alpha",
    "ingress_alpha": "ingress_alpha",
    "pause": "pause_bytes",
}
# Keys of ports: the field, and whether it is of data that comes in there and not of what is sent.
OF_PORTS = {
    "pfc": ("pfc", True),
    "headroom": ("headroom_bytes", True),
    "obeys_pauses": ("obeys_pauses", False),
}
# Fields of marking, of ports, in the order of `_marking`.
ECN = ("ecn_min_bytes", "ecn_max_bytes", "ecn_probability")
UNSET = {**UNSET_OF_SWITCHES, **UNSET_OF_LINKS}


def with_exceptions(base: BufferSettings, rows: Sequence[SwitchException], fabric: FabricArrays) -> BufferSettings:
    """Return the settings with those of single switches and ports. Raises UsageError."""
    for row in rows:
        given = row.model_dump(include={*OF_SWITCHES, *OF_PORTS}, exclude_none=True)
        for pattern in row.at:
            switches, links = named_places(row, pattern, fabric)
            changed: dict[str, Any] = {}
            for key, value in given.items():
                if key in OF_SWITCHES:
                    name, places = OF_SWITCHES[key], np.array(switches)
                else:
                    name, incoming = OF_PORTS[key]
                    places = fabric.link_reverse[links] if incoming else np.array(links)
                count = fabric.switch_count if key in OF_SWITCHES else fabric.link_count
                changed[name] = _changed(base, name, count, places, UNSET[name] if value == "infinite" else value)
            for name, value in zip(ECN, _marking(row.ecn), strict=True) if row.ecn is not None else ():
                changed[name] = _changed(base, name, fabric.link_count, np.array(links), value)
            base = replace(base, **changed)
    if base.shared_buffer_bytes is None and bool(np.any(base.pfc)):
        raise UsageError("switches: PFC needs a finite buffer; give 'shared_buffer', such as 9MiB")
    return base


def named_places(row: SwitchException, pattern: str, fabric: FabricArrays) -> tuple[list[int], list[int]]:
    """Return the switches and links that an exception names.

    Raises UsageError for none, and for ports where it has a setting of whole switches.
    """
    switches, links = switches_or_ports(fabric, pattern)
    whole = [key for key in (*OF_SWITCHES, "parameters") if key in row.model_fields_set]
    if whole and not switches:
        raise UsageError(f"{pattern!r} names ports, and {whole[0]!r} is a setting of whole switches")
    return switches, links


def with_other_parameters(
    base: BalancerSettings, rows: Sequence[SwitchException], fabric: FabricArrays
) -> BalancerSettings:
    """Return a load balancer with the parameters of single switches that it has. Raises UsageError."""
    known = {one.name for one in BALANCERS[base.name].parameters}.intersection(DLB)
    exceptions = dict(base.exceptions)
    for row in rows:
        own = {name: value for name, value in row.parameters.items() if name in known}
        for pattern in row.at if own else ():
            for switch in named_places(row, pattern, fabric)[0]:
                exceptions[switch] = {**exceptions.get(switch, base.parameters), **own}
    return replace(base, exceptions=exceptions)


def _changed(base: BufferSettings, name: str, count: int, places: npt.NDArray[Any], value: object) -> npt.NDArray[Any]:
    """Return a setting as an array with another value at some places."""
    former = getattr(base, name)
    found = np.broadcast_to(np.asarray(UNSET[name] if former is None else former), count).copy()
    found[places] = value
    return found


def _marking(ecn: EcnPart | Literal["off"]) -> tuple[int, int, float]:
    """Return where marking begins and ends, and its probability there."""
    return (ecn.min, ecn.max, ecn.probability) if isinstance(ecn, EcnPart) else (-1, -1, 0.0)
