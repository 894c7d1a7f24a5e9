"""known_hosts as OpenSSH reads it, and new lines in it."""

import os
import subprocess
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.deploy.host_keys import HostKey, HostKeyError, KnownHosts, add, host_name
from tests.conftest import need_tool
from tests.deploy.ssh_server import private_key, public

FIRST, SECOND = (public(private_key("ssh-ed25519", number)) for number in range(2))
RSA = public(private_key("ssh-rsa"))


def known(folder: Path, *lines: str) -> KnownHosts:
    path = folder / "known_hosts"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return KnownHosts((path,))


def line(names: str, key: HostKey = FIRST) -> str:
    return f"{names} {key.kind} {key.text} a comment"


def test_the_fingerprint_is_that_of_openssh(tmp_path: Path) -> None:
    need_tool("ssh-keygen")
    for key in (FIRST, RSA):
        path = tmp_path / "key.pub"
        path.write_text(f"{key.kind} {key.text}\n", encoding="utf-8")
        shown = subprocess.run(["ssh-keygen", "-lf", path], capture_output=True, text=True, check=True).stdout
        assert shown.split()[1] == key.fingerprint


@pytest.mark.parametrize(
    ("names", "host", "port", "found"),
    [
        ("spine1", "spine1", 22, True),
        ("spine1", "SPINE1", 22, True),
        ("Spine1", "spine1", 22, True),
        ("spine1", "spine2", 22, False),
        ("spine1,192.0.2.1", "192.0.2.1", 22, True),
        ("[spine1]:830", "spine1", 830, True),
        ("[spine1]:830", "spine1", 22, False),
        ("[spine1]:830", "spine1", 831, False),
        ("spine1", "spine1", 830, True),
        ("[2001:db8::1]:830", "2001:db8::1", 830, True),
        ("spine*", "spine12", 22, True),
        ("spine?", "spine12", 22, False),
        ("*,!spine2", "spine1", 22, True),
        ("*,!spine2", "spine2", 22, False),
        ("!spine2", "spine1", 22, False),
        ("[spine*]:830", "spine1", 830, True),
        ("[spine*]:830", "spine1", 831, False),
        ("[192.0.2.?]:*", "192.0.2.7", 830, True),
        ("spine.", "spinex", 22, False),
    ],
)
def test_names_ports_and_patterns(names: str, host: str, port: int, found: bool, tmp_path: Path) -> None:
    assert bool(known(tmp_path, line(names)).lookup(host, port).keys) is found


@pytest.mark.parametrize("name", ["spine1", "[spine1]:830", "[2001:db8::1]:830"])
def test_hashed_names_are_those_of_openssh(name: str, tmp_path: Path) -> None:
    need_tool("ssh-keygen")
    hosts = known(tmp_path, line(name), line("other", SECOND))
    path = Path(hosts.files[0])
    subprocess.run(["ssh-keygen", "-Hf", path], capture_output=True, check=True)
    assert name not in path.read_text()
    host, _, port = name.strip("[").partition("]:")
    (key,) = KnownHosts((path,)).lookup(host, int(port or 22)).keys
    assert (key.same(FIRST), key.line) == (True, 1)
    assert KnownHosts((path,)).lookup("spine2", 830).keys == ()


def test_the_name_with_the_port_goes_before_the_bare_name(tmp_path: Path) -> None:
    hosts = known(tmp_path, line("spine1", SECOND), line("[spine1]:830"))
    assert [key.line for key in hosts.lookup("spine1", 830).keys] == [2]


