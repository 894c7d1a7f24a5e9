"""A server in the wave machine: the steps, and where it stands after each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ailb_gen.deploy.servers.calls import look
from ailb_gen.deploy.servers.model import fingerprint
from ailb_gen.deploy.servers.transaction import ServerTransaction
from ailb_gen.deploy.switch import Phase, RefusedError
from ailb_gen.deploy.transaction import CommitState

if TYPE_CHECKING:
    from ailb_gen.deploy.servers.model import Tree
    from ailb_gen.deploy.servers.ssh import Server, SshServer
    from ailb_gen.deploy.servers.verify import Expected
    from ailb_gen.deploy.transaction import Transaction
    from tests.deploy.servers.sandbox import Host


def member_of(server: SshServer, files: Tree, expected: Expected, run: str = "r1") -> ServerTransaction:
    approved = fingerprint(files)
    return ServerTransaction("gpu-1", files, look(server, files).fingerprint, run, expected, approved)


def test_all_steps(host: Host, server: SshServer, files: Tree, expected: Expected) -> None:
    member = member_of(server, files, expected)
    as_member: Transaction[Server] = member
    assert as_member.commit_state(server) is CommitState.OLD
    with pytest.raises(RefusedError, match="the change is not the one that was approved"):
        replace(member, approved="other").stage(server)
    assert member.stage(server) == fingerprint(files)
    member.apply(server, 10)
    assert member.commit_state(server) is CommitState.PENDING
    assert member.verify(server) == ()
    other = replace(member, run="r2")
    with pytest.raises(RefusedError, match="the run r1 waits for its confirmation") as caught:
        other.stage(server)
    assert caught.value.phase is Phase.LOCK
    member.release(server)
    member.confirm(server)
    assert member.commit_state(server) is CommitState.NEW
    member.revert(server)
    assert member.commit_state(server) is CommitState.OLD
    with pytest.raises(RefusedError, match="was restored before it arrived"):
        member.apply(server, 10)


def test_somebody_else_was_there(host: Host, server: SshServer, files: Tree, expected: Expected) -> None:
    member = member_of(server, files, expected)
    (host.root / "etc/ailb").mkdir()
    (host.root / "etc/ailb/nccl.env").write_text("MINE=1\n", encoding="utf-8")
    assert member.commit_state(server) is CommitState.FOREIGN
    with pytest.raises(RefusedError, match="its files are not the planned ones") as caught:
        member.stage(server)
    assert caught.value.phase is Phase.LOAD
