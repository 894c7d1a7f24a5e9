"""What the redaction of hostile text costs: time that grows as the text does, and no faster."""

import time

import pytest

from ailb_gen.redact.text import redact

# What is repeated, by what stands in front of it and behind it.
REPEATED = [
    # URLs: no end of a scheme, of a user, of a password; quotes that nothing closes.
    *(("", "a://b:", ""), ("a://b:c@d ", "a", ""), ("", "a://", ""), ("", '"a://b:', ""), ("", "a://b:@", "x")),
    *(("", "http://secret", "api-key"), ("", "?token", "="), ("", "&token=", ""), ("a://b:", "c@", "")),
    # Strings and comments that nothing closes, and what stands in them.
    *(
        ("password ", '\\"*}', "x"),
        ("password ", '\\"md5 1 key /*', ""),
        ("", "psk[edit/*", ""),
        ("password ", "/*", ""),
    ),
    *(("", 'password \\"', ""), ('password "', "\\\\", ""), ("password ", '" ', '"'), ("key ", '\n\\"md5 1 key ', "")),
    # Levels, lists, lines of blanks.
    *(("password a; ", "a { ", ""), ("password a; ", "a { b; ", ""), ("password [ ", "a ", ""), ("", "password ", "")),
    *(("password\n", " ", "a"), ("password a;\n", "\n", ""), ('password "\n', " ", "a"), ('"password: ', " ", "a")),
    *(('"password: " ', " ", "a"), ("password: ", "'", ""), ("password: |\n", " ", "a"), ("", "[edit ", "")),
    # Hashes, keys, elements.
    *(("", "$1$", ""), ("", "$1$a ", ""), ("", "+", "!"), ("", "A", "!"), ("", "-----BEGIN PRIVATE KEY-----", "")),
    *(("</x><key>", "a", ""), ("</x>", "<key>", ""), ("</x>", "<key>a", ""), ("</x><snmp", "<community>", "")),
    *(("</x><key ", " ", ""), ("</x><snmp><community>", " ", "<"), ("</x>", "<a:", "")),
    # Commands and their options, keys and their signs.
    *(("", "zip ", ""), ("", "curl ", ""), ("", "snmpget -", ""), ("", "chpasswd ", ""), ("", "<<a ", "| chpasswd")),
    *(("", "echo ", "| sudo -S"), ("", "machine x ", ""), ("token", "-", ""), ("", "user a", ""), ("key", " ", "")),
    *(("", "keys:", ""), ("keys: {", "[", ""), ("", "ip macsec a", ""), ("", "xfrm enc a ", ""), ("^", "cak_", "")),
    *(("", "ghp_", ""), ("", "eyJ", ""), ("", "eyJaaaaaaaaaa.", ""), ("", "grub.pbkdf2.", " "), ("", "$argon2id", "")),
    *(("</x><value>", "<name>", ""), ("</x><value><name>secret", " ", ""), ("= value", ' name="', "")),
    *(("", 'password: "***" ', ""), ("keys: {", "},{", ""), ("rootpw", " ", "")),
    *(("@@ -1 +1 @@\n", "+keys:\n", ""), ("", "macsec key ", ""), ("", "message-digest-key ", "")),
    *(("", word, "") for word in ("sshpass ", "curl -", "echo ", "-pass", "machine ", "chpasswd <<", "--token")),
    # A name behind its value, logins without a scheme, sentences, comments.
    *(("value='a' ", "a='b' ", "name='password'"), ('"value": "a"', ', "name"', ""), ("", "a:1bcde", "@")),
    *(("", "password is a1", ""), ("", "snmp community", "x"), ("", "community ", ""), ("", "kinit <", "<<")),
    *(("", "/*", ""), ("", "# password a\n", ""), ("", "a.password", ""), ('secret = """\n', 'a"', "")),
    *(("-password", " ", ""), ("", "wpa_passphrase a ", ""), ("", "x.psk", ""), ("key: ", "|-", "")),
]
LENGTH = 20_000


# A try that other processes have disturbed is repeated.
TRIES = 3


def cpu(text: str) -> float:
    """Return how long this thread computes."""
    begun = time.thread_time()
    redact(text)
    return time.thread_time() - begun


@pytest.mark.untraced
@pytest.mark.parametrize(("front", "piece", "end"), REPEATED)
def test_the_time_grows_with_the_text_and_no_faster(front: str, piece: str, end: str) -> None:
    def of(length: int) -> str:
        return f"{front}{piece * (length // len(piece))}{end}"

    # Four times as long: four times the time, or sixteen times where every part is compared with every other.
    assert any(cpu(of(4 * LENGTH)) <= 8 * max(cpu(of(LENGTH)), 0.002) for _ in range(TRIES))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("put ftp://me:hunter2@h/a and ftp://you:hunter2@h/b", "put ftp://me:***@h/a and ftp://you:***@h/b"),
        ("a://b/c://me:hunter2@h", "a://b/c://me:***@h"),
        ('x "sftp://me:hunt er2@h/a" y', 'x "sftp://me:***@h/a" y'),
        ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/x"),
        ("/* cut off\nsecret hunter2;", "/* cut off\nsecret ***;"),
        ('description "cut off;\nset system api-key hunter2', 'description "cut off;\nset system api-key ***'),
        (f"{'x' * 40_000} password=hunter2", f"{'x' * 40_000} password=***"),
        (f"{'x' * 32_760} password=hunter2", f"{'x' * 32_760} password=***"),
    ],
)
def test_what_is_looked_at_once_is_still_found(text: str, left: str) -> None:
    assert redact(text) == left
