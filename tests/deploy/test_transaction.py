"""A switch's transaction while its own timer takes the change back, at every moment between two requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ailb_gen.deploy import transaction
from ailb_gen.deploy.ownership import commands, digest, fingerprint
from ailb_gen.deploy.resource_limits import ONE_AT_A_TIME
from ailb_gen.deploy.switch_driver import CommitEntry, ForeignError, Phase, RequestRefusedError, once
from ailb_gen.deploy.switch_state import ExpectedState
from ailb_gen.deploy.transaction import CommitState, SwitchTransaction, history_source, tree_of, unchanged
from ailb_gen.emulator.config_database import ConfigDatabase, UserSession
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import to_curly

NAME = "leaf1"
OLD = "system {\n    host-name leaf1;\n}\n"
NEW = "system {\n    host-name leaf1;\n    domain-name example.net;\n}\n"
MARK = "ailb-gen run "
US = UserSession(1, "operator", 0.0)
CONFIRM_S = 60.0


@dataclass
class _Switch:
    """A switch over the emulator's own database; its timer fires before the request of number `fires`."""

    database: ConfigDatabase
    fire: Callable[[], None]
    fires: int = -1
    asked: int = 0
    name: str = NAME
    locked: bool = False
    seen: list[str] = field(default_factory=list)

    def _request(self, what: str) -> None:
        if self.asked == self.fires:
            self.fire()
        self.asked += 1
        self.seen.append(what)

    def rest(self) -> None:
        assert self.name

    def hold(self, *texts: str) -> None:
        assert texts

    def lock(self) -> None:
        if not self.locked:
            self._request("lock")
            self.locked = True

    def unlock(self) -> None:
        self._request("unlock")
        self.locked = False

    def running(self) -> str:
        self._request("running")
        return self.database.active_text

    def candidate(self) -> str:
        self._request("candidate")
        return to_curly(self.database.candidate)

    def before(self, number: int) -> str:
        self._request("before")
        return to_curly(self.database.rollback_tree(number))

    def load(self, commands: str) -> None:
        assert not commands

    def load_rollback(self, number: int) -> None:
        self._request(f"rollback {number}")
        self.database.edit(US, self.database.rollback_tree(number))

    def compare(self) -> str:
        self._request("compare")
        return "changed" if self.database.modified else ""

    def check(self) -> None:
        self._request("check")

    def commit(self, log: str, confirm_minutes: int | None = None) -> None:
        self._request("commit")
        self.database.commit(US, log, CONFIRM_S if confirm_minutes else 0, confirm_minutes or 0)

    def commits(self) -> tuple[CommitEntry, ...]:
        self._request("commits")
        return tuple(
            CommitEntry(at, entry.user, 0, entry.log, 5 if entry.comment.startswith("commit confirmed") else None)
            for at, entry in enumerate(self.database.commits())
        )


TRANSACTION = SwitchTransaction(NAME, unchanged, fingerprint(read(OLD)), MARK, ExpectedState(NAME), digest(""))
# More requests than any step has.
MOMENTS = range(12)


def waiting(fires: int) -> Any:
    """Return a switch whose new configuration waits for its confirmation."""
    now = [0.0]
    database = ConfigDatabase(read(OLD), clock=lambda: now[0])

    def fire() -> None:
        now[0] = CONFIRM_S
        database.expire()

    switch: Any = _Switch(database, fire)
    database.edit(US, read(NEW))
    TRANSACTION.apply(switch, 5)
    switch.asked, switch.fires = 0, fires
    return switch


@pytest.mark.parametrize("fires", MOMENTS)
def test_a_change_is_taken_back_whenever_the_timer_does_it_as_well(fires: int) -> None:
    switch = waiting(fires)
    TRANSACTION.revert(switch)
    TRANSACTION.release(switch)
    assert fingerprint(switch.database.active) == TRANSACTION.old
    assert (switch.database.pending, switch.database.modified, switch.locked) == (None, False, False)


@pytest.mark.parametrize("fires", MOMENTS)
def test_confirmed_is_only_what_the_timer_did_not_take_back(fires: int) -> None:
    switch = waiting(fires)
    try:
        TRANSACTION.confirm(switch)
    except ForeignError as error:
        assert str(error).startswith("leaf1: confirm: there is nothing to confirm: ")
        assert fingerprint(switch.database.active) == TRANSACTION.old
    else:
        # The timer may still fire, but has nothing to take back.
        switch.fire()
        assert fingerprint(switch.database.active) == fingerprint(read(NEW))
    assert switch.database.pending is None


def test_what_somebody_committed_since_is_not_taken_back() -> None:
    switch = waiting(-1)
    switch.database.edit(US, read("system {\n    host-name other;\n}\n"))
    switch.database.commit(US, "by hand")
    with pytest.raises(ForeignError, match="another session committed since"):
        TRANSACTION.revert(switch)
    assert TRANSACTION.commit_state(switch) is CommitState.FOREIGN
    assert not switch.database.modified


class _Strict(_Switch):
    """A switch that refuses what is loaded, and repeats a value of it without its statement."""

    def load(self, commands: str) -> None:
        self._request("load")
        raise RequestRefusedError(
            NAME, Phase.LOAD, f"'hunter2' is too short, '{commands.rsplit(maxsplit=1)[-1]}' as well; not example.net"
        )


def test_a_device_that_repeats_a_value_without_its_statement() -> None:
    new = f'{NEW}radius-server {{\n    192.0.2.1 secret "hunter2";\n}}\n'
    running, target = read(OLD), read(new)
    switch: Any = _Strict(ConfigDatabase(running), lambda: None)
    approved = digest(commands(running, target))
    transaction = SwitchTransaction(
        NAME, lambda *_: lambda _: target, fingerprint(running), MARK, ExpectedState(NAME), approved
    )
    with pytest.raises(RequestRefusedError) as error:
        transaction.stage(switch)
    assert "hunter2" not in f"{error.value} {error.value.reason} {once([error.value])}"
    assert "is too short" in str(error.value)
    assert "example.net" in str(error.value)


def test_no_tree_lives_while_a_switch_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many switches with large configurations, one tree at a time is in memory: whatever reads one has the lock."""
    locked: list[bool] = []

    def watched(name: str, text: str) -> Node:
        locked.append(ONE_AT_A_TIME.locked())
        return tree_of(name, text)

    monkeypatch.setattr(transaction, "tree_of", watched)
    switch = waiting(-1)
    assert TRANSACTION.commit_state(switch) is CommitState.PENDING
    aim = history_source(NAME, "run", fingerprint(read(OLD)))(switch, to_curly(read(NEW)))
    assert to_curly(aim(read(NEW))) == OLD
    TRANSACTION.revert(switch)
    assert TRANSACTION.stage(switch) == fingerprint(read(OLD))
    # The way back is read when it is needed, by whoever has the lock then.
    assert locked.count(False) == 1
    assert len(locked) > 5
