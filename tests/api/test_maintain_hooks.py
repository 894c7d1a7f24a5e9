"""Hooks are told of a maintenance by a real HTTP server, beside the runs that it pushes."""

from __future__ import annotations

from typing import Any

import pytest

from ailb_gen.deploy import run_hooks
from tests.deploy.maintenance import Pod
from tests.deploy.test_run_hooks import TOKEN, Service, hooked, served


def of_maintenance(service: Service) -> list[dict[str, Any]]:
    """Return what was told of the maintenance, and not of its runs."""
    return [body for body in service.bodies if "maintenance" in body]


def test_start_and_end(small_pod: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Service()) as service:
        hooked(small_pod, monkeypatch, service.url)
        ended = small_pod.maintain("spine1", "--", "true")
        assert (ended.code, ended.err) == (0, "")
    start, end = of_maintenance(service)
    last = small_pod.last()
    assert last is not None
    assert (start["event"], start["devices"]) == ("start", {"spine1": "not begun"})
    assert (end["event"], end["state"], end["why"]) == ("end", "done", "")
    assert end["devices"] == {"spine1": "done"}
    assert {(body["verb"], body["maintenance"], body["user"]) for body in (start, end)} == {
        ("maintain", last.name, last.user)
    }
    # Its pushes are runs.
    assert [body["run"] for body in service.bodies if body["event"] == "end" and "run" in body] == list(last.runs)


def test_one_that_stops_and_is_given_up(small_pod: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Service()) as service:
        hooked(small_pod, monkeypatch, service.url, on=["failure", "end"])
        ended = small_pod.maintain("spines", "--", "sh", "-c", "exit 7")
        assert ended.code == 5
        assert small_pod.maintain("--give-up").code == 0
    stopped, given_up = of_maintenance(service)
    assert (stopped["event"], stopped["state"]) == ("failure", "stopped")
    assert stopped["devices"] == {"spine1": "in graceful shutdown, work begun", "spine2": "not begun"}
    assert stopped["why"].splitlines()[0] in ended.err
    assert "spine1: the command failed with exit code 7" in stopped["why"]
    assert (given_up["event"], given_up["state"]) == ("end", "given up")
    assert given_up["devices"] == {"spine1": "given up, work not done", "spine2": "not begun"}


def test_in_the_form_of_slack_the_devices_that_are_left_are_named(
    small_pod: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(Service()) as service:
        hooked(small_pod, monkeypatch, service.url, form="slack", on=["failure"])
        assert small_pod.maintain("spines", "--", "false").code == 5
    # None of its runs failed.
    (body,) = service.bodies
    head, first, second, *why = body["text"].split("\n")
    last = small_pod.last()
    assert last is not None
    assert head.startswith(f"tiny: maintain failure, maintenance {last.name} by {last.user}@")
    assert head.endswith(": stopped")
    assert (first, second) == ("spine1: in graceful shutdown, work begun", "spine2: not begun")
    assert why[0].startswith("spine1: the command failed with exit code 1")


def test_one_that_hangs_holds_up_nothing(small_pod: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_hooks, "WAIT_S", 0.3)
    with served(Service(hangs=True)) as service:
        hooked(small_pod, monkeypatch, service.url, on=["failure"])
        ended = small_pod.maintain("spines", "--", "false")
    assert ended.code == 5
    assert "was not told all of the maintenance: it did not answer within 0.3 s" in ended.err
    assert TOKEN not in ended.out + ended.err
    small_pod.assert_told()


def test_where_nothing_is_begun_nothing_is_told(small_pod: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Service()) as service:
        hooked(small_pod, monkeypatch, service.url)
        assert small_pod.maintain("spines", "--dry-run", "--", "true").code == 0
    assert service.bodies == []
