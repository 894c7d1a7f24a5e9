"""Nothing that the program writes, prints, logs or starts holds a secret: neither its own nor one of a device."""

from __future__ import annotations

import base64
import io
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape

import asyncssh
import pytest

from ailb_gen.deploy.session import LIBRARIES
from ailb_gen.deploy.transaction import SwitchTransaction
from ailb_gen.emulator.config_database import ConfigDatabase, UserSession
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.load_config import load_set
from ailb_gen.emulator.messages import RpcError, RpcRefusedError
from ailb_gen.junos.tree import Node
from tests.conftest import ROOT
from tests.deploy.fabric import CANARY, DRIVERS, USER, VARIABLE, Generated, Outcome, Site, run, site

PASSWORDS = {
    "plain": "Zt9-plain-Qx7",
    # What quoting, escaping, formatting or encoding would change.
    "awkward": "Zt9'a\"b\\c%s%(d)s{e}$F <g>&amp;#ßΩ",
}
# What a device keeps: its own hashes, and what stands in the parts that are pushed to.
KEY, COMMUNITY, PLAIN = "$9$Zt9bgpQx7lKM8x7dVw2", "Zt9communityQx7", "Zt9plainkeyQx7"
# The first push replaces the two groups.
FOREIGN = "--allow-foreign-deletes"
ON_DEVICE = f"""\
set snmp community {COMMUNITY} authorization read-only
set protocols bgp group old type external
set protocols bgp group old authentication-key "{KEY}"
set protocols bgp group older authentication-key {PLAIN}
"""


def forms(secret: str) -> set[str]:
    """Return a secret as programs write it down."""
    return {
        secret,
        repr(secret)[1:-1],
        ascii(secret)[1:-1],
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        escape(secret),
        quote(secret),
        quote_plus(secret),
        base64.b64encode(secret.encode()).decode(),
        secret.encode().hex(),
    }


def assert_free(text: str, secrets: Iterable[str], where: str) -> None:
    """Assert that a text holds none of the secrets; the message does not show them either."""
    for number, secret in enumerate(secrets):
        assert not any(form in text for form in forms(secret)), f"{where} holds secret {number}"


def hashes(tree: Node) -> list[str]:
    """Return the password hashes of a configuration."""
    stack, found = [tree], []
    while stack:
        node = stack.pop()
        found += [child.word.strip('"') for child in node if node.word == "encrypted-password"]
        stack += list(node)
    return found


@pytest.fixture(scope="module")
def guarded(small_fabric: Generated) -> Generated:
    """The fabric with secrets on the devices, of which the push removes those in its own part."""
    kept = "".join(f"{line}\n" for line in ON_DEVICE.splitlines() if "snmp" in line)
    before = tuple(replace(spec, factory=load_set(spec.factory, ON_DEVICE)[0]) for spec in small_fabric.before)
    return replace(
        small_fabric,
        before=before,
        after={name: load_set(tree, kept)[0] for name, tree in small_fabric.after.items()},
    )


def secrets_of(made: Generated, *more: str) -> list[str]:
    found = [KEY, COMMUNITY, PLAIN, *(value for spec in made.before for value in hashes(spec.factory)), *more]
    assert len(found) == len(set(found)) and all(found)
    return found


def assert_folder_free(folder: Path, secrets: list[str], but: Iterable[Path] = ()) -> None:
    """Assert that no file in a folder holds a secret, but those that the test itself has put there."""
    files = [path for path in folder.rglob("*") if path.is_file() and path not in but]
    assert files
    for path in files:
        assert_free(path.read_bytes().decode("utf-8", "backslashreplace"), secrets, str(path))


@contextmanager
def logging_everything() -> Iterator[io.StringIO]:
    """Log from DEBUG on what reaches the root logger; give the text."""
    text = io.StringIO()
    handler, root = logging.StreamHandler(text), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


