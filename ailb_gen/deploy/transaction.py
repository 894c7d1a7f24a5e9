"""A device of a wave: the steps of a push on it, whether it is a switch or a server.

A transaction holds no connection; every step gets the one that is open. After any step the device can be queried for
its state, so that a lost answer never has to be guessed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, takewhile
from typing import Protocol, TypeVar

from ailb_gen.addresses import Prefix
from ailb_gen.deploy.ownership import Ownership, commands, digest, expected_configuration, fingerprint
from ailb_gen.deploy.resource_limits import ONE_AT_A_TIME
from ailb_gen.deploy.servers import script
from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.files import HostStatus, RunState, Tree
from ailb_gen.deploy.servers.files import fingerprint as files_digest
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import verify
from ailb_gen.deploy.switch_driver import (
    CommitEntry,
    DeviceError,
    ForeignError,
    Phase,
    RequestRefusedError,
    SwitchDriver,
)
from ailb_gen.deploy.switch_state import ExpectedState
from ailb_gen.deploy.unmanaged import ANY
from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.reader import read_whole
from ailb_gen.junos.tree import Node
from ailb_gen.redact.known import Redactor
from ailb_gen.redact.statements import secrets_of
from ailb_gen.wording import counted

# What the program's commits begin with in the history of a device.
MARK = "ailb-gen "
# Ten times the letters of all set commands of a spine with 512 leaves.
MOST_LETTERS = 16 << 20
OTHER_CHANGE = "the change is not the one that was approved"
# Makes the expected configuration from the running one; nothing is read from the device for it.
ConfigurationChange = Callable[["Node"], "Node"]
# Reads from a switch, with its running text, all that its expected configuration needs. No tree lives meanwhile.
ConfigurationSource = Callable[["SwitchDriver", str], ConfigurationChange]
C_contra = TypeVar("C_contra", contravariant=True)


class CommitState(StrEnum):
    """The state of a device between its old and its new configuration.

    PENDING: the new one is active, and the device takes it back by itself. FOREIGN: it has another one.
    """

    OLD = "old"
    PENDING = "pending"
    NEW = "new"
    FOREIGN = "foreign"


class Transaction(Protocol[C_contra]):
    """A device in a push; every step raises DeviceError and can be repeated."""

    @property
    def name(self) -> str:
        """The device's name."""

    def stage(self, connection: C_contra) -> str:
        """Load the change next to the active state and check it; return its digest."""

    def apply(self, connection: C_contra, minutes: int) -> tuple[str, ...]:
        """Make it active, until the device takes it back after `minutes`; return warnings."""

    def verify(self, connection: C_contra) -> tuple[str, ...]:
        """Return deviations from the design; empty when there are none."""

    def confirm(self, connection: C_contra) -> None:
        """Make it stay."""

    def revert(self, connection: C_contra) -> None:
        """Bring back what was there before the run."""

    def release(self, connection: C_contra) -> None:
        """Leave nothing behind beside what is active: no staged change, no lock."""

    def commit_state(self, connection: C_contra) -> CommitState:
        """Ask the device for its state."""


