"""The checks of sessions: every damage to groups, AS numbers, lists and discovery is found where it is."""

from pathlib import Path

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.checks.model import Result
from ailb_gen.network.fabric import Network
from tests.checks.edited import LEAF, SPINE, Edit, edited, intended, lines, network, without
from tests.checks.trees import findings, network_of, rendered, run_family
from tests.checks.variants import VARIANTS
from tests.conftest import SMALL

GREEN = "        group fabric-green {\n"
UNICAST = "                unicast {\n                    aigp;\n                }\n"
BFD = """\
            bfd-liveness-detection {
                minimum-interval 300;
                multiplier 3;
            }
"""
GROUP = "protocols bgp group fabric-green"
DISCOVERY = "                peer-auto-discovery {\n"
INTERFACE = "                    interface et-0/0/0.0;\n"
OPEN = "        group open {\n            allow ::/0;\n        }\n"
MEMBERS = "as-list leaves members "
RA = "        interface et-0/0/0.0 {\n"


def run(asked: ExpectedFabric, found: Network) -> list[Result]:
    return run_family("AILB2", Context(asked.fabric, found))


# edit, the check that names it, the scope of its finding, a part of the line that the finding points at
DAMAGES: list[tuple[Edit, str, str, str]] = [
    ((LEAF, "    bgp {\n", f"    bgp {{\n{OPEN}"), "207", f"{LEAF} open", "allow"),
    ((SPINE, MEMBERS, f"{MEMBERS}9-7;\n    {MEMBERS}"), "203", f"{SPINE} leaves", "9-7"),
    ((LEAF, UNICAST, "                multicast;\n"), "201", f"{LEAF} et-0/0/0.0", "group fabric-green"),
    ((LEAF, RA, RA.replace("et-0/0/0", "et-0/0/9")), "201", f"{LEAF} et-0/0/0.0", "##"),
    ((LEAF, "    et-0/0/0 {", "    et-0/0/0 { disable;"), "201", f"{LEAF} et-0/0/0.0", "et-0/0/0 {"),
    ((LEAF, "spines-green members 65001", "spines-green members 65009"), "201", f"{LEAF} et-0/0/0.0", "as-list"),
    ((LEAF, "local-as 65101", "local-as 65001"), "201", f"{LEAF} et-0/0/0.0", "local-as 65001"),
    ((LEAF, "local-as 65101", "local-as 65109"), "202", f"{LEAF} fabric-green", "local-as 65109"),
    ((LEAF, "autonomous-system 65101", "autonomous-system 65109"), "202", LEAF, "autonomous-system 65109"),
    ((LEAF, "autonomous-system 65101", "autonomous-system 65102"), "202", "stripe1-leaf2", "autonomous-system 65102"),
    ((LEAF, "spines-green members 65001", "spines-green members 1-65001"), "203", f"{LEAF} spines-green", "as-list"),
    ((LEAF, BFD, BFD.replace("300", "1000")), "204", f"{LEAF} fabric-green", "bfd-liveness-detection"),
    ((LEAF, BFD, BFD.replace("multiplier 3", "multiplier 5")), "204", f"{LEAF} fabric-green", "bfd-liveness-detection"),
    ((LEAF, "            multipath {", "            inactive: multipath {"), "205", f"{LEAF} fabric-green", "group"),
    ((LEAF, UNICAST, "                unicast;\n"), "206", f"{LEAF} fabric-green", "group fabric-green"),
    ((LEAF, GREEN, f"{GREEN}authentication-key x;"), "207", f"{LEAF} fabric-green", "authentication-key"),
    ((LEAF, GREEN, f"{GREEN}multihop;"), "207", f"{LEAF} fabric-green", "multihop"),
    ((LEAF, DISCOVERY, f"allow ::/0;{DISCOVERY}"), "207", f"{LEAF} fabric-green", "allow"),
    ((LEAF, INTERFACE, f"{INTERFACE}interface et-0/0/1.0;"), "207", f"{LEAF} et-0/0/1.0", "et-0/0/1.0"),
    ((LEAF, INTERFACE, f"{INTERFACE}interface et-0/0/50.0;"), "207", f"{LEAF} et-0/0/50.0", "et-0/0/50.0"),
    ((LEAF, "export FABRIC-OUT", "export FABRIC-UOT"), "208", f"{LEAF} FABRIC-UOT", "group fabric-green"),
    ((LEAF, "export PFE-LB", "export [ PFE-LB PFE ]"), "208", f"{LEAF} PFE", "forwarding-table {"),
    ((LEAF, "fabric-color green", "fabric-color grey"), "208", f"{LEAF} grey", "fabric-color grey"),
    ((LEAF, "                color green;", "                color grey;"), "208", f"{LEAF} grey", "color grey"),
    ((LEAF, "peer-as-list spines-green", "peer-as-list spines"), "208", f"{LEAF} spines", "peer-as-list spines"),
    ((SPINE, "filter fabric-pool", "filter fabric-loop"), "208", f"{SPINE} fabric-loop", "term fabric"),
    ((SPINE, "from community local", "from community lokal"), "208", f"{SPINE} lokal", "term leaked"),
    ((LEAF, "l3-interface irb.2", "l3-interface irb.7"), "208", f"{LEAF} irb.7", "vn2"),
    ((LEAF, RA, RA.replace("et-0/0/0", "et-0/0/9")), "208", f"{LEAF} et-0/0/9.0", "et-0/0/9.0"),
    ((LEAF, GREEN, f"{GREEN}peer-as 65009;"), "203", f"{LEAF} fabric-green", "peer-as"),
    ((LEAF, GREEN, f"{GREEN}local-preference 50;"), "209", f"{LEAF} {GROUP} local-preference", "local-preference"),
    ((LEAF, GREEN, f"{GREEN}neighbor 2001:db8::1;"), "207", f"{LEAF} 2001:db8::1", "neighbor"),
    ((LEAF, "    bgp {\n", "    ospf3 { area 0; }\n    bgp {\n"), "209", f"{LEAF} protocols ospf3", "ospf3"),
    ((LEAF, "        interface all;\n", "        interface et-0/0/0;\n"), "210", LEAF, "##"),
    ((LEAF, "        interface all;\n", "        interface all;\n        disable;\n"), "210", LEAF, "##"),
    ((LEAF, "        interface all;\n", "        interface all { disable; }\n"), "210", LEAF, "##"),
    ((LEAF, "        interface all;\n", "        interface all;\n        interface et-0/0/3 { disable; }\n"),
     "210", LEAF, "##"),
    ((LEAF, "            family inet6;\n", "            family inet6 { filter { input none; } }\n"), "212",
     f"{LEAF} et-0/0/0.0", "family inet6 { filter { input none; } }"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "check", "scope", "pointed"), DAMAGES)
