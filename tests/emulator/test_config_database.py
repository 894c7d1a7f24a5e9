"""The configuration database: who may change it, what a commit keeps, what comes back and when."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.emulator.config_database import ROLLBACKS, ConfigDatabase, UserSession
from ailb_gen.emulator.disk import Disk, Saved
from ailb_gen.emulator.load_config import load, load_set
from ailb_gen.emulator.messages import RpcError, RpcRefusedError
from ailb_gen.errors import OutputError
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node

ANN, BOB = UserSession(1, "ann", 1000.0), UserSession(2, "bob", 1000.0)


class Clock:
    """A clock that stands still until it is told."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def tree_of(text: str) -> Node:
    return load(Node(""), read_curly(text), "override")


FACTORY = "system { host-name factory; }"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(clock: Clock) -> ConfigDatabase:
    return ConfigDatabase(tree_of(FACTORY), None, clock)


def on_disk(folder: Path) -> ConfigDatabase:
    return ConfigDatabase(tree_of(FACTORY), Disk(folder), Clock())


def name_it(database: ConfigDatabase, session: UserSession, name: str) -> None:
    database.edit(session, load_set(database.candidate, f"set system host-name {name}")[0])


def name_of(tree: Node) -> str | None:
    return tree.value("system", "host-name")


def test_a_new_device_has_its_factory_configuration(database: ConfigDatabase) -> None:
    assert name_of(database.active) == "factory"
    assert [(commit.user, commit.client) for commit in database.commits()] == [("root", "other")]
    assert not database.modified


def test_a_commit_makes_the_candidate_active_and_keeps_the_old(database: ConfigDatabase, clock: Clock) -> None:
    seen = []
    database.changed = lambda: seen.append(name_of(database.active))
    name_it(database, ANN, "one")
    assert (database.modified, name_of(database.active), name_of(database.candidate)) == (True, "factory", "one")
    clock.now = 2000
    database.commit(ANN, log="a change")
    assert (database.modified, name_of(database.active), seen) == (False, "one", ["one"])
    newest = database.commits()[0]
    assert (newest.sequence, newest.user, newest.client, newest.when) == (0, "ann", "netconf", 2000)
    assert (newest.log, newest.comment, newest.revision) == ("a change", "", "re0-2000-2")
    assert name_of(database.rollback_tree(1)) == "factory"


def test_fifty_rollbacks_are_kept(database: ConfigDatabase) -> None:
    for number in range(ROLLBACKS + 5):
        name_it(database, ANN, f"n{number}")
        database.commit(ANN)
    assert len(database.commits()) == ROLLBACKS
    assert name_of(database.rollback_tree(ROLLBACKS - 1)) == "n5"
    with pytest.raises(RpcRefusedError, match="rollback 50 does not exist"):
        database.rollback_tree(ROLLBACKS)


def test_an_edit_that_changes_nothing_modifies_nothing(database: ConfigDatabase) -> None:
    name_it(database, ANN, "one")
    name_it(database, ANN, "factory")
    assert not database.modified
    database.lock(BOB)


def test_the_lock_keeps_others_out(database: ConfigDatabase, clock: Clock) -> None:
    database.lock(ANN)
    clock.now += 3661
    with pytest.raises(RpcRefusedError, match="already open"):
        database.lock(ANN)
    acts: list[Callable[[], object]] = [
        lambda: database.lock(BOB),
        lambda: name_it(database, BOB, "x"),
        lambda: database.commit(BOB),
        lambda: database.discard(BOB),
        lambda: database.check(BOB),
    ]
    for act in acts:
        with pytest.raises(RpcRefusedError) as refusal:
            act()
        error = refusal.value.errors[0]
        assert (error.tag, error.holder) == ("lock-denied", ANN.number)
        assert error.message == (
            "configuration database locked by:\n"
            "  ann terminal  (pid 1) on since 1970-01-01 00:16:40 UTC, idle 01:01:01\n      exclusive "
        )
    with pytest.raises(RpcRefusedError, match="not open"):
        database.unlock(BOB)


def test_unlocking_or_leaving_discards(database: ConfigDatabase) -> None:
    for leave in (database.unlock, database.end):
        database.lock(ANN)
        name_it(database, ANN, "x")
        leave(ANN)
        assert not database.modified
        assert database.holder is None
    database.end(BOB)


def test_what_somebody_left_in_the_shared_candidate_stops_a_lock(database: ConfigDatabase) -> None:
    name_it(database, ANN, "x")
    database.end(ANN)
    with pytest.raises(RpcRefusedError, match="configuration database modified"):
        database.lock(BOB)
    database.discard(BOB)
    database.lock(BOB)


def test_a_check_that_fails_commits_nothing() -> None:
    def check(tree: Node) -> list[RpcError]:
        return [RpcError("no", path="[edit system]")] if name_of(tree) == "bad" else []

    database = ConfigDatabase(tree_of(FACTORY), check=check)
    name_it(database, ANN, "bad")
    for act in (database.check, database.commit):
        with pytest.raises(RpcRefusedError, match="no; configuration check-out failed"):
            act(ANN)
    assert (name_of(database.active), len(database.commits())) == ("factory", 1)