@dataclass(frozen=True, slots=True)
class SwitchTransaction:
    """A switch in a push; `source` gives its expected configuration.

    `old` is the fingerprint of what it had when the run began; `mark` begins the comment of every commit of the run,
    by which its commits are known again; `approved` is the digest of the commands that may be loaded.
    """

    name: str
    source: ConfigurationSource
    old: str
    mark: str
    expected: ExpectedState
    approved: str

    def stage(self, connection: SwitchDriver) -> str:
        """Lock, load, read the candidate back, check."""
        connection.lock()
        active = connection.running()
        with _without_secrets(active):
            return self._load(connection, active)

    def _load(self, connection: SwitchDriver, active: str) -> str:
        """Load the change next to the active configuration, compare what became of it, and check it."""
        connection.hold(active)
        if identified(self.name, active) != self.old:
            reason = "its configuration is not the planned one"
            raise RequestRefusedError(self.name, Phase.LOAD, reason, "it was changed since; plan again")
        self._refuse_pending(connection)
        if connection.compare():
            reason = "its candidate has uncommitted changes of another session"
            raise RequestRefusedError(
                self.name, Phase.LOAD, reason, "commit or discard them on the device: 'show | compare'"
            )
        target = self.source(connection, active)
        with ONE_AT_A_TIME:
            running = tree_of(self.name, active)
            change = commands(running, target(running))
            del running
        if digest(change) != self.approved:
            raise RequestRefusedError(self.name, Phase.LOAD, OTHER_CHANGE, "nothing was loaded; plan again")
        with _without_secrets(change):
            connection.load(change)
            loaded = connection.candidate()
            with ONE_AT_A_TIME:
                candidate = tree_of(self.name, loaded)
                found = fingerprint(candidate)
                strange = commands(target(tree_of(self.name, active)), candidate).splitlines()
                del candidate
            if strange:
                reason = f"the candidate differs from what was loaded in {counted(len(strange), 'statement')}, such as"
                raise RequestRefusedError(
                    self.name, Phase.LOAD, f"{reason} '{strange[0]}'", "this is a bug, or a mistyped file"
                )
            connection.check()
        return found

    def _refuse_pending(self, connection: SwitchDriver) -> None:
        """Refuse while a commit waits for its confirmation: a check would confirm it."""
        newest = next(iter(connection.commits()), None)
        if newest is not None and newest.pending_minutes is not None:
            reason = f"a commit of {newest.user} waits for its confirmation"
            raise RequestRefusedError(self.name, Phase.LOCK, reason, "confirm it, or wait for its timer, and try again")

    def apply(self, connection: SwitchDriver, minutes: int) -> tuple[str, ...]:
        """Commit confirmed."""
        connection.commit(f"{self.mark}push", minutes)
        return ()

    def verify(self, connection: SwitchDriver) -> tuple[str, ...]:
        """Compare the switch's state with the expected one."""
        return self.expected.deviations(connection)

    def confirm(self, connection: SwitchDriver) -> None:
        """Commit again, nothing else than what is active."""
        commit_state = self.commit_state(connection)
        if commit_state is CommitState.NEW:
            return
        if commit_state is not CommitState.PENDING:
            reason = f"there is nothing to confirm: it has the {commit_state} configuration"
            raise ForeignError(self.name, Phase.CONFIRM, reason)
        connection.lock()
        if connection.compare():
            raise RequestRefusedError(
                self.name, Phase.CONFIRM, "another session changed the candidate; confirming would commit that"
            )
        with _as(Phase.CONFIRM):
            connection.commit(f"{self.mark}confirm")
        # Nothing else may have become active since the question: then the commit above confirmed nothing.
        if all(commit.log != f"{self.mark}push" for commit in self._own(connection)):
            reason = "there is nothing to confirm: its timer rolled the change back, or another session committed"
            raise ForeignError(self.name, Phase.CONFIRM, reason)

    def revert(self, connection: SwitchDriver) -> None:
        """Load what was active before the commits of this run, make sure that it is that, and commit it."""
        if identified(self.name, connection.running()) == self.old:
            self.release(connection)
            return
        connection.lock()
        connection.load_rollback(sum(1 for _ in self._own(connection)))
        if identified(self.name, connection.candidate()) != self.old:
            connection.load_rollback(0)
            if self.commit_state(connection) is CommitState.OLD:
                # The device's timer was faster, and has renumbered its history.
                self.release(connection)
                return
            reason = "what was there before this run is not in its history any more, or another session committed since"
            raise ForeignError(self.name, Phase.ROLLBACK, reason, "check 'show system commit' and roll back by hand")
        with _as(Phase.ROLLBACK):
            connection.commit(f"{self.mark}roll back")

    def _own(self, connection: SwitchDriver) -> Iterator[CommitEntry]:
        """Give the newest commits as far as they are this run's."""
        return takewhile(lambda commit: commit.log.startswith(self.mark), connection.commits())

    def release(self, connection: SwitchDriver) -> None:
        """Discard the candidate and unlock; without the lock, the candidate is another session's."""
        if not connection.locked:
            return
        with _as(Phase.UNLOCK):
            connection.load_rollback(0)
            connection.unlock()

    def commit_state(self, connection: SwitchDriver) -> CommitState:
        """Derive it from the newest commit and the configuration that is read after it: a timer may end in between."""
        newest = next(self._own(connection), None)
        if identified(self.name, connection.running()) == self.old:
            return CommitState.OLD
        if newest is None:
            return CommitState.FOREIGN
        return CommitState.NEW if newest.pending_minutes is None else CommitState.PENDING


@dataclass(frozen=True, slots=True)
class FileSource:
    """The expected configuration by the file of a switch, which `text` reads; `rights` are the owned parts.

    `pool` holds the addresses of the fabric.
    """

    name: str
    text: Callable[[], str]
    rights: Ownership
    pool: Prefix = ANY

    def __call__(self, switch: SwitchDriver, running: str) -> ConfigurationChange:
        """Return the change to the expected configuration, which raises DeviceError and UsageError."""
        return lambda tree: expected_configuration(tree, self.file(), self.rights)

    def file(self) -> Node:
        """Read the file. Raises DeviceError, UsageError."""
        return tree_of(self.name, self.text())


def same(running: Node) -> Node:
    """Return the running configuration."""
    return running


def unchanged(switch: SwitchDriver, running: str) -> ConfigurationChange:
    """Expect the running configuration."""
    return same


