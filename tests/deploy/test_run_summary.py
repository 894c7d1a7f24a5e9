"""What is said of recorded runs is true: states, ends of devices, what was taken back, who has a record open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ailb_gen.deploy.push import RunLog
from ailb_gen.deploy.run_history import Event, RecordedRun, StateDirectory
from ailb_gen.deploy.run_summary import (
    UNSETTLED,
    DeviceEnd,
    RecordedState,
    RunPart,
    device_ends,
    is_open,
    remaining_changes,
    summaries,
)
from tests.conftest import ROOT
from tests.deploy.records import begun, record, results, wave

HOLDS = """\
import sys, time
from pathlib import Path
from ailb_gen.deploy.push import RunLog
from ailb_gen.deploy.run_history import StateDirectory
log = RunLog(StateDirectory(Path(sys.argv[1])), sys.argv[2], str)
print("open", flush=True)
time.sleep(600)
"""


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


def told(state: StateDirectory) -> dict[str, str]:
    """The state of every run, the newest first."""
    return {one.run: str(one.state) for one in summaries(state, reversed(state.runs()))}


DONE: Event = {"event": "done", "outcomes": {}}
COMMITTING: Event = {"event": "committing", "devices": ["a"]}


@pytest.mark.parametrize(
    ("events", "expected", "ends"),
    [
        ([], "not begun", {}),
        ([begun("a")], "interrupted", {"a": "untouched"}),
        ([begun("a"), wave("a")], "interrupted", {"a": "untouched"}),
        ([begun("a", "b"), wave("a"), COMMITTING], "unsettled", {"a": UNSETTLED, "b": "untouched"}),
        (
            [begun("a", "b"), wave("a"), COMMITTING, results(a="confirmed")],
            "interrupted",
            {"a": "confirmed", "b": "untouched"},
        ),
        ([begun("a"), wave("a"), COMMITTING, results(a="confirmed"), DONE], "done", {"a": "confirmed"}),
        (
            [begun("a", "b"), wave("a"), COMMITTING, results(a="confirmed"), DONE],
            "incomplete",
            {"a": "confirmed", "b": "untouched"},
        ),
        ([begun("a"), wave("a"), COMMITTING, results(a="rolled back"), DONE], "rolled back", {"a": "rolled back"}),
        ([begun("a"), wave("a"), results(a="untouched"), DONE], "nothing changed", {"a": "untouched"}),
        (
            [begun("a"), wave("a"), COMMITTING, results(a="needs attention"), DONE],
            "unsettled",
            {"a": "needs attention"},
        ),
        ([begun("a"), wave("a"), COMMITTING, results(a="left as it is"), DONE], "incomplete", {"a": "left as it is"}),
        (
            # All is taken back; a crash comes before any of it is done.
            [
                begun("a"),
                wave("a"),
                COMMITTING,
                results(a="confirmed"),
                {"event": "reverting", "devices": ["a"]},
            ],
            "unsettled",
            {"a": UNSETTLED},
        ),
    ],
)
def test_the_state_of_a_run(state: StateDirectory, events: list[Event], expected: str, ends: dict[str, str]) -> None:
    record(state, "1-r", *events)
    (one,) = summaries(state, state.runs())
    assert (str(one.state), {name: end.outcome for name, end in one.devices.items()}) == (expected, ends)


def test_dry_runs(state: StateDirectory) -> None:
    dry = begun("a", dry=True)
    run: Event = {"event": "run", "waves": [["w", ["a"]]], "leg": 0, "old": {"a": "x"}}
    record(state, "1-a", dry, run, {"event": "checked", "devices": ["a"]}, DONE)
    record(state, "2-b", dry, run, {"event": "error", "device": "a", "error": "a: no"}, DONE)
    record(state, "3-c", dry, run)
    assert told(state) == {"3-c": "interrupted", "2-b": "incomplete", "1-a": "done"}
    (one,) = summaries(state, ["2-b"])
    assert (one.kind, one.devices) == ("dry run", {"a": DeviceEnd("untouched", "a: no")})


def test_what_was_taken_back_and_given_again(state: StateDirectory) -> None:
    done = [wave("a", "b"), {**COMMITTING, "devices": ["a", "b"]}, results(a="confirmed", b="confirmed"), DONE]
    record(state, "1-first", begun("a", "b"), *done)
    record(state, "2-back", begun("a", "b", undoes="1-first"), *done)
    assert told(state) == {"2-back": "done", "1-first": "rolled back"}
    first = RecordedRun("1-first", state.events("1-first"))
    assert remaining_changes(state, first) == ()
    # Of one device, the rollback is rolled back itself: there the first change is active again.
    record(state, "3-again", begun("b", undoes="2-back"), wave("b"), results(b="confirmed"), DONE)
    assert told(state) == {"3-again": "done", "2-back": "done", "1-first": "done"}
    assert remaining_changes(state, first) == ("b",)
    by_run = {one.run: one for one in summaries(state, reversed(state.runs()))}
    assert by_run["1-first"].devices["a"].taken_back_by == "2-back"
    assert by_run["2-back"].devices["b"].taken_back_by == "3-again"
    assert by_run["2-back"].kept == ("a",)


def test_who_began_and_who_went_on(state: StateDirectory) -> None:
    who = {"user": "ann", "host": "h", "version": "1.2", "command": ["ailb-gen", "deploy"]}
    more = {"user": "bob", "host": "k", "version": "1.3", "command": ["ailb-gen", "deploy", "--resume"]}
    settling: Event = {"event": "settling", "verb": "resume", **more}
    record(
        state,
        "1-r",
        {**begun("a"), **who, "approved": {"by": "ann", "how": "asked"}},
        settling,
        {**begun("a"), **more, "approved": {"by": "bob", "how": "--yes"}},
        {"event": "settling", "verb": "confirm", **who},
    )
    (one,) = summaries(state, ["1-r"])
    assert [(part.verb, part.user, part.host, part.version, part.approved) for part in one.parts] == [
        ("deploy", "ann", "h", "1.2", "asked"),
        ("resume", "bob", "k", "1.3", "--yes"),
        ("confirm", "ann", "h", "1.2", ""),
    ]
    assert one.parts[1].command == ("ailb-gen", "deploy", "--resume")
    assert one.approval == "asked"


def test_a_record_of_an_older_version(state: StateDirectory) -> None:
    old: Event = {"event": "begin", "kind": "deploy", "approved": {"by": "ann", "how": "--yes"}}
    run: Event = {"event": "run", "waves": [["w", ["a"]]], "leg": 0, "old": {"a": "x"}}
    record(state, "20250101T000000Z-aaaa", old, run, wave("a"), COMMITTING, results(a="confirmed"), DONE)
    (one,) = summaries(state, state.runs())
    assert (one.state, one.counts) == (RecordedState.DONE, "1 confirmed")
    assert [(part.user, part.host, part.command) for part in one.parts] == [("ann", "", ())]
    assert isinstance(one.parts[0], RunPart)


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "begin", "approved": "ann"}',
        '{"event": "begin", "command": [1]}',
        '{"event": "begin", "plan": []}',
        "{",
    ],
)
def test_a_damaged_record_is_told_and_the_others_are_listed(state: StateDirectory, line: str) -> None:
    record(state, "1-good", begun("a"), wave("a"), COMMITTING, results(a="confirmed"), DONE)
    record(state, "2-bad", begun("a"))
    state.log("2-bad").write_text(f"{line}\n")
    assert told(state) == {"2-bad": "unreadable", "1-good": "done"}
    (bad, _) = summaries(state, reversed(state.runs()))
    assert "log.jsonl:1: not a line of a record" in bad.why


def test_a_run_without_a_line_has_no_kind(state: StateDirectory) -> None:
    record(state, "1-r")
    (one,) = summaries(state, state.runs())
    assert (one.state, one.kind) == (RecordedState.NOT_BEGUN, "")


def test_an_open_record_is_running_until_its_process_is_killed(state: StateDirectory) -> None:
    record(state, "1-r", begun("a"))
    assert told(state) == {"1-r": "interrupted"}
    with closing(RunLog(state, "1-r", str)):
        assert is_open(state, "1-r")
        assert told(state) == {"1-r": "running"}
    words = [sys.executable, "-c", HOLDS, str(state.path), "1-r"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        assert told(state) == {"1-r": "running"}
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert told(state) == {"1-r": "interrupted"}
    assert not is_open(state, "2-none")


def test_ends_of_devices_have_the_last_error() -> None:
    error: Event = {"event": "error", "wave": "w", "device": "a", "error": "a: commit: no answer"}
    ends = device_ends(RecordedRun("r", [begun("a"), wave("a"), COMMITTING, error]))
    assert ends == {"a": DeviceEnd(UNSETTLED, "a: commit: no answer")}
