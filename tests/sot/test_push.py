"""Pushes into a source of truth in memory: order, batches, idempotence, interruptions."""

from collections import Counter

import pytest

from ailb_gen.api.generate import compute_design
from ailb_gen.sot.desired import desired, options_of, scope_of
from ailb_gen.sot.dialect import SourceError
from ailb_gen.sot.push import SourceOfTruth, push
from ailb_gen.sot.records import Ref, SourceRecord
from tests.conftest import SMALL, intent_of
from tests.sot.memory import Memory

MANAGED = SMALL + "management: {leaves: 192.0.2.1/24, spines: 192.0.2.101/24, servers: 198.51.100.1/24}\n"
PLATFORM = SMALL.replace("platform: generic", "platform: qfx5240-64od")


def source(memory: Memory, text: str = SMALL, delete: bool = False, adopt: bool = False) -> SourceOfTruth:
    """Return a memory with a fabric for it."""
    intent = intent_of(text)
    design, options = compute_design(intent), options_of(intent.fabric)
    return SourceOfTruth(memory, desired(design, options), scope_of(design, options), delete, adopt)


def pushed(memory: Memory, text: str = SMALL, delete: bool = False, adopt: bool = False) -> Counter[str]:
    """Push a fabric; the plan after it is empty."""
    one = source(memory, text, delete, adopt)
    written = push(one, one.plan())
    assert one.plan().writes == 0
    return written


@pytest.mark.parametrize("text", [SMALL, MANAGED, PLATFORM, SMALL + "bgp: {neighbors: static}\n"])
def test_a_second_push_writes_nothing(text: str) -> None:
    memory = Memory()
    pushed(memory, text)
    first = memory.writes
    assert not pushed(memory, text)
    assert memory.writes == first
    there = {one.record.ref for one in memory.rows.values()}
    assert there >= {record.ref for record in source(memory, text).desired}


def test_an_interrupted_push_goes_on_wherever_it_ended() -> None:
    whole = Memory()
    pushed(whole, MANAGED)
    for broken_at in range(whole.writes):
        memory = Memory()

        def end(memory: Memory = memory, broken_at: int = broken_at) -> None:
            if memory.writes >= broken_at:
                raise KeyboardInterrupt

        memory.before = end
        one = source(memory, MANAGED)
        with pytest.raises(KeyboardInterrupt):
            push(one, one.plan())
        memory.before = lambda: None
        pushed(memory, MANAGED)


def test_trouble_that_passes_is_none() -> None:
    memory, met = Memory(), set[int]()

    def stumble() -> None:
        if memory.writes not in met:
            met.add(memory.writes)
            if memory.writes % 3 == 2:
                raise SourceError("502")

    memory.before = stumble
    one = source(memory, MANAGED)
    push(one, one.plan())
    memory.before = lambda: None
    assert one.plan().writes == 0


def test_trouble_that_stays_is_told_with_what_is_left() -> None:
    memory = Memory()

    def refuse() -> None:
        raise SourceError("403 Forbidden")

    memory.before = refuse
    one = source(memory)
    plan = one.plan()
    with pytest.raises(SourceError, match=rf"403 Forbidden\n{plan.writes} objects are left; push again"):
        push(one, plan)


def test_ports_that_came_with_a_device_are_updated() -> None:
    memory = Memory()
    pushed(memory, PLATFORM)
    ports = [one for one in memory.rows.values() if one.record.key[:1] == ("stripe1-leaf1",)]
    names = Counter(one.record.key[1] for one in ports if one.record.kind == "interface")
    assert set(names.values()) == {1}
    assert len(names) > 64


def test_a_renamed_server_gets_the_address_and_cables_of_the_old_one() -> None:
    memory = Memory()
    text = MANAGED.replace("servers: 2", "servers: [{name: a}, {name: b}]").replace("stripes: 2", "stripes: 1")
    pushed(memory, text)
    renamed = text.replace("{name: b}", "{name: c}")
    one = source(memory, renamed)
    assert all("--delete" in str(conflict) for conflict in one.plan().conflicts)
    pushed(memory, renamed, delete=True)
    assert not [one for one in memory.rows.values() if "b" in one.record.key]
    assert {one.record.key for one in memory.rows.values() if one.record.kind == "device"} > {("a",), ("c",)}


def test_foreign_objects_are_neither_changed_nor_deleted() -> None:
    memory = Memory()
    theirs = [
        SourceRecord("device", ("printer",), {"status": "active"}),
        SourceRecord("prefix", ("fc00:1:1:1::/64",), {"description": "theirs"}),
        SourceRecord("vlan", ("office", "2"), {"name": "office"}),
    ]
    ids = [memory.add(record) for record in theirs]
    one = source(memory, delete=True)
    plan = one.plan()
    assert [conflict.ref for conflict in plan.conflicts] == [Ref("prefix", ("fc00:1:1:1::/64",))]
    push(one, plan)
    assert [memory.rows[number].record for number in ids] == theirs
    pushed(memory, adopt=True)
    assert memory.rows[ids[1]].owned
    assert memory.rows[ids[1]].record.fields["description"] == "stripe1-leaf1 green"


def test_what_the_service_has_no_place_for_is_left_out() -> None:
    memory = Memory(without=["bgp-session"])
    pushed(memory, SMALL + "bgp: {neighbors: static}\n")
    assert "bgp-session" not in {one.record.kind for one in memory.rows.values()}
