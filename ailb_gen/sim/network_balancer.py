"""Which load balancer files configure, with its parameters; and the same fabric without colors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch, SwitchLoadBalancing
from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.settings import BalancerSettings
from ailb_gen.wording import some

MODES = {"flowlet": "dlb", "per-packet": "dlb-per-packet", "assigned-flow": "dlb-assigned-flow"}
OFF = "off"
OFF_BALANCER = "ecmp"
# The modes of DLB as flowlets: every packet begins one, or no flow ever pauses so long.
AS_FLOWLETS = {"per-packet": {"inactivity_us": 0.0}, "assigned-flow": {"inactivity_us": 1e9}, OFF: {"dynamic": 0.0}}
# Statements below ecmp-dlb by the parameter that they set, and what a unit of their value is.
STATEMENTS = {
    "flowlet inactivity-interval": ("inactivity_us", 1.0),
    "flowlet flowset-table-size": ("flowset_entries", 1.0),
    "flowlet reassignment quality-delta": ("quality_delta", 1.0),
    "flowlet reassignment prob-threshold": ("probability", 1 / 256),
    "sampling-rate": ("sampling_rate", 1.0),
    "egress-quantization min": ("min_percent", 1.0),
    "egress-quantization max": ("max_percent", 1.0),
    "egress-quantization rate-weightage": ("rate_weight_percent", 1.0),
}
SET = frozenset(name for name, _ in STATEMENTS.values())
SENDS = {"leaf": ("plain", "load-balancer-only"), "spine": ("plain", "helper-only")}


@dataclass(frozen=True, slots=True)
class _Balancing:
    """Load balancing of a switch: the mode of DLB for IPv6 or `off`, its parameters, and its part in GLB."""

    mode: str
    parameters: tuple[tuple[str, float], ...]
    glb: bool

    def __str__(self) -> str:
        values = [f"{name} {value:g}" for name, value in self.parameters]
        return ", ".join([f"DLB {self.mode}", *values, f"GLB {'on' if self.glb else 'off'}"])


def balancer_settings(network: Network, name: str | None = None) -> BalancerSettings:
    """Return the load balancer that files configure, or another one with those of its parameters that they set.

    Colors make it `rlb`; else it is `glb` where leaves and spines take part in global load balancing, `dlb`,
    `dlb-per-packet` or `dlb-assigned-flow` by the mode of ecmp-dlb, and `ecmp` without. Not modeled: GLB
    among the next hops that RLB leaves. Raises UsageError if switches differ.
    """
    if name is not None and not any(one.name in SET for one in BALANCERS[name].parameters):
        return BalancerSettings(name)
    balancing = _common(network)
    configured = OFF_BALANCER if balancing.mode == OFF else "glb" if balancing.glb else MODES[balancing.mode]
    if any(route.color is not None for switch in network.switches.values() for route in switch.routes):
        configured = "rlb"
    chosen = BALANCERS[name or configured]
    parameters = dict(balancing.parameters)
    if chosen.name in ("rlb", "glb"):
        parameters |= AS_FLOWLETS.get(balancing.mode, {})
    known = {parameter.name for parameter in chosen.parameters}
    return BalancerSettings(chosen.name, {key: value for key, value in parameters.items() if key in known})


def without_colors(network: Network) -> Network:
    """Return the network as if no session and no route had a color: every prefix is reached over all spines.

    That is what balancers other than RLB are to be compared on.
    """
    return replace(network, switches={name: _uncolored(switch) for name, switch in network.switches.items()})


def _uncolored(switch: Switch) -> Switch:
    return replace(
        switch,
        groups=tuple(replace(group, color=None) for group in switch.groups),
        routes=tuple(replace(route, color=None, backup=None) for route in switch.routes),
    )


def _common(network: Network) -> _Balancing:
    """Return how all switches balance. Raises UsageError with those that differ from most."""
    users: dict[_Balancing, list[str]] = defaultdict(list)
    for name, switch in network.switches.items():
        users[_balancing(switch.balancing, network.roles[name])].append(name)
    if not users:
        return _Balancing(OFF, (), glb=False)
    most = max(users, key=lambda one: len(users[one]))
    if len(users) > 1:
        others = "; ".join(f"{some(names)}: {one}" for one, names in users.items() if one != most)
        raise UsageError(
            f"switches balance differently, and the simulator has one load balancer: {others}; "
            f"the other {len(users[most])}: {most}"
        )
    return most


def _balancing(balancing: SwitchLoadBalancing, role: str) -> _Balancing:
    texts = [text for text, _ in balancing.dlb]
    mode = next((mode for mode in MODES if any(text.split()[0] == mode for text in texts)), OFF)
    kinds = {text.split()[-1] for text in texts if text.startswith("ether-type ")}
    # Without any it holds for all (Junos documentation of `ether-type`).
    if kinds and "ipv6" not in kinds:
        mode = OFF
    parameters = tuple(_parameters(balancing)) if mode != OFF else ()
    return _Balancing(mode, parameters, balancing.glb in SENDS[role])


def _parameters(balancing: SwitchLoadBalancing) -> Iterator[tuple[str, float]]:
    texts = [text for text, _ in balancing.dlb]
    written = {name: value for name, _, value in (text.rpartition(" ") for text in texts) if value.isdigit()}
    for statement, (name, unit) in STATEMENTS.items():
        if statement in written:
            yield name, int(written[statement]) * unit
    # Junos's own default is 0, which moves no active flow; that of the table is for experiments.
    if "flowlet reassignment prob-threshold" not in written:
        yield "probability", 0.0
