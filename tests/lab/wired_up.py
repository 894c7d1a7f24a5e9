"""The namespaces and links of an example, its switches configured, nothing running: what tests of the lab share."""

from __future__ import annotations

import time
from collections.abc import Callable

from ailb_gen.lab.kernel import addresses, carrier
from ailb_gen.lab.links import LinkSettings, apply, create, settings
from ailb_gen.lab.plan import LabPlan, SwitchPlan, plan
from ailb_gen.network.fabric import Network
from tests.checks.trees import GOLDEN, network_of

LINK_LOCAL = 0xFE80 >> 6
# A step that takes longer hangs.
SECONDS = 30


def wired_up(name: str = "lab") -> tuple[Network, LabPlan, dict[str, LinkSettings]]:
    """Make the namespaces and links of an example; returns what its switches ask of them, and that is done."""
    network = network_of(GOLDEN / name)
    made = plan(network)
    create(made)
    asked = {name: settings(made, switch) for name, switch in network.switches.items()}
    for switch, wanted in asked.items():
        apply(switch, None, wanted)
    until(lambda: all(map(_up, made.switches.values())))
    return network, made, asked


def _up(switch: SwitchPlan) -> bool:
    """Whether the cables to other switches have carrier and an address; those to servers have none yet."""
    cables = {port.link for port in switch.ports.values() if port.far.port.startswith("et-")}
    return cables <= carrier(switch.name) & with_link_local(switch.name)


def with_link_local(name: str) -> frozenset[str]:
    """The links of a device that have a link-local address."""
    return frozenset(found.link for found in addresses(name) if found.value >> 118 == LINK_LOCAL)


def until(condition: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "waited for in vain"
        time.sleep(0.01)
