"""Random files on a host and in a push: applied they are all there, restored nothing has happened."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.deploy.servers.files import FileChange, HostFile, Tree, fingerprint, link, plain
from ailb_gen.deploy.servers.script import apply, confirm, observe, restore, status
from ailb_gen.deploy.servers.ssh import ServerConnection
from tests.conftest import examples
from tests.deploy.servers.sandbox import Host
from tests.deploy.servers.steps import has

# Few names, so that trees share files and one's folder is nowhere in the other.
NAMES = st.sampled_from(["a", "b.conf", "c-1", "@x", ".hidden", "Z" * 100])
PLACES = ("etc/ailb-test", "usr/local/ailb-test")
PATHS = st.builds(
    lambda place, folder, name: "/".join((place, *folder, name)),
    st.sampled_from(PLACES),
    st.lists(st.sampled_from(["d", "e"]), max_size=2),
    NAMES,
)
FILES = st.one_of(
    st.builds(plain, st.binary(max_size=200), st.sampled_from([0o644, 0o600, 0o755, 0o4711])),
    st.builds(link, st.sampled_from(["a", "../nowhere", "/etc/hostname"])),
)
TREES = st.dictionaries(PATHS, FILES, min_size=1, max_size=8)
OWNERS = st.sampled_from([(0, 0), (17, 4001)])


def real(host: Host, path: str) -> Path:
    return host.root / path.replace("usr/local", "usr-local", 1)


def put(host: Host, tree: Mapping[str, HostFile], owner: tuple[int, int]) -> None:
    """Make files on a host, as somebody has before."""
    for place in PLACES:
        shutil.rmtree(real(host, place), ignore_errors=True)
    for path, file in tree.items():
        where = real(host, path)
        where.parent.mkdir(parents=True, exist_ok=True)
        if file.is_link:
            where.symlink_to(file.content.decode())
        else:
            where.write_bytes(file.content)
        os.chown(where, *owner, follow_symlinks=False)
        if not file.is_link:
            where.chmod(file.mode & 0o7777)


@pytest.mark.long
@settings(max_examples=examples(8))
@given(before=TREES, owner=OWNERS, first=TREES, second=TREES)
def test_apply_and_restore(
    shared: Host, shared_server: ServerConnection, before: Tree, owner: tuple[int, int], first: Tree, second: Tree
) -> None:
    """Twice over: pending and confirmed runs come off like layers."""
    host, server, number = shared, shared_server, time.monotonic_ns()
    put(host, before, owner)
    layers = [host.tree()]
    old = observe(server, first)
    assert set(old.found) == set(first) & set(before)

    apply(server, first, f"a{number}", 10)
    assert has(host, first)
    restore(server, f"a{number}")
    assert host.tree() == layers[0]
    assert observe(server, first).fingerprint == old.fingerprint

    apply(server, first, f"b{number}", 10)
    confirm(server, f"b{number}")
    layers.append(host.tree())
    assert has(host, first)
    assert {path for path in layers[1] if path not in layers[0]} >= set(first) - set(before)
    assert observe(server, first).fingerprint == fingerprint(first)

    planned = observe(server, second).changes
    apply(server, second, f"c{number}", 10)
    confirm(server, f"c{number}")
    assert has(host, second)
    gone = set(first) - set(second)
    assert {path for path, change in planned.items() if change is FileChange.REMOVED} == gone
    assert not gone & set(host.tree())

    restore(server, f"c{number}")
    assert host.tree() == layers[1]
    assert status(server).current == f"b{number}"
    restore(server, f"b{number}")
    assert host.tree() == layers[0]
    assert status(server).current == ""
