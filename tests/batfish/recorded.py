"""What a real Batfish service answered: its rows, networks of the files that they are about, and what stands for what.

The small fabrics that were recorded are laid out alike: leaf l has a port et-0/0/s-1 to every spine s, which has a
port et-0/0/l-1 to it; spine k has color k, and prefix k of leaf l is fc00:1:l:k::/64.
"""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ailb_gen.addresses import prefix_value
from ailb_gen.batfish.numbering import Numbering
from ailb_gen.batfish.ports import ExpectedPorts
from ailb_gen.batfish.shadow import Shadow, ShadowSwitch
from ailb_gen.checks.catalogue import WITH_BATFISH, checks_of
from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.model import Findings
from ailb_gen.network.fabric import Cable, End
from ailb_gen.network.policy import Community
from ailb_gen.network.read import read_network
from tests.batfish.fake.near import Near
from tests.conftest import intent_of, need_shared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ailb_gen.addresses import Prefix
    from ailb_gen.batfish.answers import Answer, Row
    from ailb_gen.checks.model import Finding
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Switch

FILES = ("a_v6", "d_v6_clean", "d_v6_bad")
SHADOWS = ("c_2x4_lp", "d_v4_clean", "d_v4la_bad", "mut_m5_no_final_reject")
GOOD, BAD, LEAK = "d_v4_clean", "d_v4la_bad", "mut_m5_no_final_reject"
# Those whose sessions all come up: what is wrong with one of them is that a leaf leaks.
CLEAN = ("c_2x4_lp", GOOD, LEAK)
LEAVES = (1, 2)
INTERFACES = "interfaceProperties(properties='Active,MTU,Access_VLAN,All_Prefixes,Description')"
ROUTES = "routes(nodes='leaf2', protocols='bgp')"
OWNERS = "ipOwners(duplicatesOnly=True)"
RIB = "bgpRib(nodes='spine1')"
AS_RECORDED = {"interfaceProperties": INTERFACES, "routes": ROUTES, "ipOwners": OWNERS, "bgpRib": RIB}


@cache
def recorded(name: str) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = json.loads(need_shared(f"batfish-rows/{name}.json").read_text("utf-8"))
    return found


def rows(name: str, question: str) -> list[Row]:
    """Return all rows of an answer, to be changed at will."""
    answer = recorded(name)[question]
    assert answer["row_count"] == len(answer["rows"]), f"{name}: not all rows of {question} are recorded"
    return deepcopy(answer["rows"])


@cache
def network(name: str) -> Network:
    """Read a recorded snapshot's files; they keep their names in the snapshot."""
    with TemporaryDirectory() as folder:
        switches = Path(folder) / "switches"
        switches.mkdir()
        for file in need_shared(f"batfish-rows/snapshots/{name}/configs").iterdir():
            shutil.copyfile(file, switches / f"{file.stem}.conf")
        found = read_network(Path(folder), lambda written, tree: None).network
    return replace(
        found,
        switches={name: replace(switch, file=f"switches/{name}.cfg") for name, switch in found.switches.items()},
    )


def changed(found: Network, name: str, **values: Any) -> Network:
    """Return a network one switch of which is different."""
    switch: Switch = replace(found.switches[name], **values)
    return replace(found, switches={**found.switches, name: switch})


def with_communities(found: Network, name: str, **members: tuple[str, ...]) -> Network:
    """Return a network one switch of which has other communities."""
    return changed(found, name, communities={word: Community(word, values) for word, values in members.items()})


def told(finding: Finding) -> str:
    """Write a finding as a line: check, device, line of its file, part, message, what was expected and observed."""
    place = finding.place
    where = "" if place is None else f"({place.file}:{place.line})"
    if place is not None and place.file == f"switches/{finding.device}.cfg":
        where = f":{place.line}"
    values = f" [{finding.expected}, {finding.found}]" if finding.expected or finding.found else ""
    return (
        f"{finding.check} {finding.device}{where}{f' {finding.part}' * bool(finding.part)}: {finding.message}{values}"
    )


def judged(judge: Callable[..., None], *arguments: object) -> list[str]:
    """Return what a function adds, in the order of the catalogue."""
    findings = Findings()
    judge(*arguments, findings)
    return [told(one) for result in findings.results(checks_of(WITH_BATFISH)) for one in result.findings]


def examined(judge: Callable[..., None], *arguments: object) -> dict[str, int]:
    """Return how many things a function looks at, by check."""
    findings = Findings()
    judge(*arguments, findings)
    return {result.check.id: result.examined for result in findings.results(checks_of(WITH_BATFISH)) if result.examined}


