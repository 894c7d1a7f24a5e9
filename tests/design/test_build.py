"""The whole design: sizes, numbers, servers in every form, and fabrics that grow without renumbering."""

from pathlib import Path

import pytest

from ailb_gen.design.model import Design
from ailb_gen.design.switches import maximum_ecmp, ranges
from ailb_gen.errors import IntentError
from tests.conftest import EXAMPLES, SMALL, design_of, example


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "leaves", "spines", "servers", "colors", "links"),
    [
        ("jvd", 16, 4, 4, 4, 64),
        ("jvd-8-uplinks", 16, 4, 4, 8, 128),
        ("lab", 4, 4, 4, 4, 16),
        ("brownfield", 8, 2, 6, 2, 16),
        ("static", 2, 2, 4, 4, 8),
        ("frontier", 512, 64, 4096, 8, 32768),
    ],
)
def test_sizes_of_the_examples(name: str, leaves: int, spines: int, servers: int, colors: int, links: int) -> None:
    design = example(name)
    sizes = (design.leaves, design.spines, design.servers, design.colors, design.links)
    assert tuple(map(len, sizes)) == (leaves, spines, servers, colors, links)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/fabric.yaml")), ids=lambda path: path.parent.name)
def test_examples_carry_the_editors_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=../../docs/fabric.schema.json\n")


def test_the_reference_fabric_takes_at_most_fifteen_lines() -> None:
    assert len((EXAMPLES / "jvd" / "fabric.yaml").read_text(encoding="utf-8").splitlines()) <= 15


def test_as_numbers_router_ids_and_vlans_are_in_order() -> None:
    design = design_of(SMALL)
    assert [leaf.asn for leaf in design.leaves] == [4200100001 + n for n in range(4)]
    assert [spine.asn for spine in design.spines] == [4200000001, 4200000002]
    assert [leaf.router_id for leaf in design.leaves] == [f"10.255.16.{n}" for n in range(1, 5)]
    assert [leaf.vlan.id for leaf in design.leaves if leaf.vlan] == [2, 3, 4, 5]


def test_vlans_may_repeat_in_every_stripe() -> None:
    design = design_of(SMALL + "vlans: {unique: stripe, first: 100}\n")
    assert [leaf.vlan.id for leaf in design.leaves if leaf.vlan] == [100, 101, 100, 101]


def test_spines_may_share_an_as_number() -> None:
    design = design_of(SMALL + "asn: {spines: 65000}\n")
    assert {spine.asn for spine in design.spines} == {65000}
    assert design.leaves[0].as_lists[0].members == ("65000",)


def test_stripes_of_different_sizes() -> None:
    text = "name: f\nplatform: generic\nspines: 2\nstripes: [{rails: 1, servers: 3}, {rails: 3, servers: 1}]\n"
    design = design_of(text)
    assert [leaf.name for leaf in design.leaves] == ["stripe1-leaf1", "stripe2-leaf1", "stripe2-leaf2", "stripe2-leaf3"]
    assert [leaf.vlan.id for leaf in design.leaves if leaf.vlan] == [2, 3, 4, 5]
    assert [(s.name, len(s.config.nics)) for s in design.servers] == [
        ("server-001", 1),
        ("server-002", 1),
        ("server-003", 1),
        ("server-004", 3),
    ]


def test_servers_by_list_and_count_together() -> None:
    text = """\
name: f
platform: generic
spines: 2
rails: 2
stripes: 2
servers:
  count: 1
  name: "auto-{s}-{i}"
  list:
    - name: special
      stripe: 2
      management: 192.0.2.9/24
      nics:
        - {name: ib0, rdma: mlx5_7, mac: a0:88:c2:3b:50:66, port: et-0/0/30}
        - {}
"""
    design = design_of(text)
    assert [server.name for server in design.servers] == ["auto-1-1", "auto-2-1", "special"]
    special = design.servers[2]
    assert special.management == "192.0.2.9/24"
    assert special.ports == ("et-0/0/30", "et-0/0/17")
    nic = special.config.nics[0]
    assert (nic.name, nic.rdma, nic.leaf) == ("ib0", "mlx5_7", "stripe2-leaf1")
    assert nic.addresses == ("fc00:2:1:1:a288:c2ff:fe3b:5066", "fc00:2:1:2:a288:c2ff:fe3b:5066")
    assert special.config.profile == ""
    assert design.servers[1].config.profile == "stripe2"


