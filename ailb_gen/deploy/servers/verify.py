"""Verify a server after its files are applied, in one round trip.

NICs, rules, tables, gateways and kernel settings; the answers of the kernel and of the gateways are compared here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ailb_gen.addresses import Prefix, address_text, address_value, prefix_value
from ailb_gen.deploy.servers.files import HostFile, ServerDeviation, Tree, lines_of, objects, sections, unpack, whole
from ailb_gen.deploy.servers.script import FILE_BYTES, ask
from ailb_gen.deploy.servers.ssh import ScriptAnswer, ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.hosts.model import ServerProfile

PROBE_S = 120.0
MOST_FINDINGS = 1000
# Letters of an IPv6 prefix, and some more.
LONGEST = 64
# The sections of an answer; the last one says that nothing was cut off.
PARTS = ("way", "files", "link", "rule", "route", "sysctl", "ping", "end")
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
    """All of a server; `mtus` in bytes by NIC, `sysctls` by key."""

    tree: Mapping[str, HostFile]
    mtus: Mapping[str, int | None]
    rules: tuple[ExpectedRule, ...]
    routes: tuple[ExpectedRoute, ...]
    gateways: tuple[ExpectedGateway, ...]
    sysctls: Mapping[str, str]


def expected_of(files: Tree, profile: ServerProfile) -> ExpectedServer:
    """Return the expected state of a server by its files; their errors are reported by `ailb-gen validate`."""
    rules = tuple(
        ExpectedRule(rule.priority, rule.source, rule.table)
        for rule in profile.rules
        if rule.source is not None and rule.table is not None and rule.priority is not None
    )
    return ExpectedServer(
        tree=files,
        mtus={name: mtu if isinstance(mtu := nic.value("mtu"), int) else None for name, nic in profile.nics.items()},
        rules=rules,
        routes=tuple(sorted(_expected_routes(profile))),
        gateways=tuple(sorted(set(_expected_gateways(profile, rules)))),
        sysctls={setting.key: str(setting.value) for setting in profile.sysctls},
    )


def _expected_routes(profile: ServerProfile) -> Iterator[ExpectedRoute]:
    for table, routes in profile.routes.items():
        yield from (ExpectedRoute(table, route.to, route.nic, route.via) for route in routes if route.to is not None)


def _expected_gateways(profile: ServerProfile, rules: tuple[ExpectedRule, ...]) -> Iterator[ExpectedGateway]:
    """Yield the gateways of every table, each to be queried from the prefix that uses the table."""
    for rule in rules:
        for route in profile.routes.get(rule.table, ()):
            if route.via is not None:
                yield ExpectedGateway(route.nic, rule.source, route.via)


@dataclass(frozen=True, slots=True)
class ObservedServer:
    """The state of a server: MTU and link state by NIC, rules, routes of tables, sysctls, answers of gateways.

    An answer is the querying address, empty when there is none, and whether the gateway replied; answers are found
    by the words of the question. Rules and routes are tuples: numbers that a host chooses can all have one hash.
    """

    way: str
    tree: Mapping[str, HostFile]
    nics: Mapping[str, tuple[int, bool]]
    rules: tuple[ExpectedRule, ...]
    routes: tuple[ExpectedRoute, ...]
    sysctls: Mapping[str, str]
    answers: Mapping[str, tuple[str, bool]]


def verify(server: ServerConnection, expected: ExpectedServer) -> tuple[ServerDeviation, ...]:
    """Compare a server with what its files ask for; changes nothing there. Raises DeviceError."""
    lines = [f"file {path}" for path in expected.tree]
    lines += [f"sysctl {key}" for key in expected.sysctls]
    lines += [f"ping {one.words}" for one in expected.gateways]
    answer = ask(server, Phase.VERIFY, PROBE_S, "probe", FILE_BYTES, data="\n".join(lines))
    return compare(expected, observed_of(server.name, answer))


def observed_of(name: str, answer: ScriptAnswer) -> ObservedServer:
    """Read the answer of a server. Raises DeviceError when it is not understood."""
    parts = sections(name, answer, PARTS)
    try:
        return ObservedServer(
            way=parts["way"].strip(),
            tree=unpack(name, parts["files"]),
            nics={
                str(nic["ifname"]): (whole(nic["mtu"]), nic["operstate"] != "DOWN") for nic in objects(parts["link"])
            },
            rules=tuple(_rules(objects(parts["rule"]))),
            routes=tuple(_routes(objects(parts["route"]))),
            sysctls=dict(_sysctl(line) for line in lines_of(name, parts["sysctl"])),
            answers=dict(_answer(line) for line in lines_of(name, parts["ping"])),
        )
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        reason = f"the host's answer cannot be read: {str(error)[:200]!a} ({type(error).__name__})"
        raise DeviceError(name, Phase.VERIFY, reason) from error


def _rules(rows: list[dict[str, Any]]) -> Iterator[ExpectedRule]:
    for row in rows:
        source = EVERYWHERE if row["src"] == "all" else _prefix(f"{row['src']}/{row.get('srclen', 128)}")
        if source is not None and "table" in row:
            yield ExpectedRule(whole(row["priority"]), source, _table(row["table"]))


def _routes(rows: list[dict[str, Any]]) -> Iterator[ExpectedRoute]:
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
    """Return the number of a table. Raises ValueError, TypeError."""
    return whole(int(value) if isinstance(value, str) else value)


def _sysctl(line: str) -> tuple[str, str]:
    key, _, value = line.partition(" = ")
    return key, value


def _answer(line: str) -> tuple[str, tuple[str, bool]]:
    *asked, source, answer = line.split()
    if len(asked) != 3:
        raise ValueError(line)
    return " ".join(asked), (source.strip("-"), answer == "yes")


def compare(expected: ExpectedServer, seen: ObservedServer) -> tuple[ServerDeviation, ...]:
    """Compare what a server has with what it must have."""
    checks = (_files, _nics, _missing_rules, _strange_rules, _tables, _sysctls, _gateways)
    return tuple(finding for check in checks for finding in _first(check(expected, seen)))


def _first(findings: Iterator[ServerDeviation]) -> Iterator[ServerDeviation]:
    """Yield findings of one check, and of very many only how many there are: a host can have any number of routes."""
    yield from islice(findings, MOST_FINDINGS)
    last = next(findings, None)
    if last is not None:
        yield ServerDeviation(last.kind, last.item, f"{last.reason}; {sum(1 for _ in findings)} findings more")


def _files(expected: ExpectedServer, seen: ObservedServer) -> Iterator[ServerDeviation]:
    for path, file in expected.tree.items():
        found = seen.tree.get(path)
        if found is None:
            yield ServerDeviation("file", f"/{path}", "is not there")
        elif found != file:
            what = "another content" if found.content != file.content else "another kind, owner or mode"
            yield ServerDeviation("file", f"/{path}", f"has {what} than the file that was pushed")


def _nics(expected: ExpectedServer, seen: ObservedServer) -> Iterator[ServerDeviation]:
    for nic, mtu in expected.mtus.items():
        if nic not in seen.nics:
            yield ServerDeviation("nic", nic, "there is no such interface")
            continue
        found, up = seen.nics[nic]
        if not up:
            yield ServerDeviation("nic", nic, "the link is down")
        # Without netplan the MTU is set by the host's own network configuration; it must be right all the same.
        if mtu is not None and found != mtu:
            yield ServerDeviation("nic", nic, f"the MTU is {found}, it must be {mtu}")


def _missing_rules(expected: ExpectedServer, seen: ObservedServer) -> Iterator[ServerDeviation]:
    missing = set(expected.rules).difference(seen.rules)
    for rule in expected.rules:
        if rule in missing:
            yield ServerDeviation(
                "rule", f"rule {rule.priority}", f"'from {rule.source} lookup {rule.table}' is not there"
            )


def _strange_rules(expected: ExpectedServer, seen: ObservedServer) -> Iterator[ServerDeviation]:
    """Yield the rules that stand at the fabric's priorities, or lead into its tables, and are not the fabric's."""
    priorities = {rule.priority for rule in expected.rules}
    tables = {rule.table for rule in expected.rules}
    own = set(expected.rules)
    for rule in sorted(rule for rule in seen.rules if rule not in own):
        if rule.priority in priorities or rule.table in tables:
            yield ServerDeviation(
                "rule", f"rule {rule.priority}", f"'from {rule.source} lookup {rule.table}' does not belong"
            )


def _tables(expected: ExpectedServer, seen: ObservedServer) -> Iterator[ServerDeviation]:
    tables = {route.table for route in expected.routes}
    own = set(expected.routes)
    for route in sorted(own.difference(seen.routes), key=repr):
        yield ServerDeviation("route", f"table {route.table}", f"'{_text(route)}' is not there")
    strange = {repr(route): route for route in seen.routes if route.table in tables and route not in own}
    for _, route in sorted(strange.items()):
        yield ServerDeviation("route", f"table {route.table}", f"'{_text(route)}' does not belong")


def _text(route: ExpectedRoute) -> str:
    via = f" via {address_text(route.gateway)}" if route.gateway is not None else ""
    return f"{'default' if route.to == EVERYWHERE else route.to}{via} dev {route.nic}"


def _sysctls(expected: ExpectedServer, seen: ObservedServer) -> Iterator[ServerDeviation]:
    for key, value in expected.sysctls.items():
        if seen.way == "netplan" and key.rpartition(".")[2] in NETWORKD:
            continue
        found = seen.sysctls.get(key)
        if found is None:
            yield ServerDeviation("sysctl", key, "there is no such setting; is the NIC there?")
        elif found != value:
            yield ServerDeviation("sysctl", key, f"is {found}, it must be {value}")


def _gateways(expected: ExpectedServer, seen: ObservedServer) -> Iterator[ServerDeviation]:
    for one in expected.gateways:
        source, answered = seen.answers.get(one.words, ("", False))
        gateway = address_text(one.gateway)
        if not source:
            reason = f"no usable address in {one.prefix}; does the leaf advertise it?"
            yield ServerDeviation("address", one.nic, reason)
        elif not answered:
            yield ServerDeviation("gateway", one.nic, f"{gateway} does not answer {source}")
