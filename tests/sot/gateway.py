"""A gateway in front of a real service, which spoils some requests: what people have between them and their service."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests

# What is not handed on: each side of a gateway frames its own bodies.
FRAMING = ("connection", "transfer-encoding", "content-length", "content-encoding", "host", "accept-encoding")


@dataclass(frozen=True, slots=True)
class Spoiled:
    """An answer of the gateway's own; `done`: the service carried the request out all the same."""

    code: int
    text: str = ""
    headers: Mapping[str, str] | None = None
    done: bool = False


# Returns the answer to the n-th request with a method, counted from 1; None hands it on.
Rule = Callable[[str, int], Spoiled | None]


class QuietServer(ThreadingHTTPServer):
    """A server whose clients may hang up, as they do when they refuse its certificate."""

    def use_tls(self, certificate: Path) -> None:
        """Answer by HTTPS, with a file that has certificate and key."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing about a connection that broke."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


@contextmanager
def gateway(service: str, rule: Rule, certificate: Path | None = None) -> Iterator[str]:
    """Serve a service through a gateway, by HTTPS with a certificate; give its URL."""
    seen: dict[str, int] = {}
    lock = threading.Lock()
    # What the gateway writes in its answers leads to itself.
    own: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with lock:
                seen[self.command] = number = seen.get(self.command, 0) + 1
            spoiled = rule(self.command, number)
            if spoiled is None or spoiled.done:
                headers = {name: value for name, value in self.headers.items() if name.lower() not in FRAMING}
                there = requests.request(self.command, service + self.path, headers=headers, data=body, timeout=120)
            if spoiled is None:
                kept = {name: value for name, value in there.headers.items() if name.lower() not in FRAMING}
                self.send(there.status_code, kept, there.content.replace(service.encode(), own[0].encode()))
            elif spoiled.code:
                kind = {"Content-Type": "text/html", **(spoiled.headers or {})}
                self.send(spoiled.code, kind, spoiled.text.encode())
            else:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

        def send(self, code: int, headers: Mapping[str, str], body: bytes) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - as in http.server

        def log_message(self, format: str, *args: object) -> None:
            pass

    with QuietServer(("127.0.0.1", 0), Handler) as server:
        own.append(f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}")
        if certificate is not None:
            server.use_tls(certificate)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield own[0]
        finally:
            server.shutdown()
            thread.join()
