"""The fake as a service: the part of Batfish's REST API v2 that pybatfish uses, on a port of this machine.

It differs from the real service where nothing was recorded, and in its coordinator. The real one looks every 100 ms
whether its only worker is done, and hands out one more piece of work. This one does both whenever somebody asks for the
state of work that is not done: so ticks are counted, and nobody waits for them. `acts` make it misbehave.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from tests.batfish.fake.store import RefusedError, Store, templates

if TYPE_CHECKING:
    from types import TracebackType

VERSION = "0.36.0"
OPTION = "--batfish"


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its line (`GET /v2/version`) and its body."""

    line: str
    body: bytes


class FakeBatfish:
    """The service, from entering to leaving: `with FakeBatfish() as server: Session(server.host, server.port)`.

    `acts` say, by a pattern of request lines, what happens instead of the right thing; the first that fits counts.
    `log` are the requests, `asked` the questions, `networks`, `created` and `deleted` what is and was there, `ticks`
    how often the coordinator looked for work. Leaving raises what went wrong inside the fake itself.
    """

    host = "127.0.0.1"

    def __init__(self, acts: Mapping[str, Act] | None = None, version: str = VERSION) -> None:
        self.version = version
        self.acts = dict(acts or {})
        self.store = Store()
        self.log: list[Request] = []
        self.errors: list[BaseException] = []
        self.lock = threading.Lock()
        self.over = threading.Event()
        self._server = _Server((self.host, 0), Handler, self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.port: int = self._server.server_address[1]
        self.networks = self.store.networks
        self.created = self.store.created
        self.deleted = self.store.deleted
        self.asked = self.store.asked

    @property
    def address(self) -> str:
        """HOST:PORT, as options name a service."""
        return f"{self.host}:{self.port}"

    @property
    def ticks(self) -> int:
        """How often the coordinator looked for work."""
        return self.store.ticks

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        self._thread.join()
        if error is None and self.errors:
            raise self.errors[0]

    def stop(self) -> None:
        """Close all connections and listen no more."""
        if not self.over.is_set():
            self.over.set()
            self._server.shutdown()
            self._server.server_close()
            for connection in list(self._server.connections):
                hang_up(connection)

    def requests(self, pattern: str) -> list[str]:
        """Return the lines of the requests that fit."""
        return [request.line for request in self.log if re.search(pattern, request.line)]

    def answer(self, method: str, url: str, body: bytes) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        parts = urlsplit(url)
        given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        for verb, pattern, act in ROUTES:
            found = re.fullmatch(f"/v2{pattern}", parts.path) if verb == method and not parts.netloc else None
            if found:
                with self.lock:
                    try:
                        value = act(self, *map(unquote, found.groups()), given=given, body=body)
                    except RefusedError as refused:
                        return refused.status, str(refused).encode()
                return 200, (value or "" if isinstance(value, str | None) else json.dumps(value)).encode()
        return 501, f"{method} {url}".encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], owner: FakeBatfish) -> None:
        super().__init__(address, handler)
        self.owner = owner
        self.connections: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, *_: object) -> None:
        """Clients that go away are expected here."""


