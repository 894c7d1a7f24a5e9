"""The configuration database: who may change it, what a commit keeps, what comes back and when."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.emulator.disk import Disk, Saved
from ailb_gen.emulator.loading import load, load_set
from ailb_gen.emulator.messages import RefusedError, RpcError
from ailb_gen.emulator.store import ROLLBACKS, Session, Store
from ailb_gen.errors import OutputError
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node

ANN, BOB = Session(1, "ann", 1000.0), Session(2, "bob", 1000.0)


class Clock:
    """A clock that stands still until it is told."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def tree_of(text: str) -> Node:
    return load(Node(""), read_curly(text), "override")


FACTORY = "system { host-name factory; }"


def store_of(disk: Path | None = None, check: Callable[[Node], list[RpcError]] | None = None) -> tuple[Store, Clock]:
    clock = Clock()
    return Store(tree_of(FACTORY), Disk(disk) if disk else None, clock, check), clock


def name_it(store: Store, session: Session, name: str) -> None:
    store.edit(session, load_set(store.candidate, f"set system host-name {name}")[0])


def name_of(tree: Node) -> str | None:
    return tree.value("system", "host-name")


def test_a_new_device_has_its_factory_configuration() -> None:
    store, _ = store_of()
    assert name_of(store.active) == "factory"
    assert [(commit.user, commit.client) for commit in store.commits()] == [("root", "other")]
    assert not store.modified


def test_a_commit_makes_the_candidate_active_and_keeps_the_old() -> None:
    store, clock = store_of()
    seen = []
    store.changed = lambda: seen.append(name_of(store.active))
    name_it(store, ANN, "one")
    assert (store.modified, name_of(store.active), name_of(store.candidate)) == (True, "factory", "one")
    clock.now = 2000
    store.commit(ANN, log="a change")
    assert (store.modified, name_of(store.active), seen) == (False, "one", ["one"])
    newest = store.commits()[0]
    assert (newest.sequence, newest.user, newest.client, newest.when) == (0, "ann", "netconf", 2000)
    assert (newest.log, newest.comment, newest.revision) == ("a change", "", "re0-2000-2")
    assert name_of(store.rollback_tree(1)) == "factory"


def test_fifty_rollbacks_are_kept() -> None:
    store, _ = store_of()
    for number in range(ROLLBACKS + 5):
        name_it(store, ANN, f"n{number}")
        store.commit(ANN)
    assert len(store.commits()) == ROLLBACKS
    assert name_of(store.rollback_tree(ROLLBACKS - 1)) == "n5"
    with pytest.raises(RefusedError, match="rollback 50 does not exist"):
        store.rollback_tree(ROLLBACKS)


def test_an_edit_that_changes_nothing_modifies_nothing() -> None:
    store, _ = store_of()
    name_it(store, ANN, "one")
    name_it(store, ANN, "factory")
    assert not store.modified
    store.lock(BOB)


def test_the_lock_keeps_others_out() -> None:
    store, clock = store_of()
    store.lock(ANN)
    clock.now += 3661
    with pytest.raises(RefusedError, match="already open"):
        store.lock(ANN)
    acts: list[Callable[[], object]] = [
        lambda: store.lock(BOB),
        lambda: name_it(store, BOB, "x"),
        lambda: store.commit(BOB),
        lambda: store.discard(BOB),
        lambda: store.check(BOB),
    ]
    for act in acts:
        with pytest.raises(RefusedError) as refusal:
            act()
        error = refusal.value.errors[0]
        assert (error.tag, error.holder) == ("lock-denied", ANN.number)
        assert error.message == (
            "configuration database locked by:\n"
            "  ann terminal  (pid 1) on since 1970-01-01 00:16:40 UTC, idle 01:01:01\n      exclusive "
        )
    with pytest.raises(RefusedError, match="not open"):
        store.unlock(BOB)


def test_unlocking_or_leaving_discards() -> None:
    store, _ = store_of()
    for leave in (store.unlock, store.end):
        store.lock(ANN)
        name_it(store, ANN, "x")
        leave(ANN)
        assert not store.modified
        assert store.holder is None
    store.end(BOB)


def test_what_somebody_left_in_the_shared_candidate_stops_a_lock() -> None:
    store, _ = store_of()
    name_it(store, ANN, "x")
    store.end(ANN)
    with pytest.raises(RefusedError, match="configuration database modified"):
        store.lock(BOB)
    store.discard(BOB)
    store.lock(BOB)


def test_a_check_that_fails_commits_nothing() -> None:
    store, _ = store_of(check=lambda tree: [RpcError("no", path="[edit system]")] if name_of(tree) == "bad" else [])
    name_it(store, ANN, "bad")
    for act in (store.check, store.commit):
        with pytest.raises(RefusedError, match="no; configuration check-out failed"):
            act(ANN)
    assert (name_of(store.active), len(store.commits())) == ("factory", 1)


