"""Check that names are defined (AILB208), statements known (AILB209), and those of extra_config there (AILB010)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import ALL_COLORS
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import ANY, OR, at_fault, known_names, used_policies
from ailb_gen.checks.model import Check, Findings
from ailb_gen.checks.subjects import Subject
from ailb_gen.errors import UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.junos.regex import community_fault
from ailb_gen.network.model import Switch, Unmodeled
from ailb_gen.network.policy import Term, is_expression
from ailb_gen.network.sessions import distinct
from ailb_gen.network.statements import consequence
from ailb_gen.network.supported_statements import judged

# Kind, name, what names it, line, the statement that does.
Reference = tuple[str, str, str, int, str]
ABOVE = {kind: f"policy-options {kind}" for kind in ("community", "as-list", "prefix-list")}
ABOVE["policy"] = "policy-options policy-statement"
KINDS: dict[str, Callable[[str, str], Subject]] = {
    "policy": about.policy,
    "community": about.community,
    "as-list": about.as_list,
    "prefix-list": about.prefix_list,
    "interface": about.port,
}


def _check_references(context: Context, findings: Findings) -> None:
    roles = {name: switch.role for name, switch in context.expected.switches.items()}
    defined_by: dict[str, list[Mapping[str, Collection[str]]]] = defaultdict(list)
    for name, switch in context.network.switches.items():
        defined_by[roles.get(name, "")].append(_defined(switch))
    known_by = {role: known_names(defined) for role, defined in defined_by.items()}
    for switch in context.network.switches.values():
        known = known_by[roles.get(switch.named, "")]
        for name, line in switch.unknown_groups:
            message = f"apply-groups names group {name}, which is not defined"
            subjects = (about.device(switch.named),)
            findings.at(REFERENCES, switch, message, line, part=name, subjects=subjects)
        interfaces = frozenset(unit.name for port in switch.ports.values() for unit in port.units)
        defined = {**_defined(switch), "interface": interfaces}
        references = (*_by_bgp(switch), *_by_forwarding_table(switch), *_by_policies(switch), *_interfaces(switch))
        used = {(kind, name) for kind, name, *_ in references}
        for kind, name, by, line, statement in references:
            findings.look(REFERENCES)
            if name not in defined[kind] and not (kind == "policy" and is_expression(name)):
                message = f"{by} names {kind} {name}, which is not defined"
                where = _interface(name)
                if kind in ABOVE:
                    unused = [one for one in defined[kind] if (kind, one) not in used]
                    where = at_fault(ABOVE[kind], name, statement, unused, name in known[kind])
                subjects = (KINDS[kind](switch.named, name),)
                findings.at(REFERENCES, switch, message, line, part=name, statement=where, subjects=subjects)


def _defined(switch: Switch) -> dict[str, Collection[str]]:
    """Return the names of what a switch defines, by kind."""
    return {
        "policy": switch.policies,
        "community": switch.communities,
        "as-list": switch.as_lists,
        "prefix-list": switch.prefix_lists,
    }


def _interface(name: str) -> str:
    port, _, unit = name.rpartition(".")
    return f"interfaces {port} unit {unit} {ANY}{OR}"


def _by_bgp(switch: Switch) -> Iterator[Reference]:
    for group in distinct(switch.groups):
        by = f"group {group.name}"
        for word, names in (("import", group.imports), ("export", group.exports)):
            choices = (f"protocols bgp {word}", f"protocols bgp group {group.name} {word}")
            for name in names:
                statement = OR.join(f"{choice} {name}" for choice in choices)
                yield "policy", name, by, group.line, statement
    for group in switch.groups:
        by = f"group {group.name}"
        if group.color is not None:
            yield "community", group.color, by, group.color_line, ""
        if group.peer_as_list is not None:
            yield "as-list", group.peer_as_list, by, group.peer_as_line, ""
    for route in switch.routes:
        for color, line in ((route.color, route.color_line), (route.backup, route.backup_line)):
            if color is not None and color != ALL_COLORS:
                yield "community", color, f"fabric-advertise route {route.prefix}", line, ""


def _by_forwarding_table(switch: Switch) -> Iterator[Reference]:
    balancing, export = switch.balancing, "routing-options forwarding-table export"
    for name in sorted(balancing.policies):
        yield "policy", name, "the forwarding table", balancing.table_line, f"{export} {name}"


def _by_policies(switch: Switch) -> Iterator[Reference]:
    for policy in switch.policies.values():
        for term in policy.terms:
            by = f"policy {policy.name}" + (f" term {term.name}" if term.name else "")
            above = f"{ABOVE['policy']} {by.removeprefix('policy ')}"
            for name in (*term.communities, *(name for _, name in term.changes)):
                words = (
                    "from community",
                    *(f"then community {how}" for how in ("add", "set", "delete", "+", "=", "-")),
                )
                yield "community", name, by, term.line, OR.join(f"{above} {word} {name}" for word in words)
            for name in (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters)):
                statement = f"{above} from prefix-list {name}{OR}{above} from prefix-list-filter {name}"
                yield "prefix-list", name, by, term.line, statement


def _interfaces(switch: Switch) -> Iterator[Reference]:
    for vlan in switch.vlans:
        if vlan.irb is not None:
            yield "interface", vlan.irb, f"VLAN {vlan.name}", vlan.line, ""
    for announced in switch.advertisements.values():
        yield "interface", announced.interface, "router-advertisement", announced.line, ""


def _check_modeled(context: Context, findings: Findings) -> None:
    """Name every statement that is neither read nor harmless, with what it is known to do."""
    for switch in context.network.switches.values():
        findings.look(MODELED)
        for entry in (*switch.unmodeled, *_unknown_terms(switch), *_expressions(switch)):
            message = f"{entry.whole} is not modeled: {consequence(entry.whole)}"
            statement = f"{entry.statement}{OR}"
            findings.at(MODELED, switch, message, entry.line, part=entry.statement, statement=statement, instead=True)


def _expressions(switch: Switch) -> Iterator[Unmodeled]:
    """Yield the expressions of policies, which are not evaluated."""
    for group in distinct(switch.groups):
        for word, names in (("import", group.imports), ("export", group.exports)):
            for name in filter(is_expression, names):
                whole = f"protocols bgp group {group.name} {word} {name}"
                yield Unmodeled(f"protocols bgp group {group.name} {word}", whole, group.line)
    for name in filter(is_expression, sorted(switch.balancing.policies)):
        above = "routing-options forwarding-table export"
        yield Unmodeled(above, f"{above} {name}", switch.balancing.table_line)


def _unknown_terms(switch: Switch) -> Iterator[Unmodeled]:
    """Yield the conditions and actions that are not evaluated, of the policies that something refers to."""
    for policy in used_policies(switch):
        for term in policy.terms:
            of_term = f" term {term.name}" if term.name else ""
            for text, line in (*term.unknown, *_by_path(switch, term), *_no_expressions(switch, term)):
                whole = f"policy-options policy-statement {policy.name}{of_term} {text}"
                yield Unmodeled(whole, whole, line)


def _by_path(switch: Switch, term: Term) -> Iterator[tuple[str, int]]:
    """Yield the prefix lists of a term that `apply-path` fills, which are not computed."""
    for name in (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters)):
        if name in switch.prefix_lists and switch.prefix_lists[name].by_path:
            yield f"from prefix-list {name} apply-path", switch.prefix_lists[name].line


def _no_expressions(switch: Switch, term: Term) -> Iterator[tuple[str, int]]:
    """Yield the members of communities that a term matches which are patterns, and no regular expressions."""
    for name in term.communities:
        community = switch.communities.get(name)
        if community is None:
            continue
        for member in community.members:
            reason = community_fault(member)
            if reason is not None:
                yield f"from community {name} {member[:60]!r} ({reason})", community.line


REFERENCES = Check(
    "AILB208",
    "every referenced policy, community, as-list, prefix-list, interface and configuration group is defined",
    "a referenced name is not defined",
    "Junos refuses to commit an undefined policy or group; an undefined list matches nothing, silently.",
    "Define it, or correct the name.",
    _check_references,
    layer=Layer.REFERENCES,
)
MODELED = Check(
    "AILB209",
    "every statement is read by this program, or known not to affect what it verifies",
    "a statement is not modeled",
    "The statement may change what this program verifies: the result is valid only without it.",
    "Delete the statement. If it has to stay, try it on a device and accept it until a date, in a waiver file: "
    "`- {id: AILB209, scope: SWITCH STATEMENT, reason: WHY, expires: YYYY-MM-DD}`.",
    _check_modeled,
    layer=Layer.UNMODELED,
)


def _check_extra(context: Context, findings: Findings) -> None:
    """Compare the harmless statements of every switch with those asked for; the others have checks of their own."""
    for switch, expected in context.switches:
        for text in _asked(expected.extra) if expected.extra else ():
            findings.look(EXTRA)
            if text not in switch.harmless:
                message = f"extra_config has `{text}`, and the file lacks it"
                findings.at(EXTRA, switch, message, expected=text, part=text, statement=text)


@lru_cache(maxsize=64)
def _asked(text: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(judged(effective(read(text, "extra_config.conf"))).harmless))
    except UsageError:
        # Groups in a circle: the file has them, too, and cannot be read.
        return ()


EXTRA = Check(
    "AILB010",
    "every harmless statement of the intent's extra_config is in the file",
    "a statement of extra_config is missing in the file, or has another value there",
    "The switch lacks an NTP server, a login or a collector of the intent, or has another one.",
    "Generate the fabric again, or change extra_config when the file is right.",
    _check_extra,
)
