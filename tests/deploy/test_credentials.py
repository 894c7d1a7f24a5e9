"""Credentials: fetched once, told by reference, never shown; and what is wrong with the key files that people give."""

from __future__ import annotations

import copy
import json
import pickle
import stat
import subprocess
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import keyring
import keyring.backend
import keyring.backends.fail
import pytest
from keyring.errors import KeyringLocked

from ailb_gen.deploy.credentials import (
    CommandReference,
    CredentialError,
    EnvironmentReference,
    KeyFileError,
    KeyringReference,
    LoginReference,
    Reference,
    Secret,
    SecretCache,
    open_key,
    resolve,
)
from ailb_gen.errors import ExitCode
from tests.conftest import need_tool

VALUE = "hunter2-never-shown"


def test_a_secret_shows_nothing_and_goes_nowhere() -> None:
    secret = Secret(VALUE)
    shown = [str(secret), repr(secret), f"{secret}", f"{secret:>30}", "%s" % secret, "%r" % [secret]]  # noqa: UP031
    assert VALUE not in "".join([*shown, json.dumps({"password": secret}, default=str)])
    assert not hasattr(secret, "__dict__")
    with pytest.raises(TypeError):
        json.dumps(secret)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="not pickled or copied"):
            pickle.dumps(secret, protocol)
    for way in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled or copied"):
            way(secret)
    assert secret.reveal() == VALUE
    assert secret == Secret(VALUE) != Secret("other")
    assert len({secret, Secret(VALUE)}) == 1


class Backend(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1.0

    def get_password(self, service: str, username: str) -> str | None:
        if service == "locked":
            raise KeyringLocked(VALUE)
        return {("ailb", "admin"): VALUE}.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the keyring in memory."""
    monkeypatch.setattr(keyring.core, "_keyring_backend", Backend())  # type: ignore[no-untyped-call]


def python(code: str) -> CommandReference:
    return CommandReference((sys.executable, "-c", code))


@pytest.mark.usefixtures("ring")
def test_every_kind_of_reference_is_resolved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AILB_TEST_USER", "ops")
    monkeypatch.setenv("AILB_TEST_PASSWORD", VALUE)
    key = tmp_path / "key"
    key.touch()
    cache = SecretCache()
    got = resolve(
        LoginReference(
            username=EnvironmentReference("AILB_TEST_USER"),
            password=EnvironmentReference("AILB_TEST_PASSWORD"),
            passphrase=KeyringReference("ailb", "admin"),
            sudo_password=python(f"print('{VALUE}'); print('second line')"),
            key_file=key,
            agent=False,
        ),
        cache,
    )
    assert (got.username, got.key_file, got.agent) == ("ops", key, False)
    assert [secret.reveal() for secret in (got.password, got.passphrase, got.sudo_password) if secret] == [VALUE] * 3
    assert VALUE not in repr(got) + repr(cache)
    assert cache.redactor(f"<{VALUE}>") == "<***>"
    nothing = resolve(LoginReference(), cache)
    assert (nothing.username, nothing.password, nothing.agent) == (None, None, True)
    assert nothing.user("configured") == "configured"
    assert nothing.user()


def test_a_reference_is_resolved_once_for_all_devices(tmp_path: Path) -> None:
    count = tmp_path / "count"
    reference = python(f"open({str(count)!r}, 'a').write('x'); print('{VALUE}')")
    cache = SecretCache()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(resolve, [LoginReference(password=reference)] * 8, [cache] * 8))
    assert count.read_text() == "x"


def test_a_failure_is_not_repeated_for_every_device(tmp_path: Path) -> None:
    count = tmp_path / "count"
    reference = python(f"open({str(count)!r}, 'a').write('x'); raise SystemExit(3)")
    cache = SecretCache()
    for _ in range(3):
        with pytest.raises(CredentialError, match="failed with exit code 3"):
            cache.get(reference)
    assert count.read_text() == "x"


@pytest.mark.usefixtures("ring")
@pytest.mark.parametrize(
    ("reference", "told"),
    [
        *(
            (EnvironmentReference(name), f"the environment variable {name} is {state}; set it before you run this")
            for name, state in (("AILB_MISSING", "not set"), ("AILB_EMPTY", "empty"))
        ),
        *(
            (KeyringReference(service, "x"), f"the keyring entry of service '{service}', user 'x': {told}")
            for service, told in (
                ("ailb", "there is no such entry; add it with 'keyring set SERVICE USER'"),
                ("locked", "the keyring denies access (KeyringLocked); unlock it"),
            )
        ),
        (
            CommandReference(("ailb-no-such-program", VALUE)),
            "the command 'ailb-no-such-program' is not installed; install it, or give its full path",
        ),
        *(
            (python(f"import sys, time; {code}"), f"the command {sys.executable!r} {told}")
            for code, told in (
                (f"print('{VALUE}'); sys.exit('{VALUE}')", "failed with exit code 1; run it by hand to see why"),
                (f"print(); print('{VALUE}')", "printed nothing on its first line; that line must be the secret"),
                (f"print('{VALUE}', flush=True); time.sleep(60)", "did not end within 1 s; does it wait for input?"),
                ("sys.stdout.buffer.write(b'\\xff\\n')", "printed text that is not UTF-8"),
            )
        ),
        (CommandReference(("/etc", VALUE)), "the command '/etc' cannot be run: Permission denied"),
    ],
)
def test_failures_name_the_reference_and_no_value(
    reference: Reference, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AILB_EMPTY", "")
    monkeypatch.delenv("AILB_MISSING", raising=False)
    with pytest.raises(CredentialError) as caught:
        SecretCache(timeout_s=1.0).get(reference)
    assert str(caught.value) == told
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    # The values in source lines of this file are those of the test itself.
    chain = traceback.TracebackException.from_exception(caught.value, lookup_lines=False)
    assert VALUE not in "".join(chain.format_exception_only())
    cause = caught.value.__cause__
    assert cause is None or VALUE not in str(cause)


def test_a_system_without_a_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    with pytest.raises(CredentialError, match="this system has no keyring; install or unlock one"):
        SecretCache().get(KeyringReference("ailb", "admin"))


def test_a_username_that_is_not_set() -> None:
    with pytest.raises(CredentialError, match="AILB_NO_SUCH_USER is not set"):
        resolve(LoginReference(username=EnvironmentReference("AILB_NO_SUCH_USER")), SecretCache())


def test_a_key_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CredentialError, match="key cannot be read: No such file or directory; check key_file"):
        resolve(LoginReference(key_file=tmp_path / "key"), SecretCache())


def test_a_command_runs_without_a_shell(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\nprintf "%s" "$1"\n', encoding="utf-8")
    program.chmod(stat.S_IRWXU)
    secret = SecretCache().get(CommandReference((str(program), "$HOME; echo `id`")))
    assert secret.reveal() == "$HOME; echo `id`"


KINDS = {
    "ed25519": ("-t", "ed25519"),
    "rsa": ("-t", "rsa", "-b", "2048"),
    "ecdsa": ("-t", "ecdsa"),
    "pem": ("-t", "rsa", "-m", "PEM"),
}
RIGHT, WRONG = Secret("right"), Secret("wrong")
WHOLE = "copy the whole file once more"


@cache
def generated(kind: str, passphrase: str) -> tuple[bytes, bytes]:
    """Return a key's files: the private and the public half."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "key"
        words = (need_tool("ssh-keygen"), "-q", *KINDS[kind], "-N", passphrase, "-f", str(path))
        subprocess.run(words, check=True, capture_output=True)
        return path.read_bytes(), path.with_name("key.pub").read_bytes()


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Path]:
    """Write a key of a kind with a passphrase, and its public half beside it."""

    def made(passphrase: str) -> Path:
        for name, half in zip(("key", "key.pub"), generated(request.param, passphrase), strict=True):
            (tmp_path / name).write_bytes(half)
        return tmp_path / "key"

    return made


