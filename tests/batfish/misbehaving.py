"""A Batfish service that does what it should as far as anybody looks, except where a test tells it otherwise."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "0.36.0"
COLUMNS = {"Node": "Node", "IP": "Ip"}
ROWS: list[dict[str, object]] = [{"Node": {"name": "leaf1"}, "IP": "10.0.0.1"}]


def template(name: str, *variables: str) -> str:
    """Return a question as the service hands it out; every variable is an optional text."""
    text = {"description": "Some text.", "type": "string", "optional": True}
    kinds = {"headers": "headerConstraint", "pathConstraints": "pathConstraint", "duplicatesOnly": "boolean"}
    return json.dumps(
        {
            "class": f"org.batfish.question.{name}",
            "differential": name == "differentialReachability",
            "instance": {
                "instanceName": name,
                "description": "A question.",
                "tags": [],
                "variables": {variable: {**text, "type": kinds.get(variable, "string")} for variable in variables},
            },
        }
    )


TEMPLATES = {
    "ipOwners": template("ipOwners", "duplicatesOnly"),
    "reachability": template("reachability", "headers", "pathConstraints"),
    "differentialReachability": template("differentialReachability", "headers", "pathConstraints"),
}


def table(columns: Mapping[str, str], rows: list[dict[str, object]]) -> dict[str, object]:
    """Return an answer with these columns (name to schema) and rows."""
    metadata = {"columnMetadata": [{"name": name, "schema": schema} for name, schema in columns.items()]}
    element = {"class": "org.batfish.datamodel.table.TableAnswerElement", "metadata": metadata, "rows": rows}
    return {"status": "SUCCESS", "answerElements": [element]}


class Handler(BaseHTTPRequestHandler):
    """One request: what the test says, or what Batfish would do."""

    protocol_version = "HTTP/1.1"
    # Head and body in one packet: the second of two would wait for the other side.
    wbufsize = -1
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = f"{self.command} {self.path}"
        self.server.requests.append((request, body))
        for pattern, act in (*self.server.acts.items(), *GOOD):
            if re.search(pattern, request):
                act(self)
                return
        self.reply(501, request)

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def do_PUT(self) -> None:
        self.answer()

    def do_DELETE(self) -> None:
        self.answer()

    def reply(self, status: int, body: object, kind: str = "application/json") -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


Act = Callable[[Handler], None]


def says(body: object, status: int = 200, kind: str = "application/json") -> Act:
    return lambda handler: handler.reply(status, body, kind)


# The first that fits the request counts.
GOOD: tuple[tuple[str, Act], ...] = (
    (r"GET /v2/version", says({"Batfish": VERSION, "api_version": "2.1.0"})),
    (r"GET /v2/question_templates", says(TEMPLATES)),
    (r"GET /v2/networks/[^/]+$", says("no such network", 404, "text/plain")),
    (r"GET .*/snapshots\?", says([])),
    (r"GET .*/work/", says({"workstatuscode": "TERMINATEDNORMALLY", "task": {}})),
    (r"GET .*/answer", says(table(COLUMNS, ROWS))),
    (r"(POST|PUT|DELETE) ", says("", kind="text/plain")),
)


class Server(ThreadingHTTPServer):
    """Listens on a free port of this machine; `requests` are those that came, with their bodies."""

    def __init__(self, acts: Mapping[str, Act]) -> None:
        self.acts, self.requests = acts, list[tuple[str, bytes]]()
        self.over = threading.Event()
        self.connections: list[socket.socket] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def handle_error(self, *_: object) -> None:
        """Clients that go away are expected here."""

    def asked(self, pattern: str) -> list[str]:
        """Return the requests that fit."""
        return [request for request, _ in self.requests if re.search(pattern, request)]

    def die(self) -> None:
        """Listen no more, and cut every connection."""
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            slam(connection)


def slam(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def closes(handler: Handler) -> None:
    """Close the connection without a word."""
    handler.close_connection = True
    slam(handler.connection)


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
    handler.server.over.wait(60)


def drips(handler: Handler) -> None:
    """Send a byte every fifth of a second: no single read is slow."""
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not handler.server.over.wait(0.2):
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


def dies(handler: Handler) -> None:
    """Take the whole server down."""
    handler.close_connection = True
    handler.server.die()


@contextmanager
def misbehaving(acts: Mapping[str, Act]) -> Iterator[Server]:
    """Serve; `acts` says by a pattern of requests, `METHOD /path`, what happens instead of the right thing."""
    server = Server(acts)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.die()
        thread.join(10)
