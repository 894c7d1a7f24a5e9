"""A push whose records are on a disk that fills up: a small tmpfs in a mount namespace of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import pytest

from ailb_gen.deploy.run_history import StateDirectory
from tests.conftest import need_root, need_tool
from tests.deploy.fabric import ALL_NEW, ORDER, Hooks, Outcome, Site, assert_sound, run


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk of its own that can be filled, and be cleared again."""

    path: Path

    def fill(self) -> None:
        """Take all space that is left."""
        with (self.path / "others").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(512))
            except OSError:
                return

    def clear(self) -> None:
        """Give it back."""
        (self.path / "others").unlink()


@pytest.fixture
def small(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """Mount a disk of 300 KiB, or of another size, that only one process sees, and reach it through that process."""
    need_root()
    folder, size = tmp_path / "disk", getattr(request, "param", "300k")
    folder.mkdir()
    script = f"mount -t tmpfs -o size={size} tmpfs {folder} && echo mounted && exec sleep 3600"
    words = [need_tool("unshare"), "--mount", "sh", "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "mounted\n"
            yield Disk(Path(f"/proc/{process.pid}/root{folder}"))
        finally:
            process.kill()


@pytest.fixture
def on(tiny: Site, small: Disk) -> Site:
    """A fabric whose runs are recorded on that disk."""
    return replace(tiny, records=StateDirectory(small.path / "state"))


@pytest.mark.parametrize("small", ["60k"], indirect=True)
def test_a_disk_without_the_space_for_the_record(on: Site) -> None:
    done = on.deploy()
    assert done.code == 3
    assert done.err.endswith(
        "log.jsonl: the run cannot be recorded: No space left on device; nothing was changed; free space there, or "
        "name another --state\n"
    )
    on.assert_all(on.old)
    # What is there of it is in nobody's way.
    assert run(*on.words("rollback")).code == 2


@pytest.mark.parametrize("event", ["begin", "committing", "confirming", "results"])
def test_a_disk_that_fills_up_has_the_space_that_was_reserved(on: Site, small: Disk, event: str) -> None:
    with Hooks({event: small.fill}).watching():
        done = on.deploy()
    assert (done.code, done.err) == (0, "")
    assert assert_sound(on) == ALL_NEW
    assert on.events()[-1]["event"] == "done"


UNRESERVED = mock.patch("ailb_gen.deploy.push._reserve", lambda descriptor, size: None)


def ended_badly(on: Site, small: Disk, event: str) -> Outcome:
    """Let the disk fill up under a push that could not reserve anything."""
    with UNRESERVED, Hooks({event: small.fill}).watching():
        done = on.deploy()
    assert done.code in (3, 4)
    assert "log.jsonl: the run cannot be recorded: No space left on device\n" in done.err
    assert "\nfree space there, then run a command below; it finishes the record\n" in done.err
    assert "\nto go on: ailb-gen deploy " in done.err
    # What it says of each device is so.
    said: dict[str, str] = {}
    for line in done.err.splitlines():
        what, _, names = line.partition(": ")
        said |= {name: what for name in names.split(", ") if name in ORDER}
    assert said.keys() == set(ORDER)
    for name in ORDER:
        expected = on.new if said[name] == "confirmed" else on.old
        assert on.settled(name).active == expected[name]
    return done


@pytest.mark.sampled(2)
@pytest.mark.parametrize("event", ["run", "wave", "committing", "verified", "confirming", "results"])
def test_a_run_that_could_not_be_recorded_is_gone_on_with(on: Site, small: Disk, event: str) -> None:
    ended_badly(on, small, event)
    # As long as there is no space, nothing is done, and the same is said.
    again = run(*on.words("deploy", "--resume"))
    assert again.code == 3
    assert "No space left on device; nothing " in again.err
    small.clear()
    done = run(*on.words("deploy", "--resume"))
    assert done.code in (0, 4), done.err
    on.assert_all(on.new)
    assert on.events()[-1]["event"] == "done"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("event", ["committing", "confirming", "results"])
def test_a_run_that_could_not_be_recorded_is_taken_back(on: Site, small: Disk, event: str) -> None:
    ended_badly(on, small, event)
    small.clear()
    done = run(*on.words("rollback"))
    assert done.code in (0, 2), done.err
    assert done.code == 0 or "changed nothing that could be rolled back" in done.err
    on.assert_all(on.old)
    assert on.deploy().code == 0


def test_a_rollback_that_could_not_be_recorded_is_gone_on_with(on: Site, small: Disk) -> None:
    assert on.deploy().code == 0
    with UNRESERVED, Hooks({"committing": small.fill}).watching():
        done = run(*on.words("rollback"))
    assert done.code == 3, done.err
    small.clear()
    (line,) = (line for line in done.err.splitlines() if ": ailb-gen " in line)
    assert line.startswith(f"to go on: ailb-gen deploy {on.generated.fabric}")
    assert run(*line.partition(": ailb-gen ")[2].split(), "--yes", "--verify-timeout", "5").code == 0
    on.assert_all(on.old)
    assert (len(on.records.runs()), on.events()[-1]["event"]) == (2, "done")