def told(path: Path, passphrase: Secret | None) -> str:
    with pytest.raises(KeyFileError) as error:
        open_key(path, passphrase)
    return str(error.value)


def test_good_keys(make: Callable[[str], Path]) -> None:
    for passphrase in (None, RIGHT):
        assert open_key(make(""), passphrase).get_bits() > 0
    assert open_key(make("right"), RIGHT).get_bits() > 0


def test_passphrases(make: Callable[[str], Path]) -> None:
    path = make("right")
    assert told(path, None) == "needs a passphrase; give a passphrase in the inventory, or add the key to the SSH agent"
    assert told(path, WRONG) == "cannot be opened with this passphrase; check key_file and passphrase"


@pytest.mark.parametrize("passphrase", [None, RIGHT])
def test_the_public_half(make: Callable[[str], Path], passphrase: Secret | None) -> None:
    public = make("").with_name("key.pub")
    hint = f"give the file with the private key: {public.with_suffix('')}"
    assert told(public, passphrase) == f"holds a public key, not a private one; {hint}"
    copied = public.rename(public.with_name("id"))
    assert told(copied, passphrase) == "holds a public key, not a private one; give the file with the private key"


@pytest.mark.parametrize("passphrase", ["", "right"])
@pytest.mark.parametrize("given", [None, RIGHT])
def test_a_key_that_was_cut(make: Callable[[str], Path], passphrase: str, given: Secret | None) -> None:
    path = make(passphrase)
    lines = path.read_text().splitlines(keepends=True)
    for kept in (lines[:-1], lines[: len(lines) // 2], lines[:1]):
        path.write_text("".join(kept))
        assert told(path, given) == f"is cut off: its end is missing; {WHOLE}"


@pytest.mark.parametrize("given", [None, RIGHT])
def test_lines_that_are_missing_in_the_middle(make: Callable[[str], Path], given: Secret | None) -> None:
    path = make("")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], *lines[3:]]))
    assert told(path, given).startswith(("is cut off: ", "is damaged, or holds a key of a kind"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("hello\n", "is not a private key; check key_file"),
        ("x" * 100_000, "is not a private key"),
        ("PuTTY-User-Key-File-3: ssh-ed25519\n", "is in PuTTY's format; convert it: puttygen"),
        ("ssh-ed25519-cert-v01@openssh.com AAAA x\n", "holds a certificate, not a private one"),
        ("---- BEGIN SSH2 PUBLIC KEY ----\n", "holds a public key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\n!!!\n-----END OPENSSH PRIVATE KEY-----\n", "is cut off"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "is damaged, or holds a key of a kind"),
    ],
)
def test_what_is_no_key(content: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(content)
    for passphrase in (None, RIGHT):
        assert told(path, passphrase).startswith(reason)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    assert told(tmp_path / "missing", None) == "cannot be read: No such file or directory; check key_file"
    assert told(tmp_path, None) == "cannot be read: Is a directory; check key_file"
