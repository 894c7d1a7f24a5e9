"""How pybatfish speaks HTTP with a service: proxies, and how often it tries again."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager

from pybatfish.client.restv2helper import _requests_session, _requests_session_fail_fast
from requests.adapters import HTTPAdapter
from urllib3 import Retry


@contextmanager
def retries(prefix: str) -> Iterator[None]:
    """Set our time limits on pybatfish's HTTP sessions with the server whose URLs begin like this.

    Its own is up to 204 s for a server that has gone away, and it swallows what a server says with status 500. Two
    tries after the first, 0 s and 0.2 s later, are enough for a connection that was closed between two questions.
    """
    adapter = HTTPAdapter(
        max_retries=Retry(2, status_forcelist=(), backoff_factor=0.1, respect_retry_after_header=False)
    )
    sessions = (_requests_session, _requests_session_fail_fast)
    for http in sessions:
        http.mount(prefix, adapter)
    try:
        yield
    finally:
        for http in sessions:
            http.adapters.pop(prefix, None)
        adapter.close()


def proxies(host: str) -> dict[str, str] | None:
    """Return what keeps a proxy away from a server on this machine; for all others the environment decides."""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host.lower().rstrip(".").endswith("localhost")
    return {"no_proxy": host} if loopback else None
