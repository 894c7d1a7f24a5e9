"""Plans: what is created, updated, deleted, left alone, and what is in the way."""

from dataclasses import replace
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.sot.desired import desired, options_of, scope_of
from ailb_gen.sot.dialect import SourceScope, Stored
from ailb_gen.sot.plan import compare
from ailb_gen.sot.records import KINDS, Ref, SourceRecord
from tests.conftest import SMALL, design_of, examples, intent_of

SITE = SourceRecord("site", ("pod1",))


@cache
def small() -> tuple[tuple[SourceRecord, ...], SourceScope]:
    """Return the records of a small fabric, and its scope."""
    options = options_of(intent_of(SMALL).fabric)
    return desired(design_of(SMALL), options), scope_of(design_of(SMALL), options)


# Every kind with its fields, as a service that can hold everything.
FIELDS = {kind: frozenset(row.fields) for kind, row in KINDS.items()}


def stored(*records: SourceRecord, owned: bool = True) -> list[Stored]:
    """Return records as a service has them."""
    return [Stored(record, number, owned) for number, record in enumerate(records, 1)]


def vlan(number: int, name: str) -> SourceRecord:
    """Return a VLAN without a group record."""
    return SourceRecord("vlan", ("g", str(number)), {"name": name})


def test_only_differing_fields_of_owned_objects_are_updated() -> None:
    there = SourceRecord("vlan", ("g", "2"), {"name": "old", "description": "theirs"})
    plan = compare([vlan(2, "new")], stored(there), FIELDS)
    assert [(change.stored.record, dict(change.fields)) for change in plan.updates] == [(there, {"name": "new"})]
    assert not compare([vlan(2, "old")], stored(there), FIELDS).writes


def test_foreign_objects_are_conflicts_and_what_needs_them_waits() -> None:
    port = SourceRecord("interface", ("leaf1", "lo0"), {"device": Ref("device", ("leaf1",))})
    address = SourceRecord("ip-address", ("192.0.2.1/32",), {"interface": port.ref})
    leaf = SourceRecord("device", ("leaf1",), {"status": "active"})
    plan = compare([leaf, port, address, vlan(2, "a")], stored(leaf, owned=False), FIELDS)
    (conflict,) = plan.conflicts
    assert (conflict.ref, conflict.waiting) == (leaf.ref, 2)
    assert "--adopt" in str(conflict)
    assert [record.ref for record in plan.creates] == [vlan(2, "a").ref]


def test_what_people_entered_as_the_design_has_it_is_used_as_it_is() -> None:
    """A pull took it from there: the push after it must not complain about it."""
    port = SourceRecord("interface", ("leaf1", "et-0/0/0"), {})
    mac = SourceRecord("mac-address", ("leaf1", "et-0/0/0", "02:00:00:00:00:01"), {"interface": port.ref})
    there = [*stored(port), *stored(mac, owned=False)]
    plan = compare([port, mac], there, FIELDS)
    assert (plan.conflicts, plan.writes, plan.unchanged["mac-address"]) == ((), 0, 1)
    assert not compare([port], there, FIELDS, delete=True).writes
    (change,) = compare([port, mac], there, FIELDS, adopt=True).updates
    assert change.adopt
    wanted = replace(mac, fields={"interface": Ref("interface", ("leaf1", "lo0"))})
    assert compare([port, wanted], there, FIELDS).conflicts


def test_adopted_objects_get_our_fields() -> None:
    plan = compare([vlan(2, "a")], stored(vlan(2, "b"), owned=False), FIELDS, adopt=True)
    assert not plan.conflicts
    (change,) = plan.updates
    assert (change.adopt, dict(change.fields)) == (True, {"name": "a"})


def test_shared_objects_are_used_as_they_are() -> None:
    role = SourceRecord("device-role", ("leaf",), {"color": "ffffff"})
    for owned in (True, False):
        assert not compare(
            [SourceRecord("device-role", ("leaf",), {"color": "000000"})], stored(role, owned=owned), FIELDS
        ).writes
    assert not compare([], stored(role), FIELDS, delete=True).deletes


