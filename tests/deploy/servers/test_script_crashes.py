"""Killed at a step: what is on a host is old or new, and says so, whoever goes on afterwards.

Every other step is tried; with AILB_EXAMPLES=2 or more every one.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable

import pytest

from ailb_gen.deploy.servers import script
from ailb_gen.deploy.servers.files import RunState, Tree, plain
from ailb_gen.deploy.servers.script import apply, confirm, restore, status
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import RequestRefusedError, UnknownOutcomeError
from tests.conftest import SCALE
from tests.deploy.servers.sandbox import Host
from tests.deploy.servers.steps import STATE, leftovers, renumbered

STRIDE = 1 if SCALE > 1 else 2
WAYS = ("restore", "confirm", "watchdog", "reboot")
# The functions that change something, and the commands with which they do: the script dies before each of them.
CHANGING = (
    *("link", "lock", "mark", "make_folder", "arm", "finish", "prune", "settle", "activate", "unpack", "save"),
    *("stage_new", "stage_old", "move", "bring_back", "apply", "confirm", "restore"),
)
STEP = re.compile(
    r"^(\s+)(ln|mv|cp|rm|mkdir|link|mark|touch|chmod|exec 9|setsid|sync|sync_all|stage_\w+|move|activate|finish|arm|"
    r"bring_back|unpack|save|save_sysctls|check_netplan|drop_stale|echo \"\$\(cat)\b",
    re.MULTILINE,
)
DIE = """
steps=0
die_here() {
    steps=$((steps + 1))
    [ "$steps" != NUMBER ] || kill -9 $$
}
"""


def mortal(verb: str, number: int) -> Callable[..., str]:
    """Return a `call` whose script dies before its so many-th step, when it does what the verb says."""
    original, whole = script.call, script.host_script()
    parts = re.split(r"(?m)^(\w+\(\) \{.*\n(?:.*\n)*?\}\n)", whole)
    for place, part in enumerate(parts):
        if part.split("(")[0] in CHANGING:
            parts[place] = STEP.sub(r"\1die_here; \2", part)
    text = "".join(parts).replace("\nsay() {", DIE.replace("NUMBER", str(number)) + "\nsay() {", 1)
    assert text.count("die_here; ") > 50

    def call(asked: str, *words: str, data: str = "") -> str:
        sent = original(asked, *words, data=data)
        return sent.replace(whole, text) if asked == verb else sent

    return call


@pytest.fixture
def pair(files: Tree) -> tuple[Tree, Tree]:
    """Few files, twice: one is added, one goes, two change, and with them the network."""
    keep = ("usr/local/sbin/ailb-net", "etc/sysctl.d/99-accept-ra.conf")
    old = {path: files[path] for path in keep} | {"etc/ailb/old.env": plain(b"OLD=1\n", 0o644)}
    new = {
        keep[0]: renumbered(files)[keep[0]],
        keep[1]: plain(files[keep[1]].content.replace(b"autoconf = 1", b"autoconf = 0"), 0o644),
        "etc/ailb/deep/new.env": plain(b"NEW=1\n", 0o644),
    }
    return old, new


def go_on(host: Host, how: str, name: str) -> ServerConnection:
    """Do what anybody may do after a call has died; return a connection."""
    if how == "reboot":
        host.power_off()
        host.boot()
    server = host.connected()
    if how == "restore":
        restore(server, name)
    elif how == "confirm":
        # Whoever comes next finishes what the dead one has begun. An apply that was complete may still be confirmed.
        try:
            confirm(server, name)
        except RequestRefusedError:
            restore(server, name)
    elif how == "watchdog":
        for _ in range(600):
            if not status(server, name, wait_s=1).pending:
                break
            time.sleep(0.1)
    return server


def killed(
    host: Host, verb: str, step: int, act: Callable[..., object], *words: object, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Let a call die before a step; tell whether it did, or ended before."""
    server = host.connected()
    try:
        with monkeypatch.context() as patched:
            patched.setattr(script, "call", mortal(verb, step))
            act(server, *words)
    except UnknownOutcomeError:
        return True
    finally:
        server.close()
    return False


@pytest.mark.long
@pytest.mark.parametrize("how", WAYS)
def test_apply_killed_before_a_step(
    shared: Host, pair: tuple[Tree, Tree], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = pair
    server = shared.connected()
    apply(server, old, f"base{how}", 10)
    confirm(server, f"base{how}")
    server.close()
    before, kernel_before = shared.tree(), shared.kernel()
    minutes = 2 / 60 if how == "watchdog" else 10
    # Each way to go on takes its share of the steps.
    for step in itertools.count(1 + STRIDE * WAYS.index(how), STRIDE * len(WAYS)):
        name = f"a{how}-{step}"
        if not killed(shared, "apply", step, apply, new, name, minutes, monkeypatch=monkeypatch):
            break
        server = go_on(shared, how, name)
        state = status(server, name).state
        assert state in {RunState.RESTORED, RunState.UNKNOWN} or (how == "confirm" and state is RunState.CONFIRMED)
        if state is RunState.CONFIRMED:
            restore(server, name)
        assert shared.tree() == before, f"step {step}"
        assert shared.kernel() == kernel_before, f"step {step}"
        # Half of a record that the next run replaces: confirming an unknown run changes nothing.
        assert set(leftovers(shared)) <= ({f"{STATE}/pending.new"} if how == "confirm" else set())
        server.close()
    assert step > 50
    server = shared.connected()
    restore(server, name)
    assert shared.tree() == before
    restore(server, f"base{how}")
    server.close()


@pytest.mark.long
@pytest.mark.parametrize("verb", ["confirm", "restore"])
def test_confirm_and_restore_killed_before_a_step(
    shared: Host, pair: tuple[Tree, Tree], verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = pair
    server = shared.connected()
    apply(server, old, f"{verb}0", 10)
    confirm(server, f"{verb}0")
    before, kernel_before = shared.tree(), shared.kernel()
    act: Callable[..., object] = {"confirm": confirm, "restore": restore}[verb]
    for step in itertools.count(1, STRIDE):
        boots = step // STRIDE % 2 == 1
        name = f"{verb}{step}"
        apply(server, new, name, 10)
        after, kernel_after = shared.tree(), shared.kernel()
        server.close()
        if not killed(shared, verb, step, act, name, monkeypatch=monkeypatch):
            break
        if boots:
            shared.power_off()
            shared.boot()
        server = shared.connected()
        # A boot takes back what was not confirmed; else the same call, once more, finishes its work.
        if verb == "confirm" and not (boots and status(server, name).state is RunState.RESTORED):
            confirm(server, name)
            assert status(server, name).state is RunState.CONFIRMED
            assert (shared.tree(), shared.kernel()[0]) == (
                {path: file for path, file in after.items() if not path.endswith(".ailb-old")},
                kernel_after[0],
            ), f"step {step}"
        restore(server, name)
        assert shared.tree() == before, f"step {step}"
        assert shared.kernel() == kernel_before, f"step {step}"
        assert leftovers(shared) == []
    assert step > 8
    server = shared.connected()
    restore(server, name)
    restore(server, f"{verb}0")
    server.close()
