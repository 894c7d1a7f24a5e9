"""Credentials: fetched once, told by reference, never shown."""

import copy
import json
import pickle
import stat
import sys
import traceback
from pathlib import Path
from threading import Thread

import keyring
import keyring.backend
import keyring.backends.fail
import pytest
from keyring.errors import KeyringLocked

from ailb_gen.deploy.credentials import (
    CommandReference,
    CredentialError,
    EnvironmentReference,
    KeyringReference,
    LoginReference,
    Reference,
    Secret,
    SecretCache,
    resolve,
)
from ailb_gen.errors import ExitCode

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

    def delete_password(self, service: str, username: str) -> None:
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
    threads = [Thread(target=resolve, args=(LoginReference(password=reference), cache)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count.read_text() == "x"


def test_a_failure_is_not_repeated_for_every_device(tmp_path: Path) -> None:
    count = tmp_path / "count"
    reference = python(f"open({str(count)!r}, 'a').write('x'); raise SystemExit(3)")
    cache = SecretCache()
    for _ in range(3):
        with pytest.raises(CredentialError, match="failed with exit code 3"):
            cache.get(reference)
    assert count.read_text() == "x"


PYTHON = repr(sys.executable)


@pytest.mark.usefixtures("ring")
@pytest.mark.parametrize(
    ("reference", "told"),
    [
        (
            EnvironmentReference("AILB_MISSING"),
            "the environment variable AILB_MISSING is not set; set it before you run this",
        ),
        (
            EnvironmentReference("AILB_EMPTY"),
            "the environment variable AILB_EMPTY is empty; set it before you run this",
        ),
        (
            KeyringReference("ailb", "nobody"),
            "the keyring entry of service 'ailb', user 'nobody': there is no such entry; "
            "add it with 'keyring set SERVICE USER'",
        ),
        (
            KeyringReference("locked", "x"),
            "the keyring entry of service 'locked', user 'x': the keyring refuses (KeyringLocked); unlock it",
        ),
        (
            CommandReference(("ailb-no-such-program", VALUE)),
            "the command 'ailb-no-such-program' is not installed; install it, or give its full path",
        ),
        (
            python(f"import sys; print('{VALUE}'); print('{VALUE}', file=sys.stderr); sys.exit(7)"),
            f"the command {PYTHON} failed with exit code 7; run it by hand to see why",
        ),
        (
            python(f"print(); print('{VALUE}')"),
            f"the command {PYTHON} printed nothing on its first line; that line must be the secret",
        ),
        (
            python(f"import time; print('{VALUE}', flush=True); time.sleep(60)"),
            f"the command {PYTHON} did not end within 1 s; does it wait for input?",
        ),
        (
            python("import sys; sys.stdout.buffer.write(b'\\xff\\n')"),
            f"the command {PYTHON} printed text that is not UTF-8",
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
