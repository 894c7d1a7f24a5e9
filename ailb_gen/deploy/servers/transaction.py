"""A server in a push: the steps of its transaction, each a call to the host."""

from dataclasses import dataclass

from ailb_gen.deploy.servers.calls import apply, confirm, look, restore, status
from ailb_gen.deploy.servers.model import HostStatus, RunState, Tree, fingerprint
from ailb_gen.deploy.servers.ssh import Server
from ailb_gen.deploy.servers.verify import Expected, verify
from ailb_gen.deploy.switch import Phase, RefusedError
from ailb_gen.deploy.transaction import OTHER_CHANGE, CommitState


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
    expected: Expected
    approved: str

    def stage(self, connection: Server) -> str:
        """Make sure that the host is as planned with, and free; return what identifies the files."""
        now = status(connection, self.run)
        if now.pending and now.pending != self.run:
            reason = f"the run {now.pending} waits for its confirmation"
            raise RefusedError(self.name, Phase.LOCK, reason, "confirm or restore it, or let its time pass")
        if look(connection, self.files).fingerprint != self.old:
            reason = "its files are not the planned ones"
            raise RefusedError(self.name, Phase.LOAD, reason, "they were changed since; plan again")
        files = fingerprint(self.files)
        if files != self.approved:
            raise RefusedError(self.name, Phase.LOAD, OTHER_CHANGE, "nothing was put in place; plan again")
        return files

    def apply(self, connection: Server, minutes: float) -> tuple[str, ...]:
        """Put the files in place; the host takes them back after so many minutes. Returns warnings."""
        return apply(connection, self.files, self.run, minutes)

    def verify(self, connection: Server) -> tuple[str, ...]:
        """Return deviations from the files."""
        return tuple(map(str, verify(connection, self.expected)))

    def confirm(self, connection: Server) -> None:
        """Let the files stay."""
        confirm(connection, self.run)

    def revert(self, connection: Server) -> None:
        """Bring back what was there before; after this no late apply of the run can begin."""
        restore(connection, self.run)

    def release(self, connection: Server) -> None:
        """Do nothing: what is staged is not on the host, and its lock ends with every call."""

    def commit_state(self, connection: Server) -> CommitState:
        """Ask the host for the state of the run."""
        now = status(connection, self.run)
        if now.busy:
            raise RefusedError(self.name, Phase.LOCK, "a call is still under way on the host", "ask again")
        return _state(now, self.run) or self._by_files(connection)

    def _by_files(self, connection: Server) -> CommitState:
        found = look(connection, self.files).fingerprint
        return CommitState.OLD if found == self.old else CommitState.FOREIGN


def _state(now: HostStatus, run: str) -> CommitState | None:
    if now.pending == run:
        return CommitState.PENDING
    if now.state is RunState.CONFIRMED and now.current == run:
        return CommitState.NEW
    return None
