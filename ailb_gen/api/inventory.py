"""Sources of truth: NetBox and Nautobot as services, and what a fabric has there."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ailb_gen.errors import UsageError
from ailb_gen.progress import Warn, unheeded

if TYPE_CHECKING:
    from ailb_gen.intent.load import Intent
    from ailb_gen.sot.dialect import Dialect
    from ailb_gen.sot.push import SourceOfTruth


@dataclass(frozen=True, slots=True)
class ServiceKind:
    """A kind of source of truth: its name, the variables of its URL and token, and its dialect, a class in a module."""

    name: str
    url: str
    token: str
    module: str
    dialect: str


SERVICES = {
    "netbox": ServiceKind("NetBox", "NETBOX_URL", "NETBOX_TOKEN", "ailb_gen.sot.netbox", "NetBox"),
    "nautobot": ServiceKind("Nautobot", "NAUTOBOT_URL", "NAUTOBOT_TOKEN", "ailb_gen.sot.nautobot", "Nautobot"),
}


URL_FORM = "begin with http:// or https:// and have no '?' or '#'"


def checked_url(url: str) -> str:
    """Return the URL of a service without a slash at its end. Raises UsageError for what is no such URL."""
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable()
    except ValueError:
        right = False
    if not right or parts.query or parts.fragment:
        raise UsageError(f"the URL of the service must {URL_FORM}, such as https://netbox.example.net")
    if parts.username or parts.password:
        raise UsageError(
            "the URL of the service must have no user and no password; "
            "the token is in an environment variable or the keyring"
        )
    return url.rstrip("/")


def dialect_of(service: str, url: str, token: str) -> Dialect:
    """Return the dialect of a service: a key of SERVICES. Raises UsageError, MissingExtraError; nothing is sent yet."""
    row = SERVICES[service]
    dialect: Dialect = getattr(import_module(row.module), row.dialect)(checked_url(url), token)
    return dialect


def source_of_truth(
    fabric: Intent | str | Path,
    dialect: Dialect,
    *,
    site: str = "",
    delete: bool = False,
    adopt: bool = False,
    warn: Warn = unheeded,
) -> SourceOfTruth:
    """Return a service with all that a fabric should have there; its `plan` reads and compares.

    Raises IntentError for an intent that no fabric can satisfy.
    """
    from ailb_gen.api.generate import compute_design
    from ailb_gen.api.inputs import intent_of
    from ailb_gen.sot.desired import desired, options_of, scope_of
    from ailb_gen.sot.push import SourceOfTruth

    intent = intent_of(fabric)
    design, options = compute_design(intent, warn), options_of(intent.fabric, site)
    return SourceOfTruth(dialect, desired(design, options), scope_of(design, options), delete, adopt)