@contextmanager
def watched(
    made: Generated, folder: Path, login: FleetLogin, *more: str, but: Iterable[Path] = (), **defaults: Any
) -> Iterator[tuple[Site, Callable[[Outcome], Outcome]]]:
    """Emulate switches with secrets; make sure that neither the log nor a file, but some, holds one in the end.

    Gives a function as well that makes sure that a run has printed none.
    """
    secrets = secrets_of(made, *filter(None, (login.password, *more)))

    def checked(done: Outcome) -> Outcome:
        assert_free(done.out + done.err, secrets, "the output")
        return done

    with logging_everything() as log, site(made, folder, login=login, **defaults) as on:
        yield on, checked
    assert_free(log.getvalue(), secrets, "the log")
    assert_folder_free(folder, secrets, but)


PLAIN_LOGIN, AWKWARD_LOGIN = (FleetLogin(USER, PASSWORDS[kind]) for kind in ("plain", "awkward"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("kind", PASSWORDS)
def test_every_verb(guarded: Generated, tmp_path: Path, driver: str, kind: str) -> None:
    with watched(guarded, tmp_path, FleetLogin(USER, PASSWORDS[kind])) as (on, checked):
        how = ["--driver", driver]
        reports = [f"--report={name}={tmp_path / name}.txt" for name in ("json", "junit", "sarif", "md", "table")]
        plan = str(tmp_path / "plan.json")
        expected = [
            (run(*on.place("plan"), *how, "-o", plan), 0),
            (run(*on.place("drift"), *how, *reports), 1),
            (run("collect", str(on.generated.fabric), "-i", str(on.inventory), "-o", str(tmp_path / "found"), *how), 0),
            (on.deploy(*how, "--dry-run"), 0),
            (on.deploy(*how, FOREIGN, "--plan", plan), 0),
            (run(*on.place("verify"), *how, *reports), 0),
            (run(*on.words("rollback"), *how), 0),
        ]
        for number, (done, code) in enumerate(expected):
            assert (number, checked(done).code) == (number, code), done.err
        # The push has removed keys from the devices, and the rollback has brought them back: they were in the way.
        on.assert_all(on.old)
        assert "- delete protocols bgp group old\n" in expected[0][0].out
        assert "encrypted-password" in (tmp_path / "found" / "switches" / f"{CANARY}.conf").read_text()


def test_libraries_log_nowhere_unless_asked(guarded: Generated, tmp_path: Path) -> None:
    with logging_everything() as log, site(guarded, tmp_path) as on:
        assert on.deploy("--dry-run").code == 0
        for name in LIBRARIES:
            logging.getLogger(f"{name}.part").error("a whole configuration")
        logging.getLogger("ailb_gen.part").error("a line of ours")
    assert "a whole configuration" not in log.getvalue()
    assert "a line of ours" in log.getvalue()


# Runs that fail.


def test_a_refused_login(guarded: Generated, tmp_path: Path) -> None:
    with watched(guarded, tmp_path, PLAIN_LOGIN, PASSWORDS["awkward"]) as (on, checked):
        for wrong in PASSWORDS.values():
            with mock.patch.dict("os.environ", {VARIABLE: f"{wrong}?"}):
                done = checked(on.deploy(FOREIGN))
            assert (done.code, "the login is refused" in done.err) == (3, True)


# A message and its bad element.
REPEATED = [
    (f"could not decrypt {KEY}", f"set protocols bgp group old authentication-key {PLAIN}"),
    (f"could not decrypt: syntax error: 'authentication-key \"{PLAIN}\"'", "authentication-key"),
    (f"could not decrypt (authentication-key {PLAIN}), near (community {COMMUNITY})", f"snmp community {COMMUNITY}"),
    (f"could not decrypt: [edit snmp]\n  'community {COMMUNITY}'\n    snmp: invalid", f"secret {PLAIN};"),
    # Without anything that says what it is.
    (f"could not decrypt {PLAIN} and {COMMUNITY}", COMMUNITY),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("message", "element"), REPEATED)
@pytest.mark.parametrize("driver", DRIVERS)
def test_an_error_of_a_device_that_repeats_a_secret(
    guarded: Generated, tmp_path: Path, driver: str, message: str, element: str
) -> None:
    def refuse(database: ConfigDatabase, session: UserSession) -> None:
        raise RpcRefusedError(RpcError(message, path="[edit]", element=element))

    with watched(guarded, tmp_path, PLAIN_LOGIN) as (on, checked):
        with mock.patch.object(ConfigDatabase, "check", refuse):
            done = checked(on.deploy(FOREIGN, "--driver", driver))
        assert (done.code, f"{CANARY}: check: could not decrypt" in done.err) == (3, True), done.err


def test_a_bug_with_one_device(guarded: Generated, tmp_path: Path) -> None:
    def broken(self: SwitchTransaction, connection: object, minutes: int) -> None:
        raise RuntimeError(f"{PASSWORDS['awkward']} and {KEY} make no sense")

    with watched(guarded, tmp_path, AWKWARD_LOGIN) as (on, checked):
        with mock.patch.object(SwitchTransaction, "apply", broken):
            done = checked(on.deploy(FOREIGN))
        assert done.code in (3, 4)
        assert "this is a bug: RuntimeError; the record of the run has more" in done.err
        # It has: where it happened.
        assert any("make no sense" in json.dumps(event) for event in on.events())
        assert on.settled(CANARY).active == on.old[CANARY]


def test_a_bug_of_the_whole_run(guarded: Generated, tmp_path: Path) -> None:
    with watched(guarded, tmp_path, AWKWARD_LOGIN) as (on, checked):
        with mock.patch("ailb_gen.deploy.planning.waves", side_effect=RuntimeError(PASSWORDS["awkward"])):
            done = checked(on.deploy(FOREIGN))
        assert (done.code, "this is a bug" in done.err, "RuntimeError" in done.err) == (70, True, True)


def test_a_key_file(guarded: Generated, tmp_path: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_bytes(key.export_private_key("openssh"))
    lines = path.read_text().splitlines()[1:-1]
    login = FleetLogin(USER, "", (key.convert_to_public(),))
    with watched(guarded, tmp_path, login, *lines, but=[path], password=None, key_file=str(path)) as (on, checked):
        done = checked(on.deploy(FOREIGN))
        assert (done.code, done.err) == (0, "")


# What others on the same machine see of a running program.


@dataclass
class Watched:
    """Command lines, environments and temporary files of a process and of those that it started, as they were seen."""

    commands: set[str] = field(default_factory=set)
    environments: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)


def descendants(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found


@contextmanager
def watching(pid: int, scratch: Path) -> Iterator[Watched]:
    """Look again and again, in a thread."""
    seen, over = Watched(), threading.Event()

    def read(path: Path) -> str:
        with suppress(OSError):
            return path.read_bytes().decode("utf-8", "backslashreplace")
        return ""

    def watch() -> None:
        while not over.wait(0.002):
            for one in descendants(pid):
                seen.commands.add(read(Path(f"/proc/{one}/cmdline")))
                seen.environments.add(read(Path(f"/proc/{one}/environ")))
            # Folders come and go while they are listed.
            with suppress(OSError):
                seen.files.update(read(path) for path in scratch.rglob("*"))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


@pytest.mark.long
@pytest.mark.parametrize("kind", PASSWORDS)
def test_processes(guarded: Generated, tmp_path: Path, kind: str) -> None:
    value = PASSWORDS[kind]
    secrets = secrets_of(guarded, value)
    database, scratch = tmp_path / "store", tmp_path / "scratch"
    database.write_text(value)
    scratch.mkdir()
    command = {"command": ["sh", "-c", f"sleep 0.2; cat {database}"]}
    with site(guarded, tmp_path, login=FleetLogin(USER, value), password=command) as on:
        environment = {name: text for name, text in os.environ.items() if name != VARIABLE}
        process = subprocess.Popen(
            [sys.executable, "-m", "ailb_gen", *on.words("deploy", FOREIGN, "--limit", CANARY, minutes=60)],
            cwd=ROOT,
            env={**environment, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with watching(process.pid, scratch) as seen:
            out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        assert on.settled(CANARY).active == on.new[CANARY]
    # The command that fetches the password was seen; no file is made for a login.
    assert any("sleep 0.2" in text for text in seen.commands)
    for where in (seen.commands, seen.environments, seen.files, [out, err]):
        assert_free("\n".join(where), secrets, "what others see")
    assert_folder_free(tmp_path, secrets, but=[database])
