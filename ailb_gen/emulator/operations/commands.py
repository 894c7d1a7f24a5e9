"""Show commands: the rpc that each stands for, and its arguments; which arguments an rpc takes.

Source: Juniper, Junos CLI Reference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree

from ailb_gen.emulator.messages import RefusedError, refusal


@dataclass(frozen=True, slots=True)
class Command:
    """A show command.

    `places` are arguments that follow by position, `options` those that follow by name; their values say whether a
    value follows the name. An rpc whose name has dots is none of Junos's: the command has none, or none that is known.
    """

    rpc: str
    options: Mapping[str, bool] = field(default_factory=dict)
    places: tuple[str, ...] = ()


LENGTHS = {"brief": False, "detail": False, "extensive": False}
LEVELS = {"terse": False, **LENGTHS}
SUMMED = {**LENGTHS, "summary": False}
EXCHANGED = {**LENGTHS, "table": True, "hidden": False, "all": False, "exact": False}
ROUTE = {**EXCHANGED, **dict.fromkeys(("terse", "active-path", "inactive-path"), False), "protocol": True}
INSTANCE = {"instance": True, "exact-instance": True}
# Every neighbor here is discovered: this leaves none out. Both spellings are those of Junos, of different releases.
DISCOVERED = {"auto-discovered": False, "autodiscovered": False}
# How Junos selects neighbors by their color is not public; this is the name of the statement.
COLOR = {"fabric-color": True}
SUMMARY = {**INSTANCE, **COLOR, "group": True, **DISCOVERED}
NEIGHBOR = {**INSTANCE, **COLOR, **DISCOVERED}
GROUP = {**INSTANCE, "brief": False, "detail": False, "summary": False}
ROUTES = "get-route-information"
PORTS = {**LEVELS, "media": False, "statistics": False, "descriptions": False, "routing-instance": True}

PROBES = {
    **dict.fromkeys(("source", "ttl", "wait", "routing-instance", "interface"), True),
    **dict.fromkeys(("inet", "inet6", "no-resolve"), False),
}
PING = {**PROBES, "size": True, "count": True, "interval": True, "rapid": False, "do-not-fragment": False}

COMMANDS: Mapping[str, Command] = {
    "show version": Command("get-software-information", {"brief": False}),
    "show system information": Command("get-system-information"),
    "show system uptime": Command("get-system-uptime-information"),
    "show system commit": Command("get-commit-information"),
    "show system alarms": Command("get-system-alarm-information"),
    "show chassis alarms": Command("get-alarm-information"),
    "show chassis hardware": Command("get-chassis-inventory", {"detail": False}),
    "show bgp summary": Command("get-bgp-summary-information", SUMMARY),
    "show bgp group": Command("get-bgp-group-information", GROUP, ("group-name",)),
    "show bgp neighbor": Command("get-bgp-neighbor-information", NEIGHBOR, ("neighbor-address",)),
    "show bfd session": Command("get-bfd-session-information", {**SUMMED, "address": True, "discriminator": True}),
    "show route": Command(ROUTES, ROUTE, ("destination",)),
    "show route advertising-protocol": Command(
        ROUTES, EXCHANGED, ("advertising-protocol-name", "neighbor", "destination")
    ),
    "show route receive-protocol": Command(ROUTES, EXCHANGED, ("receive-protocol-name", "peer", "destination")),
    "show route forwarding-table": Command(
        "get-forwarding-table-information", {"family": True, "table": True, "destination": True}
    ),
    "show ipv6 router-advertisement": Command("get-ipv6-ra-information", {"interface": True}),
    "show ipv6 neighbors": Command("get-ipv6-nd-information", {"interface": True}),
    "show interfaces": Command("get-interface-information", PORTS, ("interface-name",)),
    "show lldp neighbors": Command("get-lldp-neighbors-information"),
    "show lldp neighbors interface": Command("get-lldp-interface-neighbors", places=("interface-device",)),
    "show arp": Command("get-arp-table-information", {"no-resolve": False}),
    "show ethernet-switching table": Command("get-ethernet-switching-table-information", SUMMED),
    "show chassis environment": Command("get-environment-information"),
    "show chassis fpc": Command("get-fpc-information", {"detail": False}, ("fpc-slot",)),
    "show chassis routing-engine": Command("get-route-engine-information"),
    "show chassis power": Command("get-power-usage-information"),
    "show chassis power detail": Command("get-power-usage-information-detail"),
    "show interfaces diagnostics optics": Command(
        "get-interface-optics-diagnostics-information", places=("interface-name",)
    ),
    "show lldp local-information": Command("get-lldp-local-info"),
    "show ntp associations": Command("get-ntp-associations-information", {"no-resolve": False}),
    "show route instance": Command("get-instance-information", {**SUMMED, "operational": False}, ("instance-name",)),
    "show route summary": Command("get-route-summary-information", {"table": True}),
    "show system memory": Command("get-system-memory-information"),
    "show system storage": Command("get-system-storage"),
    "show system users": Command("get-system-users-information", {"no-resolve": False}),
    "show interfaces queue": Command(
        "get-interface-queue-information", {"forwarding-class": True}, ("interface-name",)
    ),
    "show class-of-service": Command("get-cos-information"),
    "show class-of-service classifier": Command("get-cos-classifier-information", {"name": True}),
    "show class-of-service forwarding-class": Command("get-cos-forwarding-class-information"),
    "show class-of-service interface": Command("get-cos-interface-map-information", places=("interface-name",)),
    "show class-of-service scheduler-map": Command("get-cos-scheduler-map-information", places=("name",)),
    "show chassis fpc pic-status": Command("get-pic-information", places=("slot",)),
    "show chassis pic": Command("get-pic-detail", {"fpc-slot": True, "pic-slot": True}),
    "show ddos-protection statistics": Command("show.ddos-protection.statistics"),
    "show firewall": Command("get-firewall-information"),
    "show firewall filter": Command("get-firewall-information", places=("filtername",)),
    "show krt queue": Command("show.krt.queue"),
    "show krt state": Command("get-krt-state"),
    "show log": Command("get-log", places=("filename",)),
    "show policy": Command("show.policy", places=("policy-name",)),
    "show system processes": Command("get-system-process-information", {**LENGTHS, "summary": False}),
    "clear bgp neighbor": Command("clear-bgp-neighbor", dict.fromkeys(("soft", "soft-inbound"), False), ("neighbor",)),
    "monitor interface traffic": Command("monitor.interface.traffic"),
    "clear interfaces statistics": Command("clear-interfaces-statistics", places=("interface-name",)),
    "restart": Command("restart.process", places=("process",)),
    "file list": Command("file-list", places=("path",)),
    "file show": Command("file-show", places=("filename",)),
    "ping": Command("ping", PING, ("host",)),
    "traceroute": Command("traceroute", PROBES, ("host",)),
    "show vlans": Command("get-vlan-information", {"brief": False}, ("vlan-name",)),
}
# What only requests have, by rpc: arguments that no command here has, or that it has by another name.
REQUESTS = {
    "file-list": {"detail"},
    "get-arp-table-information": {"expiration-time"},
    "get-checksum-information": {"path", "md5", "sha1", "sha-256"},
    "get-commit-revision-information": {"detail"},
    "get-directory-usage-information": {"path", "depth"},
    "get-fpc-information": {"extensive"},
    "get-lldp-interface-neighbors": {"interface-name"},
    "get-software-information": {"node"},
    "get-system-nodes-information": set(),
    "get-temperature-threshold-information": set(),
    "get-xntpd-peers-information": {"no-resolve"},
}
# Of these words a request has one at most.
ALTERNATIVES = (
    {"terse", "brief", "detail", "extensive", "summary", "descriptions"},
    {"inet", "inet6"},
    {"all", "hidden"},
)
NAMES = frozenset(tuple(name.split()) for name in COMMANDS)


def parse(text: str) -> tuple[Command, etree._Element]:
    """Turn a command, without pipes, into its rpc. Words may be shortened as long as they are unique.

    Raises RefusedError, the syntax error of Junos, with the word that cannot be understood.
    """
    words = text.split()
    names, rest = resolve(words, NAMES)
    for size in range(len(names), 0, -1):
        command = COMMANDS.get(" ".join(names[:size]))
        if command is not None:
            return command, _rpc(command, [*names[size:], *rest])
    raise _unknown(rest[0] if rest else text.strip())


def resolve(words: Sequence[str], names: Collection[tuple[str, ...]]) -> tuple[list[str], list[str]]:
    """Split words into those of a command's name, in full, and the rest. Raises RefusedError for an ambiguous word."""
    found: list[str] = []
    for word in words:
        at = len(found)
        nexts = {name[at] for name in names if len(name) > at and list(name[:at]) == found}
        fitting = sorted(name for name in nexts if name.startswith(word))
        if word not in nexts and len(fitting) > 1 and tuple(found) not in names:
            raise refusal(f"'{word}' is ambiguous: {', '.join(fitting)}", element=word)
        if word not in nexts and len(fitting) != 1:
            break
        found.append(word if word in nexts else fitting[0])
    return found, list(words[len(found) :])


