"""The session that the clients of others get: one host, time-outs, retries, reasons."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from ailb_gen.deploy.plugin_session import TIMEOUTS_S, PluginError, guard, shown

SECRET = "S3cretS3cret"


class Server:
    """Answers with the rows of `answers` in turn, and the last one again: status and headers."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str]]] = [(200, {})]
        self.paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.paths.append(self.path)
                status, headers = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                self.send_response(status)
                for name, value in {**headers, "Content-Length": "0"}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, format: str, *words: object) -> None:
                """Print nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.http.shutdown()
    found.http.server_close()


@pytest.fixture
def session(server: Server) -> Iterator[requests.Session]:
    with requests.Session() as found:
        found.headers["Authorization"] = f"Token {SECRET}"
        guard(found, server.url, "NetBox")
        yield found


def test_a_page_at_another_host_is_not_read(server: Server, session: requests.Session) -> None:
    assert session.get(f"{server.url}/api/?page=1").ok
    other = server.url.replace("127.0.0.1", "localhost")
    with pytest.raises(PluginError, match=r"leads to http://localhost:.*does not get the token"):
        session.get(f"{other}/api/?page=2")
    assert server.paths == ["/api/?page=1"]


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (401, {}, "answers 401; the token is not accepted"),
        (403, {}, "answers 403; the token is not accepted, or lacks the permission to view devices"),
        (404, {}, "answers 404; check the URL"),
        (500, {}, "answers 500"),
        (302, {"Location": f"https://kim:{SECRET}@there/x"}, "redirects to https://there; give that URL instead"),
    ],
)
def test_reasons(status: int, headers: dict[str, str], reason: str, server: Server, session: requests.Session) -> None:
    server.answers = [(status, headers)]
    with pytest.raises(PluginError) as found:
        session.get(f"{server.url}/api/")
    assert str(found.value) == f"NetBox at {server.url} {reason}"
    assert len(server.paths) == 1


def test_a_busy_service_is_asked_again(server: Server, session: requests.Session) -> None:
    server.answers = [(429, {"Retry-After": "0"}), (429, {"Retry-After": "0"}), (200, {})]
    assert session.get(f"{server.url}/api/").ok
    assert len(server.paths) == 3


def test_nobody_there(server: Server, session: requests.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    server.http.shutdown()
    server.http.server_close()
    for adapter in session.adapters.values():
        assert isinstance(adapter, HTTPAdapter)
        adapter.max_retries = Retry(0)
    with pytest.raises(PluginError, match=r"cannot be reached \(ConnectionError\)"):
        session.get(f"{server.url}/api/")


def test_every_request_ends(server: Server, session: requests.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def send(self: object, request: object, **given: object) -> requests.Response:
        seen.append(given["timeout"])
        answer = requests.Response()
        answer.status_code = 200
        return answer

    monkeypatch.setattr(HTTPAdapter, "send", send)
    session.get(server.url)
    session.get(server.url, timeout=3)
    assert seen == [TIMEOUTS_S, 3]


def test_the_own_login_of_the_host_is_not_used(
    server: Server, session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry of ~/.netrc would replace the token."""
    monkeypatch.setattr("requests.sessions.get_netrc_auth", lambda url: ("kim", "other"))
    request = session.prepare_request(requests.Request("GET", server.url))
    assert request.headers["Authorization"] == f"Token {SECRET}"


def test_text_of_others() -> None:
    assert shown("a\nb\x1b[31m") == "a?b?[31m"
    assert shown("x" * 100, 10) == "xxxxxxx..."
