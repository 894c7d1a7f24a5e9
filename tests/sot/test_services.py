"""The real services of tests: start, isolation, end."""

import json
import urllib.request

import pytest

from tests.sot.services import Running

pytestmark = pytest.mark.long


def call(netbox: Running, path: str, token: str, body: object = None) -> dict[str, object]:
    """Send a request to the interface; return the answer."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(netbox.url + path, data, headers), timeout=60) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def test_a_reset_forgets_what_was_written(netbox: Running) -> None:
    status = call(netbox, "/api/status/", netbox.token)
    assert status["netbox-version"] == "4.7.3"
    assert "netbox_bgp" in str(status["plugins"])
    call(netbox, "/api/dcim/sites/", netbox.token, {"name": "pod1", "slug": "pod1"})
    assert call(netbox, "/api/dcim/sites/", netbox.tokens["read-only"])["count"] == 1
    netbox.reset()
    assert call(netbox, "/api/dcim/sites/", netbox.token)["count"] == 0