def history_source(name: str, run: str, old: str) -> ConfigurationSource:
    """Expect the configuration before a run, whose fingerprint is `old`. Refused when something has changed since."""

    def source(connection: SwitchDriver, running: str) -> ConfigurationChange:
        now = identified(name, running)
        if now == old:
            return same
        connection.hold(running)
        history = connection.commits()
        own = [commit.number for commit in history if commit.log.startswith(f"{MARK}{run} ")]
        if not own:
            raise ForeignError(name, Phase.ROLLBACK, f"its history does not have the run {run}")
        # Commits that were taken back since, such as by the timer of another run, do not matter.
        if own[0] and identified(name, connection.before(own[0])) != now:
            since = history[own[0] - 1]
            by = f"{since.user}{f', {since.log}' if since.log else ''}"
            reason = f"it has changed since the run {run} ({by})"
            raise ForeignError(name, Phase.ROLLBACK, reason, "that would be lost: roll it back first, or by hand")
        before = connection.before(own[-1] + 1)
        connection.hold(running, before)
        return lambda tree: tree_of(name, before)

    return source


@contextmanager
def _without_secrets(*texts: str) -> Iterator[None]:
    """Take the secrets of configurations out of an error: a device may repeat one without what says that it is one."""
    try:
        yield
    except DeviceError as error:
        error.mask(Redactor(*chain.from_iterable(map(secrets_of, texts))))
        raise


@contextmanager
def _as(phase: Phase) -> Iterator[None]:
    """Let a step that is made of others fail under its own name."""
    try:
        yield
    except DeviceError as error:
        raise type(error)(error.device, phase, error.reason, error.hint) from error


def identified(name: str, text: str) -> str:
    """Return the fingerprint of a device's configuration. Raises DeviceError."""
    with ONE_AT_A_TIME:
        return fingerprint(tree_of(name, text))


def tree_of(name: str, text: str) -> Node:
    """Read a device's configuration. Raises DeviceError, also where the commands that make it would fill the memory."""
    try:
        root = read_whole(text, name)
    except JunosSyntaxError as error:
        raise DeviceError(name, Phase.READ, f"its configuration cannot be read: {error}") from error
    if _commands_exceed(root, MOST_LETTERS):
        reason = f"its configuration cannot be compared: as set commands it has more than {MOST_LETTERS >> 20} million"
        raise DeviceError(name, Phase.READ, f"{reason} letters", "check for long names around many statements")
    return root


def _commands_exceed(root: Node, most: int) -> bool:
    """Return whether the set commands of a tree have more letters: each repeats all words around its statement."""
    stack = [(root, 0)]
    while stack and most >= 0:
        node, above = stack.pop()
        for child in node.children.values():
            length = above + len(child.word) + 1
            if child.children:
                stack.append((child, length))
            else:
                most -= length
    return most < 0


@dataclass(frozen=True, slots=True)
class ServerTransaction:
    """A server that is to have `files`; `old` is the fingerprint of what it had when the run began.

    `run` names the run on the host; it is used for one apply only. `approved` is the digest of the files that may be
    put there.
    """

    name: str
    files: Tree
    old: str
    run: str
    expected: ExpectedServer
    approved: str

    def stage(self, connection: ServerConnection) -> str:
        """Make sure that the host is as planned with, and free; return the digest of the files."""
        now = script.status(connection, self.run)
        if now.pending and now.pending != self.run:
            reason = f"the run {now.pending} waits for its confirmation"
            raise RequestRefusedError(self.name, Phase.LOCK, reason, "confirm or restore it, or wait for its timer")
        if script.observe(connection, self.files).fingerprint != self.old:
            reason = "its files are not the planned ones"
            raise RequestRefusedError(self.name, Phase.LOAD, reason, "they were changed since; plan again")
        files = files_digest(self.files)
        if files != self.approved:
            raise RequestRefusedError(self.name, Phase.LOAD, OTHER_CHANGE, "nothing was put in place; plan again")
        return files

    def apply(self, connection: ServerConnection, minutes: float) -> tuple[str, ...]:
        """Put the files in place; the host takes them back after `minutes`. Returns warnings."""
        return script.apply(connection, self.files, self.run, minutes)

    def verify(self, connection: ServerConnection) -> tuple[str, ...]:
        """Return deviations from the files."""
        return tuple(finding.message for finding in verify(connection, self.expected))

    def confirm(self, connection: ServerConnection) -> None:
        """Let the files stay."""
        script.confirm(connection, self.run)

    def revert(self, connection: ServerConnection) -> None:
        """Bring back what was there before; after this no late apply of the run can begin."""
        script.restore(connection, self.run)

    def release(self, connection: ServerConnection) -> None:
        """Do nothing: what is staged is not on the host, and its lock ends with every call."""

    def commit_state(self, connection: ServerConnection) -> CommitState:
        """Ask the host for the state of the run."""
        now = script.status(connection, self.run)
        if now.busy:
            raise RequestRefusedError(self.name, Phase.LOCK, "a call is still running on the host", "try again")
        return _state(now, self.run) or self._by_files(connection)

    def _by_files(self, connection: ServerConnection) -> CommitState:
        found = script.observe(connection, self.files).fingerprint
        return CommitState.OLD if found == self.old else CommitState.FOREIGN


def _state(now: HostStatus, run: str) -> CommitState | None:
    if now.pending == run:
        return CommitState.PENDING
    if now.state is RunState.CONFIRMED and now.current == run:
        return CommitState.NEW
    return None