def test_all_keys_of_all_files_count(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text(f"# a comment\n\n{line('spine1')}\n{line('spine1', RSA)}\n", encoding="utf-8")
    two.write_text(f"{line('spine1', SECOND)}\n{line('spine1')}\n", encoding="utf-8")
    found = KnownHosts((one, tmp_path / "missing", two)).lookup("spine1", 22).keys
    assert [(Path(key.file).name, key.line) for key in found] == [("one", 3), ("one", 4), ("two", 1)]


def test_revoked_keys_are_no_keys_under_any_name(tmp_path: Path) -> None:
    hosts = known(tmp_path, line("[spine1]:830"), line("[spine1]:830", SECOND), f"@revoked {line('*')}")
    found = hosts.lookup("spine1", 830)
    assert [key.line for key in found.keys] == [2]
    assert [key.line for key in found.revoked] == [3]
    assert found.is_revoked(FIRST)
    assert not found.is_revoked(SECOND)


def test_authorities_are_no_keys(tmp_path: Path) -> None:
    found = known(tmp_path, f"@cert-authority {line('*')}").lookup("spine1", 830)
    assert (found.keys, len(found.authorities)) == ((), 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"@rewoked {line('*')}", "1: the marker '@rewoked' is not known"),
        ("@revoked * ssh-ed25519 AAAA", "1: this line revokes a key, but which one cannot be read"),
        ("@revoked *", "1: this line revokes a key"),
    ],
    ids=["marker", "key", "no key"],
)
def test_a_line_that_may_forbid_a_key_must_be_understood(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(HostKeyError, match=reason):
        known(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    # KEY: keys are made anew for every run, and the workers must agree on the names of the tests.
    [
        "spine1",
        "spine1 ssh-ed25519",
        "spine1 ssh-ed25519 not-base64!",
        "spine1 ssh-rsa KEY",
        "|1|abc|def ssh-ed25519 KEY",
        f"|2|{b64encode(bytes(20)).decode()}|{b64encode(bytes(20)).decode()} ssh-ed25519 KEY",
        "2048 65537 123456789 spine1",
        "spine1\x85ssh-ed25519 KEY",
        "spine1,, ssh-ed25519 KEY",
        "0.0.0.0/0 ssh-ed25519 KEY",
    ],
)
def test_other_lines_are_passed_over_and_named(text: str, tmp_path: Path) -> None:
    text = text.replace("KEY", FIRST.text)
    found = known(tmp_path, text, line("spine2")).lookup("spine1", 22)
    assert found.keys == ()
    assert found.unread == (f"{tmp_path}/known_hosts:1",)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(HostKeyError, match="not a known_hosts file"):
        KnownHosts((tmp_path,))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(HostKeyError, match="cannot be read: Too many levels of symbolic links"):
        KnownHosts((tmp_path / "loop",))


@given(st.binary(max_size=200))
def test_any_bytes_are_lines_that_are_understood_or_not(data: bytes) -> None:
    descriptor = os.memfd_create("known_hosts")
    try:
        os.write(descriptor, data)
        hosts = KnownHosts((Path(f"/proc/self/fd/{descriptor}"),))
        assert hosts.lookup("spine1", 830).keys == ()
    except HostKeyError as error:
        assert b"@" in data, error
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("before", ["", "# no end of line", f"{line('other')}\n"], ids=["none", "cut", "whole"])
def test_a_new_line_stands_alone(before: str, tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text(before, encoding="utf-8")
    added = add(path, "Spine1", 830, FIRST)
    assert path.read_text().splitlines()[added.line - 1] == f"[spine1]:830 {FIRST.kind} {FIRST.text}"
    assert KnownHosts((path,)).lookup("spine1", 830).keys == (added,)
    assert add(path, "spine1", 830, FIRST) == added
    assert len(path.read_text().splitlines()) == added.line


def test_a_host_that_was_added_meanwhile_is_not_added_again(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    add(path, "spine1", 830, FIRST)
    with pytest.raises(HostKeyError, match=r"another key of \[spine1\]:830 was added or revoked meanwhile"):
        add(path, "spine1", 830, SECOND)
    assert len(path.read_text().splitlines()) == 1


def test_many_add_at_once_and_no_line_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    with ThreadPoolExecutor(16) as pool:
        added = list(pool.map(lambda port: add(path, "127.0.0.1", port, FIRST), range(1000, 1100)))
    assert sorted(key.line for key in added) == list(range(1, 101))
    assert {text.split()[0] for text in path.read_text().splitlines()} == {
        host_name("127.0.0.1", port) for port in range(1000, 1100)
    }


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link, real = tmp_path / "link", tmp_path / "real"
    real.touch()
    link.symlink_to(real)
    add(link, "spine1", 22, FIRST)
    assert link.is_symlink()
    assert real.read_text().startswith("spine1 ssh-ed25519 ")


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(HostKeyError, match="a host key cannot be added: Is a directory"):
        add(tmp_path, "spine1", 22, FIRST)
    (tmp_path / "file").touch()
    with pytest.raises(HostKeyError, match=r"a host key cannot be added: (Not a directory|File exists)"):
        add(tmp_path / "file" / "known_hosts", "spine1", 22, FIRST)
