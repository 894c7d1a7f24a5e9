"""Hooks: a POST to a URL when a run or a maintenance starts, ends or fails, or a watch finds a change; none delays it.

Each hook has a thread of its own. What it has not sent some seconds after the end is given up, with a note.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from ailb_gen.deploy.credentials import CredentialError, SecretCache
from ailb_gen.deploy.inventory import Hook
from ailb_gen.deploy.maintenance_record import FINISHED
from ailb_gen.deploy.run_history import ROLLBACK, StateDirectory
from ailb_gen.deploy.run_summary import RecordedState, RunSummary, summaries
from ailb_gen.progress import Warn

# Seconds for a connection, and between two pieces of an answer; seconds that the end of a run waits for all hooks.
TIMEOUT_S = 4.0
WAIT_S = 5.0
# The version of the body.
VERSION = 1
# Moments of runs and maintenances.
START, END, FAILURE = "start", "end", "failure"
# The moment of a watch; lines of a message in Slack.
FINDINGS, SLACK_LINES = "findings", 20
Body = Mapping[str, Any]


class HookError(Exception):
    """A hook did not take what was sent: why, without its URL."""


@dataclass(slots=True)
class HookSender:
    """The thread of a hook; `trouble` is why something was not sent."""

    hook: Hook
    secrets: SecretCache
    waiting: SimpleQueue[Body | None] = field(default_factory=SimpleQueue)
    trouble: str = ""
    done: Event = field(default_factory=Event)

    def start(self) -> None:
        """Start the thread; without room for one nothing is sent."""
        try:
            Thread(target=self.work, name="hook", daemon=True).start()
        except RuntimeError:
            self.trouble = "there is no room for a thread"
            self.done.set()

    def work(self) -> None:
        """Send one body after the other, until None comes."""
        try:
            while (body := self.waiting.get()) is not None:
                try:
                    _post(self.secrets.get(self.hook.url).reveal(), FORMS[self.hook.form](body))
                except (HookError, CredentialError) as error:
                    self.trouble = str(error)
        finally:
            self.done.set()


def senders_of(hooks: Sequence[Hook], secrets: SecretCache) -> list[HookSender]:
    """Return a sender for every hook."""
    # A secret that takes long must not keep devices waiting for theirs; what it is, all must know.
    return [HookSender(hook, SecretCache(secrets.redactor, TIMEOUT_S)) for hook in hooks]


def headed(event: str, about: Body, facts: Body) -> Body:
    """Return the body of an event: what all have, what is said of every event, and the facts of this one."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"version": VERSION, "event": event, "time": now, "host": platform.node(), **about, **facts}


def finish(senders: Sequence[HookSender], what: str, warn: Warn) -> None:
    """Let all hooks send what waits; wait a little until that is done, and note what was not."""
    for sender in senders:
        sender.waiting.put(None)
    until = time.monotonic() + WAIT_S
    for sender in senders:
        if not sender.done.wait(max(0.0, until - time.monotonic())):
            sender.trouble = f"it did not answer within {WAIT_S:g} s"
        if sender.trouble:
            warn(f"warning: the hook of {sender.hook.url} was not told all of the {what}: {sender.trouble}")


class EventHooks:
    """Tells hooks that a run or a maintenance starts or ends.

    `about` is what every body says: fabric, verb, user. `what` names it in a note, which `warn` prints.
    """

    def __init__(self, hooks: Sequence[Hook], secrets: SecretCache, about: Body, what: str, warn: Warn) -> None:
        self.senders = senders_of(hooks, secrets)
        self._about, self._what, self.warn = about, what, warn
        self._started = False

    def send(self, moment: str, facts: Body) -> None:
        """Send a moment with its facts to the hooks that want it."""
        if not self._started:
            for sender in self.senders:
                sender.start()
        self._started = True
        body = headed(moment, self._about, facts)
        for sender in self.senders:
            if moment in sender.hook.on:
                # Hours may have passed since the URL could not be had.
                sender.secrets.forget(failures=True)
                sender.waiting.put(body)

    def finish(self) -> None:
        """Wait a little until everything is sent, and note what was not."""
        if self._started:
            finish(self.senders, self._what, self.warn)


