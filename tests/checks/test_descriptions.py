"""Descriptions of ports and VLANs: what names the other end, what does not, and what the intent says itself."""

from dataclasses import replace

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.checks.families.descriptions import DESCRIPTIONS, names
from ailb_gen.checks.model import Findings, Result
from ailb_gen.network.fabric import End, Network
from tests.checks.edited import LEAF, Edit, edited, intended, lines, network, unchanged
from tests.checks.trees import findings, shown
from tests.conftest import intent_of

UPLINK = "description facing_spine1:et-0/0/0;"
SERVER = "description to.gpu-s1-1:gpu0_eth;"
DESCRIBED = "VLAN vn2 is described as 'Virtual network for"
VLAN = 'description "Virtual network for rail 0 on leaf stripe1-leaf1";'


def run(asked: ExpectedFabric, found: Network) -> list[Result]:
    found_in = Findings()
    assert DESCRIPTIONS.run is not None
    DESCRIPTIONS.run(Context(asked.fabric, found), found_in)
    return list(found_in.results([DESCRIPTIONS]))


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "brownfield", "static"])
def test_shipped_trees_are_clean(name: str) -> None:
    (result,) = run(intended(name), unchanged(name))
    assert not shown([result])
    cables = len(unchanged(name).links) * 2 + len(unchanged(name).attachments)
    assert result.examined >= cables + len(intended(name).leaves)


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("facing_spine1:et-0/0/0", True),
        ("to.spine1:et-0/0/0", True),
        ("to spine1, port et-0/0/0", True),
        ("et-0/0/0 of spine1", True),
        ("(spine1 et-0/0/0)", True),
        ("", False),
        ("spine1", False),
        ("et-0/0/0", False),
        ("facing_spine10:et-0/0/0", False),
        ("facing_old-spine1:et-0/0/0", False),
        ("facing_spine1-b:et-0/0/0", False),
        ("facing_spine1:et-0/0/01", False),
        ("facing_spine1:et-0/0/0:1", False),
        ("facing_spine1:xet-0/0/0", False),
    ],
)
def test_what_names_an_end(said: str, right: bool) -> None:
    assert names(said, End("spine1", "et-0/0/0")) == right


