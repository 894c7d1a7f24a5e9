"""What is observed on a server, in one round trip."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ailb_gen.addresses import Prefix, address_value, prefix_value
from ailb_gen.deploy.servers.addresses import (
    HostInterface,
    NicHardware,
    read_hardware,
    read_interfaces,
)
from ailb_gen.deploy.servers.expected import EVERYWHERE, ExpectedRoute, ExpectedRule, ExpectedServer
from ailb_gen.deploy.servers.files import HOSTILE, WAYS, HostFile, lines_of, objects, sections, unpack, whole
from ailb_gen.deploy.servers.host_reports import REPORTERS, Report, read_report
from ailb_gen.deploy.servers.jobs import (
    Assignment,
    PlugIn,
    read_assignments,
    read_plug_in,
)
from ailb_gen.deploy.servers.script import FILE_BYTES, ask
from ailb_gen.deploy.servers.ssh import ScriptAnswer, ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase

PROBE_S = 120.0
# Letters of an IPv6 prefix, and some more.
LONGEST = 64
# States of a link that carries nothing (operstate, RFC 2863).
DOWN = ("DOWN", "LOWERLAYERDOWN", "NOTPRESENT")
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
# `ip -N`: protocol of what the kernel adds by itself; such routes are not configured.
KERNEL = "2"


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
