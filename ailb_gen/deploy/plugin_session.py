"""A guarded session for the clients of others: one host, no redirect, time-outs, retries, and errors that say why."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from ailb_gen.errors import DeployError

# Seconds until a connection stands, and until an answer begins.
TIMEOUTS_S = (10.0, 120.0)
# Of a service that is busy or starting; what it asks for with Retry-After counts more.
RETRY = Retry(total=4, backoff_factor=0.5, status_forcelist=(429, 502, 503, 504), raise_on_status=False)
WHY = {
    401: "; the token is not accepted",
    403: "; the token is not accepted, or lacks the permission to view devices",
    404: "; check the URL",
}


class PluginError(DeployError):
    """A source of devices does not answer, or not with devices."""


def shown(text: object, longest: int = 80) -> str:
    """Return text of others for a message: on one line, without control characters, and not too long."""
    clean = "".join(one if one.isprintable() else "?" for one in str(text))
    return clean if len(clean) <= longest else f"{clean[: longest - 3]}..."


def guard(session: requests.Session, url: str, name: str) -> None:
    """Let a session reach the host of a URL and no other; `name` is the service in messages."""
    for scheme in ("https://", "http://"):
        session.mount(scheme, _OneHost(url, name))
    # Without this, an entry of ~/.netrc for the host would replace the token.
    session.auth = _unchanged


class _OneHost(HTTPAdapter):
    """Sends to one host: a redirect, or a link to a further page, must not take the token elsewhere."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__(max_retries=RETRY)
        self.origin, self.name = _origin(url), name

    def send(self, request: requests.PreparedRequest, *words: Any, **given: Any) -> requests.Response:  # noqa: ANN401 - as in requests
        """Send a request. Raises PluginError for an answer other than success."""
        target = _origin(str(request.url))
        if target != self.origin:
            raise PluginError(
                f"{self.name} at {self.origin} leads to {shown(target)}, which does not get the token; "
                f"give the URL under which it serves its pages"
            )
        if given.get("timeout") is None:
            given["timeout"] = TIMEOUTS_S
        try:
            answer = super().send(request, *words, **given)
        except requests.exceptions.SSLError:
            hint = "for a private CA, name its file in REQUESTS_CA_BUNDLE"
            raise PluginError(f"{self.name} at {self.origin}: the certificate cannot be verified; {hint}") from None
        except requests.RequestException as error:
            raise PluginError(f"{self.name} at {self.origin} cannot be reached ({type(error).__name__})") from None
        if answer.ok and not answer.is_redirect:
            return answer
        answer.close()
        if answer.is_redirect:
            place = shown(_origin(answer.headers.get("Location", "")))
            raise PluginError(f"{self.name} at {self.origin} redirects to {place}; give that URL instead")
        why = WHY.get(answer.status_code, "")
        raise PluginError(f"{self.name} at {self.origin} answers {answer.status_code}{why}")


def _origin(url: str) -> str:
    """Return scheme, host and port of a URL, without a user."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def _unchanged(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request
