"""Exceptions of pybatfish, requests and urllib3 in words: why a Batfish service fails, and the remedy."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import requests
from pybatfish.exception import BatfishException, QuestionValidationException
from urllib3 import exceptions as urllib3_errors

CUT = 200

START = "start one with: docker run -d --name batfish -p 9996:9996 batfish/batfish"
OTHER = "is this Batfish? it listens on port 9996"
READY = f"{OTHER}, and needs some seconds after its start"
MEMORY = "give the server more memory: its Java uses 80 % of the container's limit (docker run --memory)"
SLOW = f"raise --batfish-timeout, or {MEMORY}"
DIED = "the server died during the request: check 'docker logs batfish'; often it lacks memory (docker run --memory)"
LOGS = "'docker logs batfish' may say more"
VERSIONS = (
    "the server is Batfish {server}, the client pybatfish {client}; "
    "update both: docker pull batfish/batfish, pip install -U pybatfish"
)


class Cause(NamedTuple):
    """A kind of failure: its exceptions, the reason in words, the remedy while connecting, and the remedy later."""

    kinds: tuple[type[BaseException], ...]
    why: str
    early: str
    late: str


# The first row that fits any link of the chain of exceptions counts.
CAUSES = (
    Cause((requests.HTTPError,), "it answers {detail}", OTHER, LOGS),
    Cause((requests.exceptions.ProxyError,), "the proxy of $http_proxy fails", "put the host into $no_proxy", LOGS),
    Cause((socket.gaierror,), "unknown host", START, DIED),
    Cause((ConnectionRefusedError,), "connection refused", START, DIED),
    Cause(
        (TimeoutError, requests.Timeout, urllib3_errors.TimeoutError),
        "no result within {limit:g} s",
        f"{READY}; if it is only slow, raise --batfish-timeout",
        SLOW,
    ),
    Cause((requests.exceptions.JSONDecodeError,), "the answer is not JSON", OTHER, VERSIONS),
    Cause(
        (
            ConnectionError,
            urllib3_errors.ProtocolError,
            requests.exceptions.ChunkedEncodingError,
            requests.exceptions.ContentDecodingError,
        ),
        "the connection was lost",
        READY,
        DIED,
    ),
    Cause((requests.TooManyRedirects, requests.exceptions.InvalidSchema), "it redirects: {detail}", OTHER, LOGS),
    Cause((OSError, urllib3_errors.HTTPError), "{detail}", START, DIED),
    Cause((QuestionValidationException,), "it rejects the question: {detail}", VERSIONS, VERSIONS),
    Cause((BatfishException,), "{detail}", OTHER, LOGS),
    Cause(
        # What pybatfish raises over JSON of another shape than it knows.
        (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError),
        "pybatfish cannot parse the answer ({kind}: {detail})",
        OTHER,
        VERSIONS,
    ),
)
# Java's error texts, also inside other exceptions, and the text of a server that canceled a task.
NO_MEMORY = re.compile(r"OutOfMemoryError|Java heap space|GC overhead limit")
GIVEN_UP = re.compile(r"Work finished with status (\w+)")
FORESEEN = tuple(kind for cause in CAUSES for kind in cause.kinds)


def explain(error: BaseException, limit_s: float, *, connecting: bool) -> tuple[str, str]:
    """Return why one of the exceptions that FORESEEN names was raised, and the remedy."""
    links = list(_chain(error))
    if any(NO_MEMORY.search(_said(link)) for link in links):
        return "it ran out of memory", MEMORY
    for cause in CAUSES:
        for link in links:
            if isinstance(link, cause.kinds):
                why = cause.why.format(detail=_detail(link, links), kind=type(link).__name__, limit=limit_s)
                if any(GIVEN_UP.match(_said(one)) for one in links):
                    return why, f"often it lacks memory: {MEMORY}; {LOGS}"
                return why, cause.early if connecting else cause.late
    raise AssertionError(error)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that it was made of: requests and urllib3 keep causes in three places."""
    yield error
    for cause in (*error.args, getattr(error, "reason", None), error.__cause__):
        if isinstance(cause, BaseException):
            yield from _chain(cause)


def _said(link: BaseException) -> str:
    """Return all that an exception says, with the body of an answer."""
    body = link.response.text if isinstance(link, requests.HTTPError) and link.response is not None else ""
    return f"{link} {body}"


def _detail(link: BaseException, links: Sequence[BaseException]) -> str:
    """Return the short reason in the text of a server or a library."""
    if isinstance(link, requests.HTTPError) and link.response is not None:
        body = _line(link.response.text)
        words = f": {body}" if body and not body.startswith("<") else ""
        return f"HTTP {link.response.status_code}{words}"
    if isinstance(link, BatfishException):
        return _log_line(str(link))
    system = [cause.strerror for cause in links if isinstance(cause, OSError) and cause.strerror]
    return system[-1].lower() if system else _line(str(link))


def _log_line(text: str) -> str:
    """Return the failed work and the root cause: the last cause in the log of the work, or the log's last line."""
    given_up = GIVEN_UP.match(text)
    if given_up is not None:
        return f"the server gave up the work ({given_up[1]})"
    head, *log = [line.strip() for line in text.splitlines() if line.strip()] or ["Batfish does not say why"]
    words = [line for line in log if not line.startswith(("at ", "... "))]
    causes = [line for line in words if line.startswith("Caused by: ") or "exception:" in line]
    reason = re.split(r"Caused by: |exception:", (causes or words or [""])[-1])[-1]
    reason = re.sub(r"^(?:[a-z]\w*\.)+(?=[A-Z])", "", reason.strip())
    return _line(f"{head}: {reason}" if reason else head)


def _line(text: str) -> str:
    """Return the first line that says something, printable and not too long."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    shown = "".join(letter if letter.isprintable() else "?" for letter in line)
    return shown if len(shown) <= CUT else f"{shown[:CUT]}..."