def test_a_commit_comes_back_when_nobody_confirms_it(database: ConfigDatabase, clock: Clock) -> None:
    name_it(database, ANN, "trial")
    database.commit(ANN, confirm_s=120, minutes=2)
    assert database.commits()[0].comment == "commit confirmed, rollback in 2mins"
    clock.now += 119
    assert not database.expire()
    clock.now += 1
    assert database.expire()
    assert (name_of(database.active), database.pending, database.modified) == ("factory", None, False)
    assert [(commit.user, commit.client, commit.comment) for commit in database.commits()][:2] == [
        ("root", "other", ""),
        ("ann", "netconf", "commit confirmed, rollback in 2mins"),
    ]
    assert name_of(database.rollback_tree(1)) == "trial"


@pytest.mark.parametrize("confirm", [lambda database: database.commit(BOB), lambda database: database.confirm()])
def test_a_confirmed_commit_stays(
    database: ConfigDatabase, clock: Clock, confirm: Callable[[ConfigDatabase], None]
) -> None:
    name_it(database, ANN, "trial")
    database.commit(ANN, confirm_s=120, minutes=2)
    confirm(database)
    clock.now += 1000
    assert not database.expire()
    assert name_of(database.active) == "trial"


def test_a_second_confirmed_commit_comes_back_to_what_was_before_the_first(
    database: ConfigDatabase, clock: Clock
) -> None:
    for name in ("trial", "second"):
        name_it(database, ANN, name)
        database.commit(ANN, confirm_s=120, minutes=2)
        clock.now += 100
    assert not database.expire()
    clock.now += 20
    assert database.expire()
    assert name_of(database.active) == "factory"


def test_what_is_being_edited_survives_the_way_back(database: ConfigDatabase, clock: Clock) -> None:
    name_it(database, ANN, "trial")
    database.commit(ANN, confirm_s=60, minutes=1)
    name_it(database, ANN, "next")
    clock.now += 60
    assert database.expire()
    assert (name_of(database.active), name_of(database.candidate)) == ("factory", "next")


def test_everything_survives_a_restart(tmp_path: Path) -> None:
    database = on_disk(tmp_path)
    for name in ("one", "two"):
        name_it(database, ANN, name)
        database.commit(ANN, log=name)
    name_it(database, ANN, "three")
    again = on_disk(tmp_path)
    assert again.commits() == database.commits()
    assert [name_of(again.rollback_tree(number)) for number in range(3)] == ["two", "one", "factory"]
    assert (again.modified, name_of(again.candidate)) == (True, "three")
    again.discard(BOB)
    assert not on_disk(tmp_path).modified


def test_a_restart_ends_the_lock_and_what_was_edited_under_it(tmp_path: Path) -> None:
    database = on_disk(tmp_path)
    database.lock(ANN)
    name_it(database, ANN, "x")
    again = on_disk(tmp_path)
    assert (again.holder, again.modified) == (None, False)
    database.restart()
    assert (database.holder, database.modified) == (None, False)


def test_a_restart_rolls_back_what_waits_for_its_confirmation(tmp_path: Path) -> None:
    database = on_disk(tmp_path)
    name_it(database, ANN, "trial")
    database.commit(ANN, confirm_s=120, minutes=2)
    again = on_disk(tmp_path)
    assert (name_of(again.active), again.pending, len(again.commits())) == ("factory", None, 3)
    assert name_of(on_disk(tmp_path).active) == "factory"


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = on_disk(tmp_path)
    name_it(database, ANN, "trial")

    def full(self: Disk, saved: Saved) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Disk, "write", full)
        with pytest.raises(RpcRefusedError, match="No space left"):
            database.commit(ANN, confirm_s=60, minutes=1)
    assert (name_of(database.active), name_of(database.candidate), database.pending) == ("factory", "trial", None)
    assert len(database.commits()) == 1
    database.commit(ANN)
    assert name_of(on_disk(tmp_path).active) == "trial"


def test_old_texts_do_not_stay_on_disk(tmp_path: Path) -> None:
    database = on_disk(tmp_path)
    for number in range(ROLLBACKS + 3):
        name_it(database, ANN, f"n{number}")
        database.commit(ANN)
    (tmp_path / ".index.json.abc").write_text("half")
    (tmp_path / "0123.conf").write_text("nobody names it")
    on_disk(tmp_path)
    assert len(list(tmp_path.glob("*.conf"))) == ROLLBACKS
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("content", "reason"), [("{", "not a state"), ('{"format": 9}', "format 9"), ('{"format": 1}', "not a state")]
)
def test_a_state_that_is_none(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "index.json").write_text(content)
    with pytest.raises(OutputError, match=reason):
        on_disk(tmp_path)


def test_a_text_that_is_missing(tmp_path: Path) -> None:
    on_disk(tmp_path)
    next(tmp_path.glob("*.conf")).unlink()
    with pytest.raises(OutputError, match="missing, though"):
        on_disk(tmp_path)
