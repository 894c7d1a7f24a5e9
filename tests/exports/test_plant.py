"""The cable plant: ids, ends, splits."""

from ailb_gen.design.build import build
from ailb_gen.exports.places import Places
from ailb_gen.exports.plant import cable_id, plant
from ailb_gen.render.fabric_files import cabling
from tests.conftest import example, intent_of

BEFORE = "name: f\nplatform: qfx5240-64od\nstripes: 2\nspines: 4\nservers: 2\n"


def test_cables_are_those_of_the_cabling_list() -> None:
    for name in ("jvd", "mixed", "brownfield"):
        design = example(name)
        rows = [line.split(",")[:4] for line in cabling(design).decode().splitlines()[1:]]
        assert [[c.a.device, c.a.port, c.b.device, c.b.port] for c in plant(design, Places())] == rows


def test_an_id_depends_on_both_ends_alone() -> None:
    assert cable_id("stripe1-leaf1", "et-0/0/0:0", "spine1", "et-0/0/0:0") == "KGJLC-RPSNK"
    assert cable_id("a", "b", "c", "d") != cable_id("a", "b", "c", "e")
    assert cable_id("ab", "c", "d", "e") != cable_id("a", "bc", "d", "e")


def test_another_stripe_and_more_servers_change_no_id() -> None:
    before = plant(build(intent_of(BEFORE))[0], Places())
    after = plant(
        build(intent_of(BEFORE.replace("stripes: 2", "stripes: 3").replace("servers: 2", "servers: 4")))[0], Places()
    )
    kept = {cable.id: cable for cable in after}
    # The servers' names count on, so the second stripe's servers are others; its uplinks are the same.
    assert all(cable.id in kept for cable in before if cable.kind == "fabric")
    assert [kept[c.id].b.port for c in before if c.kind == "fabric"] == [c.b.port for c in before if c.kind == "fabric"]


def test_ids_of_the_largest_fabric_are_unique() -> None:
    cables = plant(example("frontier"), Places())
    assert len(cables) == 65_536
    assert len({cable.id for cable in cables}) == len(cables)


def test_a_split_port_is_one_cage_with_legs() -> None:
    cables = plant(example("jvd"), Places())
    host = [cable for cable in cables if cable.kind == "host"][:2]
    assert [cable.a.leg for cable in host] == ["0", "1"]
    assert host[0].a.cage == host[1].a.cage
    assert host[0].a.cage.split == "2x400g"
    assert host[0].b.cage.split == "400g"
    assert (host[0].mark, cables[0].mark) == ("rail 0", "green")
