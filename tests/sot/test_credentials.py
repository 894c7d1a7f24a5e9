"""The token of a source of truth is nowhere but in the header of requests to it, whatever goes wrong there."""

import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from ailb_gen.deploy.nornir_plugin import SERVICES as PLUGINS
from tests.conftest import SMALL, Cli, need_tool
from tests.sot.gateway import QuietServer

TOKEN = "nbt_abcdefghijkl.S3cretS3cretS3cretS3cretS3cret"
# Answers by kind of failure: status, headers, body. Bodies repeat the token, as a careless service would.
ANSWERS = {
    "401": (401, {"Content-Type": "application/json"}, json.dumps({"detail": f"invalid token {TOKEN}"})),
    "403": (403, {"Content-Type": "application/json"}, json.dumps({"detail": f"{TOKEN} may not do that"})),
    "400": (400, {"Content-Type": "application/json"}, json.dumps({"name": [f"not with {TOKEN}"]})),
    "html": (200, {"Content-Type": "text/html"}, f"<html>log in, {TOKEN}</html>"),
    "bad-json": (200, {"Content-Type": "application/json"}, f'{{"results": [{{"name": "{TOKEN}'),
    "wrong-json": (200, {"Content-Type": "application/json"}, json.dumps({"count": 1, "results": TOKEN})),
    "empty": (200, {"Content-Type": "application/json"}, ""),
    "redirect": (302, {}, ""),
    "tls": (200, {}, ""),
}
VERBS = {
    "push netbox": "inventory push netbox fabric.yaml --yes --url URL",
    "push nautobot": "inventory push nautobot fabric.yaml --yes --url URL",
    "pull netbox": "inventory pull netbox fabric.yaml --url URL -o pulled",
    "pull nautobot": "inventory pull nautobot fabric.yaml --url URL -o pulled",
    "NetBoxInventory2": "drift fabric.yaml artifacts -i . --report json=report.json",
    "NautobotInventory": "drift fabric.yaml artifacts -i . --report json=report.json",
}


@dataclass(slots=True)
class Web:
    """A server on the loopback; `seen` are the values of Authorization that it got."""

    kind: str
    location: str = ""
    seen: list[str] = field(default_factory=list)
    requests: int = 0
    port: int = 0


def serve(web: Web, certificate: Path | None = None) -> ThreadingHTTPServer:
    """Answer all requests as `web.kind` says."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            web.requests += 1
            web.seen.append(self.headers.get("Authorization", ""))
            status, headers, body = ANSWERS[web.kind]
            self.send_response(status)
            for name, value in {**headers, "Location": web.location, "Content-Length": str(len(body))}.items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = do_PATCH = do_DELETE = do_OPTIONS = answer  # noqa: N815 - as in http.server

        def log_message(self, format: str, *words: object) -> None:
            """Print nothing."""

    server = QuietServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        server.use_tls(certificate)
    web.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that nobody trusts, with its key."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    words = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "2")
    names = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(file), "-out", str(file.with_suffix(".crt")))
    subprocess.run((need_tool("openssl"), *words, *names), check=True, capture_output=True)
    file.write_text(file.read_text() + file.with_suffix(".crt").read_text())
    return file


@pytest.fixture
def elsewhere() -> Iterator[Web]:
    """The host that a redirect leads to."""
    web = Web("empty")
    server = serve(web)
    yield web
    server.shutdown()
    server.server_close()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("verb", VERBS)
def test_the_token_is_nowhere(
    verb: str, kind: str, cli: Cli, elsewhere: Web, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NETBOX_TOKEN", "NAUTOBOT_TOKEN"):
        monkeypatch.setenv(name, TOKEN)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "fabric.yaml").write_text(SMALL)
    (tmp_path / "pulled").mkdir()
    web = Web(kind, f"http://localhost:{elsewhere.port}/api/" if kind == "redirect" else "")
    server = serve(web, certificate if kind == "tls" else None)
    url = f"{'https' if kind == 'tls' else 'http'}://127.0.0.1:{web.port}"
    if verb in PLUGINS:
        options = {PLUGINS[verb].url: url}
        (tmp_path / "nornir.yaml").write_text(yaml.safe_dump({"inventory": {"plugin": verb, "options": options}}))
        assert cli("generate", "fabric.yaml", "-o", "artifacts")[0] == 0
    try:
        code, out, err = cli(*VERBS[verb].replace("URL", url).split(), "--verbose")
    finally:
        server.shutdown()
        server.server_close()
    assert code in (1, 2, 3), err
    assert TOKEN not in out + err
    assert "S3cretS3cret" not in out + err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if b"S3cretS3cret" in path.read_bytes()] == []
    assert not any(TOKEN in value for value in elsewhere.seen)
    if kind != "tls":
        # Otherwise nothing would have been tested.
        assert any(TOKEN in value for value in web.seen)
    else:
        assert web.requests == 0
        assert "REQUESTS_CA_BUNDLE" in err
