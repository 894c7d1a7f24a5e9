"""Show commands: which rpc each stands for, its arguments, and how its reply looks as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from lxml import etree

from ailb_gen.emulator.operations import text_routing, text_system
from ailb_gen.emulator.subject import RpcFault

Show = Callable[[etree._Element], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Command:
    """A show command.

    `places` are arguments that follow by position, `options` those that follow by name; their values tell whether a
    value follows the name.
    """

    rpc: str
    show: Show
    places: tuple[str, ...] = ()
    options: Mapping[str, bool] = field(default_factory=dict)


LEVELS = {"terse": False, "brief": False, "detail": False, "extensive": False}
ROUTE = {**LEVELS, "table": True, "protocol": True, "hidden": False, "all": False, "exact": False}
INSTANCE = {"instance": True}
SUMMARY = {**INSTANCE, "group": True, "auto-discovered": False}
ROUTES = "get-route-information"
PORTS = {**LEVELS, "media": False, "statistics": False, "descriptions": False}

COMMANDS: Mapping[str, Command] = {
    "show version": Command("get-software-information", text_system.version, options={"brief": False}),
    "show system information": Command("get-system-information", text_system.information),
    "show system uptime": Command("get-system-uptime-information", text_system.uptime),
    "show system commit": Command("get-commit-information", text_system.commits),
    "show system alarms": Command("get-system-alarm-information", text_system.alarms),
    "show chassis alarms": Command("get-alarm-information", text_system.alarms),
    "show chassis hardware": Command("get-chassis-inventory", text_system.chassis, options={**LEVELS, "models": False}),
    "show bgp summary": Command("get-bgp-summary-information", text_routing.bgp_summary, options=SUMMARY),
    "show bgp neighbor": Command(
        "get-bgp-neighbor-information", text_routing.bgp_neighbor, places=("neighbor-address",), options=INSTANCE
    ),
    "show bfd session": Command("get-bfd-session-information", text_routing.bfd, options=LEVELS),
    "show route": Command(ROUTES, text_routing.routes, places=("destination",), options=ROUTE),
    "show route advertising-protocol": Command(
        ROUTES, text_routing.routes, places=("advertising-protocol-name", "neighbor", "destination"), options=ROUTE
    ),
    "show route receive-protocol": Command(
        ROUTES, text_routing.routes, places=("receive-protocol-name", "peer", "destination"), options=ROUTE
    ),
    "show ipv6 router-advertisement": Command(
        "get-ipv6-ra-information", text_system.router_advertisements, options={"interface": True}
    ),
    "show ipv6 neighbors": Command(
        "get-ipv6-nd-information", text_system.discovered, options={"interface": True}
    ),
    "show interfaces": Command(
        "get-interface-information", text_system.interfaces, places=("interface-name",), options=PORTS
    ),
    "show lldp neighbors": Command("get-lldp-neighbors-information", text_system.lldp),
    "show lldp neighbors interface": Command(
        "get-lldp-interface-neighbors", text_system.lldp, places=("interface-device",)
    ),
    "show vlans": Command("get-vlan-information", text_system.vlans, options=LEVELS),
}  # fmt: skip
LONGEST = max(len(name.split()) for name in COMMANDS)


def parse(text: str) -> tuple[Command, etree._Element]:
    """Turn a command, without pipes, into its rpc.

    Raises RpcFault, the syntax error of Junos, with the word that cannot be understood.
    """
    words = text.split()
    for size in range(min(LONGEST, len(words)), 0, -1):
        command = COMMANDS.get(" ".join(words[:size]))
        if command is not None:
            return command, _rpc(command, words[size:])
    raise _unknown(next((word for at, word in enumerate(words) if not _begins(words[: at + 1])), text.strip()))


def _begins(words: list[str]) -> bool:
    front = " ".join(words)
    return any(name == front or name.startswith(f"{front} ") for name in COMMANDS)


def _unknown(word: str) -> RpcFault:
    return RpcFault("syntax error", bad_element=word)


def _rpc(command: Command, words: list[str]) -> etree._Element:
    made = etree.Element(command.rpc)
    places = list(command.places)
    rest = iter(words)
    for word in rest:
        if word in command.options:
            value = next(rest, None) if command.options[word] else ""
            if value is None:
                raise RpcFault("syntax error: a value is missing", bad_element=word)
            etree.SubElement(made, word).text = value
        elif places:
            etree.SubElement(made, places.pop(0)).text = word
        else:
            raise _unknown(word)
    return made
