"""What is told between two looks: findings that come and go, devices that stop answering and answer again."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks.families.devices import DRIFT, NEXT_PUSH, STATE
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.deploy.watching.changes import ChangeKind, FabricMemory

CAME, WENT = ChangeKind.CAME, ChangeKind.WENT
FINDINGS = st.frozensets(
    st.builds(
        lambda check, text: (check, text), st.sampled_from([DRIFT.id, STATE.id, NEXT_PUSH.id]), st.sampled_from("xyz")
    )
)
LOOKS = st.lists(st.dictionaries(st.sampled_from(["a", "b"]), FINDINGS), max_size=6)


def findings(device: str, rows: frozenset[tuple[str, str]]) -> list[Finding]:
    return [Finding(check, device, message) for check, message in rows]


@given(LOOKS)
def test_what_came_and_went_adds_up_to_what_is_there(looks: list[dict[str, frozenset[tuple[str, str]]]]) -> None:
    memory, there = FabricMemory(), set[tuple[str, str, str]]()
    state: dict[str, frozenset[tuple[str, str]]] = {}
    for look in looks:
        for change in memory.found({name: findings(name, rows) for name, rows in look.items()}):
            row = (change.device, change.check, change.message)
            assert (row in there) == (change.kind is WENT)
            (there.remove if change.kind is WENT else there.add)(row)
        state |= look
    assert there == {(name, *row) for name, rows in state.items() for row in rows}
    assert memory.counts() == Counter(
        (check, "warning" if check == NEXT_PUSH.id else "error", name) for name, check, _ in there
    )


def test_silence_is_told_once_and_findings_stay() -> None:
    memory = FabricMemory()
    list(memory.found({"a": [Finding(DRIFT.id, "a", "x")]}))
    error = DeviceError("a", Phase.CONNECT, "no answer, password hunter2")

    def mask(text: str) -> str:
        return text.replace("hunter2", "***")

    (silent,) = memory.asked("a", error, 100.0, mask)
    assert (silent.kind, silent.device, silent.since) == (ChangeKind.SILENT, "a", 100.0)
    assert silent.message == "connect: no answer, password ***"
    assert list(memory.asked("a", error, 200.0, mask)) == []
    assert sum(memory.counts().values()) == 1
    (back,) = memory.asked("a", "value", 300.0, mask)
    assert (back.kind, back.since) == (ChangeKind.ANSWERS, 100.0)
    assert list(memory.asked("a", "value", 400.0, mask)) == []


def test_a_device_that_is_not_watched_any_more_is_forgotten() -> None:
    memory = FabricMemory()
    list(memory.found({name: [Finding(DRIFT.id, name, "x")] for name in "ab"}))
    list(memory.asked("b", DeviceError("b", Phase.CONNECT, "no"), 0.0, str))
    assert [(one.kind, one.device) for one in memory.forget(["a"])] == [(WENT, "b")]
    assert memory.silent == {} and set(memory.findings) == {"a"}
    # Back again, it is told as if new.
    assert [one.kind for one in memory.found({"b": [Finding(DRIFT.id, "b", "x")]})] == [CAME]
