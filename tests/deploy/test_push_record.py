"""The record of a run: on the disk before anything is done, readable after any crash, without secrets."""

import json
import os
import re
import resource
import signal
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ailb_gen.deploy.push import ChangeRow, RunLog
from ailb_gen.deploy.run_history import StateDirectory
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.redact.known import Redactor


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "deep" / "state")


def recorded(state: StateDirectory, run: str = "r", /, **events: Mapping[str, object]) -> Path:
    """Record events of a run; return the record."""
    with closing(RunLog(state, run, str)) as log:
        for event, fields in events.items():
            log.write(event, **fields)
    return log.path


def kinds(state: StateDirectory, run: str = "r") -> list[str]:
    return [event["event"] for event in state.events(run)]


def test_events_are_read_as_written(state: StateDirectory) -> None:
    fields = {"devices": ["a", "b"], "old": {"a": "x"}, "minutes": 5, "text": 'line\nbreak "é"'}
    recorded(state, wave=fields)
    (event,) = state.events("r")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event.pop("time"))
    assert event == {"run": "r", "event": "wave", **fields}


def test_an_event_is_on_the_disk_when_it_is_written(state: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[list[str]] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(kinds(state))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    recorded(state, one={}, two={})
    assert synced == [["one"], ["one", "two"]]


def test_a_record_cut_at_any_byte_can_be_read_and_continued(state: StateDirectory) -> None:
    path = recorded(state, **{f"event{number}": {"text": "ümlaut → 漢"} for number in range(3)})
    data = path.read_bytes()
    for length in range(len(data) + 1):
        path.write_bytes(data[:length])
        expected = [f"event{number}" for number in range(data[:length].count(b"\n"))]
        assert kinds(state) == expected
        recorded(state, more={})
        assert kinds(state) == [*expected, "more"]


def test_secrets_are_masked_wherever_they_are(state: StateDirectory) -> None:
    log = RunLog(state, "r", Redactor("hunter2", 'p"ss'))
    log.write(
        "error",
        error="login hunter2 refused",
        deep={"hunter2": [{"x": ("hunter2", 'p"ss', None, True, 7)}]},
        devices=["a"],
    )
    log.close()
    text = log.path.read_text()
    assert "hunter2" not in text
    assert 'p\\"ss' not in text
    (event,) = state.events("r")
    assert event["deep"] == {"***": [{"x": ["***", "***", None, True, 7]}]}


def test_what_no_encoding_knows_is_written_all_the_same(state: StateDirectory) -> None:
    recorded(state, error={"error": "\udc80"})
    assert state.events("r")[0]["error"] == "\udc80"


def test_threads_write_whole_lines(state: StateDirectory) -> None:
    log = RunLog(state, "r", str)

    def work(thread: int) -> None:
        for turn in range(20):
            log.write("x", row=[thread, turn], text="y" * 500)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    log.close()
    expected = [[thread, turn] for thread in range(8) for turn in range(20)]
    assert sorted(event["row"] for event in state.events("r")) == expected


def begin(state: StateDirectory) -> str:
    """Begin a run that records nothing."""
    return recorded(state, state.new_run()).parent.name


def test_runs_are_in_the_order_in_which_they_began_whatever_the_clock_says(
    state: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert state.runs() == []
    started = []
    for when in (1.8e9, 4.1e9, 0.0, 1.7e9, *([1.9e9] * 8)):
        monkeypatch.setattr(time, "time", lambda when=when: when)
        started.append(begin(state))
    (state.path / "junk").mkdir()
    (state.path / "13-junk").mkdir()
    assert state.runs() == started
    assert [run.partition("-")[0] for run in started] == [str(number) for number in range(1, 13)]
    assert state.new_run().startswith("14-")


def test_runs_of_older_versions_come_first(state: StateDirectory) -> None:
    first = begin(state)
    older = ["20260101T120000.000Z-beef", "20990101T120000.000Z-beef"]
    for run in reversed(older):
        folder = state.path / "runs" / run
        folder.mkdir(parents=True)
        (folder / "log.jsonl").write_text('{"event": "begin"}\n')
    assert state.runs() == [*older, first]
    assert kinds(state, older[0]) == ["begin"]
    assert begin(state).startswith("2-")
    recorded(state, older[0], done={})
    assert kinds(state, older[0]) == ["begin", "done"]
    assert not (state.path / older[0]).exists()


def test_which_run_is_meant(state: StateDirectory) -> None:
    started = [begin(state) for _ in range(12)]
    for number, run in enumerate(started, 1):
        assert state.find(run) == state.find(str(number)) == state.find(run[:-2]) == run
    with pytest.raises(UsageError, match=r"^13: there is no such run in "):
        state.find("13")
    with pytest.raises(UsageError):
        state.find("9" * 5000)
    with pytest.raises(UsageError, match=r"there is no such run in .*; the last ones are: "):
        state.find("")
    twin = f"{started[0]}x"
    recorded(state, twin)
    with pytest.raises(UsageError, match=rf"^1: several runs start with this; name one of them: {started[0]}, {twin}$"):
        state.find("1")
    assert state.find(started[0]) == started[0]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_nobody_else_reads_the_records(state: StateDirectory) -> None:
    old = os.umask(0)
    try:
        with state.alone():
            run = begin(state)
            log = RunLog(state, run, str)
            log.write_changes({"a": ChangeRow("d", ["set x"])})
            log.close()
    finally:
        os.umask(old)
    folder = state.path / run
    assert {mode(path) for path in (state.path.parent, state.path, folder)} == {0o700}
    assert {mode(path) for path in (folder / "log.jsonl", folder / "changes.jsonl", state.path / "lock")} == {0o600}
    assert (state.path / ".gitignore").read_text() == "*\n"
    # A record of an older version is closed when it is written to.
    (folder / "log.jsonl").chmod(0o644)
    recorded(state, run)
    assert mode(folder / "log.jsonl") == 0o600


def test_a_directory_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with StateDirectory(tmp_path).alone():
        pass
    assert mode(tmp_path) == 0o755
    assert not (tmp_path / ".gitignore").exists()


def test_changes_are_recorded_without_secrets(state: StateDirectory) -> None:
    log = RunLog(state, "r", Redactor("hunter2"))
    edits: list[Mapping[str, object] | str] = [
        {"kind": "remove", "statement": "y", "held": ["y hunter2"]},
        "set system x hunter2",
    ]
    changes = {"a": ChangeRow("d1", ["set system x hunter2", "delete y"], edits), "b": ChangeRow("d2", [])}
    log.write_changes(changes)
    log.close()
    rows = [json.loads(line) for line in (state.path / "r" / "changes.jsonl").read_text().splitlines()]
    assert rows == [
        {
            "device": "a",
            "digest": "d1",
            "commands": ["set system x ***", "delete y"],
            "edits": [{"kind": "remove", "statement": "y", "held": ["y ***"]}, "set system x ***"],
        },
        {"device": "b", "digest": "d2", "commands": []},
    ]


def test_one_run_at_a_time(state: StateDirectory) -> None:
    refused = pytest.raises(UsageError, match="another run uses it; wait until it has ended, or name another --state")
    with state.alone(), refused, state.alone():
        pass
    with state.alone():
        pass


def test_a_state_directory_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    state = StateDirectory(tmp_path / "file" / "state")
    refused = pytest.raises(OutputError, match="the run cannot be recorded: Not a directory; name another --state")
    with refused, state.alone():
        pass
    with pytest.raises(OutputError, match="the run cannot be recorded: Not a directory"):
        RunLog(state, "r", str)


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Let no file of this process become larger than so many bytes: a disk that is full there."""
    ignored, before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_line_that_cannot_be_written_leaves_nothing_of_it(state: StateDirectory) -> None:
    log = RunLog(state, "r", str)
    log.write("one")
    whole = log.path.read_bytes()
    for room in range(0, 40, 7):
        with at_most(len(whole) + room), pytest.raises(OutputError, match="the run cannot be recorded: File too large"):
            log.write("committing", devices=["a"])
        assert log.path.read_bytes() == whole
    log.write("two")
    log.close()
    assert kinds(state) == ["one", "two"]


def test_reserved_space_is_no_part_of_the_record_and_is_given_back(state: StateDirectory) -> None:
    log = RunLog(state, "r", str)
    log.reserve(100)
    taken = log.path.stat().st_blocks * 512
    log.write("one")
    assert kinds(state) == ["one"]
    assert log.path.stat().st_size < 200
    log.close()
    assert taken > 800_000
    assert log.path.stat().st_blocks * 512 < 50_000


def test_no_such_run(state: StateDirectory) -> None:
    with pytest.raises(UsageError, match=r"^x: there is no such run in .*; the last ones are: none$"):
        state.events("x")
    recorded(state)
    with pytest.raises(UsageError, match=r"the last ones are: r$"):
        state.events("x")


@pytest.mark.parametrize(
    "line",
    [
        *("", "{", "5", "[1]", "{}", '{"run": "r"}', '"event"', "null", '{"event": 5}', "[" * 100_000),
        # Without what is acted on.
        '{"event": "committing"}',
        '{"event": "committing", "devices": "a"}',
        '{"event": "confirming", "devices": [["a"]]}',
        '{"event": "results", "devices": ["a"]}',
        '{"event": "results", "devices": {"a": []}}',
        '{"event": "results", "devices": {"a": 5}}',
        '{"event": "run", "waves": [], "old": {}}',
        '{"event": "run", "waves": ["a"], "old": {}, "leg": 0}',
        '{"event": "run", "waves": [["canary", ["a"]]], "old": {"a": 5}, "leg": 0}',
        '{"event": "run", "waves": [["canary", ["a"]]], "old": ["a"], "leg": 0}',
        '{"event": "begin", "options": []}',
        '{"event": "begin", "digests": ["a"]}',
        '{"event": "begin", "inputs": 5}',
    ],
)
def test_an_edited_record(state: StateDirectory, line: str) -> None:
    path = recorded(state, run={"waves": [["canary", ["a"]]], "old": {"a": "x"}, "leg": 0})
    path.write_text(f"{path.read_text()}{line}\n{json.dumps({'event': 'two'})}\n")
    with pytest.raises(OutputError, match=re.escape("log.jsonl:2: not a line of a record; was it edited?")):
        state.events("r")


def test_a_record_of_a_newer_version(state: StateDirectory) -> None:
    log = RunLog(state, "r", str)
    log.write("begin", kind="deploy", version="0.1")
    log.write("begin", kind="side\x1bways", version="99.0")
    log.close()
    message = r"log.jsonl:2: ailb-gen 99.0 made this run, a 'side\x1bways'; use that version"
    with pytest.raises(OutputError, match=re.escape(message)):
        state.events("r")


def test_a_record_that_is_not_text(state: StateDirectory) -> None:
    recorded(state)
    state.log("r").write_bytes(b"\xff\n")
    with pytest.raises(OutputError, match="the record cannot be read"):
        state.events("r")
