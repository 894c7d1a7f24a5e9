"""Verify a server, in one round trip.

NICs, rules, tables, gateways and kernel settings, which a push sets; and what it does not set: other addresses, speeds,
NCCL's plug-in and variables. The answers of the kernel and of the gateways are compared here. What is expected is read
from the files; `ailb_gen.checks` proves these against the intent, independently.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import Any

from ailb_gen.addresses import Prefix, address_text, address_value, prefix_value
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.servers.addresses import (
    ExpectedGpuPort,
    HostAddress,
    HostInterface,
    NicHardware,
    addresses,
    read_hardware,
    read_interfaces,
    speeds,
)
from ailb_gen.deploy.servers.files import HOSTILE, WAYS, HostFile, Tree, lines_of, objects, sections, unpack, whole
from ailb_gen.deploy.servers.host_reports import REPORTERS, Report, read_report, reported
from ailb_gen.deploy.servers.jobs import (
    Assignment,
    ExpectedJobs,
    PlugIn,
    contradictions,
    expected_jobs,
    plug_in,
    read_assignments,
    read_plug_in,
)
from ailb_gen.deploy.servers.script import FILE_BYTES, ask
from ailb_gen.deploy.servers.ssh import ScriptAnswer, ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.deploy.switch_state import deviation
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.layout import SYSCTL
from ailb_gen.wording import counted

PROBE_S = 120.0
MOST_FINDINGS = 1000
PUSH = "push the server's files again: ailb-gen deploy"
ADVERTISED = "does the leaf advertise it? On the leaf: show ipv6 router-advertisement"
# What sets rules and tables, by way; and the words of `ip` for what verification calls a rule and a table.
APPLY = {"netplan": "netplan apply"}
COMMANDS = {"rule": ("rule", "priority"), "table": ("route", "table")}
# States of a link that carries nothing (operstate, RFC 2863).
DOWN = ("DOWN", "LOWERLAYERDOWN", "NOTPRESENT")
# Letters of an IPv6 prefix, and some more.
LONGEST = 64
# The sections of an answer; the last one says that nothing was cut off.
PARTS = (
    "way",
    "files",
    "link",
    "addr",
    "rule",
    "route",
    "sysctl",
    "nic",
    "functions",
    "plugin",
    "environment",
    "qos",
    "gids",
    "ping",
    "end",
)
EVERYWHERE = Prefix(0, 0)
# Kernel settings that systemd-networkd sets to its own values, because it does the work itself.
NETWORKD = ("accept_ra",)
# `ip -N`: protocol of what the kernel adds by itself; such routes are not configured.
KERNEL = "2"


@dataclass(frozen=True, slots=True, order=True)
class ExpectedRule:
    """Packets from a prefix use a table; rules of lower priorities come first."""

    priority: int
    source: Prefix
    table: int


@dataclass(frozen=True, slots=True, order=True)
class ExpectedRoute:
    """A route of a table; `gateway` is None on the link itself."""

    table: int
    to: Prefix
    nic: str
    gateway: int | None


@dataclass(frozen=True, slots=True, order=True)
class ExpectedGateway:
    """A gateway that must answer an address of the server in `prefix`."""

    nic: str
    prefix: Prefix
    gateway: int

    @property
    def words(self) -> str:
        """The words of the query to the host, which it repeats."""
        return f"{self.nic} {self.prefix} {address_text(self.gateway)}"


@dataclass(frozen=True, slots=True)
class ExpectedServer:
    """All of a server; `mtus` in bytes and `ports` by NIC, `sysctls` by key."""

    tree: Mapping[str, HostFile]
    mtus: Mapping[str, int | None]
    rules: tuple[ExpectedRule, ...]
    routes: tuple[ExpectedRoute, ...]
    gateways: tuple[ExpectedGateway, ...]
    sysctls: Mapping[str, str]
    ports: Mapping[str, ExpectedGpuPort] = field(default_factory=dict)
    jobs: ExpectedJobs = field(default_factory=ExpectedJobs)


def expected_of(files: Tree, profile: ServerProfile) -> ExpectedServer:
    """Return the expected state of a server by its files; their errors are reported by `ailb-gen validate`."""
    rules = tuple(
        ExpectedRule(rule.priority, rule.source, rule.table)
        for rule in profile.rules
        if rule.source is not None and rule.table is not None and rule.priority is not None
    )
    routes = [(table, route) for table, routes in profile.routes.items() for route in routes]
    # The gateways of every table, each to be queried from the prefix that uses the table.
    gateways = {
        ExpectedGateway(route.nic, rule.source, route.via)
        for rule in rules
        for route in profile.routes.get(rule.table, ())
        if route.via is not None
    }
    return ExpectedServer(
        tree=files,
        mtus={name: mtu if isinstance(mtu := nic.value("mtu"), int) else None for name, nic in profile.nics.items()},
        rules=rules,
        routes=tuple(
            ExpectedRoute(table, route.to, route.nic, route.via) for table, route in routes if route.to is not None
        ),
        gateways=tuple(sorted(gateways)),
        sysctls={setting.key: str(setting.value) for setting in profile.sysctls},
        ports={name: ExpectedGpuPort(_prefixes(profile, name), nic.mac) for name, nic in profile.nics.items()},
        jobs=expected_jobs(profile),
    )


def _prefixes(profile: ServerProfile, nic: str) -> tuple[Prefix, ...]:
    return tuple(rule.source for rule in profile.rules if rule.nic == nic and rule.source is not None)


@dataclass(frozen=True, slots=True)
class ObservedServer:
    """The state of a server: MTU and link state by NIC, rules, routes of tables, sysctls, answers of gateways.

    An answer is the querying address, empty when there is none, and whether the gateway replied; answers are found
    by the words of the question. Rules and routes are tuples: numbers that a host chooses can all have one hash.
    `interfaces` are all of the host's, `hardware` that of the NICs, `functions` the virtual functions (SR-IOV).
    """

    way: str
    tree: Mapping[str, HostFile]
    nics: Mapping[str, tuple[int, bool]]
    rules: tuple[ExpectedRule, ...]
    routes: tuple[ExpectedRoute, ...]
    sysctls: Mapping[str, str]
    answers: Mapping[str, tuple[str, bool]]
    interfaces: Mapping[str, HostInterface] = field(default_factory=dict)
    hardware: Mapping[str, NicHardware] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    plug_in: PlugIn = field(default_factory=PlugIn)
    assignments: tuple[Assignment, ...] = ()
    reports: Mapping[str, Report] = field(default_factory=dict)


def verify(server: ServerConnection, expected: ExpectedServer) -> tuple[Finding, ...]:
    """Compare a server with what its files set, as a push does; changes nothing there. Raises DeviceError."""
    return compare(server.name, expected, observe(server, expected))


def observe(server: ServerConnection, expected: ExpectedServer) -> ObservedServer:
    """Read the state of a server, of files and settings what is expected; changes nothing there. Raises DeviceError."""
    lines = [f"file {path}" for path in expected.tree]
    lines += [f"sysctl {key}" for key in expected.sysctls]
    lines += [f"ping {one.words}" for one in expected.gateways]
    lines += [f"nic {nic}" for nic in expected.ports]
    lines += [f"library {expected.jobs.words}"] if expected.jobs.library else []
    answer = ask(server, Phase.VERIFY, PROBE_S, "probe", FILE_BYTES, data="\n".join(lines))
    observed = observed_of(server.name, answer)
    lacking = next(_lacking(expected, observed), "")
    if lacking:
        raise DeviceError(server.name, Phase.VERIFY, f"the host's answer says nothing about {lacking}", HOSTILE)
    return observed


def _lacking(expected: ExpectedServer, observed: ObservedServer) -> Iterator[str]:
    """Yield what a host was asked and does not tell: it would pass for what is right."""
    yield from (f"the hardware of {nic}" for nic in expected.ports if nic not in observed.hardware)
    seen = (nic for nic in expected.ports if nic in observed.nics)
    yield from (f"the addresses of {nic}" for nic in seen if nic not in observed.interfaces)
    if expected.jobs.library and observed.plug_in.rdma_devices is None:
        yield "NCCL's plug-in"


def observed_of(name: str, answer: ScriptAnswer) -> ObservedServer:
    """Read the answer of a server. Raises DeviceError when it is not understood."""
    parts = sections(name, answer, PARTS)
    try:
        return ObservedServer(
            way=WAYS[WAYS.index(parts["way"].strip())],
            tree=unpack(name, parts["files"]),
            nics={
                str(nic["ifname"]): (whole(nic["mtu"]), nic["operstate"] not in DOWN) for nic in objects(parts["link"])
            },
            rules=tuple(_read_rules(objects(parts["rule"]))),
            routes=tuple(_read_routes(objects(parts["route"]))),
            sysctls=dict(_sysctl(line) for line in lines_of(name, parts["sysctl"])),
            answers=dict(_answer(line) for line in lines_of(name, parts["ping"])),
            interfaces=read_interfaces(objects(parts["addr"])),
            hardware=read_hardware(lines_of(name, parts["nic"])),
            functions=frozenset(lines_of(name, parts["functions"])),
            plug_in=read_plug_in(lines_of(name, parts["plugin"])),
            assignments=read_assignments(lines_of(name, parts["environment"])),
            reports={
                section: read_report(lines_of(name, parts[section]), reporter.command)
                for section, reporter in REPORTERS.items()
            },
        )
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        reason = f"the host's answer cannot be read: {str(error)[:200]!a} ({type(error).__name__})"
        raise DeviceError(name, Phase.VERIFY, reason) from error


def _read_rules(rows: list[dict[str, Any]]) -> Iterator[ExpectedRule]:
    for row in rows:
        source = EVERYWHERE if row["src"] == "all" else _prefix(f"{row['src']}/{row.get('srclen', 128)}")
        if source is not None and "table" in row:
            yield ExpectedRule(whole(row["priority"]), source, _table(row["table"]))


def _read_routes(rows: list[dict[str, Any]]) -> Iterator[ExpectedRoute]:
    for row in rows:
        target = str(row["dst"])
        to = EVERYWHERE if target == "default" else _prefix(target + "/128" * ("/" not in target))
        if to is None or "dev" not in row or str(row.get("protocol", "")) == KERNEL:
            continue
        # The main table has no number in the output.
        gateway = str(row.get("gateway", ""))[:LONGEST]
        yield ExpectedRoute(_table(row.get("table", 254)), to, str(row["dev"]), address_value(gateway))


def _prefix(text: str) -> Prefix | None:
    # Text that is too long is no prefix, and is not kept in the cache of prefixes.
    return prefix_value(text) if len(text) <= LONGEST else None


def _table(value: object) -> int:
    return whole(int(value) if isinstance(value, str) else value)


def _sysctl(line: str) -> tuple[str, str]:
    key, _, value = line.partition(" = ")
    return key, value


def _answer(line: str) -> tuple[str, tuple[str, bool]]:
    *asked, source, answer = line.split()
    if len(asked) != 3:
        raise ValueError(line)
    return " ".join(asked), (source.strip("-"), answer == "yes")


def compare(name: str, expected: ExpectedServer, observed: ObservedServer) -> tuple[Finding, ...]:
    """Compare the observed state of a server with what its files set, aspect by aspect."""
    parts = (_files, _nics, _rules, _routes, _sysctls, _gateways)
    return tuple(finding for part in parts for finding in _first(part(name, expected, observed)))


def beyond_push(name: str, expected: ExpectedServer, observed: ObservedServer) -> tuple[Finding, ...]:
    """Compare what no push changes: other addresses, MACs and speeds, NCCL's plug-in, variables of other files.

    The NICs' settings and GIDs are reported by the server's own programs.
    """
    # A virtual function hears the leaf of its NIC, and has addresses of its own MAC, and GIDs of its own.
    others = observed.functions - set(expected.ports)
    interfaces = {nic: one for nic, one in observed.interfaces.items() if nic not in others}
    parts = (
        addresses(name, expected.ports, interfaces),
        speeds(name, expected.ports, observed.hardware),
        plug_in(name, expected.jobs, observed.plug_in),
        contradictions(name, expected.jobs, observed.assignments),
        reported(name, observed.reports, _changed_files(expected, observed), _wrong_nics(name, expected, observed)),
    )
    return tuple(finding for part in parts for finding in _first(part))


def _changed_files(expected: ExpectedServer, observed: ObservedServer) -> set[str]:
    return {one.subject for one in deviations(expected.tree, observed.tree, extra=False)}


def _wrong_nics(name: str, expected: ExpectedServer, observed: ObservedServer) -> set[str]:
    """Return the NICs with findings about their link or addresses."""
    found = (
        *_nics(name, expected, observed),
        *_gateways(name, expected, observed),
        *addresses(name, expected.ports, observed.interfaces),
    )
    return {subject.name for finding in found for subject in finding.subjects[:-1]}


def compare_all(name: str, expected: ExpectedServer, observed: ObservedServer) -> tuple[Finding, ...]:
    """Compare what a push changes and what it does not."""
    return compare(name, expected, observed) + beyond_push(name, expected, observed)


def _first(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings of one part, and of very many only how many there are: a host can have any number of routes."""
    yield from islice(findings, MOST_FINDINGS)
    last = next(findings, None)
    if last is not None:
        yield replace(last, message=f"{last.message}; {counted(sum(1 for _ in findings), 'more finding')}")