@dataclass(frozen=True, slots=True)
class Layout:
    """How many spines, and thus colors, a shadow has, and its addresses: `link` is the leaf's on a cable."""

    spines: range
    link: Callable[[int, int], IPv4Address]
    network: Callable[[int, int], IPv4Network]


SMALL = Layout(
    range(1, 3),
    lambda leaf, spine: IPv4Address(f"10.64.{leaf}.{2 * spine}"),
    lambda leaf, color: IPv4Network(f"172.16.{10 * leaf + color}.0/24"),
)
WIDE = Layout(
    range(1, 5),
    lambda leaf, spine: IPv4Address(f"10.64.0.{2 * (4 * (leaf - 1) + spine - 1)}"),
    lambda leaf, color: IPv4Network(f"172.16.{4 * (leaf - 1) + color - 1}.0/24"),
)
LAYOUTS = {"c_2x4_lp": WIDE, "d_v4_clean": SMALL, "d_v4la_bad": SMALL, "mut_m5_no_final_reject": WIDE}


def prefix(leaf: int, color: int) -> Prefix:
    """Return the prefix of a leaf and color."""
    found = prefix_value(f"fc00:1:{leaf}:{color}::/64")
    assert found is not None
    return found


def uplink(leaf: int, spine: int) -> End:
    """Return a leaf's end of a cable."""
    return End(f"leaf{leaf}", f"et-0/0/{spine - 1}")


def downlink(leaf: int, spine: int) -> End:
    """Return a spine's end of a cable."""
    return End(f"spine{spine}", f"et-0/0/{leaf - 1}")


def shadow(name: str) -> Shadow:
    """Return the shadow that a recorded snapshot is; of its switches only the names."""
    layout = LAYOUTS[name]
    pairs = [(leaf, number) for leaf in LEAVES for number in layout.spines]
    numbering = Numbering(
        prefixes={prefix(*pair): layout.network(*pair) for pair in pairs},
        places={(prefix(*pair).value + 1, prefix(*pair)): 1 for pair in pairs},
        links=tuple(
            (Cable(uplink(*pair), downlink(*pair)), layout.link(*pair), layout.link(*pair) + 1) for pair in pairs
        ),
    )
    return Shadow(tuple(ShadowSwitch(switch, (), ()) for switch in network(name).switches), numbering)


FABRIC = """\
name: recorded
platform: generic
stripes: 1
rails: 2
servers: 1
spines: {spines}
colors: {{names: [{colors}], backup: {backup}}}
names: {{leaf: "leaf{{l}}-{{s}}", spine: "spine{{k}}"}}
asn: {{leaves: 64601-64699, spines: 65001-65099}}
"""


def intent(name: str, backup: str = "all") -> ExpectedRoutes:
    """Return the routes that a recorded shadow's intent expects: every color has its own spine, others back it up."""
    spines = LAYOUTS[name].spines
    colors = ", ".join(f"color-{number}" for number in spines)
    found = expected_fabric(intent_of(FABRIC.format(spines=len(spines), colors=colors, backup=backup)).fabric)
    # Names of leaves must have the stripe, those of the recorded ones do not.
    switches = [replace(switch, name=switch.name.removesuffix("-1")) for switch in found.switches.values()]
    fabric = replace(found, switches={switch.name: switch for switch in switches})
    return ExpectedRoutes(fabric, expected_cabling(fabric))


def ports(name: str) -> ExpectedPorts:
    """Return what the intent of a small recorded fabric is: VLAN 10k of a leaf has port et-0/1/k of a server."""
    layout = LAYOUTS.get(name, SMALL)
    pairs = [(leaf, spine) for leaf in LEAVES for spine in layout.spines]
    cabled = {end: 9216 for pair in pairs for end in (uplink(*pair), downlink(*pair))}
    return ExpectedPorts(
        cabled | {End(f"leaf{leaf}", f"et-0/1/{vlan}"): 1500 for leaf, vlan in pairs},
        {(f"leaf{leaf}", 100 + vlan): frozenset({f"et-0/1/{vlan}.0", f"irb.{100 + vlan}"}) for leaf, vlan in pairs},
    )


class Recording(Near):
    """A service that answers from recorded rows."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> Answer:
        self.asked.append((question, snapshot, parameters))
        return lambda: rows(self.name, AS_RECORDED.get(question, question))
