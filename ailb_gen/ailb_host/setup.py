"""Tables, rules and routes of the NICs, as `ailb-net` sets them, on the interfaces that are really there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .addresses import usable_addresses
from .files import PlannedColor, PlannedServer, slaac_address
from .interfaces import Choice
from .iproute import change, command_text, query, quoted

# What the kernel and other programs add to a route without changing where it leads.
ADDED = frozenset({"table", "protocol", "metric", "metrics", "flags", "pref", "expires"})


class Kernel(NamedTuple):
    """Routes by table, without what is added to them, and rules by priority, without who set them."""

    routes: dict[str, list[dict[str, Any]]]
    rules: dict[int, list[dict[str, Any]]]


class SetupStep(NamedTuple):
    """A difference of a NIC, and the commands of `ip` that remove it: if one fails, the others cannot help."""

    nic: str
    reason: str
    commands: Sequence[Sequence[str]]


def read_kernel() -> Kernel:
    """Return what the kernel has now. Raises HostError."""
    routes: dict[str, list[dict[str, Any]]] = {}
    for row in query("-6", "route", "show", "table", "all"):
        routes.setdefault(row.get("table", ""), []).append(_without(row, ADDED))
    rules: dict[int, list[dict[str, Any]]] = {}
    for row in query("-6", "rule", "show"):
        rules.setdefault(row["priority"], []).append(_without(row, {"protocol"}))
    return Kernel(routes, rules)


def _without(row: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}


def steps(choices: Iterable[Choice], able: set[str], kernel: Kernel) -> Iterator[SetupStep]:
    """Iterate over all that differs from the plan; routes only of the interfaces that are able to have some."""
    for nic, interface, _ in choices:
        for color in nic.colors:
            found = [_routes(nic.name, color, interface.name, kernel)] if interface.name in able else []
            yield from (step for step in (*found, _rules(nic.name, color, kernel)) if step.commands)


def _routes(nic: str, color: PlannedColor, device: str, kernel: Kernel) -> SetupStep:
    """Leave what is right alone; the default route comes last, because its gateway is in the prefix."""
    table, prefix = str(color.table), str(color.prefix)
    routes: dict[str, dict[str, Any]] = {
        prefix: {"dst": prefix, "dev": device},
        "default": {"dst": "default", "gateway": str(color.gateway), "dev": device},
    }
    observed = kernel.routes.get(table, [])
    right = {to for to, route in routes.items() if [one for one in observed if one["dst"] == to] == [route]}
    wrong = dict.fromkeys(one["dst"] for one in observed if one["dst"] not in right)
    commands = [("-6", "route", "flush", "table", table, "exact", to) for to in wrong]
    missing = [_words(route) for to, route in routes.items() if to not in right]
    found, expected = (" and ".join(map(_text, some)) or "nothing" for some in (observed, routes.values()))
    return SetupStep(
        nic,
        f"table {table} ({color.name}) must hold {expected}, it holds {found}",
        [*commands, *(("-6", "route", "add", *words, "table", table) for words in missing)],
    )


def _rules(nic: str, color: PlannedColor, kernel: Kernel) -> SetupStep:
    expected = _rule(color)
    observed = kernel.rules.get(color.priority, [])
    reason = f"rule {color.priority} ({color.name}) must be {_text(expected)}, "
    if observed == [expected]:
        return SetupStep(nic, reason, [])
    number = str(color.priority)
    commands = [("-6", "rule", "del", "priority", number) for _ in observed]
    added = ("-6", "rule", "add", *_words(expected), "priority", number)
    found = " and ".join(map(_text, observed))
    return SetupStep(nic, f"{reason}{f'it is {found}' if found else 'there is none'}", [*commands, added])


def _rule(color: PlannedColor) -> dict[str, Any]:
    source, length = str(color.prefix.network_address), color.prefix.prefixlen
    return {"priority": color.priority, "src": source, "srclen": length, "table": str(color.table)}


def _words(row: dict[str, Any]) -> list[str]:
    """Return a route or a rule in the words that `ip` takes."""
    names = {"dst": [], "gateway": ["via"], "src": ["from"], "table": ["lookup"]}
    row = {**row, "src": f"{row['src']}/{row['srclen']}"} if "srclen" in row else row
    words = []
    for key, value in row.items():
        if key == "nexthops":
            words += [word for hop in value for word in ("nexthop", *_words(_without(hop, ADDED)))]
        elif key not in ("priority", "srclen"):
            words += [*names.get(key, [key]), *([] if value is None else [str(value)])]
    return words


def _text(row: dict[str, Any]) -> str:
    return " ".join(map(quoted, _words(row)))


def removal(host: PlannedServer, kernel: Kernel) -> Iterator[SetupStep]:
    """Iterate over what is there of the plan's rules and tables, on whatever interface."""
    for nic in host.nics:
        for color in nic.colors:
            table, priority = str(color.table), str(color.priority)
            rule = ("-6", "rule", "del", "from", str(color.prefix), "lookup", table, "priority", priority)
            flush = ("-6", "route", "flush", "table", table)
            commands = [rule for one in kernel.rules.get(color.priority, ()) if one == _rule(color)]
            yield SetupStep(nic.name, "", [*commands, *([flush] if table in kernel.routes else ())])


def run(found: Iterable[SetupStep]) -> Iterator[str]:
    """Run the commands, and yield a line for every step that fails. Raises HostError without the right to."""
    for step in found:
        for words in step.commands:
            error = change(words)
            if error:
                yield f"{step.nic}: {command_text(words)}: {error}; correct it, and run ailb-host setup again"
                break


def addressless(choices: Iterable[Choice], able: set[str], root: str) -> Iterator[str]:
    """Yield a line for every color of which an interface has no address that it can use. Raises HostError."""
    usable = usable_addresses(root)
    for nic, interface, _ in choices:
        for color in nic.colors if interface.name in able else ():
            if slaac_address(color.prefix, interface.macs[1]) not in usable.get(interface.name, ()):
                yield f"{nic.name}: no usable address in {color.prefix} ({color.name}); is the leaf advertising it?"