def _files(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    for one in deviations(expected.tree, observed.tree, extra=False):
        reason = "is missing"
        if one.observed is not None:
            same = one.observed.content == expected.tree[one.subject].content
            reason = f"has another {'kind, owner or mode' if same else 'content'} than the file that was pushed"
        yield deviation(name, "file", f"/{one.subject}: {reason}; {PUSH}", about.file(one.subject))


def _nics(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    for nic, mtu in expected.mtus.items():
        found, up = observed.nics.get(nic, (None, True))
        if found is None:
            reason = "there is no such interface; check its name and driver: ip link"
            yield deviation(name, "link", f"{nic}: {reason}", about.nic(name, nic))
        if not up:
            reason = f"the link is down; check cable and leaf, and run: ip link set dev {nic} up"
            yield deviation(name, "link", f"{nic}: {reason}", about.nic(name, nic))
        # Without netplan the MTU is set by the host's own network configuration; it must be right all the same.
        if None not in (mtu, found) and found != mtu:
            reason = f"the MTU is {found}, it must be {mtu}; run: ip link set dev {nic} mtu {mtu}"
            yield deviation(name, "MTU", f"{nic}: {reason}", about.nic(name, nic))


def _dead(expected: ExpectedServer, observed: ObservedServer) -> set[str]:
    """Return the NICs that are missing or down: that they lack routes, settings and gateways follows."""
    return {nic for nic in expected.mtus if not observed.nics.get(nic, (0, False))[1]}


def _rules(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    """Compare the rules, of the host those at the fabric's priorities and into its tables."""
    priorities = {rule.priority for rule in expected.rules}
    tables = {rule.table for rule in expected.rules}
    rules = (rule for rule in observed.rules if rule.priority in priorities or rule.table in tables)
    return _lines(name, "rule", _rule_lines(expected.rules), _rule_lines(rules), observed.way)


def _routes(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    tables = {route.table for route in expected.routes}
    routes = (route for route in observed.routes if route.table in tables)
    dead = _dead(expected, observed)
    wanted, found = ([route for route in some if route.nic not in dead] for some in (expected.routes, routes))
    yield from _lines(name, "table", _route_lines(wanted), _route_lines(found), observed.way)


# The table of a rule or route by its text and the number before it. Texts have no common hash, which numbers that a
# host chooses can have.
Lines = dict[tuple[int, str], int]


def _lines(name: str, item: str, expected: Lines, observed: Lines, way: str) -> Iterator[Finding]:
    """Yield what is missing, what is unexpected, and in one line what was found instead of something else."""
    found: dict[tuple[int, str], tuple[list[str], list[str]]] = {}
    for one in deviations(expected, observed):
        number, text = one.subject
        # One priority has one rule, one destination in a table one route.
        found.setdefault((number, text.split()[0]), ([], []))[one.expected is None].append(text)
    apply = f"run: {APPLY.get(way, 'ailb-net apply')}"
    command, key = COMMANDS[item]
    for (number, _), texts in found.items():
        for missing, extra in zip_longest(*texts):
            removal = f"remove it: ip -6 {command} del {extra} {key} {number}"
            if extra is None:
                table, reason = expected[number, missing], f"'{missing}' is missing; {apply}"
            elif missing is None:
                table, reason = observed[number, extra], f"'{extra}' is unexpected; {removal}"
            else:
                table, reason = expected[number, missing], f"'{extra}' must be '{missing}'; {removal}, and {apply}"
            yield deviation(name, item, f"{item} {number}: {reason}", about.table(name, table))


def _rule_lines(rules: Iterable[ExpectedRule]) -> Lines:
    return {(rule.priority, f"from {rule.source} lookup {rule.table}"): rule.table for rule in rules}


def _route_lines(routes: Iterable[ExpectedRoute]) -> Lines:
    return {(route.table, _text(route)): route.table for route in routes}


def _text(route: ExpectedRoute) -> str:
    via = f" via {address_text(route.gateway)}" if route.gateway is not None else ""
    return f"{'default' if route.to == EVERYWHERE else route.to}{via} dev {route.nic}"


def _sysctls(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    own = () if observed.way != "netplan" else NETWORKD
    dead = _dead(expected, observed)
    skipped = {*own, *dead}
    checked = {key: value for key, value in expected.sysctls.items() if skipped.isdisjoint(key.split(".")[3:])}
    for one in deviations(checked, observed.sysctls, extra=False):
        reason = f"is {one.observed}, it must be {one.expected}; run: sysctl -p /{SYSCTL}"
        if one.observed is None:
            reason = "there is no such setting; does the NIC exist?"
        yield deviation(name, "sysctl", f"{one.subject}: {reason}", about.setting(name, one.subject))


def _gateways(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    dead = _dead(expected, observed)
    for one in expected.gateways:
        if one.nic in dead:
            continue
        source, answered = observed.answers.get(one.words, ("", False))
        if not source:
            interface = observed.interfaces.get(one.nic)
            held = interface.within(one.prefix) if interface is not None else ()
            reason = next(map(_unusable, held), f"no usable address in {one.prefix}; {ADVERTISED}")
            yield deviation(name, "address", f"{one.nic}: {reason}", about.nic(name, one.nic))
        elif not answered:
            silent = f"{address_text(one.gateway)} does not answer {source}"
            reason = f"{silent}; check the leaf and its port: show interfaces terse"
            yield deviation(name, "gateway", f"{one.nic}: {reason}", about.nic(name, one.nic))


def _unusable(address: HostAddress) -> str:
    if "dadfailed" in address.flags:
        return f"{address.text} is a duplicate: another NIC has this address; look for a second one with the same MAC"
    return f"{address.text} is tentative: its detection of duplicates has not ended; is the link up?"
