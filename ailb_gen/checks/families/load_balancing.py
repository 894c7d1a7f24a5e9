"""Check the load balancing of switches: forwarding table, dynamic and global load balancing (AILB406 to AILB408)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import LEAF, SPINE
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import ANY, OR, at_fault
from ailb_gen.checks.model import Check, Findings
from ailb_gen.intent.settings import Dlb
from ailb_gen.network.model import Switch

GLB_ROLES = {LEAF: "load-balancer-only", SPINE: "helper-only"}
POLICY = "policy-options policy-statement"
ABOVE = "forwarding-options enhanced-hash-key ecmp-dlb"
DLB_MODES = ("flowlet", "per-packet", "assigned-flow")


def _check_tables(context: Context, findings: Findings) -> None:
    fabric = context.fabric
    known = Counter(name for switch, _ in context.switches for name in switch.policies)
    for switch, asked in context.switches:
        findings.look(TABLES)
        balancing = switch.balancing
        same_cause = "" if balancing.table_line else f"{switch.named} forwarding-table"
        if not balancing.per_packet:
            message = (
                "the policies that the forwarding table exports do not balance every route per flow: such a route has "
                "one next hop, and a rejected one is not installed"
            )
            statement = _exported(switch, known)
            findings.at(TABLES, switch, message, balancing.table_line, same_cause=same_cause, statement=statement)
        if not balancing.fast_reroute:
            message = "the forwarding table lacks ecmp-fast-reroute"
            statement = "routing-options forwarding-table ecmp-fast-reroute"
            findings.at(TABLES, switch, message, balancing.table_line, same_cause=same_cause, statement=statement)
        # A backup uses what is left of a leaf's uplinks; a spine has the parallel links to one leaf.
        needed, found = (
            fabric.links_per_spine * (len(fabric.spines) if asked.role == LEAF else 1),
            balancing.maximum_ecmp,
        )
        if found < needed:
            message = f"maximum-ecmp is {found}; routes can have {needed} next hops"
            line = balancing.ecmp_line
            findings.at(TABLES, switch, message, line, needed, found, statement="chassis maximum-ecmp")


def _exported(switch: Switch, known: Mapping[str, int]) -> str:
    """Return the statement that keeps the forwarding table from balancing every route.

    `known` are the policies of all switches.
    """
    undefined = [name for name in sorted(switch.balancing.policies) if name not in switch.policies]
    if undefined:
        balancing = [one.name for one in switch.policies.values() if any(term.load_balance for term in one.terms)]
        reference = f"routing-options forwarding-table export {undefined[0]}"
        return at_fault(POLICY, undefined[0], reference, balancing, undefined[0] in known)
    found = [switch.policies[name] for name in sorted(switch.balancing.policies) if name in switch.policies]
    export = "routing-options forwarding-table export"
    # A policy that does not balance at all may be the wrong one.
    if not any(term.load_balance or term.unknown for policy in found for term in policy.terms):
        off = [f"{POLICY} {policy.name} {ANY}" for policy in found]
        bare = [f"{POLICY} {policy.name} then" for policy in found if not policy.terms]
        return OR.join((*off, *(bare[:1] or [export])))
    terms = [(policy, term) for policy in found for term in policy.terms]
    first = next(((policy, term) for policy, term in terms if term.unknown or term.verdict == "reject"), terms[0])
    above = f"{POLICY} {first[0].name}{f' term {first[1].name}' if first[1].name else ''}"
    unknown = [f"{above} {text}" for text, _ in first[1].unknown]
    return OR.join((*unknown, f"{above} then reject", f"{above} then"))


def _check_dlb(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        _compare_dlb(switch, expected.settings.load_balancing.dlb, findings)


def _compare_dlb(switch: Switch, asked: Dlb, findings: Findings) -> None:
    """Compare the mode, and in the same mode every statement."""
    findings.look(DLB)
    found, line = dict(switch.balancing.dlb), switch.balancing.dlb_line
    mode = "+".join(mode for mode in DLB_MODES if any(text.split()[0] == mode for text in found)) or "off"
    if mode != asked.mode:
        message = f"dynamic load balancing is {mode}; the intent specifies {asked.mode}"
        extra = next((word for word in DLB_MODES if word in mode.split("+") and word != asked.mode), asked.mode)
        statement = f"{ABOVE} {extra}" if mode != "off" or found else ABOVE
        # A mode that is not there may be there under a wrong name.
        known = {text.split()[0] for text in _expected_dlb(asked)}
        unknown = [text for text in found if text.split()[0] not in known]
        if mode == "off" and unknown:
            statement = f"{ABOVE} {get_close_matches(asked.mode, unknown, 1, 0)[0]}"
        findings.at(DLB, switch, message, line, asked.mode, mode, statement=statement)
        return
    missing = [text for text in _expected_dlb(asked) if found.pop(text, None) is None]
    for text, at in found.items():
        setting = text.rpartition(" ")[0]
        instead = next((other for other in missing if other.rpartition(" ")[0] == setting), "")
        if instead:
            missing.remove(instead)
        message = f"ecmp-dlb has {text}; the intent specifies {instead.removeprefix(f'{setting} ') or 'nothing there'}"
        # A setting that nobody asked for may be one that is missing, under a wrong name.
        statement = f"{ABOVE} {text if instead or not setting else setting}"
        findings.at(DLB, switch, message, at, instead, text, statement=statement, instead=not instead)
    for text in missing:
        findings.at(DLB, switch, f"ecmp-dlb lacks {text}", line, text, statement=f"{ABOVE} {text}")


def _expected_dlb(dlb: Dlb) -> Iterator[str]:
    """Yield the statements below `forwarding-options enhanced-hash-key ecmp-dlb`; none when it is off."""
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


def _check_glb(context: Context, findings: Findings) -> None:
    for switch, asked in context.switches:
        findings.look(GLB)
        expected = GLB_ROLES[asked.role] if asked.settings.load_balancing.glb else "off"
        found = switch.balancing.glb or "off"
        if found != expected:
            message = f"global load balancing is {found}; the intent specifies {expected}"
            line = switch.balancing.glb_line or switch.bgp_line
            statement = "protocols bgp global-load-balancing"
            findings.at(GLB, switch, message, line, expected, found, statement=statement)


TABLES = Check(
    "AILB406",
    "the FIB holds all paths of every route: load balancing per packet, a high enough maximum-ecmp, fast reroute",
    "the FIB does not hold all paths of every route",
    "Without the policy Junos installs a single path: when a color fails, all its traffic moves to one other uplink.",
    "As the message says: export a policy that says `load-balance per-packet` of every route and rejects none, add "
    "`ecmp-fast-reroute`, or raise `chassis maximum-ecmp`.",
    _check_tables,
    layer=Layer.ROUTE_SETTINGS,
)
DLB = Check(
    "AILB407",
    "dynamic load balancing has the mode and every value that the intent specifies, for IPv6",
    "dynamic load balancing differs from the intent",
    "Without it, only hashing spreads queue pairs after a failure, and some of them collide.",
    "Generate the file again, or correct the statement; if the file is right, change the intent's "
    "`load_balancing.dlb`.",
    _check_dlb,
)
GLB = Check(
    "AILB408",
    "global load balancing has the roles that the intent specifies: leaves load-balancer-only, spines helper-only",
    "global load balancing differs from the intent",
    "Without reports from the spines, a leaf keeps sending to congested links behind them.",
    "Generate the file again, or correct the statement; if the file is right, change the intent's "
    "`load_balancing.glb`.",
    _check_glb,
)
