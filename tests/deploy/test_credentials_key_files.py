"""Key files as people give them by mistake, each with what is wrong with it; made by ssh-keygen."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.deploy.credentials import KeyFileError, Secret, open_key
from tests.conftest import need_tool

KINDS = {
    "ed25519": ("-t", "ed25519"),
    "rsa": ("-t", "rsa", "-b", "2048"),
    "ecdsa": ("-t", "ecdsa"),
    "pem": ("-t", "rsa", "-m", "PEM"),
}
RIGHT, WRONG = Secret("right"), Secret("wrong")
WHOLE = "copy the whole file once more"


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Path]:
    """Make a key of a kind with a passphrase."""
    need_tool("ssh-keygen")

    def made(passphrase: str) -> Path:
        path = tmp_path / "key"
        path.unlink(missing_ok=True)
        words = ("ssh-keygen", "-q", *KINDS[request.param], "-N", passphrase, "-f", str(path))
        subprocess.run(words, check=True, capture_output=True)
        return path

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