def test_a_commit_comes_back_when_nobody_confirms_it() -> None:
    store, clock = store_of()
    name_it(store, ANN, "trial")
    store.commit(ANN, confirm_s=120, minutes=2)
    assert store.commits()[0].comment == "commit confirmed, rollback in 2mins"
    clock.now += 119
    assert not store.expire()
    clock.now += 1
    assert store.expire()
    assert (name_of(store.active), store.pending, store.modified) == ("factory", None, False)
    assert [(commit.user, commit.client, commit.comment) for commit in store.commits()][:2] == [
        ("root", "other", ""),
        ("ann", "netconf", "commit confirmed, rollback in 2mins"),
    ]
    assert name_of(store.rollback_tree(1)) == "trial"


@pytest.mark.parametrize("confirm", [lambda store: store.commit(BOB), lambda store: store.confirm()])
def test_a_confirmed_commit_stays(confirm: Callable[[Store], None]) -> None:
    store, clock = store_of()
    name_it(store, ANN, "trial")
    store.commit(ANN, confirm_s=120, minutes=2)
    confirm(store)
    clock.now += 1000
    assert not store.expire()
    assert name_of(store.active) == "trial"


def test_a_second_confirmed_commit_comes_back_to_what_was_before_the_first() -> None:
    store, clock = store_of()
    for name in ("trial", "second"):
        name_it(store, ANN, name)
        store.commit(ANN, confirm_s=120, minutes=2)
        clock.now += 100
    assert not store.expire()
    clock.now += 20
    assert store.expire()
    assert name_of(store.active) == "factory"


def test_what_is_being_edited_survives_the_way_back() -> None:
    store, clock = store_of()
    name_it(store, ANN, "trial")
    store.commit(ANN, confirm_s=60, minutes=1)
    name_it(store, ANN, "next")
    clock.now += 60
    assert store.expire()
    assert (name_of(store.active), name_of(store.candidate)) == ("factory", "next")


def test_everything_survives_a_restart(tmp_path: Path) -> None:
    store, _ = store_of(tmp_path)
    for name in ("one", "two"):
        name_it(store, ANN, name)
        store.commit(ANN, log=name)
    name_it(store, ANN, "three")
    again, _ = store_of(tmp_path)
    assert again.commits() == store.commits()
    assert [name_of(again.rollback_tree(number)) for number in range(3)] == ["two", "one", "factory"]
    assert (again.modified, name_of(again.candidate)) == (True, "three")
    again.discard(BOB)
    assert not store_of(tmp_path)[0].modified


def test_a_restart_ends_the_lock_and_what_was_edited_under_it(tmp_path: Path) -> None:
    store, _ = store_of(tmp_path)
    store.lock(ANN)
    name_it(store, ANN, "x")
    again, _ = store_of(tmp_path)
    assert (again.holder, again.modified) == (None, False)
    store.restart()
    assert (store.holder, store.modified) == (None, False)


def test_a_restart_rolls_back_what_waits_for_its_confirmation(tmp_path: Path) -> None:
    store, _ = store_of(tmp_path)
    name_it(store, ANN, "trial")
    store.commit(ANN, confirm_s=120, minutes=2)
    again, _ = store_of(tmp_path)
    assert (name_of(again.active), again.pending, len(again.commits())) == ("factory", None, 3)
    assert name_of(store_of(tmp_path)[0].active) == "factory"


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = store_of(tmp_path)
    name_it(store, ANN, "trial")

    def full(self: Disk, saved: Saved) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Disk, "write", full)
        with pytest.raises(OSError, match="No space left"):
            store.commit(ANN, confirm_s=60, minutes=1)
    assert (name_of(store.active), name_of(store.candidate), store.pending) == ("factory", "trial", None)
    assert len(store.commits()) == 1
    store.commit(ANN)
    assert name_of(store_of(tmp_path)[0].active) == "trial"


def test_old_texts_do_not_stay_on_disk(tmp_path: Path) -> None:
    store, _ = store_of(tmp_path)
    for number in range(ROLLBACKS + 3):
        name_it(store, ANN, f"n{number}")
        store.commit(ANN)
    (tmp_path / ".index.json.abc").write_text("half")
    (tmp_path / "0123.conf").write_text("nobody names it")
    store_of(tmp_path)
    assert len(list(tmp_path.glob("*.conf"))) == ROLLBACKS
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("content", "reason"), [("{", "not a state"), ('{"format": 9}', "format 9"), ('{"format": 1}', "not a state")]
)
def test_a_state_that_is_none(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "index.json").write_text(content)
    with pytest.raises(OutputError, match=reason):
        store_of(tmp_path)


def test_a_text_that_is_missing(tmp_path: Path) -> None:
    store_of(tmp_path)
    next(tmp_path.glob("*.conf")).unlink()
    with pytest.raises(OutputError, match="missing, though"):
        store_of(tmp_path)