def test_management_addresses_follow_the_first() -> None:
    design = design_of(SMALL + "management: {leaves: 192.0.2.11/24, spines: 192.0.2.1/24, servers: 192.0.2.101/24}\n")
    assert [m.management.address for m in design.switches if m.management] == [
        *(f"192.0.2.{n}/24" for n in (11, 12, 13, 14, 1, 2))
    ]
    assert [server.management for server in design.servers] == [f"192.0.2.{n}/24" for n in range(101, 105)]


def facts(design: Design) -> dict[str, object]:
    """Return what must not move when a fabric grows."""
    rows: dict[str, object] = {}
    for leaf in design.leaves:
        rows[leaf.name] = (leaf.asn, leaf.router_id, leaf.vlan, leaf.prefixes, leaf.fabric_ports)
    for spine in design.spines:
        rows[spine.name] = (spine.asn, spine.router_id)
    for server in design.servers:
        rows[server.name] = (server.ports, [nic.leaf for nic in server.config.nics])
    return rows


@pytest.mark.parametrize(
    ("old", "new"),
    [("stripes: 2", "stripes: 5"), ("servers: 2", "servers: 9")],
)
def test_growing_does_not_renumber(old: str, new: str) -> None:
    text = SMALL.replace("servers: 2", 'servers: {count: 2, name: "s{s}-{i}"}')
    new = new.replace("servers: 9", 'servers: {count: 9, name: "s{s}-{i}"}')
    old = old.replace("servers: 2", 'servers: {count: 2, name: "s{s}-{i}"}')
    before, after = facts(design_of(text)), facts(design_of(text.replace(old, new)))
    for name, row in before.items():
        assert after[name] == row, name


def test_ranges() -> None:
    assert ranges([5, 1, 2, 3, 9, 2]) == ("1-3", "5", "9")
    assert ranges([]) == ()


@pytest.mark.parametrize(("paths", "limit"), [(1, 0), (16, 0), (17, 32), (64, 64), (65, 96), (512, 512)])
def test_maximum_ecmp(paths: int, limit: int) -> None:
    assert maximum_ecmp(paths) == limit


def test_one_wrong_plan_is_told_once_whatever_it_spoils() -> None:
    text = (EXAMPLES / "jvd" / "fabric.yaml").read_text(encoding="utf-8")
    with pytest.raises(IntentError) as caught:
        design_of(text.replace("first_port: 16", "first_port: 1"))
    assert len(caught.value.problems) == 1
    assert "more like it" in str(caught.value)


@pytest.mark.parametrize("growth", ["stripes: 3", "spines: 4"])
def test_addresses_of_links_stay_when_the_fabric_grows(growth: str) -> None:
    def addresses(text: str) -> dict[tuple[str, str], tuple[str, str]]:
        switches = design_of(f"{text}bgp: {{neighbors: static}}\n").switches
        rows = [((one.name, port.interface), port.addresses) for one in switches for port in one.fabric_ports]
        return {end: (found.own, found.peer) for end, found in rows if found is not None}

    before, after = addresses(SMALL), addresses(SMALL.replace(f"{growth[:-1]}2", growth))
    assert before.items() < after.items()
    assert before["stripe2-leaf1", "et-0/0/1"] == ("fd00::2:1:4", "fd00::2:1:5")


@pytest.mark.parametrize(
    ("bgp", "told"),
    [
        ("groups: single", "one group cannot have several colors"),
        ("links: 'fd00::/64'", "links have link-local addresses only where neighbors are discovered"),
        ("neighbors: static, links: 'fd00::/81'", "stripe, leaf and link take 16 bits each; a /81 leaves 47"),
        ("neighbors: static, links: 'fc00:1::/64'", "bgp.links fc00:1::/64 overlaps the fabric pool fc00::/16"),
        ("neighbors: static, links: 10.0.0.0/8", "'10.0.0.0/8' is not an IPv6 address with a prefix length"),
    ],
)
def test_settings_of_neighbors_that_are_refused(bgp: str, told: str) -> None:
    with pytest.raises(IntentError) as caught:
        design_of(f"{SMALL}bgp: {{{bgp}}}\n")
    assert len(caught.value.problems) == 1
    assert told in str(caught.value)
