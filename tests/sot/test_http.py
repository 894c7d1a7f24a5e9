"""The session of a source of truth against a server that fails in every way."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import requests

from ailb_gen.sot import http
from ailb_gen.sot.dialect import SourceError
from ailb_gen.sot.http import RefusedError, ServiceSession, UnclearError

TOKEN = "nbt_abc.s3cret-of-the-tests"
Answer = tuple[int, Mapping[str, str], object]
OK: Answer = (200, {}, {"id": 1})


class Script:
    """A server that gives one answer after the other; `seen` are the requests: method, path, headers."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.seen: list[tuple[str, str, Mapping[str, str]]] = []
        self.url = ""


@contextmanager
def serving(*answers: Answer) -> Iterator[Script]:
    script = Script(*answers)

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            script.seen.append((self.command, self.path, dict(self.headers)))
            code, headers, body = script.answers.pop(0)
            if code == 0:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            text = json.dumps(body).encode()
            self.send_response(code)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - as in http.server

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        script.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()


def session(script: Script, waits: list[float] | None = None) -> ServiceSession:
    made = ServiceSession(script.url, TOKEN, 2, (waits if waits is not None else []).append)
    made.headers["Authorization"] = f"Bearer {TOKEN}"
    return made


@pytest.mark.parametrize("code", [429, 502, 503, 504, 0])
def test_reading_is_repeated(code: int) -> None:
    waits: list[float] = []
    with serving((code, {}, {}), (code, {}, {}), OK) as script, session(script, waits) as http_session:
        assert http_session.get(f"{script.url}/api/").json() == {"id": 1}
        assert http_session.counts == {"GET": 3}
    assert waits == [0.5, 1.0]


def test_a_create_is_repeated_only_when_it_was_surely_not_carried_out() -> None:
    for code in (502, 503, 504, 0):
        with serving((code, {}, {})) as script, session(script) as http_session, pytest.raises(UnclearError):
            http_session.post(f"{script.url}/api/", json=[])
    with serving((429, {}, {}), OK) as script, session(script) as http_session:
        assert http_session.post(f"{script.url}/api/", json=[]).ok
        assert http_session.counts == {"POST": 2}


@pytest.mark.parametrize(
    ("header", "least", "most"), [("7", 7, 7), ("nonsense", 0.5, 0.5), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.5, 0.5)]
)
def test_what_the_server_asks_for_is_waited(header: str, least: float, most: float) -> None:
    waits: list[float] = []
    with serving((429, {"Retry-After": header}, {}), OK) as script, session(script, waits) as http_session:
        http_session.get(f"{script.url}/api/")
    assert least <= waits[0] <= most


def test_no_hour_is_waited() -> None:
    with (
        serving((429, {"Retry-After": "3600"}, {})) as script,
        session(script) as http_session,
        pytest.raises(UnclearError, match="429"),
    ):
        http_session.get(f"{script.url}/api/")


def test_repeating_ends() -> None:
    answers: list[Answer] = [(503, {}, {})] * http.ATTEMPTS
    with serving(*answers) as script, session(script) as http_session, pytest.raises(UnclearError, match="503"):
        http_session.get(f"{script.url}/api/")
    assert len(script.seen) == http.ATTEMPTS


@pytest.mark.parametrize(
    ("code", "says"), [(401, "token is not accepted"), (403, "lacks the permission"), (404, "no such page")]
)
def test_a_refusal_says_why_and_shows_no_token(code: int, says: str) -> None:
    body = {"detail": f"bad\x1b[31m {TOKEN}"}
    with (
        serving((code, {}, body)) as script,
        session(script) as http_session,
        pytest.raises(SourceError, match=says) as caught,
    ):
        http_session.get(f"{script.url}/api/dcim/?name=x")
    assert TOKEN not in str(caught.value)
    assert "?name=x" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(script.seen) == 1


def test_refused_objects_come_with_the_answer() -> None:
    with (
        serving((400, {}, [{"name": ["required"]}])) as script,
        session(script) as http_session,
        pytest.raises(RefusedError) as caught,
    ):
        http_session.post(f"{script.url}/api/", json=[])
    assert caught.value.body == [{"name": ["required"]}]


def test_a_redirect_is_not_followed() -> None:
    with serving(OK) as other, serving((302, {"Location": f"{other.url}/x?{TOKEN}"}, {})) as script:
        with session(script) as http_session, pytest.raises(SourceError, match="redirects to") as caught:
            http_session.get(f"{script.url}/api/")
        assert not other.seen
    assert TOKEN not in str(caught.value)


def test_the_url_that_a_redirect_leads_to_is_told() -> None:
    answer: Answer = (301, {"Location": "https://netbox.example.net/dcim/api/status/"}, {})
    with (
        serving(answer) as script,
        session(script) as http_session,
        pytest.raises(SourceError, match=r"give https://netbox\.example\.net/dcim/ as the URL instead"),
    ):
        http_session.get(f"{script.url}/api/status/")


def test_links_to_another_host_lead_to_the_service() -> None:
    with serving(OK) as script, session(script) as http_session:
        http_session.get("http://elsewhere.example/api/dcim/sites/?start=7")
    assert script.seen[0][1] == "/api/dcim/sites/?start=7"


def test_an_entry_of_netrc_does_not_replace_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(file))
    with serving(OK) as script, session(script) as http_session:
        http_session.get(f"{script.url}/api/")
    assert script.seen[0][2]["Authorization"] == f"Bearer {TOKEN}"


def test_nobody_there() -> None:
    with serving() as script:
        pass
    with session(script) as http_session, pytest.raises(SourceError, match="nothing accepts connections"):
        http_session.get(f"{script.url}/api/")


def test_a_certificate_that_cannot_be_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*words: object, **given: object) -> None:
        raise requests.exceptions.SSLError("self-signed")

    with serving() as script:
        monkeypatch.setattr(requests.Session, "request", fail)
        with session(script) as http_session, pytest.raises(SourceError, match="REQUESTS_CA_BUNDLE"):
            http_session.get(f"{script.url}/api/")
        assert http_session.counts == {"GET": 1}


@pytest.mark.parametrize(
    ("error", "reason", "requests_sent"),
    [
        (requests.exceptions.InvalidHeader("the header holds it"), "the token has a line end", 1),
        (requests.ConnectionError("NameResolutionError(...)"), "the name of the host has no address", 5),
        (requests.ConnectionError("reset"), "the connection broke", 5),
    ],
)
def test_a_request_without_an_answer(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str, requests_sent: int
) -> None:
    def fail(*words: object, **given: object) -> None:
        raise error

    with serving() as script:
        monkeypatch.setattr(requests.Session, "request", fail)
        with session(script) as http_session, pytest.raises(SourceError, match=reason):
            http_session.get(f"{script.url}/api/")
        assert http_session.counts == {"GET": requests_sent}
