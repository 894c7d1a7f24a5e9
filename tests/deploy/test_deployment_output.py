"""A push comes to its end whatever becomes of what it is told to, and of the terminal that it was started from."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from select import POLLIN, poll

import pytest

from ailb_gen.emulator.faults import Fault
from tests.conftest import ROOT
from tests.deploy.fabric import ALL_NEW, CANARY, SPINES, Site, assert_sound, run

LOST = "the work is done, but part of the output is lost"
# A program that does not come to its end in this time hangs.
HANGS_S = 120.0


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tests.deploy.program", *words]


def started(*words: str, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Run a command line whose output can be read."""
    whole = [*before, *command(*words)]
    return subprocess.Popen(whole, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def gone() -> int:
    """Return a pipe that nobody reads from any more."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


OUTPUTS = {
    "gone": (gone, "Broken pipe"),
    "full": (lambda: os.open("/dev/full", os.O_WRONLY), "No space left on device"),
}


def told_to(where: str, *words: str) -> tuple[int, str]:
    """Run a command line with such a standard output; return the exit code and what it said on standard error."""
    with os.fdopen(OUTPUTS[where][0](), "wb") as out:
        done = subprocess.run(command(*words), cwd=ROOT, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.long
@pytest.mark.parametrize("where", OUTPUTS)
def test_a_push_that_nobody_hears_of_is_done_and_no_success(tiny: Site, where: str) -> None:
    code, err = told_to(where, *tiny.words("deploy", minutes=60))
    assert (code, err) == (3, f"ailb-gen: standard output: {OUTPUTS[where][1]}; {LOST}\n")
    assert assert_sound(tiny) == ALL_NEW
    assert tiny.events()[-1]["event"] == "done"
    code, err = told_to(where, *tiny.words("rollback", minutes=60))
    assert (code, LOST in err) == (3, True)
    tiny.assert_all(tiny.old)


@pytest.mark.long
@pytest.mark.parametrize("lines", [1, 9])
def test_a_push_whose_reader_leaves(tiny: Site, lines: int) -> None:
    """As `| head -N` does."""
    with started(*tiny.words("deploy", minutes=60)) as process:
        assert process.stdout is not None and process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, LOST in err) == (3, True)
    assert assert_sound(tiny) == ALL_NEW


def test_a_push_that_fails_says_so_with_its_code(tiny: Site) -> None:
    tiny.fleet.add_faults(SPINES[0], Fault("error", "commit"))
    code, err = told_to("gone", *tiny.words("deploy", minutes=60))
    assert (code, LOST in err) == (3, False)
    assert f"{SPINES[0]}: commit:" in err
    assert assert_sound(tiny) == {CANARY: "confirmed", SPINES[0]: "untouched"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("closing", [">&-", "<&- >&- 2>&-", "2>&-"])
def test_closed_descriptors(tiny: Site, closing: str) -> None:
    words = subprocess.list2cmdline(command(*tiny.words("deploy", minutes=60)))
    done = subprocess.run(
        ["sh", "-c", f"exec {words} {closing}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == (3 if ">&-" in closing.replace("2>&-", "") else 0)
    assert assert_sound(tiny) == ALL_NEW
    # Nothing of what was told went into the record.
    assert tiny.events()[-1]["event"] == "done"


def test_a_reader_that_does_not_read(tiny: Site) -> None:
    """As a pager that nobody scrolls, or a terminal that was stopped."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writer, b"x" * 4096)
    process = subprocess.Popen(
        command(*tiny.words("deploy", minutes=60)), cwd=ROOT, stdout=writer, stderr=writer, text=True
    )
    os.close(writer)
    begun(tiny, "done")
    assert process.poll() is None
    assert assert_sound(tiny) == ALL_NEW
    os.close(reader)
    assert process.wait(HANGS_S) == 3


def test_text_that_standard_output_cannot_encode(tiny: Site) -> None:
    tiny.fleet.add_faults(SPINES[0], Fault("error", "check"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    words = command(*tiny.words("deploy", minutes=60))
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "nothing was changed" in done.stderr


@pytest.mark.parametrize("verb", ["plan", "drift", "verify"])
def test_what_judges_is_never_good_when_nobody_hears_of_it(tiny: Site, verb: str) -> None:
    plan = tiny.folder / "plan.json"
    more = ["-o", str(plan)] if verb == "plan" else []
    code, _ = told_to("gone", *tiny.place(verb), *more)
    assert code == (3 if verb != "drift" else 1)
    assert plan.is_file() is (verb == "plan")


@pytest.mark.long
def test_a_gate_is_never_good_when_nobody_hears_of_it(tiny: Site) -> None:
    words = ("validate", str(tiny.generated.fabric), str(tiny.generated.artifacts), "--executor", "serial")
    assert told_to("gone", *words)[0] == 3
    file = tiny.generated.artifacts / "switches" / f"{CANARY}.conf"
    text = file.read_text()
    try:
        file.write_text(text.replace("mtu 9170", "mtu 1500"))
        assert told_to("gone", *words)[0] == 1
        assert told_to("gone", "junos", "diff", str(file), str(file.with_name("spine1.conf")))[0] == 1
    finally:
        file.write_text(text)


# --- Terminals and signals.


@contextmanager
def at_terminal(*words: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a command line at a terminal of its own."""
    master, slave = pty.openpty()

    def own() -> None:
        os.setsid()
        fcntl.ioctl(0, 0x540E, 0)  # TIOCSCTTY: it is its controlling terminal.

    process = subprocess.Popen(command(*words), cwd=ROOT, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own)  # noqa: PLW1509
    os.close(slave)
    try:
        yield master, process
    finally:
        process.kill()
        process.wait()


def seen(master: int, text: str) -> str:
    """Read from a terminal until a text is there."""
    found, end = "", time.monotonic() + HANGS_S
    # select(2) takes no descriptor above 1023, and a process of many tests may have so many.
    ready = poll()
    ready.register(master, POLLIN)
    while text not in found:
        assert time.monotonic() < end, found
        if ready.poll(200):
            try:
                found += os.read(master, 65536).decode()
            except OSError:
                break
    return found


def waiting(tiny: Site) -> list[str]:
    """Return the command line of a push whose canary takes its time for the commit."""
    tiny.fleet.add_faults(CANARY, Fault("slow", "commit", seconds=3))
    return tiny.words("deploy", minutes=600, verify_s=500)


def begun(tiny: Site, event: str, times: int = 1) -> None:
    """Wait until the record announces an event, or the so-manieth of its kind."""
    end = time.monotonic() + HANGS_S
    while sum(found["event"] == event for found in tiny.events()) < times:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_terminal_that_is_closed(tiny: Site) -> None:
    with at_terminal(*waiting(tiny)) as (master, process):
        seen(master, "wave 1 of 4")
        begun(tiny, "committing")
        os.close(master)
        assert process.wait(HANGS_S) == 4
    assert assert_sound(tiny)[CANARY] == "rolled back"
    assert tiny.events()[-1]["event"] == "done"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_signals_end_a_push_in_order_and_say_what_is_next(tiny: Site, number: signal.Signals) -> None:
    with started(*waiting(tiny)) as push:
        begun(tiny, "committing")
        push.send_signal(number)
        out, err = push.communicate(timeout=HANGS_S)
    assert push.returncode == 4
    assert "stopping; pending changes are rolled back" in err
    assert "it was interrupted" in err
    (first,) = tiny.records.runs()
    assert f"to go on: ailb-gen deploy {tiny.generated.fabric} {tiny.generated.artifacts} --resume {first} " in err
    assert "to undo it" not in err
    assert f"1 rolled back; record: {tiny.records.path}" in out.replace("3 untouched, ", "")
    assert assert_sound(tiny)[CANARY] == "rolled back"


@pytest.mark.long
def test_what_is_next_after_an_interrupt_between_waves(tiny: Site) -> None:
    tiny.fleet.add_faults(SPINES[0], Fault("slow", "commit", seconds=3))
    with started(*tiny.words("deploy", minutes=600, verify_s=500)) as push:
        begun(tiny, "committing", 2)
        push.send_signal(signal.SIGINT)
        push.send_signal(signal.SIGINT)
        _, err = push.communicate(timeout=HANGS_S)
    (first,) = tiny.records.runs()
    place = f"{tiny.generated.fabric} {tiny.generated.artifacts}"
    end = f"-i {tiny.inventory} --state {tiny.records.path}"
    assert push.returncode == 4
    assert f"to go on: ailb-gen deploy {place} --resume {first} {end}\n" in err
    assert f"to undo it: ailb-gen rollback {place} {first} {end}\n" in err
    tiny.fleet.clear_faults(SPINES[0])
    # The command that it says does it.
    line = next(line for line in err.splitlines() if line.startswith("to go on: ailb-gen "))
    done = run(*line.removeprefix("to go on: ailb-gen ").split(), "--yes", "--verify-timeout", "5")
    assert done.code == 0, done
    assert assert_sound(tiny) == ALL_NEW


@pytest.mark.long
def test_nohup_is_respected(tiny: Site) -> None:
    with started(*tiny.words("deploy", minutes=60), before=["nohup"]) as push:
        begun(tiny, "begin")
        push.send_signal(signal.SIGHUP)
        out, _ = push.communicate(timeout=HANGS_S)
    assert (push.returncode, "4 confirmed" in out) == (0, True)
    assert assert_sound(tiny) == ALL_NEW


ANSWERS: dict[str, tuple[bytes, int, str]] = {
    "yes": (b"y\n", 0, "4 confirmed"),
    "no": (b"n\n", 3, "it was not approved"),
    "nothing": (b"\n", 3, "it was not approved"),
    "end": (b"\x04", 3, "it was not approved"),
    "Ctrl-C": (b"\x03", 3, "it was interrupted"),
}


@pytest.mark.long
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_person_is_asked(tiny: Site, answer: str) -> None:
    keys, code, told = ANSWERS[answer]
    words = [word for word in tiny.words("deploy", minutes=60) if word != "--yes"]
    with at_terminal(*words) as (master, process):
        shown = seen(master, "Push this? [y/N]: ")
        assert "canary leaf" in shown
        os.write(master, keys)
        seen(master, told)
        assert process.wait(HANGS_S) == code
        os.close(master)
    outcomes = assert_sound(tiny)
    assert outcomes == (ALL_NEW if code == 0 else {})
    if code == 0:
        assert tiny.events()[0]["approved"]["how"] == "asked"
