"""Old runs are deleted by a rule, and nothing that a command may still need."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.deploy.run_history import Event, StateDirectory
from ailb_gen.deploy.run_pruning import NAME, PruneRule, prune, pruning
from ailb_gen.deploy.run_summary import RecordedState, RunSummary, summaries
from ailb_gen.errors import OutputError, UsageError
from tests.deploy.records import begun, record, results, wave

DAY_S = 86400.0
DONE: Event = {"event": "done", "outcomes": {}}


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


def name(number: int, stamp: str = "20260101T000000.000Z") -> str:
    return f"{number}-{stamp}-{number:04x}"


def good(state: StateDirectory, number: int, *devices: str, undoes: str = "") -> str:
    """Record a run that changed devices."""
    run = name(number)
    committing: Event = {"event": "committing", "devices": list(devices)}
    ended = results(**dict.fromkeys(devices, "confirmed"))
    record(state, run, begun(*devices, undoes=undoes), wave(*devices), committing, ended, DONE)
    return run


def numbers(runs: tuple[RunSummary, ...]) -> list[int]:
    return [int(one.run.partition("-")[0]) for one in runs]


def left(state: StateDirectory) -> list[int]:
    return [int(run.partition("-")[0]) for run in state.runs()]


def test_a_rule_says_something() -> None:
    with pytest.raises(UsageError, match="say which runs"):
        PruneRule()


def test_the_last_good_run_of_each_device_stays(state: StateDirectory) -> None:
    good(state, 1, "a", "b")
    good(state, 2, "a")
    good(state, 3, "a")
    good(state, 4, "c")
    found = pruning(state, PruneRule(keep=1))
    assert numbers(found.deleted) == [2]
    assert [(one.run, why) for one, why in found.kept] == [
        (name(1), "it is the last deploy that changed b"),
        (name(3), "it is the last deploy that changed a"),
    ]
    assert found.bytes > 0
    assert list(prune(state, found)) == [name(2)]
    assert left(state) == [1, 3, 4]


def test_what_may_be_continued_stays(state: StateDirectory) -> None:
    committing: Event = {"event": "committing", "devices": ["a"]}
    record(state, name(1), begun("a"), wave("a"), committing)
    record(state, name(2), begun("a", "b"), wave("a"), committing, results(a="confirmed"))
    record(state, name(3), begun("a"))
    record(state, name(4), begun("a"), wave("a"), committing, results(a="rolled back"), DONE)
    record(state, name(5), begun("a"))
    state.log(name(5)).write_text("{\n")
    record(state, name(6), begun("a"), wave("a"), results(a="untouched"), DONE)
    found = pruning(state, PruneRule(keep=1))
    assert numbers(found.deleted) == [3, 4]
    assert {int(one.run[0]): why for one, why in found.kept} == {
        1: "it left devices unsettled",
        2: "it was interrupted and can be resumed",
        5: "its record cannot be read",
    }


def test_rollbacks_stay_with_what_they_rolled_back(state: StateDirectory) -> None:
    first = good(state, 1, "a", "b")
    good(state, 2, "a", undoes=first)
    good(state, 3, "a")
    good(state, 4, "c")
    # The first run is the last one on `b`; without its rollback it would seem to be the last one on `a`, too.
    assert numbers(pruning(state, PruneRule(keep=1)).deleted) == []


def test_what_an_unfinished_rollback_rolls_back_stays(state: StateDirectory) -> None:
    first = good(state, 1, "a")
    committing: Event = {"event": "committing", "devices": ["a"]}
    record(state, name(2), begun("a", undoes=first), wave("a"), committing)
    good(state, 3, "a")
    assert numbers(pruning(state, PruneRule(keep=1)).deleted) == []


def test_old_runs(state: StateDirectory) -> None:
    good(state, 1, "a")
    good(state, 2, "a")
    good(state, 3, "a")
    log = state.log(name(1))
    log.write_text(log.read_text().replace('"time": "20', '"time": "19'))
    assert numbers(pruning(state, PruneRule(age_s=DAY_S)).deleted) == [1]
    assert numbers(pruning(state, PruneRule(age_s=0)).deleted) == [1, 2]
    assert numbers(pruning(state, PruneRule(keep=2, age_s=0)).deleted) == [1]
    assert numbers(pruning(state, PruneRule(keep=3, age_s=0)).deleted) == []


def test_a_run_that_did_not_begin_is_as_old_as_its_name(state: StateDirectory) -> None:
    for number in (1, 2):
        record(state, name(number))
    assert numbers(pruning(state, PruneRule(age_s=DAY_S)).deleted) == [1]
    assert numbers(pruning(state, PruneRule(age_s=10_000 * DAY_S)).deleted) == []


def test_other_folders_stay(state: StateDirectory) -> None:
    good(state, 1, "a")
    good(state, 2, "a")
    record(state, "mine", begun("a"), DONE)
    for folder in ("notes", "2026", "1-backup"):
        (state.path / folder).mkdir()
    found = pruning(state, PruneRule(keep=1))
    assert [one.run for one in found.deleted] == [name(1)]
    list(prune(state, found))
    assert sorted(path.name for path in state.path.iterdir()) == [
        "1-backup",
        "2-20260101T000000.000Z-0002",
        "2026",
        "mine",
        "notes",
    ]


def test_names_of_runs_are_as_they_are_made(state: StateDirectory) -> None:
    assert NAME.fullmatch(state.new_run())


def test_cut_off_in_the_middle_a_run_is_gone_and_the_rest_goes_the_next_time(state: StateDirectory) -> None:
    good(state, 1, "a")
    good(state, 2, "a")
    found = pruning(state, PruneRule(keep=1))
    with mock.patch.object(shutil, "rmtree", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        list(prune(state, found))
    assert (left(state), (state.path / name(1)).is_dir()) == ([2], True)
    list(prune(state, pruning(state, PruneRule(keep=1))))
    assert not (state.path / name(1)).exists()


def test_what_cannot_be_deleted_is_named(state: StateDirectory) -> None:
    good(state, 1, "a")
    good(state, 2, "a")
    with (
        mock.patch.object(Path, "unlink", side_effect=PermissionError(13, os.strerror(13))),
        pytest.raises(OutputError, match=f"{name(1)}: the run cannot be deleted: Permission denied"),
    ):
        list(prune(state, pruning(state, PruneRule(keep=1))))
    assert left(state) == [1, 2]


ENDS = ("confirmed", "rolled back", "untouched", "unsettled", "cut off")
rows = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("abc"), st.sampled_from(ENDS), min_size=1), st.none() | st.integers(1, 9)
    ),
    max_size=9,
)


@given(rows, st.integers(1, 4))
def test_pruning_changes_nothing_that_is_said_of_the_runs_that_stay(
    rows: list[tuple[dict[str, str], int | None]], keep: int
) -> None:
    with TemporaryDirectory() as folder:
        state = StateDirectory(Path(folder))
        for number, (ends, undoes) in enumerate(rows, 1):
            back = name(undoes) if undoes is not None and undoes < number else ""
            ended = {one: outcome for one, outcome in ends.items() if outcome in ENDS[:3]}
            begun_on = [one for one, outcome in ends.items() if outcome != "cut off"]
            whole = [DONE] if len(ended) == len(ends) else []
            committing: Event = {"event": "committing", "devices": begun_on}
            record(state, name(number), begun(*ends, undoes=back), wave(*ends), committing, results(**ended), *whole)
        before = {one.run: one for one in summaries(state, reversed(state.runs()))}
        found = pruning(state, PruneRule(keep=keep))
        gone = set(prune(state, found))
        after = {one.run: one for one in summaries(state, reversed(state.runs()))}
        assert after == {run: one for run, one in before.items() if run not in gone}
        assert set(list(before)[:keep]) <= set(after)
        for one in before.values():
            assert one.run not in gone or one.state is not RecordedState.UNSETTLED
        # Of every device, what changed it last and is still there.
        for device in "abc":
            last = next((one.run for one in before.values() if device in one.kept), None)
            assert last is None or last in after
        assert pruning(state, PruneRule(keep=keep)).deleted == ()
