"""What both drivers share: calls on a PyEZ device, and PyEZ's and ncclient's errors in the program's own terms.

Importing PyEZ patches `json` and PyYAML for the whole process: nothing imports this module before it connects.
"""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jnpr.junos.exception import (
    ConnectAuthError,
    ConnectClosedError,
    ConnectError,
    ConnectRefusedError,
    ConnectTimeoutError,
    ConnectUnknownHostError,
    LockError,
    RpcError,
    RpcTimeoutError,
)
from lxml import etree
from ncclient.operations.errors import TimeoutExpiredError
from ncclient.transport.errors import SessionCloseError, SSHUnknownHostError, TransportError

from ailb_gen.deploy.redact import HASH, MARK, redact_config
from ailb_gen.deploy.switch import Commit, DeviceError, Phase, RefusedError, UnknownOutcomeError

if TYPE_CHECKING:
    from collections.abc import Iterator

# `commit confirmed, rollback in 10mins`, as the commit history has it.
PENDING = re.compile(r"commit confirmed, rollback in (\d+)\s*min")
# How paramiko says that the other end hung up: before SSH, and during the login.
HUNG_UP = ("Error reading SSH protocol banner", "transport shut down or saw EOF")
# A subsystem that nothing is configured for: `BGP is not running`, `router-advertisement subsystem not running`.
NOT_RUNNING = re.compile(r"not running", re.IGNORECASE)
# Where it matters what a device did before it fell silent.
ASKED = dict.fromkeys((Phase.COMMIT, Phase.CONFIRM, Phase.ROLLBACK), "it is asked again what it did")
NOBODY = "somebody else changes this device, or a session hangs; look at 'show system users' and 'configure exclusive'"


@contextmanager
def translated(device: str, phase: Phase) -> Iterator[None]:
    """Turn what the libraries raise into DeviceErrors: an answer is a refusal, no answer an unknown outcome."""
    try:
        with warnings.catch_warnings():
            # PyEZ warns of what it raises at once.
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    except (RpcTimeoutError, TimeoutExpiredError) as error:
        raise UnknownOutcomeError(device, phase, "no answer in time", ASKED.get(phase, "")) from error
    except (ConnectClosedError, SessionCloseError, TransportError, EOFError, OSError) as error:
        raise UnknownOutcomeError(device, phase, "the session was lost", ASKED.get(phase, "")) from error
    except LockError as error:
        raise RefusedError(device, phase, said(error), NOBODY) from error
    except RpcError as error:
        raise RefusedError(device, phase, said(error)) from error


def said(error: RpcError) -> str:
    """Return what the device said, all messages in one line; secrets of its configuration replaced."""
    messages = []
    for one in error.errs or ():
        text = " ".join(str(one.get("message") or "").split())
        about = redact_config(" ".join(str(one.get("bad_element") or "").split()))
        messages.append(f"{text} ({about})" if about and about not in text else text)
    found = "; ".join(dict.fromkeys(filter(None, messages)))
    return HASH.sub(MARK, found or " ".join(str(error.message or type(error).__name__).split()))


def connected(device: str, address: str, error: Exception) -> DeviceError:
    """Return the DeviceError for a connection that did not come about."""
    origin = getattr(error, "_orig", None) or error.__cause__ or error.__context__ or error
    if isinstance(origin, SSHUnknownHostError):
        reason, hint = "its host key is not the known one", "compare it on the console before you accept a new one"
        return DeviceError(device, Phase.CONNECT, f"{address}: {reason}", hint)
    # PyEZ takes a connection that was cut for a refused one, or for a refused login.
    cut = any(text in str(error.__context__) for text in HUNG_UP)
    for kind, reason, hint in _CONNECTION[-1:] if cut else _CONNECTION:
        if isinstance(error, kind):
            return DeviceError(device, Phase.CONNECT, f"{address}: {reason}", hint)
    # The text of an unknown error may hold anything; its type is enough.
    return DeviceError(device, Phase.CONNECT, f"{address}: no connection ({type(origin).__name__})")


_CONNECTION: tuple[tuple[type[Exception], str, str], ...] = (
    (ConnectAuthError, "the login is refused", "check username, keys and password references in the inventory"),
    (ConnectRefusedError, "the connection is refused", "is 'set system services netconf ssh' there, is the port right"),
    (ConnectTimeoutError, "no answer in time", "is the management network up"),
    (ConnectUnknownHostError, "the name has no address", "set hostname in hosts.yaml, or management in the fabric"),
    (ConnectError, "no NETCONF session", "the device closed the connection before it said hello"),
)


def ask(device: Any, name: str, phase: Phase, rpc: str, **arguments: str | bool) -> etree._Element:
    """Send an RPC; underscores in the names of arguments become hyphens. Raises DeviceError.

    Where there is nothing to show, as with `show bgp summary` before BGP is configured, the element is empty.
    """
    with translated(name, phase):
        try:
            reply = getattr(device.rpc, rpc.replace("-", "_"))(**arguments)
        except RpcError as error:
            if not NOT_RUNNING.search(said(error)):
                raise
            reply = None
    # PyEZ returns True for an answer without content.
    return reply if isinstance(reply, etree._Element) else etree.Element("nothing")


def history(device: Any, name: str) -> tuple[Commit, ...]:
    """Read the commit history (`show system commit`, get-commit-information)."""
    reply = ask(device, name, Phase.READ, "get-commit-information")
    return tuple(commit_of(entry) for entry in reply.iter("commit-history"))


def commit_of(entry: etree._Element) -> Commit:
    """Read an entry of the history: sequence-number, user, date-time, comment and log."""
    when = entry.find("date-time")
    pending = PENDING.search(" ".join(filter(None, (entry.findtext("comment"), entry.findtext("log")))))
    return Commit(
        number=int(entry.findtext("sequence-number", "0")),
        user=entry.findtext("user", "").strip(),
        when=int(when.get("seconds", "0")) if when is not None else 0,
        log=entry.findtext("log", "").strip(),
        pending_minutes=int(pending[1]) if pending else None,
    )
