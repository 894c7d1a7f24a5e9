"""Changes as they were recorded, and what taking them back does."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.deploy.device_diff import Edit, ServerDiff, edit_row
from ailb_gen.deploy.push import ChangeRow, RunLog
from ailb_gen.deploy.record_file import MAX_BYTES
from ailb_gen.deploy.recorded_changes import RecordedChange, change_row, recorded_changes, run_undo, undone
from ailb_gen.deploy.run_history import StateDirectory
from ailb_gen.errors import OutputError
from tests.deploy.records import begun, record, results, wave

EDITS = (
    Edit("add", "system x 1"),
    Edit("replace", "interfaces et-0/0/0 mtu", "1500", "9216"),
    Edit("remove", "protocols lldp", held=("protocols lldp interface all", "protocols lldp disable")),
    Edit("remove", "system y 2"),
    Edit("other", "insert a before b"),
)


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


def kept(state: StateDirectory, run: str, **changes: ChangeRow) -> None:
    with closing(RunLog(state, run, str)) as log:
        log.write_changes(changes)


def test_taking_back_is_the_opposite() -> None:
    assert list(undone(RecordedChange("a", "d", (), EDITS))) == [
        "- delete system x 1",
        "~ interfaces et-0/0/0 mtu: 9216 → 1500",
        "+ set protocols lldp interface all",
        "+ set protocols lldp disable",
        "+ set system y 2",
        "~ undo: insert a before b",
    ]


def test_commands_alone_say_what_they_can() -> None:
    """Records of older versions, new statements only, and files of servers."""
    commands = ("set x 1", "delete y", "insert a before b", "added /etc/n", "changed /etc/c", "removed /etc/r")
    assert list(undone(RecordedChange("a", "d", commands))) == [
        "- delete x 1",
        "+ restore y",
        "~ undo: insert a before b",
        "- remove /etc/n",
        "~ restore /etc/c",
        "+ restore /etc/r",
    ]


def test_changes_are_read_as_written(state: StateDirectory) -> None:
    rows: list[dict[str, Any] | str] = ["set system x 1", *map(edit_row, EDITS[1:])]
    kept(
        state,
        "1-r",
        a=ChangeRow("d1", ["set system x 1"], rows),
        b=change_row(ServerDiff("b", "f", ("added /e",), "d2")),
    )
    found = recorded_changes(state, "1-r")
    assert found["a"] == RecordedChange("a", "d1", ("set system x 1",), EDITS)
    assert found["b"] == RecordedChange("b", "d2", ("added /e",))
    # A resumed run records its changes again, and a crash may cut the last line off.
    kept(state, "1-r", a=ChangeRow("d1", ["set system z 1"]))
    path = state.log("1-r").with_name("changes.jsonl")
    path.write_bytes(path.read_bytes() + b'{"device": "b", "dig')
    again = recorded_changes(state, "1-r")
    assert (again["a"].commands, again["b"]) == (("set system z 1",), found["b"])
    assert recorded_changes(state, "2-none") == {}


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"device": "a", "digest": "d", "commands": [1]}', '{"device": "a"}', "\udcff"]
)
def test_a_damaged_line_is_named(state: StateDirectory, line: str) -> None:
    kept(state, "1-r", a=ChangeRow("d", []))
    path = state.log("1-r").with_name("changes.jsonl")
    with path.open("ab") as file:
        file.write(f"{line}\n".encode(errors="surrogateescape"))
    with pytest.raises(OutputError, match=r"changes\.jsonl"):
        recorded_changes(state, "1-r")


def test_what_is_no_file_of_a_record_is_not_read(state: StateDirectory) -> None:
    kept(state, "1-r", a=ChangeRow("d", []))
    path = state.log("1-r").with_name("changes.jsonl")
    os.truncate(path, MAX_BYTES + 1)
    with pytest.raises(OutputError, match="it is larger than 1024 MiB"):
        recorded_changes(state, "1-r")
    path.unlink()
    # Opening it would wait for a writer.
    os.mkfifo(path)
    with pytest.raises(OutputError, match="it is no regular file; was it replaced"):
        recorded_changes(state, "1-r")


def test_what_a_rollback_undoes_and_where_it_is_refused(state: StateDirectory) -> None:
    committing = {"event": "committing", "devices": ["a", "b", "c"]}
    ended = results(a="confirmed", b="confirmed", c="confirmed")
    record(state, "1-r", begun("a", "b", "c"), wave("a", "b", "c"), committing, ended)
    kept(state, "1-r", a=ChangeRow("d", ["set x 1"]))
    record(state, "2-r", begun("b", "c"), wave("b"), results(b="confirmed", c="confirmed"))
    record(state, "3-r", begun("c", undoes="2-r"), wave("c"), results(c="confirmed"))
    found = {one.device: (one.lines, one.blocked_by) for one in run_undo(state, "1-r")}
    # What the second run did on `c` was rolled back: it is no obstacle there.
    assert found == {"a": (("- delete x 1",), ""), "b": ((), "2-r"), "c": ((), "")}
    record(state, "4-r", begun("d"), wave("d"), {"event": "committing", "devices": ["d"]})
    assert [(one.device, one.end.outcome) for one in run_undo(state, "4-r")] == [("d", "unsettled")]
    state.log("4-r").write_text(json.dumps({"event": 7}) + "\n")
    with pytest.raises(OutputError, match="not a line of a record"):
        run_undo(state, "4-r")
