"""Show commands: the rpc that each stands for, and its arguments; which arguments an rpc takes.

Source: Juniper, Junos CLI Reference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.messages import RpcRefusedError, refusal
from ailb_gen.emulator.operations import (
    bfd,
    bgp,
    interfaces,
    neighbors,
    policies,
    processes,
    reach,
    route_tables,
    routes,
    system,
)
from ailb_gen.emulator.operations import class_of_service as cos
from ailb_gen.emulator.operations.build import element, fill

Answer = Callable[[EmulatedDevice, etree._Element], etree._Element]


@dataclass(frozen=True, slots=True)
class ShowCommand:
    """A show command, and the answer to its RPC.

    `places` are arguments that follow by position, `options` those that follow by name; their values say whether a
    value follows the name. An rpc whose name has dots is none of Junos's: the command has none, or none that is known.
    """

    rpc: str
    answer: Answer
    options: Mapping[str, bool]
    places: tuple[str, ...]


def command(rpc: str, answer: Answer | str, usage: str = "") -> ShowCommand:
    """Make a command: `usage` has `<place>`, `option`, and `option=` where a value follows.

    An answer that is a name is a tree of `replies.xml`, in which at most the device itself is filled in.
    """
    words = usage.split()
    options = {word.rstrip("="): word[-1] == "=" for word in words if word[0] != "<"}
    places = tuple(word[1:-1] for word in words if word[0] == "<")
    return ShowCommand(rpc, partial(_constant, answer) if isinstance(answer, str) else answer, options, places)


def _constant(name: str, device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    return fill(name, device=device)


def _empty(tag: str, device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    return element(tag)


LENGTHS = "brief detail extensive"
SUMMED = f"{LENGTHS} summary"
EXCHANGED = f"{LENGTHS} table= hidden all exact"
ROUTES = "get-route-information"
# How Junos selects neighbors by their color is not public; this is the name of the statement. Both spellings of
# discovered neighbors are those of Junos, of different releases.
NEIGHBORS = "instance= exact-instance= fabric-color= auto-discovered autodiscovered"
PROBES = "<host> source= ttl= wait= routing-instance= interface= inet inet6 no-resolve"

COMMANDS: Mapping[str, ShowCommand] = {
    "show version": command("get-software-information", system.software, "brief"),
    "show system information": command("get-system-information", "system-information"),
    "show system uptime": command("get-system-uptime-information", system.uptime),
    "show system commit": command("get-commit-information", system.commits),
    "show system alarms": command("get-system-alarm-information", "no-alarm"),
    "show chassis alarms": command("get-alarm-information", system.chassis_alarms),
    "show chassis hardware": command("get-chassis-inventory", system.chassis, "detail"),
    "show bgp summary": command("get-bgp-summary-information", bgp.summary, f"{NEIGHBORS} group="),
    "show bgp group": command(
        "get-bgp-group-information", bgp.group, "<group-name> instance= exact-instance= brief detail summary"
    ),
    "show bgp neighbor": command("get-bgp-neighbor-information", bgp.neighbor, f"<neighbor-address> {NEIGHBORS}"),
    "show bfd session": command("get-bfd-session-information", bfd.bfd, f"{SUMMED} address= discriminator="),
    "show route": command(
        ROUTES, routes.route_information, f"<destination> {EXCHANGED} terse active-path inactive-path protocol="
    ),
    "show route advertising-protocol": command(
        ROUTES, routes.route_information, f"<advertising-protocol-name> <neighbor> <destination> {EXCHANGED}"
    ),
    "show route receive-protocol": command(
        ROUTES, routes.route_information, f"<receive-protocol-name> <peer> <destination> {EXCHANGED}"
    ),
    "show route forwarding-table": command(
        "get-forwarding-table-information", route_tables.forwarding_table, "family= table= destination="
    ),
    "show ipv6 router-advertisement": command("get-ipv6-ra-information", neighbors.router_advertisements, "interface="),
    "show ipv6 neighbors": command("get-ipv6-nd-information", neighbors.discovered, "interface="),
    "show interfaces": command(
        "get-interface-information",
        interfaces.interfaces,
        f"<interface-name> terse {LENGTHS} media statistics descriptions routing-instance=",
    ),
    "show lldp neighbors": command("get-lldp-neighbors-information", neighbors.lldp),
    "show lldp neighbors interface": command(
        "get-lldp-interface-neighbors", neighbors.lldp_interface, "<interface-device>"
    ),
    "show arp": command("get-arp-table-information", "arp-table-information", "no-resolve"),
    "show ethernet-switching table": command(
        "get-ethernet-switching-table-information", "l2ng-l2ald-rtb-macdb", SUMMED
    ),
    "show chassis environment": command("get-environment-information", "environment-information"),
    "show chassis fpc": command("get-fpc-information", system.fpcs, "<fpc-slot> detail"),
    "show chassis routing-engine": command("get-route-engine-information", "route-engine-information"),
    "show chassis power": command("get-power-usage-information", "power-usage-information"),
    "show chassis power detail": command("get-power-usage-information-detail", "power-usage-information"),
    "show interfaces diagnostics optics": command(
        "get-interface-optics-diagnostics-information", interfaces.optics, "<interface-name>"
    ),
    "show lldp local-information": command("get-lldp-local-info", neighbors.lldp_local),
    "show ntp associations": command("get-ntp-associations-information", system.ntp_associations, "no-resolve"),
    "show route instance": command(
        "get-instance-information", route_tables.instances, f"<instance-name> {SUMMED} operational"
    ),
    "show route summary": command("get-route-summary-information", route_tables.table_summary, "table="),
    "show system memory": command("get-system-memory-information", "system-memory-information"),
    "show system storage": command("get-system-storage", system.storage),
    "show system software list": command("show.system.software.list", system.software_list),
    "show system users": command("get-system-users-information", system.users, "no-resolve"),
    "show interfaces queue": command(
        "get-interface-queue-information", cos.queues, "<interface-name> forwarding-class="
    ),
    "show class-of-service": command("get-cos-information", cos.everything),
    "show class-of-service classifier": command("get-cos-classifier-information", cos.classifiers, "name="),
    "show class-of-service forwarding-class": command("get-cos-forwarding-class-information", cos.classes),
    "show class-of-service interface": command("get-cos-interface-map-information", cos.bindings, "<interface-name>"),
    "show class-of-service scheduler-map": command("get-cos-scheduler-map-information", cos.scheduler_maps, "<name>"),
    "show chassis fpc pic-status": command("get-pic-information", system.pics, "<slot>"),
    "show chassis pic": command("get-pic-detail", system.pic_detail, "fpc-slot= pic-slot="),
    "show ddos-protection statistics": command("show.ddos-protection.statistics", "ddos-protection"),
    "show firewall": command("get-firewall-information", policies.firewall),
    "show firewall filter": command("get-firewall-information", policies.firewall, "<filtername>"),
    "show krt queue": command("show.krt.queue", "krt-queue"),
    "show krt state": command("get-krt-state", "krt-state"),
    "show log": command("get-log", processes.log, "<filename>"),
    "show policy": command("show.policy", policies.policies, "<policy-name>"),
    "show system processes": command("get-system-process-information", processes.processes, SUMMED),
    "clear bgp neighbor": command("clear-bgp-neighbor", processes.clear_sessions, "<neighbor> soft soft-inbound"),
    "monitor interface traffic": command("monitor.interface.traffic", processes.traffic),
    "clear interfaces statistics": command(
        "clear-interfaces-statistics", interfaces.clear_statistics, "<interface-name>"
    ),
    "restart": command("restart.process", processes.restart, "<process>"),
    "file list": command("file-list", system.file_list, "<path>"),
    "file show": command("file-show", system.file_show, "<filename>"),
    "ping": command("ping", reach.ping, f"{PROBES} size= count= interval= rapid do-not-fragment"),
    "traceroute": command("traceroute", reach.traceroute, PROBES),
    "show vlans": command("get-vlan-information", neighbors.vlans, f"<vlan-name> {LENGTHS}"),
}
# Requests without a show command here.
REQUESTS = (
    command("get-checksum-information", system.checksum, "path md5 sha1 sha-256"),
    command("get-sha1-checksum-information", system.checksum, "path"),
    command("get-sha256-checksum-information", system.checksum, "path"),
    command("get-commit-revision-information", system.revision, "detail"),
    command("get-directory-usage-information", system.directory_usage, "path depth"),
    command("get-system-nodes-information", "system-nodes-information"),
    command("get-temperature-threshold-information", "temperature-threshold-information"),
    command("get-xntpd-peers-information", system.ntp_associations, "no-resolve"),
)
# Arguments that a request takes and its show command lacks, or has by another name.
MORE_ARGUMENTS = {
    "file-list": "detail",
    "get-arp-table-information": "expiration-time",
    "get-fpc-information": "extensive",
    "get-lldp-interface-neighbors": "interface-name",
    "get-software-information": "node",
}
# The empty replies about features that no device of such a fabric has, by the tag of the rpc; they take any argument.
EMPTY = {
    **{
        f"get-{name}": name
        for name in [
            "accounting-profile-information",
            "isis-adjacency-information",
            "isis-database-information",
            "ldp-neighbor-information",
            "mpls-lsp-information",
            "ospf-interface-information",
            "ospf-neighbor-information",
            "ospf3-neighbor-information",
            "probe-results",
            "rsvp-neighbor-information",
            "snmp-v3-general-information",
        ]
    },
    "get-lacp-interface-information": "lacp-interface-information-list",
    "get-stp-bridge-information": "stp-bridge",
    "get-system-core-dumps": "directory-list",
}
# The answer to every RPC, by its tag; any other is a syntax error, as on Junos: clients ask some to find out whom they
# talk to, such as get-virtual-chassis-information and get-chassis-cluster-status.
OPERATIONS: Mapping[str, Answer] = {
    **{command.rpc: command.answer for command in (*COMMANDS.values(), *REQUESTS)},
    **{rpc: partial(_empty, tag) for rpc, tag in EMPTY.items()},
}
# Of these words a request has one at most.
ALTERNATIVES = (
    {"terse", "brief", "detail", "extensive", "summary", "descriptions"},
    {"inet", "inet6"},
    {"all", "hidden"},
)
NAMES = frozenset(tuple(name.split()) for name in COMMANDS)


def rpc_of(text: str) -> etree._Element:
    """Turn a command, without pipes, into its rpc. Words may be shortened as long as they are unique.

    Raises RpcRefusedError, the syntax error of Junos, with the word that cannot be understood.
    """
    words = text.split()
    names, rest = resolve(words, NAMES)
    for size in range(len(names), 0, -1):
        command = COMMANDS.get(" ".join(names[:size]))
        if command is not None:
            return _rpc(command, [*names[size:], *rest])
    raise _unknown(rest[0] if rest else text.strip())


def resolve(words: Sequence[str], names: Collection[tuple[str, ...]]) -> tuple[list[str], list[str]]:
    """Split words into those of a command's name, in full, and the rest.

    Raises RpcRefusedError for an ambiguous word.
    """
    resolved: list[str] = []
    for word in words:
        at = len(resolved)
        nexts = {name[at] for name in names if len(name) > at and list(name[:at]) == resolved}
        fitting = sorted(name for name in nexts if name.startswith(word))
        if word not in nexts and len(fitting) > 1 and tuple(resolved) not in names:
            raise refusal(f"'{word}' is ambiguous: {', '.join(fitting)}", element=word)
        if word not in nexts and len(fitting) != 1:
            break
        resolved.append(word if word in nexts else fitting[0])
    return resolved, list(words[len(resolved) :])


def _unknown(word: str) -> RpcRefusedError:
    return refusal("syntax error", element=word)


def _rpc(command: ShowCommand, words: list[str]) -> etree._Element:
    made = etree.Element(command.rpc)
    places = list(command.places)
    rest = iter(words)
    for word in rest:
        fitting = [name for name in command.options if name.startswith(word)]
        option = word if word in command.options else fitting[0] if len(fitting) == 1 else ""
        if option:
            value = next(rest, None) if command.options[option] else ""
            if value is None:
                raise refusal("syntax error: a value is missing", element=word)
            etree.SubElement(made, option).text = value
        elif places:
            etree.SubElement(made, places.pop(0)).text = word
        else:
            raise _unknown(word)
    return made


def next_options(names: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the options that can follow a command and words behind it, and `<PLACE>` for an argument by position."""
    command = COMMANDS.get(" ".join(names))
    if command is None:
        return []
    try:
        given = {str(child.tag) for child in _rpc(command, list(words))}
    except RpcRefusedError:
        return []
    taken = given.union(*(group for group in ALTERNATIVES if group & given))
    places = [f"<{place}>" for place in command.places if place not in given]
    return [*(option for option in command.options if option not in taken), *places[:1]]


def check_arguments(rpc: etree._Element) -> None:
    """Refuse an argument that an rpc does not take, one that is there twice, and a second length of the answer.

    Raises RpcRefusedError, the syntax error of Junos, with that argument.
    """
    tag = str(rpc.tag)
    if tag in EMPTY:
        return
    # Several commands stand for an rpc: the one whose places the request fills.
    known = max(
        (one for one in (*COMMANDS.values(), *REQUESTS) if one.rpc == tag),
        key=lambda one: sum(rpc.find(name) is not None for name in one.places),
    )
    takes = {*known.options, *known.places, *MORE_ARGUMENTS.get(tag, "").split()}
    seen: set[str] = set()
    for child in rpc.iterchildren(etree.Element):
        level = child.tag == "level" and (child.text or "").strip() in (*LENGTHS.split(), "terse")
        name = (child.text or "").strip() if level else str(child.tag)
        if name not in takes or name in seen or any(name in words and seen & words for words in ALTERNATIVES):
            raise _unknown(name)
        seen.add(name)
