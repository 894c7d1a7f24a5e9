"""Which load balancer files configure, with its parameters; and the same fabric without colors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
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


def balancer_settings(network: Network, name: str | None = None) -> BalancerSettings:
    """Return the load balancer that files configure, or another one with those of its parameters that they set.

    Colors make it `rlb`; else it is `glb` where leaves and spines take part in global load balancing, `dlb`,
    `dlb-per-packet` or `dlb-assigned-flow` by the mode of ecmp-dlb, and `ecmp` without. Where switches differ it is
    `dlb`, whose parameters stand for every mode. Not modeled: GLB among the next hops that RLB leaves. Raises
    UsageError if only some switches take part in GLB.
    """
    if name is not None and not any(one.name in SET for one in BALANCERS[name].parameters):
        return BalancerSettings(name)
    switches = tuple(network.switches)
    by_switch = [_balancing(network.switches[switch].balancing, network.roles[switch]) for switch in switches]
    common, mixed = _common(dict(zip(switches, by_switch, strict=True)))
    chosen = BALANCERS[name or _configured(network, common, mixed)]
    as_flowlets = chosen.name in ("rlb", "glb") or mixed
    known = {parameter.name for parameter in chosen.parameters}

    def parameters(one: _Balancing) -> dict[str, float]:
        given = dict(one.parameters) | (AS_FLOWLETS.get(one.mode, {}) if as_flowlets else {})
        return {key: value for key, value in given.items() if key in known}

    exceptions = {number: parameters(one) for number, one in enumerate(by_switch) if one != common}
    return BalancerSettings(chosen.name, parameters(common), exceptions)


def _configured(network: Network, common: _Balancing, mixed: bool) -> str:
    """Return the name of the load balancer that files configure."""
    if any(route.color is not None for switch in network.switches.values() for route in switch.routes):
        return "rlb"
    if mixed:
        return "glb" if common.glb else "dlb"
    return OFF_BALANCER if common.mode == OFF else "glb" if common.glb else MODES[common.mode]


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


def _common(by_switch: Mapping[str, _Balancing]) -> tuple[_Balancing, bool]:
    """Return how most switches balance, and whether others have another mode.

    Raises UsageError if only some take part in GLB.
    """
    users: dict[_Balancing, list[str]] = defaultdict(list)
    for name, one in by_switch.items():
        users[one].append(name)
    if not users:
        return _Balancing(OFF, (), glb=False), False
    most = max(users, key=lambda one: len(users[one]))
    outside = [name for one, names in users.items() if one.glb != most.glb for name in names]
    if outside:
        raise UsageError(
            f"GLB is {'off' if most.glb else 'on'} at {some(outside)} and {'on' if most.glb else 'off'} at the other "
            f"{len(by_switch) - len(outside)} switches; the simulator has it everywhere or nowhere"
        )
    return most, len({one.mode for one in users}) > 1


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
