"""A server in the wave machine: the steps, and where it stands after each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.files import Tree, fingerprint
from ailb_gen.deploy.servers.script import observe
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import Phase, RequestRefusedError
from ailb_gen.deploy.transaction import CommitState, ServerTransaction, Transaction
from tests.deploy.servers.sandbox import Host


def transaction_of(server: ServerConnection, files: Tree, expected: ExpectedServer) -> ServerTransaction:
    old = observe(server, files).fingerprint
    return ServerTransaction("gpu-1", files, old, "r1", expected, fingerprint(files))


def test_all_steps(host: Host, server: ServerConnection, files: Tree, expected: ExpectedServer) -> None:
    transaction = transaction_of(server, files, expected)
    as_transaction: Transaction[ServerConnection] = transaction
    assert as_transaction.commit_state(server) is CommitState.OLD
    with pytest.raises(RequestRefusedError, match="the change is not the one that was approved"):
        replace(transaction, approved="other").stage(server)
    assert transaction.stage(server) == fingerprint(files)
    transaction.apply(server, 10)
    assert transaction.commit_state(server) is CommitState.PENDING
    assert transaction.verify(server) == ()
    other = replace(transaction, run="r2")
    with pytest.raises(RequestRefusedError, match="the run r1 waits for its confirmation") as caught:
        other.stage(server)
    assert caught.value.phase is Phase.LOCK
    transaction.release(server)
    transaction.confirm(server)
    assert transaction.commit_state(server) is CommitState.NEW
    transaction.revert(server)
    assert transaction.commit_state(server) is CommitState.OLD
    with pytest.raises(RequestRefusedError, match="was restored before it arrived"):
        transaction.apply(server, 10)


def test_somebody_else_was_there(host: Host, server: ServerConnection, files: Tree, expected: ExpectedServer) -> None:
    transaction = transaction_of(server, files, expected)
    (host.root / "etc/ailb").mkdir()
    (host.root / "etc/ailb/nccl.env").write_text("MINE=1\n", encoding="utf-8")
    assert transaction.commit_state(server) is CommitState.FOREIGN
    with pytest.raises(RequestRefusedError, match="its files are not the planned ones") as caught:
        transaction.stage(server)
    assert caught.value.phase is Phase.LOAD
