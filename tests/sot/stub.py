"""A NetBox that answers and has nothing: for the command line, where it is not about what is stored."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWERS: dict[str, object] = {"/api/status/": {"netbox-version": "4.7.3"}, "/api/plugins/": {}}
NOTHING: dict[str, object] = {"count": 0, "next": None, "previous": None, "results": []}


@contextmanager
def empty_netbox(refuse: int = 0, **rows: object) -> Iterator[str]:
    """Serve a NetBox that can be read only; give its URL.

    `refuse`: the status of every answer. `rows`: all that it has, a row by the name of its endpoint.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"detail": self.headers["Authorization"]} if refuse else self._answer()).encode()
            self.send_response(refuse or 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _answer(self) -> object:
            path = self.path.partition("?")[0]
            row = rows.get(path.rstrip("/").rpartition("/")[2])
            return {**NOTHING, "results": [row]} if row else ANSWERS.get(path, NOTHING)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


# A switch with one port, for what compares a site with a fabric.
SITE = {"id": 1, "name": "lab", "tags": []}
SPINE = {
    "id": 1,
    "name": "spine1",
    "site": SITE,
    "role": {"name": "spine"},
    "device_type": {"manufacturer": {"name": "Juniper"}, "model": "generic"},
    "platform": None,
    "status": {"value": "active"},
    "local_context_data": None,
    "primary_ip4": None,
    "primary_ip6": None,
    "tags": [],
}
PORT = {
    "id": 1,
    "device": {"name": "spine1"},
    "name": "et-0/0/0",
    "type": {"value": "other"},
    "enabled": True,
    "mtu": None,
    "speed": None,
    "description": "",
    "mgmt_only": False,
    "custom_fields": {},
    "mode": None,
    "untagged_vlan": None,
    "primary_mac_address": None,
    "mac_addresses": [],
    "tags": [],
}
