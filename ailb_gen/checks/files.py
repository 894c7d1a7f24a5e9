"""The checks of files, topology and cabling (AILB0xx): everything is there, readable, and says the same."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.checks.model import Check, Severity
from ailb_gen.checks.plan import explicit_ends, wanted_links
from ailb_gen.checks.tally import Tally
from ailb_gen.checks.wanted import wanted_hosts
from ailb_gen.errors import IntentError, Place
from ailb_gen.intent.csvfile import read_text
from ailb_gen.network.topology import CABLING, TOPOLOGY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.model import Result
    from ailb_gen.checks.plan import Plan
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.topology import DeviceFacts, Topology

MANIFEST = "manifest.json"
AGAIN = "Generate the fabric again, and look at the difference before you commit it."

PRESENT = Check(
    "AILB001",
    Severity.ERROR,
    "every switch of the intent has a file",
    "A switch without a file keeps its old configuration, or none.",
    AGAIN,
)
READABLE = Check(
    "AILB002",
    Severity.ERROR,
    "every file can be read and is what its name says",
    "What cannot be read cannot be pushed, and nothing about it was checked.",
    "Correct the syntax at the place given, or generate the file again.",
)
STRAY = Check(
    "AILB003",
    Severity.ERROR,
    "every switch file belongs to one switch of the intent",
    "A stale file of a switch that was renamed or removed is pushed to somebody, one day.",
    "Delete the file, or add the switch to the intent.",
)
HOST_NAME = Check(
    "AILB004",
    Severity.ERROR,
    "host-name is the name of the file",
    "The file would be pushed to one switch and make it call itself another; LLDP shows wrong neighbors.",
    "Correct system host-name.",
)
UNCHANGED = Check(
    "AILB005",
    Severity.WARNING,
    "every file is as it was generated, by the sha256 in manifest.json",
    "What was edited by hand is lost with the next generate, and nobody has reviewed it in the intent.",
    "Put the change into the intent, extra_config or a template, and generate again.",
)
CABLES = Check(
    "AILB006",
    Severity.ERROR,
    "cabling.csv and topology.json have the same cables, and no port has two",
    "Cables are pulled by one file and judged by the other.",
    AGAIN,
)
DESCRIPTIONS = Check(
    "AILB007",
    Severity.ERROR,
    "descriptions of ports name what is cabled to them",
    "A wrong description, or a cable in the wrong port, sends the next engineer to the wrong link.",
    "Move the cable in the files, or correct the description.",
)
TOPOLOGY_AGREES = Check(
    "AILB008",
    Severity.ERROR,
    "topology.json says of every device what the intent asks and the device's own file says",
    "Other tools read the topology; what it says wrongly they do wrongly.",
    AGAIN,
)
CABLING_AS_ASKED = Check(
    "AILB009",
    Severity.ERROR,
    "every leaf is cabled to every spine, and every NIC to the leaf of its rail, as often as the intent asks",
    "A missing or moved cable leaves a color without a path, or puts a GPU on another rail.",
    AGAIN,
)
CHECKS = (
    PRESENT, READABLE, STRAY, HOST_NAME, UNCHANGED, CABLES, DESCRIPTIONS, TOPOLOGY_AGREES, CABLING_AS_ASKED,
)  # fmt: skip
KINDS = {
    "unreadable": READABLE,
    "host-folder": READABLE,
    "stray-file": STRAY,
    "cabling": CABLES,
    "description": DESCRIPTIONS,
}


def run(wanted: Plan, network: Network, topology: Topology, root: Path) -> Iterator[Result]:
    """Run all checks of files; `root` is the artifact directory."""
    tally = Tally(CHECKS)
    for fault in network.faults:
        tally.add(KINDS[fault.kind], fault.scope, fault.message, fault.place)
    _check_switches(wanted, network, tally)
    _check_manifest(root, tally)
    _check_topology(wanted, network, topology, tally)
    _check_links(wanted, network, tally)
    _check_nics(wanted, network, tally)
    tally.look(CABLES, len(network.links) + len(network.attachments))
    tally.look(DESCRIPTIONS, 2 * len(network.links) + len(network.attachments))
    yield from tally.results()


def _check_switches(wanted: Plan, network: Network, tally: Tally) -> None:
    unreadable = {fault.scope for fault in network.faults if fault.kind == "unreadable"}
    for name in wanted.speakers:
        tally.look(PRESENT)
        if name not in network.switches and name not in unreadable:
            tally.add(PRESENT, name, f"there is no switches/{name}.conf or .set")
    tally.look(READABLE, len(network.switches))
    for name, switch in network.switches.items():
        tally.look(STRAY)
        tally.look(HOST_NAME)
        if name not in wanted.speakers:
            tally.add(STRAY, name, "the intent has no switch of this name", Place(switch.file))
        if switch.host_name != name:
            place = Place(switch.file, switch.host_name_line or 1)
            said = f"is {switch.host_name!r}" if switch.host_name else "is missing"
            tally.add(HOST_NAME, name, f"host-name {said}; it must be {name}", place, name, switch.host_name)


def _check_manifest(root: Path, tally: Tally) -> None:
    place = Place(MANIFEST)
    try:
        data = json.loads(read_text(root / MANIFEST, MANIFEST))
        files = {str(name): str(digest) for name, digest in data["files"].items()}
    except (IntentError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = error.problems[0].reason if isinstance(error, IntentError) else "not what generate writes"
        tally.add(UNCHANGED, MANIFEST, f"the manifest cannot be used ({reason}): nothing was compared", place)
        return
    for name, digest in files.items():
        tally.look(UNCHANGED)
        try:
            found = _digest(root / name)
        except OSError as error:
            tally.add(UNCHANGED, name, f"cannot be read: {error.strerror}", Place(name))
            continue
        if not found:
            tally.add(UNCHANGED, name, "generated, but not there any more", place)
        elif found != digest:
            tally.add(UNCHANGED, name, "is not as it was generated", Place(name))


def _digest(path: Path) -> str:
    """Return what the manifest holds of a path: the sha256 of a file, the target of a link; empty for nothing."""
    if path.is_symlink():
        return f"link:{path.readlink()}"
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _check_topology(wanted: Plan, network: Network, topology: Topology, tally: Tally) -> None:
    if not topology.devices:
        return
    listed = {facts.name: facts for facts in topology.devices}
    for name in wanted.speakers.keys() - listed.keys():
        tally.add(TOPOLOGY_AGREES, name, "the topology does not list this switch", Place(TOPOLOGY))
    for facts in topology.devices:
        if facts.role == "server":
            continue
        for what, expected, found in _facts(wanted, network, facts):
            tally.look(TOPOLOGY_AGREES)
            if expected != found:
                place = Place(TOPOLOGY, facts.line)
                message = f"{what} is {found}; it must be {expected}"
                tally.add(TOPOLOGY_AGREES, facts.name, message, place, expected, found)
    asked = tuple((color.name, color.value) for color in wanted.colors)
    if topology.colors != asked:
        tally.add(
            TOPOLOGY_AGREES, TOPOLOGY, "the colors are not those of the intent", Place(TOPOLOGY), asked, topology.colors
        )


def _facts(wanted: Plan, network: Network, facts: DeviceFacts) -> Iterator[tuple[str, object, object]]:
    """Give (what, expected, found) for everything that the topology says of a switch."""
    asked = wanted.speakers.get(facts.name)
    switch = network.switches.get(facts.name)
    if asked is not None:
        yield "the role", asked.role, facts.role
        yield "the AS number", asked.asn, facts.asn
        yield "the router-id", asked.router_id, facts.router_id
        if asked.role == "leaf":
            yield "the stripe", asked.stripe, facts.stripe
            yield "the rail", asked.rail, facts.rail
            yield "the VLAN", asked.vlan, facts.vlan
            prefixes = tuple(
                (str(prefix), color.name) for prefix, color in zip(asked.prefixes, wanted.colors, strict=True)
            )
            yield "the row of prefixes", prefixes, tuple((prefix, color) for prefix, _, color in facts.prefixes)
    if switch is not None:
        yield "the AS number in the switch's file", facts.asn, switch.asn
        yield "the router-id in the switch's file", facts.router_id, switch.router_id


def _check_links(wanted: Plan, network: Network, tally: Tally) -> None:
    """Compare the links of every pair with the intent: how many, of which colors, at which ports if it says."""
    found = Counter((cable.a.device, cable.b.device) for cable in network.links)
    colors: dict[tuple[str, str], list[str]] = {}
    for cable in network.links:
        colors.setdefault((cable.a.device, cable.b.device), []).append(cable.color)
    asked = wanted_links(wanted)
    for pair, expected in asked.items():
        tally.look(CABLING_AS_ASKED)
        scope, count = f"{pair[0]} {pair[1]}", found[pair]
        if count != len(expected):
            message = f"{count} cables between {pair[0]} and {pair[1]}; the intent asks for {len(expected)}"
            tally.add(CABLING_AS_ASKED, scope, message, Place(CABLING), len(expected), count)
        elif any(colors[pair]) and sorted(colors[pair]) != sorted(expected):
            message = f"the cables are {', '.join(colors[pair])}; the intent asks for {', '.join(expected)}"
            tally.add(CABLING_AS_ASKED, scope, message, Place(CABLING), ", ".join(expected), ", ".join(colors[pair]))
    for cable in network.links:
        if (cable.a.device, cable.b.device) not in asked:
            scope = f"{cable.a.device} {cable.a.port}"
            message = f"a cable to {cable.b}; the intent has no link between these switches"
            tally.add(CABLING_AS_ASKED, scope, message, Place(CABLING, cable.line or 1))
    ends = {end for cable in network.links for end in (cable.a, cable.b)}
    for (device, peer), ports in explicit_ends(wanted).items():
        for end in ports:
            tally.look(CABLING_AS_ASKED)
            if end not in ends:
                message = f"the intent wants {end.port} cabled to {peer}; no cable ends there"
                tally.add(CABLING_AS_ASKED, f"{device} {end.port}", message, Place(CABLING))


def _check_nics(wanted: Plan, network: Network, tally: Tally) -> None:
    """Compare where every NIC is cabled to with its rail: the n-th NIC belongs to the n-th leaf of its stripe."""
    leaves = {(leaf.stripe, leaf.rail): leaf.name for leaf in wanted.leaves}
    hosts = wanted_hosts(wanted.fabric)
    for name, host in hosts.items():
        for rail, nic in enumerate(host.nics):
            tally.look(CABLING_AS_ASKED)
            end, leaf = network.attachments.get((name, nic.name)), leaves[host.stripe, rail]
            scope = f"{name} {nic.name}"
            if end is None:
                tally.add(CABLING_AS_ASKED, scope, f"no cable; it belongs to {leaf}", Place(CABLING), leaf)
            elif end.device != leaf:
                message = f"cabled to {end}; NIC {rail} belongs to {leaf}"
                tally.add(CABLING_AS_ASKED, scope, message, Place(CABLING), leaf, end.device)
    for server, nic_name in network.attachments:
        if server not in hosts:
            tally.add(CABLING_AS_ASKED, f"{server} {nic_name}", "the intent has no server of this name", Place(CABLING))