class RunHooks:
    """The hooks of runs: `begun` is called when a record is open, `ended` when all is over."""

    def __init__(self, hooks: EventHooks) -> None:
        self._hooks = hooks
        self._runs: list[str] = []

    def begun(self, run: str) -> None:
        """Tell that a run starts; once for each run."""
        # Without hooks, records are not read at the end.
        if self._hooks.senders and run not in self._runs:
            self._runs.append(run)
            self._hooks.send(START, {"run": run})

    def ended(self, state: StateDirectory) -> None:
        """Tell how every run ended, by its record; wait a little until that is sent, and note what was not."""
        for one in self._over(state):
            self._hooks.send(END if _well(one) else FAILURE, _facts(one))
        self._hooks.finish()

    def _over(self, state: StateDirectory) -> list[RunSummary]:
        """Return what the records say of the runs; nothing where they cannot be read any more."""
        try:
            names = state.runs() if self._runs else []
        except OSError as error:
            self._hooks.warn(f"warning: hooks were not told of the end: {state.path}: {error.strerror}")
            return []
        first = min((names.index(run) for run in self._runs if run in names), default=len(names))
        found = summaries(state, reversed(names[first:]))
        return [one for one in reversed(found) if one.run in self._runs]


def _well(one: RunSummary) -> bool:
    """Return whether a run ended as asked: done, or a rollback of what was unsettled."""
    return one.state is RecordedState.DONE or (
        one.state is RecordedState.ROLLED_BACK and bool(one.parts) and one.parts[-1].verb == ROLLBACK
    )


def _facts(one: RunSummary) -> Body:
    """Return what is told of a run that is over."""
    devices = {name: end.outcome for name, end in one.devices.items()}
    return {"run": one.run, "kind": one.kind, "state": str(one.state), "devices": devices, "why": one.why}


def _slack(body: Body) -> Body:
    """Return the body in Slack's form: one text, in which `&`, `<` and `>` are escaped."""
    text = next(text for key, text in TEXTS.items() if key in body)(body)
    return {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}


def _by(body: Body) -> str:
    return f"by {body['user']}@{body['host']}"


def _watch_text(body: Body) -> str:
    """Return what a watch found as one text: counts, and the first changes."""
    lines = [
        " ".join(filter(None, (one["device"], one["check"], f"{one['change']}: {one['message']}".removesuffix(": "))))
        for one in body["changes"][:SLACK_LINES]
    ]
    left = body["more"] + len(body["changes"]) - len(lines)
    where = f"{body['fabric']}: watch {_by(body)}, round {body['round']}"
    return "\n".join([where, *lines, *([f"and {left:,} more"] if left else [])])


def _maintenance_text(body: Body) -> str:
    """Return how a maintenance begins or ends as one text: the first devices that are not done, by name."""
    left = [f"{name}: {state}" for name, state in body["devices"].items() if state != FINISHED]
    more = len(left) - SLACK_LINES
    end = f": {body['state']}" if "state" in body else ""
    head = f"{body['fabric']}: maintain {body['event']}, maintenance {body['maintenance']} {_by(body)}{end}"
    others = f"and {more:,} more" if more > 0 else ""
    return "\n".join(filter(None, (head, *left[:SLACK_LINES], others, body.get("why", ""))))


def _run_text(body: Body) -> str:
    counts: dict[str, int] = {}
    for outcome in body.get("devices", {}).values():
        counts[outcome] = counts.get(outcome, 0) + 1
    told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    state = f": {body['state']}" if "state" in body else ""
    why = f" ({body['why']})" if body.get("why") else ""
    text = f"{body['fabric']}: {body['verb']} {body['event']}, run {body['run']} {_by(body)}{state}{why}"
    return f"{text}; {told}" if told else text


# How a body is written in Slack, by the key that says what it is about.
TEXTS: Mapping[str, Callable[[Body], str]] = {
    "round": _watch_text,
    "maintenance": _maintenance_text,
    "run": _run_text,
}
FORMS: Mapping[str, Callable[[Body], Body]] = {"json": lambda body: body, "slack": _slack}


def _post(url: str, body: Body) -> None:
    """Send a body as JSON. Raises HookError, which never holds the URL."""
    import requests  # noqa: PLC0415 - most inventories have no hooks
    import urllib3  # noqa: PLC0415

    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise HookError("it is no http:// or https:// URL")
        with requests.post(url, json=body, timeout=TIMEOUT_S, allow_redirects=False, stream=True) as answer:
            status = answer.status_code
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        # Its text has the URL.
        raise HookError(f"it cannot be reached ({type(error).__name__})") from None
    if not 200 <= status < 300:
        raise HookError(f"it answers {status}")
