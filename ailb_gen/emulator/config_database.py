"""The configuration database of a device: candidate, lock, commits, rollbacks, restarts.

Source: Juniper, CLI User Guide, "Commit the Configuration", "Use the Configuration Database" and "Using the configure
private Command"; RFC 6241 section 8.4.1 for a restart while a commit waits for its confirmation: the configuration
before it is restored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ailb_gen.emulator.disk import CommitRecord, Disk, Saved
from ailb_gen.emulator.load_config import load_set
from ailb_gen.emulator.messages import RpcError, RpcRefusedError, refusal
from ailb_gen.errors import OutputError
from ailb_gen.junos.diff import diff
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import set_lines, to_curly

# Minutes of `commit confirmed`: the default of Junos, and the maximum.
DEFAULT_MINUTES, MOST_MINUTES = 10, 65535
# Rollback 0 is the active configuration.
ROLLBACKS = 50


@dataclass(frozen=True, slots=True)
class UserSession:
    """A login to the device: `number` is the process id of Junos; `since` is in seconds since 1970."""

    number: int
    user: str
    since: float
    client: str = "netconf"


# The device itself, which commits rollbacks.
AUTOMATIC = UserSession(0, "root", 0.0, "other")


@dataclass(frozen=True, slots=True)
class Pending:
    """A commit that waits for its confirmation: when it is rolled back (seconds since 1970), and the text before it."""

    deadline: float
    text: str


@dataclass(frozen=True, slots=True)
class Private:
    """The copy of one session: the configuration that was active when it was made, and the edited one."""

    session: UserSession
    base: Node
    candidate: Node


# Active configuration, candidate, entries, pending commit.
State = tuple[Node, Node, tuple[tuple[CommitRecord, str], ...], Pending | None]


class ConflictError(Exception):
    """Two sessions have changed the same statement."""


class ConfigDatabase:
    """The database of one device; synchronous, without NETCONF.

    Callers must not change its trees. `changed` is called whenever another configuration is active.
    """

    def __init__(
        self,
        factory: Node,
        disk: Disk | None = None,
        clock: Callable[[], float] = lambda: datetime.now(UTC).timestamp(),
        check: Callable[[Node], Sequence[RpcError]] = lambda tree: (),
    ) -> None:
        """Open the state on the disk, else start with `factory`. Raises OutputError for a disk that cannot be used."""
        self._disk, self._clock, self._check = disk, clock, check
        self.changed: Callable[[], None] = lambda: None
        self.holder: UserSession | None = None
        self._private: dict[int, Private] = {}
        saved = disk.read() if disk is not None else None
        self._count = saved.count if saved is not None else 0
        # Commits and the texts that they made active, newest first.
        self._entries = saved.entries if saved is not None else ()
        self.pending = Pending(saved.deadline, saved.revert) if saved is not None and saved.deadline else None
        self._rescue = saved.rescue if saved is not None else ""
        self._active = self._candidate = read_curly(self._entries[0][1]) if self._entries else factory
        if saved is not None and saved.candidate:
            self._candidate = read_curly(saved.candidate)
        try:
            if not self._entries:
                self._enter(AUTOMATIC, "", "")
            self.restart()
        except RpcRefusedError as error:
            raise OutputError(f"the emulator cannot keep its state: {error}") from error

    @property
    def active(self) -> Node:
        """The active configuration."""
        return self._active

    @property
    def candidate(self) -> Node:
        """The configuration that is edited; the active one itself if nothing has been changed."""
        return self._candidate

    @property
    def modified(self) -> bool:
        """Return whether the candidate differs from the active configuration."""
        return self._candidate is not self._active

    @property
    def active_text(self) -> str:
        """The active configuration as curly text."""
        return self._entries[0][1]

    def commits(self) -> tuple[CommitRecord, ...]:
        """Return the history, newest first."""
        return tuple(replace(commit, sequence=number) for number, (commit, _) in enumerate(self._entries))

    def rollback_tree(self, number: int) -> Node:
        """Return a configuration of the past; 0 is the active one. Raises RpcRefusedError."""
        if number == 0:
            return self._active
        if not 0 < number < len(self._entries):
            raise refusal(f"rollback {number} does not exist", "invalid-value")
        return read_curly(self._entries[number][1])

    def edited_by(self, session: UserSession) -> Node:
        """Return the candidate that a session edits: its private copy, else the shared one."""
        copy = self._private.get(session.number)
        return copy.candidate if copy is not None else self._candidate

    def modified_by(self, session: UserSession) -> bool:
        """Return whether the candidate of a session has been changed."""
        copy = self._private.get(session.number)
        return copy.candidate is not copy.base if copy is not None else self.modified

    def is_private(self, session: UserSession) -> bool:
        """Return whether a session edits a private copy."""
        return session.number in self._private

    def editors(self) -> tuple[UserSession, ...]:
        """Return the sessions that hold the lock or a private copy."""
        holder = (self.holder,) if self.holder is not None else ()
        return (*holder, *(copy.session for copy in self._private.values()))

    # The rescue configuration.

    def set_rescue(self, text: str) -> None:
        """Keep a text as the rescue configuration; an empty one deletes it. Raises RpcRefusedError for a full disk."""
        before, self._rescue = self._rescue, text
        try:
            self._save()
        except RpcRefusedError:
            self._rescue = before
            raise

    def rescue_tree(self) -> Node:
        """Return the rescue configuration. Raises RpcRefusedError if there is none."""
        if not self._rescue:
            raise refusal("No rescue configuration is set", type="application", element="rescue")
        return read_curly(self._rescue)

    # The lock.

    def open_private(self, session: UserSession) -> None:
        """Give a session a copy of the active configuration. Raises RpcRefusedError as Junos does."""
        self._check_free(session)
        if self.modified:
            raise refusal("shared configuration database modified")
        self._private[session.number] = Private(session, self._active, self._active)

    def lock(self, session: UserSession) -> None:
        """Give a session the database for itself. Raises RpcRefusedError."""
        self._check_free(session)
        if self.modified:
            raise refusal("configuration database modified")
        self.holder = session

    def _check_free(self, session: UserSession) -> None:
        """Raise RpcRefusedError if a session has opened the database, or another one holds the lock."""
        if self.is_private(session) or self.holder == session:
            raise refusal("Configuration database is already open")
        self._check_lock(session)

    def unlock(self, session: UserSession) -> None:
        """Take the lock back; changes that were not committed are gone. Raises RpcRefusedError."""
        if self.holder != session:
            raise refusal("Configuration database is not open")
        self.holder = None
        self._candidate = self._active

    def end(self, session: UserSession) -> None:
        """Release the lock or the copy of a session that has ended."""
        self._private.pop(session.number, None)
        if self.holder == session:
            self.unlock(session)

    def locked_by(self, holder: UserSession) -> RpcRefusedError:
        """Return the refusal that names who holds the lock."""
        since = datetime.fromtimestamp(holder.since, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        idle = int(max(self._clock() - holder.since, 0))
        text = (
            f"configuration database locked by:\n  {holder.user} terminal  (pid {holder.number}) on since {since}, "
            f"idle {idle // 3600:02}:{idle // 60 % 60:02}:{idle % 60:02}\n      exclusive "
        )
        return refusal(text, "lock-denied", holder=holder.number)

    def may_edit(self, session: UserSession) -> None:
        """Raise RpcRefusedError if another session holds the lock; a private copy can be edited all the same."""
        if not self.is_private(session):
            self._check_lock(session)

    def _check_lock(self, session: UserSession) -> None:
        if self.holder is not None and self.holder != session:
            raise self.locked_by(self.holder)

    # Editing.

    def edit(self, session: UserSession, tree: Node) -> None:
        """Make a tree the candidate of a session. Raises RpcRefusedError when another session holds the lock."""
        text = to_curly(tree)
        copy = self._private.get(session.number)
        if copy is not None:
            same = text == to_curly(copy.base)
            self._private[session.number] = replace(copy, candidate=copy.base if same else tree)
            return
        self.may_edit(session)
        self._candidate = self._active if text == self.active_text else tree
        if self.holder is None:
            self._save()

    def discard(self, session: UserSession) -> None:
        """Make the active configuration the candidate (`rollback 0`). Raises RpcRefusedError."""
        if self.is_private(session):
            self._private[session.number] = Private(session, self._active, self._active)
            return
        self.may_edit(session)
        if self.modified:
            self._candidate = self._active
            if self.holder is None:
                self._save()

    # Committing.

    def check(self, session: UserSession) -> None:
        """Check the configuration that a commit of this session would make active. Raises RpcRefusedError."""
        self._to_commit(session)

    def _to_commit(self, session: UserSession) -> Node:
        """Return the configuration that a commit of this session makes active, checked. Raises RpcRefusedError."""
        copy = self._private.get(session.number)
        self._check_lock(session)
        if copy is not None and self.modified:
            raise refusal("shared configuration database modified")
        try:
            tree = self._candidate if copy is None else _rebased(copy.base, copy.candidate, self._active)
        except ConflictError as error:
            raise RpcRefusedError(RpcError(str(error)), RpcError("commit failed"), wrapper="commit-results") from error
        self.check_tree(tree)
        return tree

    def check_tree(self, tree: Node) -> None:
        """Check a configuration. Raises RpcRefusedError with all errors."""
        errors = self._check(tree)
        if errors:
            raise RpcRefusedError(*errors, RpcError("configuration check-out failed"), wrapper="commit-results")

    def commit(self, session: UserSession, log: str = "", confirm_s: float = 0, minutes: int = 0) -> None:
        """Make the candidate active; it is rolled back after `confirm_s` seconds unless confirmed, 0 for never.

        `minutes` is the time in the history. A commit while another one waits confirms it. The changes of a private
        copy are made to the active configuration. Raises RpcRefusedError, also for a full disk: then nothing has
        changed.
        """
        if confirm_s and self.is_private(session):
            raise refusal("commit confirmed is not allowed in configure private mode")
        tree = self._to_commit(session)
        before = self._state()
        revert = self.pending.text if self.pending is not None else self.active_text
        self.pending = Pending(self._clock() + confirm_s, revert) if confirm_s else None
        comment = f"commit confirmed, rollback in {minutes}mins" if confirm_s else ""
        self._active = self._candidate = tree
        self._enter_or_undo(session, comment, log, before)
        if self.is_private(session):
            self._private[session.number] = Private(session, self._active, self._active)

    def update(self, session: UserSession) -> None:
        """Bring a private copy up to the active configuration, its own changes kept. Raises RpcRefusedError."""
        copy = self._private.get(session.number)
        if copy is None:
            raise refusal("update is only valid in configure private mode")
        try:
            rebased = _rebased(copy.base, copy.candidate, self._active)
            self._private[session.number] = Private(session, self._active, rebased)
        except ConflictError as error:
            raise refusal(str(error)) from error

    def confirm(self) -> None:
        """Confirm the commit that waits, without a new entry in the history (`commit check` does that)."""
        if self.pending is not None:
            self.pending = None
            self._save()

    def expire(self) -> bool:
        """Roll back the commit whose time is over; return whether there was one."""
        if self.pending is None or self._clock() < self.pending.deadline:
            return False
        self._revert()
        return True

    def restart(self) -> None:
        """Start: close all sessions, roll back a commit that waits for its confirmation."""
        self._private.clear()
        if self.holder is not None:
            self.holder = None
            self._candidate = self._active
        if self.pending is not None:
            self._revert()

    def _revert(self) -> None:
        assert self.pending is not None  # noqa: S101 - both callers have looked
        before = self._state()
        modified, self._active = self.modified, read_curly(self.pending.text)
        self._candidate = self._candidate if modified else self._active
        self.pending = None
        self._enter_or_undo(AUTOMATIC, "", "", before)

    def _state(self) -> State:
        return self._active, self._candidate, self._entries, self.pending

    def _enter_or_undo(self, session: UserSession, comment: str, log: str, before: State) -> None:
        """Put the active configuration at the head of the history; when the disk refuses, all is as `before`."""
        try:
            self._enter(session, comment, log)
        except RpcRefusedError:
            self._active, self._candidate, self._entries, self.pending = before
            raise
        if self._active is not before[0]:
            self.changed()

    def _enter(self, session: UserSession, comment: str, log: str) -> None:
        now = self._clock()
        self._count += 1
        commit = CommitRecord(0, session.user, session.client, now, comment, log, f"re0-{int(now)}-{self._count}")
        text = to_curly(self._active)
        # Equal texts are kept once.
        if self._entries and self._entries[0][1] == text:
            text = self._entries[0][1]
        self._entries = ((commit, text), *self._entries[: ROLLBACKS - 1])
        self._save()

    def _save(self) -> None:
        """Write the state that must survive. Raises RpcRefusedError for a full disk, whose state stays."""
        if self._disk is None:
            return
        deadline, revert = (self.pending.deadline, self.pending.text) if self.pending is not None else (0.0, "")
        # Changes under a lock end with the session, so with a restart too.
        candidate = to_curly(self._candidate) if self.modified and self.holder is None else ""
        try:
            self._disk.write(Saved(self._entries, candidate, deadline, revert, self._count, self._rescue))
        except OSError as error:
            raise disk_full(error) from error


def disk_full(error: OSError) -> RpcRefusedError:
    """Return the refusal of a request whose result cannot be written."""
    return RpcRefusedError(
        RpcError(f"could not write /config/juniper.conf+: {error.strerror}", type="application", daemon="mgd"),
        RpcError("commit failed"),
        wrapper="commit-results",
    )


def _rebased(base: Node, mine: Node, theirs: Node) -> Node:
    """Return `theirs` with the changes from `base` to `mine`; no tree is changed. Raises ConflictError."""
    if theirs is base:
        return mine
    if mine is base:
        return theirs
    merged, other = _changed(base, mine, theirs), _changed(base, theirs, mine)
    # Changes that do not touch each other give the same whichever comes last.
    odd = set(set_lines(merged, [])) ^ set(set_lines(other, []))
    if odd:
        raise ConflictError(f"merge conflict, another session has changed it too: {min(odd)}")
    return merged


def _changed(base: Node, to: Node, target: Node) -> Node:
    commands = "".join(f"{change}\n" for change in diff(base, to))
    return load_set(target, commands)[0]
