"""Day-0 configurations: they pass the commit check, and hold the least that a login needs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import asyncssh
import pytest

from ailb_gen.errors import UsageError
from ailb_gen.exports.ztp import day0
from ailb_gen.junos.reader import read
from tests.conftest import ROOT, SMALL, design_of, need_tool
from tests.exports.inputs import KEY, boot_design, boot_input
from tests.junos.models import outcome_of
from tests.ports import free_ports


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


def test_the_command_of_the_page_serves_the_files_and_counts_who_has_them(tmp_path: Path) -> None:
    """Both commands are those of docs/how-to/ztp.md, with an address of this machine."""
    curl, port = need_tool("curl"), str(free_ports(1))
    page = (ROOT / "docs/how-to/ztp.md").read_text()
    (serve, count) = re.findall(r"^```text\n(python3 -m http\.server .*)\n(grep .*)\n```", page, re.M)[0]
    for path, data in day0(boot_input()).items():
        (tmp_path / "day0").mkdir(exist_ok=True)
        (tmp_path / "day0" / path).write_bytes(data)
    (tmp_path / "secret").write_text("secret")
    serve = serve.replace("192.0.2.5", "127.0.0.1").replace("8000", port).replace("python3", f"exec {sys.executable}")
    # Switches have no proxy.
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    with subprocess.Popen(serve, shell=True, cwd=tmp_path, stdout=subprocess.DEVNULL, env=environment) as server:
        try:
            fetch = [curl, "-sSf", "--path-as-is", "--retry", "50", "--retry-connrefused", "--retry-delay", "1"]
            for name in ("stripe1-leaf1", "spine1", "spine1"):
                done = subprocess.run(
                    [*fetch, f"http://127.0.0.1:{port}/{name}.conf"], capture_output=True, check=True, env=environment
                )
                assert done.stdout == day0(boot_input())[f"{name}.conf"]
            outside = subprocess.run(
                [curl, "-sSf", "--path-as-is", f"http://127.0.0.1:{port}/../secret"],
                capture_output=True,
                check=False,
                env=environment,
            )
            assert (outside.returncode, outside.stdout) == (22, b"")
        finally:
            server.terminate()
    said = subprocess.run(count, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    # Two switches have their file; the third path was asked for, and does not exist.
    assert said.strip() == "2"
