"""A stand-in for a Batfish service: the part of its REST API v2 that pybatfish uses, on a port of this machine.

The real service cannot run where the tests run. What this one answers about IPv4 shadows is computed by the plain
interpreter (`plain`), about real files by `stand_in_text`; both share nothing with the program, and both are compared
with the recorded answers of a real service. A shadow with a statement that the plain interpreter does not know fails
as a snapshot does that Batfish cannot read: with the line in the log.

It differs from the real service where nothing was recorded, and in its coordinator. The real one looks every 100 ms
whether its only worker is done, and hands out one more piece of work. This one does both whenever somebody asks for the
state of work that is not done: so ticks are counted, and nobody waits for them. `faults` make it misbehave; a fault
sees every request and may say what to do instead.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from tests.batfish.stand_in_store import RefusedError, Store
from tests.batfish.stand_in_tables import templates

if TYPE_CHECKING:
    from types import TracebackType

VERSION = "0.36.0"
LONGEST_S = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its number, counted from 1, its line (`GET /v2/version`) and its body."""

    number: int
    line: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection without an answer."""


@dataclass(frozen=True, slots=True)
class Die:
    """Close all connections and listen no more."""


@dataclass(frozen=True, slots=True)
class Delay:
    """Answer after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer this."""

    status: int
    body: bytes = b""


Action = Drop | Die | Delay | Reply
Fault = Callable[[Request], Action | None]


def after(number: int, action: Action) -> Fault:
    """Return a fault that acts on every request after the first so many."""
    return lambda request: action if request.number > number else None


def on(pattern: str, action: Action, times: int | None = None) -> Fault:
    """Return a fault that acts on requests whose line matches somewhere; on the first so many, or on all."""
    seen: list[Request] = []

    def fault(request: Request) -> Action | None:
        if re.search(pattern, request.line) is None:
            return None
        seen.append(request)
        return action if times is None or len(seen) <= times else None

    return fault


class StandIn:
    """The service, from entering to leaving: `with StandIn() as server: Session(server.host, server.port)`.

    `log` are the requests, `asked` the questions, `networks`, `created` and `deleted` what is and was there, `ticks`
    how often the coordinator looked for work. Leaving raises what went wrong inside the stand-in itself.
    """

    host = "127.0.0.1"

    def __init__(self, version: str = VERSION) -> None:
        self.version = version
        self.store = Store()
        self.log: list[Request] = []
        self.faults: list[Fault] = []
        self.errors: list[BaseException] = []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self._server = _Server((self.host, 0), _Handler, self)
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
        if not self.stopped.is_set():
            self.stopped.set()
            self._server.shutdown()
            self._server.server_close()
            self._server.hang_up()

    def request(self, line: str, body: bytes) -> Action | None:
        """Note a request; return what a fault wants."""
        with self.lock:
            request = Request(len(self.log) + 1, line, body)
            self.log.append(request)
            return next((action for fault in self.faults if (action := fault(request)) is not None), None)

    def answer(self, method: str, url: str, body: bytes) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        parts = urlsplit(url)
        given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        for verb, pattern, act in ROUTES:
            found = re.fullmatch(f"/v2{pattern}", parts.path) if verb == method else None
            if found:
                with self.lock:
                    try:
                        value = act(self, *map(unquote, found.groups()), given=given, body=body)
                    except RefusedError as refused:
                        return refused.status, str(refused).encode()
                return (200, value.encode() if isinstance(value, str) else json.dumps(value).encode())
        return 404, f"the stand-in does not know {method} {url}".encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], owner: StandIn) -> None:
        super().__init__(address, handler)
        self.owner = owner
        self.connections: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer goes out in one piece: its parts would wait for each other.
    wbufsize = -1
    server: _Server

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
        owner = self.server.owner
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match owner.request(f"{self.command} {self.path}", body):
            case Drop():
                self.close_connection = True
                return
            case Die():
                self.close_connection = True
                owner.stop()
                return
            case Reply(status, content):
                self._send(status, content)
                return
            case Delay(seconds):
                owner.stopped.wait(min(seconds, LONGEST_S))
        try:
            self._send(*owner.answer(self.command, self.path, body))
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - told to the client, and raised when the server is left
            owner.errors.append(error)
            self._send(500, traceback.format_exc().encode())

    def _send(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if content[:1] in (b"{", b"[") else "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the requests are in the log."""


def _version(server: StandIn, **_: Any) -> Mapping[str, str]:
    return {"Batfish": server.version, "api_version": "2.2.0"}


def _networks(server: StandIn, **_: Any) -> list[dict[str, str]]:
    return [{"name": name} for name in server.networks]


def _make(server: StandIn, given: Mapping[str, str], **_: Any) -> str:
    server.store.make(given["name"])
    return ""


def _network(server: StandIn, name: str, **_: Any) -> Mapping[str, str]:
    server.store.network(name)
    return {"name": name}


def _snapshots(server: StandIn, network: str, given: Mapping[str, str], **_: Any) -> list[Any]:
    found = server.store.network(network).snapshots
    if given.get("verbose") == "True":
        return [{"name": name, "metadata": {"creationTimestamp": kept.created}} for name, kept in found.items()]
    return list(found)


def _remove(server: StandIn, *names: str, **_: Any) -> str:
    server.store.remove(*names)
    return ""


def _upload(server: StandIn, network: str, snapshot: str, body: bytes, **_: Any) -> str:
    server.store.upload(network, snapshot, body)
    return ""


def _fork(server: StandIn, network: str, body: bytes, **_: Any) -> str:
    server.store.fork(network, json.loads(body))
    return ""


def _question(server: StandIn, network: str, name: str, body: bytes, **_: Any) -> str:
    server.store.network(network).questions[name] = body.decode()
    return ""


def _work(server: StandIn, network: str, body: bytes, **_: Any) -> str:
    server.store.work(network, json.loads(body))
    return ""


def _answer(server: StandIn, network: str, question: str, given: Mapping[str, str], **_: Any) -> Mapping[str, Any]:
    return server.store.answer(network, question, given["snapshot"], given.get("referenceSnapshot"))


NETWORK = "/networks/([^/]+)"
SNAPSHOT = f"{NETWORK}/snapshots/([^/]+)"
ROUTES: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("GET", "/version", _version),
    ("GET", "/question_templates", lambda *_, **__: templates()),
    ("GET", "/networks", _networks),
    ("POST", "/networks", _make),
    ("GET", NETWORK, _network),
    ("DELETE", NETWORK, _remove),
    ("GET", f"{NETWORK}/snapshots", _snapshots),
    ("POST", f"{NETWORK}/snapshots:fork", _fork),
    ("POST", SNAPSHOT, _upload),
    ("DELETE", SNAPSHOT, _remove),
    ("PUT", f"{NETWORK}/questions/([^/]+)", _question),
    ("GET", f"{NETWORK}/questions/([^/]+)/answer", _answer),
    ("POST", f"{NETWORK}/work", _work),
    ("GET", f"{NETWORK}/work", lambda server, network, **_: server.store.incomplete(network)),
    ("GET", f"{NETWORK}/work/([^/]+)", lambda server, network, work, **_: server.store.status(network, work)),
    ("GET", f"{SNAPSHOT}/worklog/([^/]+)", lambda server, network, _, work, **__: server.store.log(network, work)),
)
