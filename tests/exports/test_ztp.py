"""Day-0 configurations: they pass the commit check, and hold the least that a login needs."""

from pathlib import Path

import asyncssh
import pytest

from ailb_gen.errors import UsageError
from ailb_gen.exports.ztp import day0
from ailb_gen.junos.reader import read
from tests.conftest import SMALL, design_of
from tests.exports.inputs import KEY, boot_design, boot_input
from tests.junos.models import outcome_of


def test_they_pass_the_commit_check() -> None:
    files = day0(boot_input())
    assert sorted(files) == sorted(f"{switch.name}.conf" for switch in boot_design().switches)
    for data in files.values():
        assert outcome_of(data.decode()).findings == ()


def test_they_have_no_part_of_the_data_plane() -> None:
    tree = read(day0(boot_input())["stripe1-leaf1.conf"].decode())
    assert sorted(tree.children) == ["interfaces", "routing-instances", "system"]
    assert list(tree.children["interfaces"].children) == ["re0:mgmt-0"]


def test_a_key_has_no_comment_and_root_has_it_too() -> None:
    text = day0(boot_input())["spine1.conf"].decode()
    words = KEY.read_text().split()
    assert text.count(f'ssh-ed25519 "{words[0]} {words[1]}";') == 2
    assert "operator" not in text
    root = day0(boot_input(user="root"))["spine1.conf"].decode()
    assert root.count(words[1]) == 1
    assert "login" not in root.split("system")[1]


@pytest.mark.parametrize("algorithm", ["ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp521"])
def test_every_algorithm_of_junos_passes(algorithm: str, tmp_path: Path) -> None:
    key = asyncssh.generate_private_key(algorithm)
    line = key.export_public_key("openssh").decode()
    (tmp_path / "keys").write_text(f"# operators\n\n{line}{line}")
    text = day0(boot_input(ssh_keys=(tmp_path / "keys",)))["spine1.conf"].decode()
    assert text.count(line.split()[1]) == 2
    assert outcome_of(text).findings == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the file has no public key"),
        ("ssh-ed25519 AAAA secret\n", "line 1: not a public key as OpenSSH writes it"),
        (
            "# mine\n-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n",
            "line 2: this is a private key; name the file of its",
        ),
    ],
)
def test_what_is_no_public_key_is_told_and_not_shown(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(text)
    with pytest.raises(UsageError) as error:
        day0(boot_input(ssh_keys=(tmp_path / "key",)))
    assert reason in str(error.value)
    assert "secret" not in str(error.value)


def test_a_key_that_junos_lacks_is_refused(tmp_path: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed448").export_public_key("openssh").decode()
    (tmp_path / "key").write_text(key)
    with pytest.raises(UsageError, match="Junos takes no ssh-ed448 key; use one of ssh-ed25519"):
        day0(boot_input(ssh_keys=(tmp_path / "key",)))


@pytest.mark.parametrize("user", ["", "a b", "x;", 'x" {', "-x", "{{ 1 }}", "a" * 65])
def test_a_user_is_one_word(user: str) -> None:
    with pytest.raises(UsageError, match="is no name of a user; write one such as automation"):
        day0(boot_input(user=user))


def test_what_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="--ssh-key FILE"):
        day0(boot_input(ssh_keys=()))
    with pytest.raises(UsageError, match="stripe1-leaf1 has no management address; add management:"):
        day0(boot_input(design_of(SMALL)))