class Handler(BaseHTTPRequestHandler):
    """One request: what the test says, or what Batfish would do."""

    protocol_version = "HTTP/1.1"
    # An answer goes out in one piece: its parts would wait for each other.
    wbufsize = -1
    server: _Server

    @property
    def owner(self) -> FakeBatfish:
        return self.server.owner

    def do_GET(self) -> None:
        # A client that has gone away is no fault of the service's.
        with suppress(ConnectionError):
            self._serve()

    def do_POST(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        self.do_GET()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        line = f"{self.command} {self.path}"
        with self.owner.lock:
            self.owner.log.append(Request(line, body))
        act = next((act for pattern, act in list(self.owner.acts.items()) if re.search(pattern, line)), None)
        if act is not None:
            act(self)
            return
        try:
            self.reply(*self.owner.answer(self.command, self.path, body))
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - reported to the client, and raised when the server is left
            self.owner.errors.append(error)
            self.reply(500, traceback.format_exc().encode())

    def reply(self, status: int, content: bytes, kind: str = "") -> None:
        self.send_response(status)
        json_or_text = "application/json" if content[:1] in (b"{", b"[") else "text/plain"
        self.send_header("Content-Type", kind or json_or_text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the requests are in the log."""


Act = Callable[[Handler], None]


def says(body: object, status: int = 200, kind: str = "") -> Act:
    """Answer with a text, bytes, or a value as JSON."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    return lambda handler: handler.reply(status, data, kind)


def hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def closes(handler: Handler) -> None:
    """Close the connection without a word."""
    handler.close_connection = True
    hang_up(handler.connection)


def dies(handler: Handler) -> None:
    """Take the whole server down."""
    handler.close_connection = True
    handler.owner.stop()


def sends(data: bytes) -> Act:
    """Send these bytes, be they HTTP or not, and close the connection."""

    def act(handler: Handler) -> None:
        handler.wfile.write(data)
        handler.wfile.flush()
        closes(handler)

    return act


def never(handler: Handler) -> None:
    """Keep the connection and say nothing, until the test is over."""
    handler.close_connection = True
    handler.owner.over.wait(60)


def drips(handler: Handler) -> None:
    """Send a byte every fifth of a second: no single read is slow."""
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not handler.owner.over.wait(0.2):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def nth(number: int, then: Act, before: Act) -> Act:
    """Do the second until the first is due."""
    count = 0

    def act(handler: Handler) -> None:
        nonlocal count
        count += 1
        (then if count >= number else before)(handler)

    return act


@contextmanager
def with_fake(words: Sequence[str]) -> Iterator[list[str]]:
    """Give the words of a command of the documentation, with the address of a fake where it names a service.

    Afterwards the command has asked the fake, and nothing is left there.
    """
    named = OPTION if OPTION in words else "clean"
    if OPTION not in words and list(words[1:3]) != ["batfish", "clean"]:
        yield list(words)
        return
    at = words.index(named) + 1
    with FakeBatfish() as server:
        yield [*words[:at], server.address, *words[at + 1 :]]
        assert (server.asked or named == "clean") and not server.networks


def _snapshots(server: FakeBatfish, network: str, given: Mapping[str, str], **_: Any) -> list[Any]:
    found = server.store.network(network).snapshots
    if given.get("verbose") == "True":
        return [{"name": name, "metadata": {"creationTimestamp": kept.created}} for name, kept in found.items()]
    return list(found)


def _question(server: FakeBatfish, network: str, name: str, body: bytes, **_: Any) -> None:
    server.store.network(network).questions[name] = body.decode()


def _network(server: FakeBatfish, name: str, **_: Any) -> Mapping[str, str]:
    server.store.network(name)
    return {"name": name}


def _answer(server: FakeBatfish, network: str, question: str, given: Mapping[str, str], **_: Any) -> Mapping[str, Any]:
    return server.store.answer(network, question, given["snapshot"], given.get("referenceSnapshot"))


NETWORK = "/networks/([^/]+)"
SNAPSHOT = f"{NETWORK}/snapshots/([^/]+)"
ROUTES: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("GET", "/version", lambda server, **_: {"Batfish": server.version, "api_version": "2.2.0"}),
    ("GET", "/question_templates", lambda *_, **__: templates()),
    ("GET", "/networks", lambda server, **_: [{"name": name} for name in server.networks]),
    ("POST", "/networks", lambda server, given, **_: server.store.make(given["name"])),
    ("GET", NETWORK, _network),
    ("DELETE", NETWORK, lambda server, name, **_: server.store.remove(name)),
    ("GET", f"{NETWORK}/snapshots", _snapshots),
    ("POST", f"{NETWORK}/snapshots:fork", lambda server, name, body, **_: server.store.fork(name, json.loads(body))),
    ("POST", SNAPSHOT, lambda server, *names, body, **_: server.store.upload(*names, body)),
    ("DELETE", SNAPSHOT, lambda server, *names, **_: server.store.remove(*names)),
    ("PUT", f"{NETWORK}/questions/([^/]+)", _question),
    ("GET", f"{NETWORK}/questions/([^/]+)/answer", _answer),
    ("POST", f"{NETWORK}/work", lambda server, name, body, **_: server.store.work(name, json.loads(body))),
    ("GET", f"{NETWORK}/work", lambda server, network, **_: server.store.incomplete(network)),
    ("GET", f"{NETWORK}/work/([^/]+)", lambda server, network, work, **_: server.store.status(network, work)),
    ("GET", f"{SNAPSHOT}/worklog/([^/]+)", lambda server, network, _, work, **__: server.store.log(network, work)),
)