def test_a_damage_is_found_by_the_check_that_names_it(edit: Edit, check: str, scope: str, pointed: str) -> None:
    texts = edited(edit)
    found = findings(run(intended(), network(texts)))
    named = [finding for finding in found if (finding.check, finding.scope) == (f"AILB{check}", scope)]
    assert any(pointed in line for _, line in lines(texts, named)), found


@pytest.mark.parametrize("place", ["system {\n", "protocols {\n", GREEN, "        unit 2 {\n"])
def test_a_group_of_statements_that_is_applied_must_be_there(place: str, tmp_path: Path) -> None:
    """The word is found in the text of a file, so a whole tree is read."""
    _, root = rendered(SMALL, tmp_path)
    path = root / f"switches/{LEAF}.conf"
    text = path.read_text()
    assert place in text
    path.write_text(text.replace(place, f"{place}apply-groups gone;\n", 1))
    found = network_of(root)
    line = path.read_text().split("\n").index("apply-groups gone;") + 1
    assert found.switches[LEAF].unknown_groups == (("gone", line),)
    path.write_text(
        f"groups {{ gone {{ system {{ ports {{ console log-out-on-disconnect; }} }} }} }}\n{path.read_text()}"
    )
    assert network_of(root).switches[LEAF].unknown_groups == ()


def test_a_group_that_is_not_defined_is_named(tmp_path: Path) -> None:
    intent, root = rendered(SMALL, tmp_path)
    path = root / f"switches/{LEAF}.conf"
    path.write_text(f"apply-groups [ one two ];\ngroups {{ two {{ system {{ host-name x; }} }} }}\n{path.read_text()}")
    (found,) = findings(run(expected_fabric(intent.fabric), network_of(root)))
    assert (found.check, found.scope, found.message) == (
        "AILB208",
        f"{LEAF} one",
        "apply-groups names group one, which is not defined",
    )
    assert found.place is not None
    assert (found.place.file, found.place.line) == (f"switches/{LEAF}.conf", 1)


def test_a_switch_without_a_file_leaves_its_neighbors_without_sessions() -> None:
    found = findings(run(intended(), without(SPINE)))
    assert {(finding.check, finding.scope.split()[0]) for finding in found} >= {("AILB201", SPINE)}
    assert len([finding for finding in found if finding.check == "AILB201"]) == 4


def test_aigp_where_the_intent_wants_none(tmp_path: Path) -> None:
    intent, root = rendered(VARIANTS["no-aigp"], tmp_path)
    path = root / f"switches/{LEAF}.conf"
    path.write_text(path.read_text().replace("unicast;", "unicast { aigp; }", 1))
    (found,) = findings(run(expected_fabric(intent.fabric), network_of(root)))
    assert (found.check, found.message) == ("AILB206", "the intent has AIGP off in group fabric-green")
