"""A run as its record has it, whatever became of the run: over, refused, rolled back, cut off, resumed."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from ailb_gen.deploy.report.pages import Ending, PageSubject, run_page
from ailb_gen.deploy.report.trace import Span, trace_of
from ailb_gen.deploy.report.waves import endings, outcomes_section, record_section, run_section
from ailb_gen.deploy.run_history import Event, RecordedRun
from ailb_gen.deploy.wave import RunReport, WaveRun
from ailb_gen.intent.load import load
from tests.conftest import EXAMPLES, examples
from tests.deploy.machine import machine_of
from tests.deploy.test_wave import Scripts, fleets
from tests.deploy.test_wave_rollout import BAD, PUSHED, machine, run

SUBJECT = PageSubject(load(EXAMPLES / "lab" / "fabric.yaml").fabric, "deploy", (("Fabric", "fabric.yaml"),), str)


def timed(events: list[Event]) -> list[Event]:
    """The events with the times that a record has, a second apart."""
    return [{"time": f"2026-11-22T12:00:{at:02}.000Z"} | event for at, event in enumerate(events)]


def page(events: list[Event], report: RunReport | None = None) -> str:
    ending = Ending(report.refused, report.stopped) if report is not None else Ending({}, error="it broke")
    return run_page(SUBJECT, trace_of(RecordedRun("r", events)), "log.jsonl", ending, None, None)


def verdict(text: str) -> str:
    return text.partition('id="verdict">')[2].partition("</p>")[0]


def test_a_run_that_went_well() -> None:
    devices = machine()
    report = run(devices)
    trace = trace_of(RecordedRun("r", timed(devices.events)))
    assert trace.devices == PUSHED
    assert trace.checks == (Span("check", 0.0, 1.0),)
    assert [(wave.title, wave.devices) for wave in trace.waves] == [(name, names) for name, names in trace.planned]
    assert {name: outcome for name, (outcome, _) in trace.outcomes.items()} == dict.fromkeys(PUSHED, "confirmed")
    for wave in trace.waves:
        assert [span.step for span in wave.spans] == ["check", "commit", "verify", "confirm"]
        assert set(wave.steps) == set(wave.devices)
    assert verdict(page(devices.events, report)).startswith(f"{len(PUSHED)} devices confirmed in ")
    assert 'class="verdict pass"' in page(devices.events, report)


def test_a_run_that_was_rolled_back_says_why() -> None:
    devices = machine(stripe2_leaf1=BAD)
    report = run(devices, on_failure="rollback-all")
    trace = trace_of(RecordedRun("r", timed(devices.events)))
    assert trace.differences == {"stripe2-leaf1": ("a session is down",)}
    assert trace.reasons["stripe2-leaf1"] == "stripe2-leaf1: verify: a session is down"
    assert [wave.title for wave in trace.waves if wave.settles] == ["spines (settled)", "canary leaf (settled)"]
    assert [wave.spans[-1].step for wave in trace.waves] == ["confirm", "confirm", "rollback", "rollback", "rollback"]
    text = page(devices.events, report)
    assert verdict(text).startswith(f"{len(PUSHED)} devices rolled back in ")
    assert verdict(text).endswith("; wave 3 failed: stripe2-leaf1: verify: a session is down")
    assert 'class="verdict fail"' in text


def test_a_device_whose_commit_failed_is_first_and_its_wave_failed() -> None:
    devices = machine(stripe1_leaf1={"apply": ["refused"]})
    report = run(devices)
    trace = trace_of(RecordedRun("r", devices.events))
    rows: Any = outcomes_section(endings(trace, report.refused, str)).values["rows"]
    assert [(row.name, row.outcome, row.style) for row in rows][:2] == [
        ("stripe1-leaf1", "untouched", "fail"),
        ("spine1", "untouched", "soft"),
    ]
    waves: Any = run_section(trace, None, None, {}).values["waves"]
    assert [(wave.state, wave.style) for wave in waves][:2] == [("1 untouched", "fail"), ("not started", "soft")]
    text = page(devices.events, report)
    assert "verified: " not in text, "nothing was verified, and nothing says so"


def test_a_record_shows_warnings_and_times_of_utc() -> None:
    devices = machine()
    run(devices)
    section: Any = record_section(trace_of(RecordedRun("r", timed(devices.events))), "log.jsonl", str)
    rows = section.values["rows"]
    assert rows[1][1] == "2026-11-22 12:00:01.000"
    assert {text: style for _, _, _, text, style in rows if style} == {
        f"{name}: warning: it is warm": "warn" for name in PUSHED if name.endswith("1")
    }


def test_waves_that_were_not_begun() -> None:
    devices = machine(stripe1_leaf1=BAD)
    report = run(devices)
    rows: Any = run_section(trace_of(RecordedRun("r", devices.events)), None, None, {}).values["waves"]
    assert [(row.name, row.state) for row in rows] == [
        ("canary leaf", "1 rolled back"),
        ("spines", "not started"),
        ("leaves", "not started"),
    ]
    assert "4 untouched, 1 rolled back" in verdict(page(devices.events, report))


def test_a_dry_run_and_one_that_is_refused() -> None:
    begin: Event = {"event": "begin", "options": {"dry_run": True}}
    devices = machine()
    report = run(devices, dry_run=True)
    text = page([begin, *devices.events], report)
    assert verdict(text) == f"Dry run: {len(PUSHED)} devices accept the change; nothing was committed"
    devices = machine(spine2={"stage": ["refused"]})
    report = run(devices, dry_run=True)
    text = page([begin, *devices.events], report)
    assert verdict(text).startswith(f"Dry run: 1 device of {len(PUSHED)} reject")
    assert "refused by the script" in text


def test_a_record_that_breaks_off() -> None:
    devices = machine()
    run(devices)
    cut = timed([event for event in devices.events if event.get("wave") != "spines" or event["event"] == "wave"])
    at = next(number for number, event in enumerate(devices.events) if event["event"] == "confirming")
    begun = timed(devices.events[:at])
    trace = trace_of(RecordedRun("r", begun))
    (wave,) = trace.waves
    assert wave.end is None
    assert [(span.step, span.end - span.start) for span in wave.spans] == [("check", 2.0), ("commit", 2.0)]
    text = page(begun)
    assert verdict(text).startswith(f"1 device unsettled: {PUSHED[0]}")
    # Another wave begins: the one before has no more.
    assert [wave.end is None for wave in trace_of(RecordedRun("r", cut)).waves] == [False, True, False]


def test_a_clock_that_goes_back_and_a_record_without_times() -> None:
    devices = machine()
    run(devices)
    events = [event | {"time": f"2026-11-22T12:00:{30 - at % 7:02}.000Z"} for at, event in enumerate(devices.events)]
    times = [line.at for line in trace_of(RecordedRun("r", events)).lines]
    assert times == sorted(times)
    assert trace_of(RecordedRun("r", devices.events)).total == 0.0
    assert trace_of(RecordedRun("r", [])).waves == ()


def test_an_older_record_has_no_steps() -> None:
    devices = machine()
    run(devices)
    older = [{key: event[key] for key in event if key not in ("steps", "seconds")} for event in timed(devices.events)]
    for wave in trace_of(RecordedRun("r", older)).waves:
        assert [span.step for span in wave.spans] == ["check", "commit", "confirm"]
        assert wave.steps == {}


@settings(max_examples=examples(6))
@given(fleets)
def test_a_page_can_be_made_of_every_record_at_every_moment(rows: Scripts) -> None:
    devices = machine_of(rows)
    devices.watched = True
    with devices.running():
        push = devices.push()
        push.check(devices.transactions())
        WaveRun(push, devices.wave(), devices.transactions()).run()
    for events, _ in devices.snapshots[:: max(1, len(devices.snapshots) // 3)]:
        assert "<h1>lab: deploy</h1>" in page(timed(events))


def test_a_wave_whose_results_name_no_device_is_shown() -> None:
    wave = {"wave": "leaves", "devices": ["leaf1"]}
    text = page(timed([{"event": "wave", **wave}, {"event": "results", **wave, "devices": {}}]))

    assert "leaves" in text
