"""Pushes into a source of truth in memory: order, batches, idempotence, interruptions."""

import json
from collections import Counter

import pytest

from ailb_gen.api.generate import compute_design
from ailb_gen.sot.desired import desired, options_of, scope_of
from ailb_gen.sot.dialect import SourceError, Stored
from ailb_gen.sot.push import FAULTS, SourceOfTruth, push
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


def test_what_the_service_refuses_is_told_and_the_rest_written() -> None:
    memory = Memory()
    port = Ref("interface", ("stripe1-leaf1", "et-0/0/0"))
    memory.refuses = {port, Ref("prefix", ("fc00:1:1:1::/64",))}
    one = source(memory)
    push(one, one.plan())
    assert set(one.refused) == memory.refuses
    left = source(memory).plan()
    # The port and its cable, and the prefix.
    assert [record.kind for record in left.creates] == ["interface", "prefix", "cable"]
    conflicts = one.compare().conflicts
    assert {(conflict.ref, conflict.waiting) for conflict in conflicts} == {
        (ref, int(ref == port)) for ref in one.refused
    }
    assert 'the service refuses it: {"name": ["not here"]}; correct it there' in str(conflicts[0])
    memory.refuses = set()
    pushed(memory)


def test_a_refused_update_is_told_and_what_refers_to_it_written() -> None:
    memory = Memory()
    pushed(memory)
    longer = SMALL.replace("servers: 2", "servers: 3")
    memory.refuses = {Ref("vlan", ("small-stripe1", "2"))}
    for number, stored in list(memory.rows.items()):
        if stored.record.ref in memory.refuses:
            record = SourceRecord("vlan", stored.record.key, {**stored.record.fields, "description": "theirs"})
            memory.rows[number] = Stored(record, number, True)
    one = source(memory, longer)
    push(one, one.plan())
    assert set(one.refused) == memory.refuses
    assert one.plan().writes == 0
    assert source(memory, longer).plan().writes == 1


def test_a_record_at_which_the_service_fails_is_found_and_the_rest_written() -> None:
    memory = Memory()
    memory.faults = {Ref("interface", ("stripe1-leaf1", "et-0/0/0")), Ref("prefix", ("fc00:1:1:1::/64",))}
    one = source(memory, MANAGED)
    push(one, one.plan())
    assert {ref: refusal.reason for ref, refusal in one.refused.items()} == dict.fromkeys(
        memory.faults, "500 Internal Server Error"
    )
    assert one.plan().writes == 0
    memory.faults = set()
    pushed(memory, MANAGED)


def test_a_service_that_fails_at_everything_is_not_asked_for_each_record() -> None:
    memory = Memory()
    one = source(memory, SMALL.replace("servers: 2", "servers: 24"))
    memory.faults = {record.ref for record in one.desired if record.kind == "interface"}
    assert len(memory.faults) > 2 * FAULTS
    with pytest.raises(SourceError, match=r"500 Internal Server Error\n.* objects are left; push again"):
        push(one, one.plan())
    # Two attempts, as the first one wrote other kinds.
    assert memory.writes < 8 * FAULTS
    assert not one.refused


def test_objects_of_another_fabric_are_not_taken_over() -> None:
    memory = Memory()
    theirs = SourceRecord("prefix", ("fc00:1:1:1::/64",), {"description": "theirs"})
    number = memory.add(theirs)
    memory.rows[number] = Stored(theirs, number, False, True)
    one = source(memory, adopt=True)
    (conflict,) = one.plan().conflicts
    assert str(conflict) == f"{theirs}: it is another fabric's; give this fabric its own, or delete it with that fabric"
    push(one, one.plan())
    assert memory.rows[number].record == theirs


def test_nothing_is_written_without_the_tag_that_says_whose_it_is() -> None:
    memory = Memory()
    memory.refuses = {Ref("tag", ("ailb-gen-small",))}
    one = source(memory)
    with pytest.raises(SourceError, match="tag ailb-gen-small: Memory refuses it"):
        push(one, one.plan())
    assert {stored.record.kind for stored in memory.rows.values()} <= {"tag"}


def test_what_another_push_made_meanwhile_is_not_refused() -> None:
    memory = Memory()
    first = source(memory)
    plan = first.plan()
    pushed(memory)
    memory.refuses = {record.ref for record in plan.creates}
    push(first, plan)
    assert not first.refused


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


def test_keys_of_others_in_a_context_stay() -> None:
    memory = Memory()
    pushed(memory)
    number, one = next((n, one) for n, one in memory.rows.items() if one.record.key == ("spine1",))
    context = json.loads(str(one.record.fields["context"])) | {"theirs": 1}
    text = json.dumps(context, sort_keys=True)
    memory.rows[number] = Stored(
        SourceRecord("device", one.record.key, {**one.record.fields, "context": text}), number, True
    )
    assert not pushed(memory)
    pushed(memory, SMALL + "asn: {spines: 64950-64999}\n")
    now = json.loads(str(memory.rows[number].record.fields["context"]))
    assert (now["theirs"], now["ailb"] != context["ailb"]) == (1, True)


def test_what_another_fabric_has_too_is_not_deleted() -> None:
    memory = Memory()
    both = memory.add(SourceRecord("asn", ("65999",)), owned=True)
    memory.rows[both] = Stored(memory.rows[both].record, both, True, True)
    gone = memory.add(SourceRecord("asn", ("65998",)), owned=True)
    pushed(memory, delete=True)
    assert (both in memory.rows, gone in memory.rows) == (True, False)


def test_ports_of_a_second_device_of_the_name_are_not_taken() -> None:
    memory = Memory()
    pushed(memory)
    theirs = SourceRecord("device", ("spine1",), {"status": "active"})
    memory.add(theirs)
    port = next(n for n, one in memory.rows.items() if one.record.ref == Ref("interface", ("spine1", "et-0/0/0")))
    memory.rows[port] = Stored(memory.rows[port].record, port, False)
    plan = source(memory).plan()
    assert (plan.writes, [conflict.ref.kind for conflict in plan.conflicts]) == (0, ["interface"])


def test_a_management_address_of_somebody_else_is_waited_for() -> None:
    memory = Memory()
    number = memory.add(SourceRecord("ip-address", ("192.0.2.1/24",), {"interface": None, "description": "theirs"}))
    one = source(memory, MANAGED)
    push(one, one.plan())
    plan = one.plan()
    assert (plan.writes, [str(conflict.ref) for conflict in plan.conflicts]) == (0, ["ip-address 192.0.2.1/24"])
    del memory.rows[number]
    assert pushed(memory, MANAGED)["ip-address"] == 1


def test_an_address_whose_interface_is_refused_is_not_the_primary_one() -> None:
    memory = Memory()
    memory.refuses = {Ref("interface", ("server-001", "mgmt"))}
    one = source(memory, MANAGED)
    push(one, one.plan())
    assert set(one.refused) == memory.refuses
    memory.refuses = set()
    pushed(memory, MANAGED)


def test_a_management_address_that_moves_to_another_port_stays_the_primary_one() -> None:
    memory = Memory()
    pushed(memory, MANAGED)
    pushed(memory, MANAGED.replace("platform: generic", "platform: qfx5240-64od"), delete=True)
