"""The HTTP session of a source of truth: retries, time-outs, counted requests, and answers as errors without tokens."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from ailb_gen.sot.dialect import ServiceFaultError, SourceError

# Seconds until a connection stands, and until an answer begins: a bulk request takes long.
TIMEOUTS_S = (10.0, 300.0)
ATTEMPTS = 5
# Seconds before the second attempt; each further one waits twice as long. What a server asks for counts more.
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 60.0
BAD_REQUEST, TOO_MANY, FAULT = 400, 429, 500
# A gateway or a server that is starting. A POST may have been carried out all the same: it is not repeated here.
UNCLEAR = frozenset({502, 503, 504})
REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS", "PATCH"})
# A certificate and a token stay as they are.
NEVER_REPEATED = (requests.exceptions.SSLError, requests.exceptions.InvalidHeader)
# How much of an answer an error shows.
SHOWN = 600
WHY = {
    401: "the token is not accepted; check it, and whether it has expired",
    403: "the token is not accepted, lacks the permission, or may not be used from this address",
    404: "there is no such page: check the URL, and the version of the service",
}


class UnclearError(SourceError):
    """A request was not answered, or by a gateway: it may have been carried out."""


class RefusedError(SourceError):
    """A service refuses the objects of a request; `body` is its answer, from JSON."""

    def __init__(self, message: str, body: object) -> None:
        super().__init__(message)
        self.body = body


# Requests without an answer: an exception, a word in it, the error it becomes, and its reason. The first row counts.
TROUBLES: tuple[tuple[type[requests.RequestException], str, type[SourceError], str], ...] = (
    (
        requests.exceptions.SSLError,
        "",
        SourceError,
        "the certificate cannot be verified; for a private CA, name its file in REQUESTS_CA_BUNDLE",
    ),
    (
        requests.exceptions.InvalidHeader,
        "",
        SourceError,
        "the token has a line end or a blank before it, which no token has; set it again",
    ),
    (requests.ConnectTimeout, "", SourceError, f"no connection within {TIMEOUTS_S[0]:.0f} s"),
    (requests.Timeout, "", UnclearError, f"no answer within {TIMEOUTS_S[1]:.0f} s"),
    (
        requests.ConnectionError,
        "NameResolutionError",
        SourceError,
        "the name of the host has no address; check the URL",
    ),
    (requests.ConnectionError, "NewConnectionError", SourceError, "nothing accepts connections there; check the URL"),
)


class ServiceSession(requests.Session):
    """A session that repeats what may be repeated, follows no redirect, and counts requests by method.

    Every request goes to the host of `base`: links to further pages may name another, which gets no token. `token` is
    what errors never show.
    """

    def __init__(self, base: str, token: str, connections: int, sleep: Callable[[float], None] = time.sleep) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self._base = urlsplit(base)
        self._token = token
        self._sleep = sleep
        self._lock = threading.Lock()
        # Without this, an entry of ~/.netrc for the host would replace the token.
        self.auth = _unchanged
        for scheme in ("https://", "http://"):
            self.mount(scheme, HTTPAdapter(pool_connections=connections, pool_maxsize=connections))

    def request(self, method: str | bytes, url: str | bytes, *words: Any, **given: Any) -> requests.Response:  # noqa: ANN401 - as in requests
        """Send a request until it is answered. Raises SourceError, also for an answer that is an error."""
        url = urlsplit(str(url))._replace(scheme=self._base.scheme, netloc=self._base.netloc).geturl()
        verb, where = str(method).upper(), _without_query(url)
        given |= {"timeout": TIMEOUTS_S, "allow_redirects": False}
        for attempt in range(1, ATTEMPTS + 1):
            with self._lock:
                self.counts[verb] += 1
            wait = FIRST_WAIT_S * 2 ** (attempt - 1)
            try:
                answer = super().request(verb, url, *words, **given)
            except requests.RequestException as error:
                trouble = _trouble(verb, where, error)
                again = not isinstance(trouble, UnclearError) or verb in REPEATABLE
                if isinstance(error, NEVER_REPEATED):
                    again = False
            else:
                if answer.status_code < 300:
                    return answer
                trouble = self._refusal(verb, where, answer)
                again = answer.status_code == TOO_MANY or (answer.status_code in UNCLEAR and verb in REPEATABLE)
                wait = max(wait, _retry_after(answer.headers.get("Retry-After", "")))
            if not again or attempt == ATTEMPTS or wait > LONGEST_WAIT_S:
                raise trouble
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _refusal(self, verb: str, where: str, answer: requests.Response) -> SourceError:
        """Return the error of an answer that is none of success."""
        code = answer.status_code
        if answer.is_redirect:
            # Followed, it would take the token to another place.
            target = _without_query(answer.headers.get("Location", ""))
            asked = urlsplit(where).path.removeprefix(self._base.path.rstrip("/")).lstrip("/")
            return SourceError(
                f"{verb} {where}: it redirects to {self._clean(target)}; "
                f"give {self._clean(target.removesuffix(asked))} as the URL instead"
            )
        text = " ".join(answer.text.split())[:SHOWN] if "json" in answer.headers.get("Content-Type", "") else ""
        reason = "; ".join(part for part in (WHY.get(code, ""), self._clean(text)) if part)
        message = f"{verb} {where}: {code} {answer.reason}{': ' if reason else ''}{reason}"
        if code == BAD_REQUEST and text:
            return RefusedError(message, answer.json())
        if code == FAULT:
            return ServiceFaultError(message)
        return (UnclearError if code in UNCLEAR or code == TOO_MANY else SourceError)(message)

    def _clean(self, text: str) -> str:
        """Return text without the token and control characters."""
        text = text.replace(self._token, "***") if self._token else text
        return "".join(one if one.isprintable() else "?" for one in text)


def _unchanged(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _without_query(url: str) -> str:
    """Return a URL without query and user: filters are long, a user may come with a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _trouble(verb: str, where: str, error: requests.RequestException) -> SourceError:
    """Return the error of a request without an answer; the reason without the URL, which is named before it."""
    for kind, cause, trouble, reason in TROUBLES:
        if isinstance(error, kind) and cause in repr(error):
            return trouble(f"{verb} {where}: {reason}")
    return UnclearError(f"{verb} {where}: the connection broke ({type(error).__name__})")


def _retry_after(text: str) -> float:
    """Return the seconds that a Retry-After header asks for: a number or a date (RFC 9110, section 10.2.3)."""
    if not text:
        return 0.0
    try:
        return float(text) if text.isdigit() else (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