def _unknown(word: str) -> RefusedError:
    return refusal("syntax error", element=word)


def _rpc(command: Command, words: list[str]) -> etree._Element:
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
    except RefusedError:
        return []
    taken = given.union(*(group for group in ALTERNATIVES if group & given))
    places = [f"<{place}>" for place in command.places if place not in given]
    return [*(option for option in command.options if option not in taken), *places[:1]]


def check_arguments(rpc: etree._Element) -> None:
    """Refuse an argument that an rpc does not take, one that is there twice, and a second length of the answer.

    Raises RefusedError, the syntax error of Junos, with that argument.
    """
    tag = str(rpc.tag)
    commands = [command for command in COMMANDS.values() if command.rpc == tag]
    if not commands and tag not in REQUESTS:
        # What a device has nothing of: nothing is left out.
        return
    # Several commands stand for an rpc: the one whose places the request fills.
    known = max(commands, key=lambda one: sum(rpc.find(name) is not None for name in one.places), default=Command(tag))
    takes = {*known.options, *known.places, *REQUESTS.get(tag, ())}
    seen: set[str] = set()
    for child in rpc.iterchildren(etree.Element):
        level = child.tag == "level" and (child.text or "").strip() in LEVELS
        name = (child.text or "").strip() if level else str(child.tag)
        if name not in takes or name in seen or any(name in words and seen & words for words in ALTERNATIVES):
            raise _unknown(name)
        seen.add(name)
