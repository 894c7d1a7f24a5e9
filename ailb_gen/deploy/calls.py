"""Calls on a PyEZ device, common to both drivers, and PyEZ's and ncclient's errors in the program's own terms.

Importing PyEZ patches `json` and PyYAML for the whole process: nothing imports this module before it connects.
"""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jnpr.junos.exception import ConnectClosedError, RpcError, RpcTimeoutError
from lxml import etree
from ncclient.operations.errors import OperationError, TimeoutExpiredError
from ncclient.transport.errors import SessionCloseError, TransportError

from ailb_gen.deploy.messages import AnswerError
from ailb_gen.deploy.switch import NUMBER, Commit, DeviceError, Phase, RefusedError, UnknownOutcomeError, unreadable
from ailb_gen.redact.text import redact

# `commit confirmed, rollback in 10mins` in the commit history.
PENDING = re.compile(r"commit confirmed, rollback in ([0-9]{1,6})\s*min")
# What is in every answer to these, by which an answer without content is distinguished from good news.
ALWAYS = {
    "get-commit-information": "commit-history",
    "get-alarm-information": "alarm-summary",
    "get-system-alarm-information": "alarm-summary",
}
# A subsystem that nothing is configured for: `BGP is not running`, `router-advertisement subsystem not running`.
NOT_RUNNING = re.compile(r"not running", re.IGNORECASE)
# Where it matters what a device did before it fell silent.
ASKED = dict.fromkeys((Phase.COMMIT, Phase.CONFIRM, Phase.ROLLBACK), "its state is read again")
BUSY = "another session changes this device, or one hangs; look at 'show system users' and 'configure exclusive'"


@contextmanager
def translated(device: str, phase: Phase, rpc: str) -> Iterator[None]:
    """Turn what the libraries raise into DeviceErrors: an answer is a refusal, no answer an unknown outcome.

    Put only calls of the libraries inside: any other exception then means an answer that they cannot read.
    """
    try:
        with warnings.catch_warnings():
            # PyEZ warns of what it raises at once.
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    except DeviceError:
        raise
    except (RpcTimeoutError, TimeoutExpiredError) as error:
        raise UnknownOutcomeError(device, phase, "no answer in time", ASKED.get(phase, "")) from error
    except (ConnectClosedError, SessionCloseError, TransportError, EOFError, OSError) as error:
        raise UnknownOutcomeError(device, phase, "the session was lost", ASKED.get(phase, "")) from error
    except RpcError as error:
        raise RefusedError(device, phase, messages_of(error), BUSY if phase is Phase.LOCK else "") from error
    except Exception as error:  # the libraries raise any exception on a malformed answer
        raise unreadable(device, phase, rpc, _why(error)) from error


def _why(error: Exception) -> str:
    """Return what is wrong with an answer; of a library's other errors only the type says anything."""
    known = isinstance(error, AnswerError | OperationError | etree.LxmlError)
    return str(error)[:200] if known else f"something is missing or too much ({type(error).__name__})"


def messages_of(error: RpcError) -> str:
    """Return the messages of a device, all in one line; secrets of its configuration replaced."""
    messages = []
    for one in error.errs or ():
        text = " ".join(str(one.get("message") or "").split())
        about = redact(" ".join(str(one.get("bad_element") or "").split()))
        messages.append(f"{text} ({about})" if about and about not in text else text)
    found = "; ".join(dict.fromkeys(filter(None, messages)))
    return found or " ".join(str(error.message or "an error without a message").split())


def ask(device: Any, name: str, phase: Phase, rpc: str, **arguments: str | bool) -> etree._Element:
    """Send an RPC; underscores in the names of arguments become hyphens. Raises DeviceError.

    Where there is nothing to show, as with `show bgp summary` before BGP is configured, the element is empty; not for
    those of ALWAYS, whose silence would pass for good news.
    """
    with translated(name, phase, rpc):
        try:
            reply = getattr(device.rpc, rpc.replace("-", "_"))(**arguments)
        except RpcError as error:
            if not NOT_RUNNING.search(messages_of(error)):
                raise
            reply = None
    # PyEZ returns True for an answer without content.
    found = reply if isinstance(reply, etree._Element) else etree.Element("nothing")
    required = ALWAYS.get(rpc)
    if required is not None and next(found.iter(required), None) is None:
        raise unreadable(name, phase, rpc, f"there is no {required} in it")
    return found


def history(device: Any, name: str) -> tuple[Commit, ...]:
    """Read the commit history (`show system commit`, get-commit-information)."""
    reply = ask(device, name, Phase.READ, "get-commit-information")
    return tuple(commit_of(name, entry) for entry in reply.iter("commit-history"))


def commit_of(name: str, entry: etree._Element) -> Commit:
    """Read an entry of the history: sequence-number, user, date-time, comment and log. Raises DeviceError."""
    when = entry.find("date-time")
    pending = PENDING.search(" ".join(filter(None, (entry.findtext("comment"), entry.findtext("log")))))
    seconds = when.get("seconds", "0") if when is not None else "0"
    number = entry.findtext("sequence-number", "").strip()
    if not all(NUMBER.fullmatch(text) for text in (seconds, number)):
        reason = f"an entry with the number {number!a} and the time {seconds!a}"
        raise unreadable(name, Phase.READ, "get-commit-information", reason)
    return Commit(
        number=int(number),
        user=entry.findtext("user", "").strip(),
        when=int(seconds),
        log=entry.findtext("log", "").strip(),
        pending_minutes=int(pending[1]) if pending else None,
    )
