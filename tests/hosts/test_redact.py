"""Secrets of servers' files: replaced in every form that such files have, and nothing else."""

import pytest

from ailb_gen.hosts.redact import redact_file
from tests.hosts.test_read import GOLDEN

SECRETS = [
    'password: "hunter2"',
    "auth: {password: hunter2, method: tls}",
    "  client-key-password: hunter2",
    "- key: hunter2",
    "keys:\n  private: hunter2",
    "PrivateKey = hunter2",
    "PresharedKey=hunter2",
    'psk="hunter2"',
    "export BMC_PASSWORD=hunter2",
    "# old password: hunter2",
    "curl --api-key hunter2 https://example.net",
    "ExecStart=/usr/bin/agent --token=hunter2",
    "https://user:hunter2@example.net/",
    "rocommunity hunter2",
    "root:$6$hunter2",
    '{"secret": "hunter2"}',
    "password: |\n  hunter2\n\n  hunter2",
    "password:\n  hunter2",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\nhunter2\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_replaced_and_lines_stay_lines(text: str) -> None:
    done = redact_file(f"mtu: 9000\n{text}\nmtu: 9100")

    assert "hunter2" not in done
    assert "***" in done
    assert done.count("\n") == text.count("\n") + 2
    assert done.startswith("mtu: 9000\n")


def test_what_follows_a_secret_stays() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----"
    done = redact_file(f"password: |\n  hunter2\nmtu: 9000\n{key.format('A')}\nlast")

    assert done == f"password: |\n  ***\nmtu: 9000\n{key.format('***')}\nlast"


def test_files_without_secrets_stay_as_they_are() -> None:
    texts = [path.read_text() for path in (GOLDEN / "lab").rglob("*") if path.is_file()]

    assert len(texts) > 20
    for text in texts:
        assert redact_file(text) == text


def test_a_long_line_takes_no_longer_than_it_must() -> None:
    line = "--token" * 100_000

    assert redact_file(line) == line
