"""From whatever a run left there is a way back, and every command says which run it is about."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from unittest import mock

import pytest

from ailb_gen.deploy.run_history import RecordedRun
from ailb_gen.deploy.run_summary import summaries
from ailb_gen.emulator.faults import Fault
from tests.deploy.fabric import (
    CANARY,
    LAST,
    ORDER,
    SPINES,
    Elapsing,
    Hooks,
    Outcome,
    Site,
    outcomes_of,
    run,
    timer_ends,
)

STUCK = SPINES[1]


class KilledError(BaseException):
    """The program is killed."""


def killed(tiny: Site, event: str, *more: str, times: int = 1) -> str:
    """Push, and be killed when the record announces an event for the `times`-th time; return the run."""

    def act() -> None:
        raise KilledError

    hooks = Hooks({f"{event} {times}": act})
    # What is killed undoes nothing.
    with hooks.watching(), mock.patch("ailb_gen.deploy.wave.WaveRun._undo"), pytest.raises(KilledError):
        run(*tiny.words(*(more or ("deploy",)), minutes=60))
    for name in ORDER:
        tiny.settled(name)
    return tiny.records.runs()[-1]


def stuck(tiny: Site) -> str:
    """Push, and lose a device of the third wave for good while its change is pending; return the run."""
    gone = [Fault("refuse-auth", "connect", count=0), Fault("drop-before", "verify", count=0)]
    hooks = Hooks({"committing 3": lambda: tiny.fleet.add_faults(STUCK, *gone)})
    with out_of_reach(tiny, hooks):
        # What is verified well is so at the first look.
        done = run(*tiny.words("deploy", minutes=60, verify_s=1))
    assert done.code == 5, done
    return tiny.records.runs()[-1]


@contextmanager
def out_of_reach(tiny: Site, hooks: Hooks) -> Iterator[None]:
    """Let all time pass, on the device too, when the program begins to wait for STUCK to take its change back."""
    clock = Elapsing()

    def passes() -> None:
        tiny.fleet.do(STUCK, timer_ends)
        clock.pass_over()

    hooks.acts["reverting"] = passes
    with hooks.watching(), clock.running():
        yield


def in_vain(tiny: Site, *words: str) -> Outcome:
    """Run a verb while the device is still gone."""
    with out_of_reach(tiny, Hooks()):
        return verb(tiny, *words)


def verb(tiny: Site, *words: str) -> Outcome:
    if words[0] == "confirm":
        return run(*tiny.place("confirm"), "--state", str(tiny.records.path), *words[1:])
    return run(*tiny.words(*words, minutes=6))


def well(tiny: Site, *words: str) -> Outcome:
    """Run a verb that brings everything to its end."""
    done = verb(tiny, *words)
    assert done.code == 0, done
    return done


def refused(tiny: Site, why: str, *words: str) -> Outcome:
    """Run a verb that does nothing, and says why."""
    done = verb(tiny, *words)
    assert (done.code, why in done.err) == (2, True), done
    return done


def test_a_device_that_needs_attention_is_unsettled_until_it_was_seen(tiny: Site) -> None:
    first = stuck(tiny)
    assert RecordedRun(first, tiny.records.events(first)).left.devices == (STUCK,)
    # Still gone: nothing is forgotten, and what was confirmed is named.
    for words in (("rollback",), ("deploy", "--resume"), ("rollback", first)):
        done = in_vain(tiny, *words)
        assert (done.code, first in done.out) == (5, True), done
        assert f"rollback {tiny.generated.fabric} " in done.err
    assert f"what the run {first} confirmed on {SPINES[0]}, {CANARY} stays until then" in done.err
    refused = tiny.deploy()
    assert (refused.code, refused.out) == (2, "")
    assert f"the run {first} left {STUCK} unsettled" in refused.err
    tiny.repair()
    assert f"rolling back the run {first}: 1 unsettled and 2 confirmed" in well(tiny, "rollback").out
    tiny.assert_all(tiny.old)


def test_what_needed_attention_is_gone_on_with(tiny: Site) -> None:
    first = stuck(tiny)
    tiny.repair()
    assert f"resuming the run {first} (pushing files)" in well(tiny, "deploy", "--resume", "1").out
    tiny.assert_all(tiny.new)
    refused(tiny, f"the run {first} is complete; there is nothing to resume", "deploy", "--resume")


def test_what_needed_attention_is_confirmed(tiny: Site) -> None:
    first = stuck(tiny)
    tiny.repair()
    done = verb(tiny, "confirm")
    # Its timer had taken it back by then.
    assert done.code == 4, done
    assert f"confirming the pending changes of the run {first}" in done.out
    assert tiny.settled(STUCK).active == tiny.old[STUCK]
    assert tiny.deploy().code == 0
    tiny.assert_all(tiny.new)


def test_a_device_that_somebody_has_looked_at(tiny: Site) -> None:
    first = stuck(tiny)
    refused(tiny, f"the run {first} did not leave it unsettled", "rollback", "--as-is", CANARY)
    well(tiny, "rollback", first, "--as-is", STUCK, "--min-paths", "0")
    assert outcomes_of(tiny.records.events(first))[STUCK] == "left as it is"
    tiny.repair()
    tiny.assert_all(tiny.old)
    assert tiny.deploy().code == 0


def test_the_others_are_taken_back_if_one_may_fail(tiny: Site) -> None:
    first = stuck(tiny)
    done = in_vain(tiny, "rollback", "--max-failures", "1", "--min-paths", "0")
    assert done.code == 5, done
    assert [tiny.settled(name).active == tiny.old[name] for name in (CANARY, SPINES[0], LAST)] == [True] * 3
    tiny.repair()
    well(tiny, "rollback", first)
    tiny.assert_all(tiny.old)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("clock", [0.0, 4.0e9, None])
def test_neither_a_dry_run_nor_a_clock_hides_an_unfinished_run(tiny: Site, clock: float | None) -> None:
    first = killed(tiny, "verified")
    with mock.patch("time.time", (lambda: clock) if clock is not None else time.time):
        refused = tiny.deploy("--dry-run")
        assert (refused.code, f"the run {first} left {CANARY} unsettled" in refused.err) == (2, True)
        done = verb(tiny, "rollback")
        assert f"rolling back the run {first}: 1 unsettled" in done.out
        tiny.assert_all(tiny.old)
        second = killed(tiny, "wave", times=2)
        # It left nothing pending: others may run.
        assert tiny.deploy("--dry-run").code == 0
        assert tiny.deploy("--min-paths", "99").code in (0, 2)
    assert second.startswith("2-")


@pytest.mark.long
def test_after_a_dry_run_the_last_real_run_is_meant(tiny: Site) -> None:
    first = killed(tiny, "wave", times=3)
    with mock.patch("time.time", lambda: 4.0e9):
        assert tiny.deploy("--dry-run").code == 0
    assert len(tiny.records.runs()) == 2
    assert f"resuming the run {first}" in well(tiny, "deploy", "--resume").out
    tiny.assert_all(tiny.new)
    assert tiny.deploy("--dry-run").code == 0
    assert f"rolling back the run {first}: 4 confirmed" in well(tiny, "rollback").out
    tiny.assert_all(tiny.old)


def test_a_run_that_was_rolled_back_is_not_resumed(tiny: Site) -> None:
    """Else its record would not say what came after that, and a rollback would miss it."""
    first = killed(tiny, "wave", times=3)
    well(tiny, "rollback")
    second = tiny.records.runs()[-1]
    why = f"the run {first} was rolled back by {second}; it cannot be resumed; start another one"
    refused(tiny, why, "deploy", "--resume", "1")
    tiny.assert_all(tiny.old)
    assert [str(one.state) for one in summaries(tiny.records, [second, first])] == ["done", "rolled back"]


def test_a_dry_run_that_was_cut_off_is_never_pushed(tiny: Site) -> None:
    killed(tiny, "checked", "deploy", "--dry-run")
    refused(tiny, "was a dry run; there is nothing to resume", "deploy", "--resume")
    tiny.assert_all(tiny.old)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("written", [b"", b'{"event": "beg'])
def test_a_run_that_was_cut_off_before_its_first_line_is_passed_over(tiny: Site, written: bytes) -> None:
    def cut_off() -> str:
        log = tiny.records.log(tiny.records.new_run())
        log.parent.mkdir(parents=True, mode=0o700)
        log.write_bytes(written)
        return log.parent.name

    first = cut_off()
    refused(tiny, "no run is recorded", "deploy", "--resume")
    refused(tiny, "was interrupted before it began; there is nothing to resume", "deploy", "--resume", first)
    assert tiny.deploy().code == 0
    cut_off()
    refused(tiny, "is complete; there is nothing to resume", "deploy", "--resume")
    well(tiny, "rollback")
    tiny.assert_all(tiny.old)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("event", ["committing", "verified", "confirming", "results"])
@pytest.mark.parametrize("words", [("rollback",), ("deploy", "--resume")])
def test_a_rollback_that_was_cut_off_goes_on_as_a_rollback(tiny: Site, event: str, words: tuple[str, ...]) -> None:
    assert tiny.deploy().code == 0
    first = tiny.records.runs()[-1]
    second = killed(tiny, event, "rollback")
    assert f"resuming the run {second} (rolling back the run {first})" in well(tiny, *words).out
    tiny.assert_all(tiny.old)


def test_a_rollback_that_changed_nothing_yet(tiny: Site) -> None:
    assert tiny.deploy().code == 0
    killed(tiny, "begin", "rollback")
    well(tiny, "deploy", "--resume")
    tiny.assert_all(tiny.old)


def test_a_rollback_that_stopped_half_way_is_gone_on_with_by_name(tiny: Site) -> None:
    assert tiny.deploy().code == 0
    first = tiny.records.runs()[-1]
    tiny.fleet.add_faults(LAST, Fault("error", "commit"))
    done = verb(tiny, "rollback")
    assert done.code in (3, 4), done
    assert f"the run {first} is not rolled back on {LAST}" in done.out
    assert (
        f"to go on with the rollback: ailb-gen rollback {tiny.generated.fabric} {tiny.generated.artifacts} {first}"
        in done.err
    )
    refused(tiny, f"'rollback … {first}' continues with {LAST}, which it did not reach", "rollback")
    well(tiny, "rollback", first)
    tiny.assert_all(tiny.old)


def test_a_resumed_push_changes_only_what_was_approved(tiny: Site) -> None:
    killed(tiny, "verified", "deploy", "--limit", "leaf")
    refused(tiny, "omit --limit", "deploy", "--resume", "--limit", CANARY)
    well(tiny, "deploy", "--resume")
    assert [name for name in ORDER if tiny.settled(name).active == tiny.new[name]] == [CANARY, LAST]


def test_a_resumed_push_refuses_another_change(tiny: Site) -> None:
    killed(tiny, "wave", times=2)
    keep = '{leaf: {data: {keep: ["protocols bgp group fabric-blue bfd-liveness-detection"]}}}\n'
    (tiny.inventory / "groups.yaml").write_text(keep)
    why = "is settled: nothing was pending. It cannot continue, because the change on"
    refused(tiny, why, "deploy", "--resume")
    assert [name for name in ORDER if tiny.settled(name).active == tiny.new[name]] == [CANARY]


def test_several_unsettled_runs_are_not_guessed_among(tiny: Site) -> None:
    first = killed(tiny, "verified")
    events = tiny.records.events(first)
    second = tiny.records.new_run()
    folder = tiny.records.path / second
    folder.mkdir()
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    for words in (("rollback",), ("confirm",), ("deploy", "--resume")):
        refused(tiny, f"several runs left devices unsettled; name one of them: {second}, {first}", *words)
    refused(tiny, f"the run {second} left {CANARY} unsettled", "rollback", first)


def test_a_record_of_an_older_version(tiny: Site) -> None:
    first = killed(tiny, "verified")
    older = "20990101T120000.000Z-beef"
    events = tiny.records.events(first)
    for event in events:
        for key in ("digests", "version", "approved", "options", "plan"):
            event.pop(key, None)
    new = tiny.records.path / first
    folder = tiny.records.path / "runs" / first
    folder.parent.mkdir()
    new.rename(folder)
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    assert tiny.records.runs() == [first]
    assert older not in tiny.records.runs()
    assert f"the run {first} left {CANARY} unsettled" in tiny.deploy().err
    well(tiny, "rollback")
    tiny.assert_all(tiny.old)


def test_what_the_record_holds(tiny: Site) -> None:
    plan = Path(tiny.planned())
    assert tiny.deploy("--plan", str(plan)).code == 0
    (first,) = tiny.records.runs()
    begin = tiny.records.events(first)[0]
    assert begin["event"] == "begin"
    assert begin["approved"] == {"by": begin["user"], "how": "--yes"}
    assert begin["plan"]["file"] == str(plan)
    assert len(begin["plan"]["digest"]) == len(begin["inputs"]) == 64
    assert begin["version"]
    assert (begin["options"]["max_failures"], begin["options"]["dry_run"]) == (0, False)
    rows = [json.loads(line) for line in (tiny.records.path / first / "changes.jsonl").read_text().splitlines()]
    assert {row["device"]: row["digest"] for row in rows} == begin["digests"]
    planned = json.loads(plan.read_text())["devices"]
    assert {name: row["change"] for name, row in planned.items()} == begin["digests"]
    assert {row["device"]: row["commands"] for row in rows} == {name: row["commands"] for name, row in planned.items()}
    assert not [event for event in tiny.records.events(first) if "hunter2" in json.dumps(event)]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("way", ["--resume", "rollback", "confirm"])
def test_ctrl_c_ends_the_waiting_for_a_device_that_does_not_answer(tiny: Site, way: str) -> None:
    """And says what is left; when the device is there again, the same command goes on."""
    run_name = killed(tiny, "verified")
    tiny.device(CANARY).faults.add(Fault("refuse-auth", "connect", count=0))
    words = ("deploy", "--resume") if way == "--resume" else (way,)
    interrupt = Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    # Without the signal, it would be waited for over an hour.
    hooks = Hooks({"confirming" if way == "confirm" else "reverting": interrupt.start})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with hooks.watching():
            done = verb(tiny, *words) if way == "confirm" else run(*tiny.words(*words, minutes=3600))
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.code == 5, done
    assert f"interrupted: no longer waiting for {CANARY}" in done.out
    assert f"run {run_name}: {CANARY} could not be brought to its old or new configuration" in done.err
    for words_after in ("ailb-gen rollback", "ailb-gen confirm", f"--as-is {CANARY}"):
        assert words_after in done.err, done.err
    assert ("pending changes are rolled back" in done.err) == (way != "confirm")
    left = RecordedRun(run_name, tiny.records.events(run_name)).left
    assert (left.to_new, left.to_old) == (((CANARY,), ()) if way == "confirm" else ((), (CANARY,)))
    tiny.repair()
    well(tiny, *words)
