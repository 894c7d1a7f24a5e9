"""Commands as work of a maintenance: long output, and processes that they leave behind."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, cast

import pytest

from ailb_gen.deploy.maintenance_work import LAST_SHOWN, LONGEST_LINE, CommandWork, WorkDevice, WorkError, check_ended


def _done(folder: Path, script: str, timeout_s: float = 20) -> tuple[list[str], list[str]]:
    """Run a script of the shell as work; return what it printed, and what was told of it."""
    printed: list[str] = []
    told: list[str] = []
    session = cast("Any", None)
    CommandWork(("sh", "-c", script), timeout_s)(
        WorkDevice("spine1", "spine", "::1", session, folder, told.append, printed.append)
    )
    return printed, told


def test_of_a_line_without_end_only_its_length_is_printed(tmp_path: Path) -> None:
    size = 40 * LONGEST_LINE
    begun = time.process_time()
    printed, told = _done(tmp_path, f"head -c {size} /dev/zero; sleep 0.3; echo; echo over")
    assert time.process_time() - begun < 10
    assert printed[-1] == "over"
    assert all(len(line) <= LONGEST_LINE for line in printed)
    assert told == [] or "bytes of output are not printed here" in told[0]
    assert (tmp_path / "spine1.output").stat().st_size == size + len("\nover\n")


def test_of_much_output_the_last_is_printed(tmp_path: Path) -> None:
    count = 3 * LAST_SHOWN // 10
    write = f"import sys; sys.stdout.write(''.join(f'{{i:09}}\\n' for i in range({count})))"
    printed, _ = _done(tmp_path, f'{sys.executable} -c "{write}"')
    assert int(printed[-1]) == count - 1
    # The line before what is left out may be cut off.
    numbers = [int(line) for line in printed if len(line.strip()) == 9]
    assert len(numbers) >= len(printed) - 1
    assert numbers == sorted(numbers)
    assert (tmp_path / "spine1.output").stat().st_size == 10 * count


def test_output_of_what_a_command_left_behind_is_not_waited_for(tmp_path: Path) -> None:
    end = tmp_path / "end"
    try:
        # Without the limit it would outlive a test that is killed.
        printed, _ = _done(tmp_path, f"timeout 30 sh -c 'until test -e {end}; do echo on; done' & echo begun")
        assert "begun" in printed
        with pytest.raises(WorkError, match="the command of an earlier call still runs"):
            _done(tmp_path, "true")
    finally:
        end.touch()
    # Its folder must not go before it has seen that.
    until = time.monotonic() + 30
    while not _ended(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    assert _ended(tmp_path)


def _ended(folder: Path) -> bool:
    try:
        check_ended(folder, "spine1")
    except WorkError:
        return False
    return True


def test_a_command_that_ignores_the_first_signal_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ailb_gen.deploy.maintenance_work.ENDING_S", 0.2)
    with pytest.raises(WorkError, match="had not ended after 1 s of --timeout"):
        _done(tmp_path, "trap '' TERM; while :; do sleep 0.05; done", timeout_s=1)


def test_a_command_has_no_input(tmp_path: Path) -> None:
    assert _done(tmp_path, "cat; echo over")[0] == ["over"]
