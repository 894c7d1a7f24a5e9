"""Hooks of a watch: a real HTTP server is told of changes; one that hangs delays nothing, and bodies do not pile up."""

from __future__ import annotations

import time

import pytest

from ailb_gen.deploy import run_hooks
from ailb_gen.deploy.credentials import EnvironmentReference, SecretCache
from ailb_gen.deploy.inventory import Hook
from ailb_gen.deploy.watching.changes import ChangeKind, WatchChange
from ailb_gen.deploy.watching.hooks import DROPPED, MOST, WAITING, WatchHooks
from ailb_gen.deploy.watching.rounds import WatchReport
from tests.deploy.test_run_hooks import Service, served

ABOUT = {"fabric": "tiny", "verb": "watch", "user": "kim"}
CAME = WatchChange(ChangeKind.CAME, "leaf1", "a <b> is missing", "AILBD02", "error")
SILENT = WatchChange(ChangeKind.SILENT, "leaf2", "connect: no answer", since=1000.0)


def report(*changes: WatchChange, number: int = 3) -> WatchReport:
    return WatchReport(number, True, changes, 4, 3, 1, 1, 2.0)


def hook(monkeypatch: pytest.MonkeyPatch, url: str, form: str = "json", on: str = "findings") -> Hook:
    monkeypatch.setenv("AILB_TEST_HOOK", url)
    return Hook(EnvironmentReference("AILB_TEST_HOOK"), form, (on,))  # type: ignore[arg-type]


def test_changes_are_sent_and_nothing_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    with (
        served(Service()) as service,
        WatchHooks([hook(monkeypatch, service.url)], SecretCache(), ABOUT, notes.append) as hooks,
    ):
        hooks.tell(report(CAME, SILENT))
        hooks.tell(report())
        hooks.tell(report(*[CAME] * (MOST + 5)))
        hooks.__exit__()
        first, second = service.bodies
    assert {key: first[key] for key in ("version", "event", "fabric", "verb", "user", "round", "silent", "more")} == {
        **{"version": 1, "event": "findings", "round": 3, "silent": 1, "more": 0},
        **ABOUT,
    }
    assert first["changes"] == [
        {
            **{"change": "finding came", "device": "leaf1", "check": "AILBD02", "severity": "error"},
            **{"message": "a <b> is missing", "since": None},
        },
        {
            **{"change": "does not answer", "device": "leaf2", "check": "", "severity": ""},
            **{"message": "connect: no answer", "since": 1000.0},
        },
    ]
    assert (len(second["changes"]), second["more"]) == (MOST, 5)
    assert notes == []


def test_in_the_form_of_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        served(Service()) as service,
        WatchHooks([hook(monkeypatch, service.url, "slack")], SecretCache(), ABOUT, print) as hooks,
    ):
        hooks.tell(report(*[CAME] * 30, SILENT))
        hooks.__exit__()
        (body,) = service.bodies
    head, first, *_, last = body["text"].split("\n")
    assert head.startswith("tiny: watch by kim@") and head.endswith(", round 3")
    assert first == "leaf1 AILBD02 finding came: a &lt;b&gt; is missing"
    assert last == "and 11 more"


def test_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_hooks, "WAIT_S", 0.3)
    notes: list[str] = []
    with served(Service(hangs=True)) as service:
        with WatchHooks([hook(monkeypatch, service.url)], SecretCache(), ABOUT, notes.append) as hooks:
            began = time.monotonic()
            for number in range(500):
                hooks.tell(report(CAME, number=number))
            # If each waited for an answer it would take ten times as long.
            assert time.monotonic() - began < 500 * 0.3 / 10
            (sender,) = hooks._senders
            assert sender.waiting.qsize() <= WAITING
            assert sender.trouble == DROPPED
        service.let_go.set()
    (note,) = notes
    assert note.endswith("was not told all of the watch: it did not answer within 0.3 s")
    assert service.url not in note


def test_hooks_of_runs_are_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        served(Service()) as service,
        WatchHooks([hook(monkeypatch, service.url, on="end")], SecretCache(), ABOUT, print) as hooks,
    ):
        hooks.tell(report(CAME))
    assert service.bodies == []