# edit, example, scope of the finding, its message, a part of the line that it points at
DAMAGES: list[tuple[Edit, str, str, str, str]] = [
    (
        (LEAF, UPLINK, "description facing_spine2:et-0/0/0;"),
        "lab",
        f"{LEAF} et-0/0/0",
        "described as 'facing_spine2:et-0/0/0', the cable goes to spine1:et-0/0/0",
        "facing_spine2",
    ),
    (
        ("spine1", "facing_stripe1-leaf1:et-0/0/0", "facing_stripe1-leaf1:et-0/0/1"),
        "lab",
        "spine1 et-0/0/0",
        "described as 'facing_stripe1-leaf1:et-0/0/1', the cable goes to stripe1-leaf1:et-0/0/0",
        "facing_stripe1-leaf1:et-0/0/1",
    ),
    ((LEAF, UPLINK, ""), "lab", f"{LEAF} et-0/0/0", "no description; the cable goes to spine1:et-0/0/0", "et-0/0/0 {"),
    (
        (LEAF, SERVER, "description server;"),
        "lab",
        f"{LEAF} et-0/0/16",
        "described as 'server', the cable goes to gpu-s1-1:gpu0_eth",
        "description server",
    ),
    (
        (LEAF, "    irb {", f"    et-0/0/50 {{\n        {UPLINK}\n    }}\n    irb {{"),
        "lab",
        f"{LEAF} et-0/0/50",
        "described as cabled to spine1:et-0/0/0, but no cable ends here",
        UPLINK,
    ),
    (
        (LEAF, VLAN, VLAN.replace("leaf1", "leaf2")),
        "lab",
        f"{LEAF} vn2",
        f"{DESCRIBED} rail 0 on leaf stripe1-leaf2'; it is that of stripe1-leaf1, rail 0",
        "stripe1-leaf2",
    ),
    (
        (LEAF, VLAN, VLAN.replace("rail 0", "rail 1")),
        "lab",
        f"{LEAF} vn2",
        f"{DESCRIBED} rail 1 on leaf stripe1-leaf1'; it is that of stripe1-leaf1, rail 0",
        "rail 1",
    ),
    (
        (LEAF, VLAN, ""),
        "lab",
        f"{LEAF} vn2",
        "VLAN vn2 is described as ''; it is that of stripe1-leaf1, rail 0",
        "vn2 {",
    ),
    (
        (LEAF, '"Breakout et-0/0/1"', '"Breakout et-0/0/2"'),
        "jvd",
        f"{LEAF} et-0/0/1",
        "et-0/0/1 is described as et-0/0/2",
        "Breakout et-0/0/2",
    ),
    (
        (LEAF, '        description "Breakout et-0/0/1";\n', ""),
        "jvd",
        f"{LEAF} et-0/0/1",
        "et-0/0/1 is split and has no description",
        "et-0/0/1 {",
    ),
    (
        (LEAF, f"green;\n                {UPLINK}", "green;\n                description facing_spine2:et-0/0/0;"),
        "static",
        f"{LEAF} et-0/0/0",
        "neighbor fd00::1:1:3: described as 'facing_spine2:et-0/0/0', the cable goes to spine1:et-0/0/0",
        "facing_spine2",
    ),
    (
        (LEAF, f"                {UPLINK}\n", ""),
        "static",
        f"{LEAF} et-0/0/0",
        "neighbor fd00::1:1:3: no description; the cable goes to spine1:et-0/0/0",
        "neighbor fd00::1:1:3 {",
    ),
    (
        ("r1l1", '"spare link, do not unplug"', "to.a-gpu2:eth0_gpu"),
        "brownfield",
        "r1l1 et-0/0/1:0",
        "described as 'to.a-gpu2:eth0_gpu'; the intent says 'spare link, do not unplug'",
        "to.a-gpu2",
    ),
]


@pytest.mark.parametrize(("edit", "example", "scope", "message", "pointed"), DAMAGES)
def test_a_damage_is_found_where_it_is(edit: Edit, example: str, scope: str, message: str, pointed: str) -> None:
    texts = edited(edit, example=example)
    (found,) = findings(run(intended(example), network(texts, example)))
    assert (found.check, found.scope, found.message) == ("AILB007", scope, message)
    ((_, line),) = lines(texts, [found], example)
    assert pointed in line


@pytest.mark.parametrize(
    "edit",
    [
        (LEAF, UPLINK, 'description "green uplink to spine1 (et-0/0/0)";'),
        (LEAF, VLAN, 'description "GPUs of stripe1-leaf1";'),
    ],
)
def test_other_words_will_do(edit: Edit) -> None:
    assert not shown(run(intended(), network(edited(edit))))


def test_swapped_cables_are_found_at_all_four_ends() -> None:
    base = unchanged()
    one, two = base.links[0], base.links[1]
    links = (replace(one, b=two.b), replace(two, b=one.b), *base.links[2:])
    found = findings(run(intended(), replace(base, links=links)))
    assert {finding.scope for finding in found} == {
        f"{end.device} {end.port}" for cable in (one, two) for end in (cable.a, cable.b)
    }


def test_switches_of_nobody_have_no_vlan_to_compare() -> None:
    asked = expected_fabric(
        intent_of("name: other\nstripes: 1\nrails: 1\nspines: 1\nnames: {leaf: 'x{s}{l}', spine: 'y{k}'}\n").fabric
    )
    assert not shown(run(asked, replace(unchanged(), links=(), attachments={}, switches={})))
    found = findings(run(asked, unchanged()))
    assert not found
