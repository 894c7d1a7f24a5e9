"""One emulated device: its configuration database, its faults and its clock, without SSH."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from ailb_gen.emulator.config_database import ConfigDatabase, UserSession
from ailb_gen.emulator.disk import CommitRecord, Disk
from ailb_gen.emulator.fabric_state import FabricState, QueueCounters, TrafficCounters
from ailb_gen.emulator.faults import Faults
from ailb_gen.emulator.messages import RpcError, error_at
from ailb_gen.emulator.software import Software
from ailb_gen.errors import UsageError
from ailb_gen.junos.check import check
from ailb_gen.junos.groups import active, inherited
from ailb_gen.junos.schema import Schema
from ailb_gen.junos.tree import DELETE, Node
from ailb_gen.network.model import GIGABIT, Switch

VERSION = "25.4R1.12-EVO"
MODEL = "QFX5240-64OD"
# The speed of its ports without a statement, a cable or a split.
NATIVE_BPS = 800 * GIGABIT
# The sessions of a device are numbered as Junos numbers its processes.
FIRST_SESSION = 20000
# When counters that were never cleared were, and their values then.
NEVER = 0.0, TrafficCounters()
# Of a port.
QUEUES = 12
# Seconds that a reboot on request takes, and after which it begins: after the answer.
REBOOT_S, REBOOT_SOON_S = 5.0, 0.2


@dataclass(frozen=True, slots=True)
class Spec:
    """A device to emulate: its name, its configuration if the state directory is empty, its model and version.

    `native_bps` is the speed of the model's ports where nothing else says one.
    """

    name: str
    factory: Node = field(repr=False)
    model: str = MODEL
    version: str = VERSION
    native_bps: int = NATIVE_BPS


class EmulatedDevice:
    """A device of a fleet; once the fleet runs, only its thread may use it.

    `minute_s` is the number of seconds that a minute of `commit confirmed` lasts.
    """

    def __init__(
        self,
        spec: Spec,
        fabric: FabricState,
        directory: Path | None = None,
        schema: Schema | None = None,
        minute_s: float = 60.0,
    ) -> None:
        """Open the state of a device, or make it. Raises OutputError."""
        self.name, self.model = spec.name, spec.model
        self.native_bps = spec.native_bps
        self.serial = sha256(spec.name.encode()).hexdigest()[:11].upper()
        self.fabric = fabric
        self.schema = schema
        self.minute_s = minute_s
        self.faults = Faults()
        self.started = self.now()
        self.software = Software(spec.version, self.started)
        self._numbers = itertools.count(FIRST_SESSION)
        # Sessions that are open, by number.
        self.sessions: dict[int, UserSession] = {}
        self._kept_down = ""
        # When counters were cleared, and their values then, by interface.
        self._cleared: dict[str, tuple[float, TrafficCounters]] = {}
        self._cleared_queues: dict[tuple[str, int], QueueCounters] = {}
        disk = Disk(directory / "config") if directory is not None else None
        self.database = ConfigDatabase(spec.factory, disk, self.now, self._commit_errors)
        self.database.changed = self._changed
        self._changed()

    def now(self) -> float:
        """Return the time of the device, in seconds since 1970."""
        return time.time()

    @property
    def version(self) -> str:
        """The release that runs."""
        return self.software.running

    @property
    def switch(self) -> Switch:
        """The model of the active configuration, which is empty while the device is off."""
        return self.fabric.switch(self.name)

    @property
    def host_name(self) -> str:
        """The configured host name; a device without one is called by the name that its fabric knows it by."""
        return self.switch.host_name or self.name

    @property
    def up_s(self) -> float:
        """The seconds since the device started."""
        return self.now() - self.started

    def commits(self) -> tuple[CommitRecord, ...]:
        """Return the commit history, newest first."""
        return self.database.commits()

    def committed(self) -> Node:
        """Return the active configuration, as written: groups are not applied."""
        return self.database.active

    def alarms(self) -> tuple[str, ...]:
        """Return the descriptions of the active chassis alarms."""
        return ()

    def counters(self, interface: str) -> TrafficCounters:
        """Return the traffic of a port or of a logical interface since its counters were cleared."""
        now, before = self.fabric.counters(self.name, interface), self._cleared.get(interface, NEVER)[1]
        return TrafficCounters(*(max(count - then, 0) for count, then in zip(now, before, strict=True)))

    def queue_counters(self, port: str, queue: int) -> QueueCounters:
        """Return what a queue of a port has sent and dropped."""
        now, before = self.fabric.queue_counters(self.name, port, queue), self._cleared_queues.get((port, queue))
        return now if before is None else QueueCounters(*(max(a - b, 0) for a, b in zip(now, before, strict=True)))

    def clear_counters(self, interface: str) -> None:
        """Let the counters of a port or of a logical interface begin at zero."""
        self._cleared[interface] = (self.now(), self.fabric.counters(self.name, interface))
        for queue in range(QUEUES):
            self._cleared_queues[interface, queue] = self.fabric.queue_counters(self.name, interface, queue)

    def cleared_at(self, interface: str) -> float:
        """Return when the counters of an interface were cleared, in seconds since 1970; 0 if they never were."""
        return self._cleared.get(interface, NEVER)[0]

    def session(self, user: str, client: str = "netconf") -> UserSession:
        """Open a session; `end` closes it."""
        session = UserSession(next(self._numbers), user, self.now(), client)
        self.sessions[session.number] = session
        return session

    def end(self, session: UserSession) -> None:
        """Release the lock of a session, discard its uncommitted changes."""
        self.sessions.pop(session.number, None)
        self.database.end(session)

    def other_operator(self) -> UserSession:
        """Return a session of another user, who has been editing for a minute."""
        return UserSession(next(self._numbers), "operator", self.now() - 60, "cli")

    def power_off(self) -> None:
        """Take the device out of the fabric."""
        self.fabric.power_off(self.name)

    def power_on(self) -> None:
        """Start the device: roll back a commit that waits for its confirmation, release the lock."""
        self.started = self.now()
        self.software.boot()
        self._cleared.clear()
        self._cleared_queues.clear()
        self.database.restart()
        self.fabric.commit(self.name, self.database.active)

    def keep_session_down(self) -> None:
        """Keep one BGP session from coming up until another configuration is active, or the faults are cleared."""
        sessions = self.fabric.sessions(self.name)
        if sessions and not self._kept_down:
            self._kept_down = sessions[0].interface
            self.fabric.keep_down(self.name, self._kept_down)

    def restore_session(self) -> None:
        """Let the BGP session come up again."""
        if self._kept_down:
            self.fabric.restore(self.name, self._kept_down)
            self._kept_down = ""

    def reset_sessions(self, *interfaces: str) -> None:
        """Take BGP sessions down and let them come up again, all without interfaces.

        The one that a fault keeps down stays down. Raises LabError.
        """
        for interface in interfaces or [one.interface for one in self.fabric.sessions(self.name)]:
            if interface != self._kept_down:
                self.fabric.keep_down(self.name, interface)
                self.fabric.restore(self.name, interface)

    def _changed(self) -> None:
        self.restore_session()
        self.fabric.commit(self.name, self.database.active)

    def _commit_errors(self, tree: Node) -> Sequence[RpcError]:
        """Return the errors of a commit check: circular groups, no password for root, and those of Juniper's models."""
        try:
            root = inherited(tree)
        except UsageError as error:
            return [RpcError(str(error), type="application", path="[edit groups]", daemon="mgd")]
        if not root.has("system", "root-authentication"):
            path = ("system", "root-authentication")
            return [error_at(path, f"Missing mandatory statement: '{path[-1]}'", "missing-element", "application")]
        if self.schema is None:
            return []
        written = active(tree) if tree.flags & DELETE else tree
        return [
            error_at(fault.path, fault.juniper or fault.message, "invalid-value", "application")
            for fault in check(root, self.schema, written.get("groups")).findings
        ]
