"""Facts of a device: host name, commits, alarms, files, cards."""

from __future__ import annotations

import pytest

from ailb_gen.emulator.messages import RpcRefusedError
from tests.emulator.operations.lab import (
    LEAF,
    Fake,
    ask,
    say,
    tree_of,
)


def test_host_name_follows_the_configuration(leaf: Fake) -> None:
    leaf.fabric.commit(LEAF, tree_of(LEAF, f"host-name {LEAF}", "host-name renamed"))
    assert say(leaf, "show version")[0] == "Hostname: renamed"
    leaf.fabric.commit(LEAF, tree_of(LEAF, f"    host-name {LEAF};\n", ""))
    assert say(leaf, "show version")[0] == f"Hostname: {LEAF}"


def test_without_any_commit(leaf: Fake) -> None:
    fresh = Fake(LEAF, leaf.emulated, history=())
    assert ask(fresh, "get-system-uptime-information").find("last-configured-time") is None
    with pytest.raises(RpcRefusedError, match="no commit"):
        ask(fresh, "get-commit-revision-information")


def test_files(leaf: Fake) -> None:
    assert ask(leaf, "file-list", path="~").get("root-path") == "/var/home/admin/"
    with pytest.raises(RpcRefusedError, match="No such file"):
        ask(leaf, "file-show", filename="/etc/passwd")
    with pytest.raises(RpcRefusedError, match="No such file"):
        ask(leaf, "file-list", path="/etc")


def test_there_is_one_pic(leaf: Fake) -> None:
    with pytest.raises(RpcRefusedError, match="PIC 1 is not present"):
        say(leaf, "show chassis pic fpc-slot 0 pic-slot 1")
