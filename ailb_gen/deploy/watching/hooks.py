"""Hooks of a watch: a POST when something changes, from a thread for each hook; one that hangs delays nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from ailb_gen.deploy.credentials import SecretCache
from ailb_gen.deploy.inventory import Hook
from ailb_gen.deploy.run_hooks import FINDINGS, Body, finish, headed, senders_of
from ailb_gen.deploy.watching.changes import WatchChange
from ailb_gen.deploy.watching.rounds import WatchReport
from ailb_gen.progress import Warn

# Changes in a body, and bodies that wait for a hook that does not answer: more are counted, or not sent.
MOST, WAITING = 100, 20
DROPPED = "it did not take what was sent before"


class WatchHooks(AbstractContextManager["WatchHooks"]):
    """The hooks whose moments have `findings`; `about` is what every body says, `warn` prints a note at the end."""

    def __init__(self, hooks: Sequence[Hook], secrets: SecretCache, about: Body, warn: Warn) -> None:
        self._senders = senders_of([hook for hook in hooks if FINDINGS in hook.on], secrets)
        self._about, self._warn = about, warn

    def __enter__(self) -> WatchHooks:
        for sender in self._senders:
            sender.start()
        return self

    def tell(self, report: WatchReport) -> None:
        """Send what changed, if anything did."""
        if not report.changes or not self._senders:
            return
        rows = [change_row(change) for change in report.changes[:MOST]]
        facts = {
            "round": report.number,
            "changes": rows,
            "more": len(report.changes) - len(rows),
            "findings": report.findings,
            "silent": report.silent,
        }
        body = headed(FINDINGS, self._about, facts)
        for sender in self._senders:
            sender.secrets.forget(failures=True)
            if sender.waiting.qsize() < WAITING:
                sender.waiting.put(body)
            else:
                sender.trouble = DROPPED

    def __exit__(self, *_: object) -> None:
        finish(self._senders, "watch", self._warn)


def change_row(change: WatchChange) -> dict[str, Any]:
    """Return a change as JSON has it."""
    return {
        "change": str(change.kind),
        "device": change.device,
        "check": change.check,
        "severity": change.severity,
        "message": change.message,
        "since": change.since,
    }
