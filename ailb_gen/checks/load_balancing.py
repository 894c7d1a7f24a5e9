"""The checks of what a switch balances by: its forwarding table, dynamic and global load balancing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks.model import Check, Severity
from ailb_gen.checks.speakers import LEAF, SPINE
from ailb_gen.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.findings import Findings
    from ailb_gen.intent.settings import Dlb
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Switch

TABLES = Check(
    "AILB406",
    Severity.ERROR,
    "the FIB holds all paths of every route: load balancing per packet, a high enough maximum-ecmp, fast reroute",
    "the FIB does not hold all paths of every route",
    "Without the policy Junos installs one path: when a color fails all its traffic goes to a single other uplink.",
    "Add `routing-options forwarding-table export` with the policy, and `chassis maximum-ecmp`.",
)
DLB = Check(
    "AILB407",
    Severity.ERROR,
    "dynamic load balancing has the mode and every value that the intent asks for, for IPv6",
    "dynamic load balancing differs from the intent",
    "After a failure hashing alone spreads the moved queue pairs, and collides.",
    "Change the intent's `load_balancing.dlb` and generate again.",
)
GLB = Check(
    "AILB408",
    Severity.ERROR,
    "global load balancing is as the intent asks: leaves balance, spines help",
    "global load balancing differs from the intent",
    "A leaf that hears nothing from its spines keeps sending to congested links behind them.",
    "Change the intent's `load_balancing.glb` and generate again.",
)
GLB_ROLES = {LEAF: "load-balancer-only", SPINE: "helper-only"}
DLB_MODES = ("flowlet", "per-packet", "assigned-flow")


def check_load_balancing(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    """Check every switch that the intent knows."""
    for name, switch in network.switches.items():
        asked = intended.speakers.get(name)
        if asked is None:
            continue
        _check_tables(intended, switch, asked.role, collected)
        _check_dlb(switch, asked.settings.load_balancing.dlb, collected)
        _check_glb(switch, GLB_ROLES[asked.role] if asked.settings.load_balancing.glb else "off", collected)


def _check_tables(intended: ExpectedFabric, switch: Switch, role: str, collected: Findings) -> None:
    collected.look(TABLES)
    balancing = switch.balancing
    place = Place(switch.file, balancing.table_line or 1)
    alike = "" if balancing.table_line else f"{switch.named} forwarding-table"
    if not balancing.per_packet:
        message = (
            "the policies that the forwarding table exports do not balance every route per flow: such a route has one "
            "next hop, and a rejected one is not installed"
        )
        collected.add(TABLES, switch.named, message, place, alike=alike)
    if not balancing.fast_reroute:
        collected.add(TABLES, switch.named, "the forwarding table lacks ecmp-fast-reroute", place, alike=alike)
    # A backup uses what is left of a leaf's uplinks; a spine has the parallel links to one leaf.
    needed = intended.fabric.links_per_spine * (len(intended.fabric.spines) if role == LEAF else 1)
    if balancing.maximum_ecmp < needed:
        message = f"maximum-ecmp is {balancing.maximum_ecmp}; routes can have {needed} next hops"
        place = Place(switch.file, balancing.ecmp_line or 1)
        collected.add(TABLES, switch.named, message, place, needed, balancing.maximum_ecmp)


def _check_dlb(switch: Switch, asked: Dlb, collected: Findings) -> None:
    """Compare the mode, and in the same mode every statement."""
    collected.look(DLB)
    found = dict(switch.balancing.dlb)
    mode = "+".join(mode for mode in DLB_MODES if any(text.split()[0] == mode for text in found)) or "off"
    place = Place(switch.file, switch.balancing.dlb_line or 1)
    if mode != asked.mode:
        message = f"dynamic load balancing is {mode}; the intent asks for {asked.mode}"
        collected.add(DLB, switch.named, message, place, asked.mode, mode)
        return
    missing = [text for text in _expected_dlb(asked) if found.pop(text, None) is None]
    for text, line in found.items():
        setting = text.rpartition(" ")[0]
        instead = next((other for other in missing if other.rpartition(" ")[0] == setting), "")
        if instead:
            missing.remove(instead)
        message = f"ecmp-dlb has {text}; the intent asks for {instead.removeprefix(f'{setting} ') or 'nothing there'}"
        collected.add(DLB, switch.named, message, Place(switch.file, line or 1), instead, text)
    for text in missing:
        collected.add(DLB, switch.named, f"ecmp-dlb lacks {text}", place, text)


def _expected_dlb(dlb: Dlb) -> Iterator[str]:
    """Give the statements below `forwarding-options enhanced-hash-key ecmp-dlb`; none when it is off."""
    if dlb.mode == "off":
        return
    grades = dlb.egress_quantization
    if grades is not None:
        for name, value in (("min", grades.min), ("max", grades.max), ("rate-weightage", grades.rate_weightage)):
            yield f"egress-quantization {name} {value}"
    if dlb.mode == "flowlet":
        yield f"flowlet inactivity-interval {dlb.inactivity_interval_us}"
        yield f"flowlet flowset-table-size {dlb.flowset_table_size}"
        yield f"flowlet reassignment prob-threshold {dlb.prob_threshold}"
        yield f"flowlet reassignment quality-delta {dlb.quality_delta}"
    else:
        yield dlb.mode
    yield "ether-type ipv6"
    yield f"sampling-rate {dlb.sampling_rate}"


def _check_glb(switch: Switch, expected: str, collected: Findings) -> None:
    collected.look(GLB)
    found = switch.balancing.glb or "off"
    if found != expected:
        message = f"global load balancing is {found}; the intent asks for {expected}"
        place = Place(switch.file, switch.balancing.glb_line or switch.bgp_line or 1)
        collected.add(GLB, switch.named, message, place, expected, found)