def test_ports_of_our_own_device_type_are_completed() -> None:
    ours = SourceRecord("device-type", ("Juniper", "X"), {"ports": (("et-0/0/0", "other"), ("et-0/0/1", "other"))})
    half = SourceRecord("device-type", ("Juniper", "X"), {"ports": (("et-0/0/0", "400gbase-x-osfp"),)})
    (change,) = compare([ours], stored(half), FIELDS).updates
    assert change.fields == {"ports": (("et-0/0/1", "other"),)}
    assert not compare([ours], stored(half, owned=False), FIELDS).writes


def test_parts_of_our_devices_need_no_mark_of_their_own() -> None:
    leaf = SourceRecord("device", ("leaf1",), {"status": "active"})
    port = SourceRecord("interface", ("leaf1", "et-0/0/0"), {"device": leaf.ref, "mtu": 9216})
    there = [*stored(leaf), Stored(SourceRecord("interface", port.key, {"device": leaf.ref, "mtu": None}), 9, False)]
    (change,) = compare([leaf, port], there, FIELDS).updates
    assert change.adopt
    assert not compare([leaf], there, FIELDS, delete=True).deletes


def test_deletes_are_owned_and_only_on_request() -> None:
    there = [*stored(vlan(2, "a"), vlan(3, "b")), Stored(vlan(4, "c"), 9, False)]
    plan = compare([vlan(2, "a")], there, FIELDS)
    assert (plan.deletes, [one.record for one in plan.leftovers]) == ((), [vlan(3, "b")])
    assert [one.record for one in compare([vlan(2, "a")], there, FIELDS, delete=True).deletes] == [vlan(3, "b")]


def test_two_objects_of_one_name_are_a_conflict_unless_one_is_ours() -> None:
    both = stored(vlan(2, "a"), vlan(2, "a"), owned=False)
    assert "2 such objects" in str(compare([vlan(2, "a")], both, FIELDS).conflicts[0])
    assert not compare([vlan(2, "a")], [replace(both[0], owned=True), both[1]], FIELDS).conflicts


def test_a_cable_waits_for_a_free_port() -> None:
    def cable(*key: str) -> SourceRecord:
        ends = (Ref("interface", key[:2]), Ref("interface", key[2:]))
        return SourceRecord("cable", key, {"ends": ends, "status": "connected"})

    ours, there = cable("leaf1", "a", "spine1", "a"), cable("leaf1", "a", "spine2", "a")
    foreign = compare([ours], stored(there, owned=False), FIELDS)
    assert "leaf1 a has the cable leaf1 a - spine2 a" in str(foreign.conflicts[0])
    assert "--delete" in str(compare([ours], stored(there), FIELDS).conflicts[0])
    moved = compare([ours], stored(there), FIELDS, delete=True)
    assert (not moved.conflicts, len(moved.creates), len(moved.deletes)) == (True, 1, 1)


def test_kinds_without_a_place_are_left_out_and_counted() -> None:
    plan = compare([vlan(2, "a"), SITE], [], {kind: names for kind, names in FIELDS.items() if kind != "vlan"})
    assert ([one.kind for one in plan.creates], dict(plan.unsupported)) == (["site"], {"vlan": 1})


@settings(max_examples=examples(50))
@given(st.data())
def test_what_is_stored_in_any_part_is_completed_and_nothing_else(data: st.DataObject) -> None:
    """Whatever a push left, of whatever is changed there: what is planned leads to the design."""
    records, _ = small()
    kept = data.draw(st.sets(st.sampled_from(range(len(records))), max_size=len(records)))
    there = [Stored(records[at], at, True) for at in sorted(kept)]
    plan = compare(records, there, FIELDS, delete=True)
    assert {one.ref for one in plan.creates} == {one.ref for at, one in enumerate(records) if at not in kept}
    assert not plan.updates
    assert not plan.deletes


def test_fields_that_a_service_lacks_are_neither_compared_nor_written() -> None:
    kinds = FIELDS | {"vlan": frozenset({"description"})}
    there = SourceRecord("vlan", ("g", "2"), {"description": "theirs"})
    plan = compare([vlan(2, "new"), vlan(3, "new")], stored(there), kinds)
    assert [dict(record.fields) for record in plan.creates] == [{}]
    assert (plan.updates, plan.unchanged["vlan"]) == ((), 1)
