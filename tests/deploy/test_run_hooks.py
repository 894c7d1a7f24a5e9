"""Hooks are told of a run by a real HTTP server; whatever that does, the run ends as it would without."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from ailb_gen.deploy import run_hooks
from ailb_gen.deploy.inventory_files import InventoryFiles
from ailb_gen.emulator.faults import Fault
from ailb_gen.errors import IntentError
from tests.deploy.fabric import LAST, ORDER, Site, run
from tests.deploy.maintenance import Pod
from tests.deploy.test_deployment_rollback import killed

TOKEN = "T0KEN-that-nobody-may-see"


@dataclass
class Service:
    """A service at a port; it answers with a status, or after it was let go."""

    status: int = 200
    hangs: bool = False
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)


@contextmanager
def served(service: Service) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == f"/{TOKEN}"
            service.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if service.hangs:
                service.let_go.wait(60)
            self.send_response(service.status)
            if service.status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    service.url = f"http://127.0.0.1:{server.server_port}/{TOKEN}"
    try:
        yield service
    finally:
        service.let_go.set()
        server.shutdown()
        server.server_close()


def hooked(site: Site | Pod, monkeypatch: pytest.MonkeyPatch, url: str, **more: object) -> None:
    """Let the inventory have a hook."""
    monkeypatch.setenv("AILB_TEST_HOOK", url)
    path = site.inventory / "defaults.yaml"
    said = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(said | {"hooks": [{"url": {"env": "AILB_TEST_HOOK"}, **more}]}))


def test_start_and_end_of_each_verb(tiny: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Service()) as service:
        hooked(tiny, monkeypatch, service.url)
        done = tiny.deploy()
        assert (done.code, done.err) == (0, "")
        assert run(*tiny.words("rollback")).code == 0
    told = [(body["event"], body["verb"], body["run"], body.get("state")) for body in service.bodies]
    first, second = tiny.records.runs()
    assert told == [
        ("start", "deploy", first, None),
        ("end", "deploy", first, "done"),
        ("start", "rollback", second, None),
        ("end", "rollback", second, "done"),
    ]
    end = service.bodies[1]
    assert (end["version"], end["fabric"], end["kind"]) == (1, "tiny", "deploy")
    assert end["devices"] == dict.fromkeys(ORDER, "confirmed")
    assert end["user"] == tiny.events()[0]["user"] and end["host"] == tiny.events()[0]["host"]


def test_a_run_that_fails_in_the_form_of_slack(tiny: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Service()) as service:
        hooked(tiny, monkeypatch, service.url, form="slack", on=["failure"])
        tiny.fleet.add_faults(LAST, Fault("error", "commit"))
        assert tiny.deploy().code == 3
    (body,) = service.bodies
    assert set(body) == {"text"}
    assert body["text"].startswith("tiny: deploy failure, run 1-")
    assert body["text"].endswith(": incomplete (wave 4 failed); 3 confirmed, 1 untouched")


def test_settling_a_killed_run_is_told(tiny: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    name = killed(tiny, "verified")
    with served(Service()) as service:
        hooked(tiny, monkeypatch, service.url)
        assert run(*tiny.words("rollback")).code == 0
    assert [(body["event"], body["run"], body.get("state")) for body in service.bodies] == [
        ("start", name, None),
        ("end", name, "rolled back"),
    ]


@pytest.mark.parametrize(
    ("service", "why"),
    [
        (Service(status=500), "it answers 500"),
        (Service(status=302), "it answers 302"),
        (Service(hangs=True), "it did not answer within 1 s"),
    ],
    ids=["500", "redirect", "hangs"],
)
def test_a_service_that_fails_changes_nothing(
    tiny: Site, monkeypatch: pytest.MonkeyPatch, service: Service, why: str
) -> None:
    monkeypatch.setattr(run_hooks, "WAIT_S", 1.0)
    with served(service):
        hooked(tiny, monkeypatch, service.url)
        done = tiny.deploy("--dry-run")
    assert done.code == 0
    assert f"the hook of the environment variable AILB_TEST_HOOK was not told all of the run: {why}" in done.err
    assert TOKEN not in done.out + done.err + tiny.told()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (f"http://127.0.0.1:9/{TOKEN}", "it cannot be reached (ConnectionError)"),
        (f"ftp://127.0.0.1/{TOKEN}", "it is no http:// or https:// URL"),
        (f"http://[::1/{TOKEN}", "it cannot be reached (ValueError)"),
        ("", "the environment variable AILB_TEST_HOOK is empty; set it before you run this"),
    ],
)
def test_a_url_that_cannot_be_used(tiny: Site, monkeypatch: pytest.MonkeyPatch, url: str, why: str) -> None:
    hooked(tiny, monkeypatch, url)
    done = tiny.deploy("--dry-run")
    assert (done.code, why in done.err, TOKEN in done.err) == (0, True, False), done


def test_a_secret_that_takes_long_keeps_nobody_waiting(tiny: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_hooks, "WAIT_S", 0.5)
    path = tiny.inventory / "defaults.yaml"
    said = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(said | {"hooks": [{"url": {"command": ["sleep", "30"]}}]}))
    before = time.monotonic()
    done = tiny.deploy("--dry-run")
    assert done.code == 0 and time.monotonic() - before < 20
    assert "the hook of the command 'sleep' was not told all of the run: it did not answer within 0.5 s" in done.err


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        ({"url": f"https://hooks/{TOKEN}"}, "write only where the secret is stored, never the secret itself"),
        ({"url": {"env": "X"}, "form": "teams"}, "json"),
        ({"url": {"env": "X"}, "on": ["finish"]}, "start"),
        ({"form": "json"}, "url"),
    ],
)
def test_hooks_that_are_written_wrongly(tmp_path: Path, hook: dict[str, object], reason: str) -> None:
    (tmp_path / "defaults.yaml").write_text(yaml.safe_dump({"hooks": [hook]}))
    with pytest.raises(IntentError) as error:
        InventoryFiles(tmp_path)
    assert reason in str(error.value) and TOKEN not in str(error.value)
