"""One redaction for all: what devices say, what files hold, what URLs and errors show; and what it costs."""

import time

import pytest

from ailb_gen.redact.text import redact
from tests.redact.test_lines import SECRETS as LINES

SECRETS = [
    'set system services rest api-key "hunter2"',
    "set security advanced-anti-malware connection token hunter2",
    "set security intelligence auth-token hunter2;",
    "radius-server { 192.0.2.1 { preauthentication-secret hunter2; } }",
    "set access profile p psk hunter2",
    "pap { default-password hunter2; }",
    "archive-sites { https://backup.example.net/put?token=hunter2&x=1; }",
    'url "https://example.net/feed?a=1&api_key=hunter2";',
    "curl https://example.net/x?X-Amz-Signature=hunter2",
    "set system commit peers spine2 authentication hunter2",
    'peers spine2 {\n    user robot;\n    authentication "hunter2";\n}',
    # Of a load, of a commit check, of an op script; as NETCONF has it, and as the command line prints it.
    "syntax error (authentication-key hunter2)",
    "[edit system root-authentication] 'encrypted-password \"hunter2\"' invalid encrypted password",
    "statement not found: protocols bgp group g authentication-key hunter2",
    "<bad-element>authentication-key hunter2</bad-element>",
    "<rpc-error><error-info><bad-element><secret>hunter2</secret></bad-element></error-info></rpc-error>",
    "<snmp><community><name>hunter2</name></community></snmp>",
    # Of several lines.
    'set system login message x\nset security ike policy p pre-shared-key ascii-text "hunter2\nhunter2"\n',
    'radius-server {\n    192.0.2.1 secret "hunter2\n  hunter2\nhunter2"; ## SECRET-DATA\n}',
    '+   secret "hunter2\n+   hunter2";\n+   port 1812;',
    'secret "hunter2\nhunter2\nhunter2',
    'password: "hunter2\n  hunter2\n  hunter2"',
    "psk: 'hunter2\n  hunter2'",
    'certificate "-----BEGIN RSA PRIVATE KEY-----\nhunter2\nhunter2\n-----END RSA PRIVATE KEY-----\n";',
    "error: -----BEGIN EC PRIVATE KEY----- hunter2 -----END EC PRIVATE KEY----- is no key",
    '{"key": "-----BEGIN PRIVATE KEY-----\\nhunter2\\n-----END PRIVATE KEY-----\\n"}',
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nhunter2\n-----END PGP PRIVATE KEY BLOCK-----",
    'description "the password: hunter2";',
    "invalid password value: hunter2",
    # Of attributes, and of a name and its value.
    '<user name="robot" password="hunter2"/>',
    "<server secret = 'hunter2 hunter2'>x</server>",
    '<a junos:pre-shared-key="hunter2"/>',
    "&lt;user authentication-key=&quot;hunter2&quot;/&gt;",
    '<property name="password" value="hunter2"/>',
    "<property><name>auth-token</name>\n<value>hunter2</value></property>",
    # Of tokens that show by themselves.
    f"fetched with ghp_{'hunter2' * 5}",
    f"huggingface: hf_{'hunter2' * 5}",
    f"nvapi-{'hunter2' * 5}",
    f"glsa_{'hunter2' * 5}",
    f"npm_{'hunter2' * 5}",
    f"AGE-SECRET-KEY-1{'HUNTER2' * 8} hunter2"[:72],
    "userPassword {SSHA}hunter2",
    # Of URLs whose user is a token, of addresses to post to, of users without a scheme.
    f"https://{'hunter2' * 3}@ingest.example.net/1",
    "https://hooks.slack.com/services/T000/B000/hunter2",
    "https://api.telegram.org/bot123:hunter2/send",
    "connect-proxy -H ops:hunter2@proxy:80 host 22",
    # Of elements and attributes in another order.
    "<tls-auth>\nhunter2\nhunter2\n</tls-auth>",
    "-----BEGIN OpenVPN Static key V1-----\nhunter2\n-----END OpenVPN Static key V1-----",
    '<nvpair name="passwd" id="x" value="hunter2"/>',
    "<nvpair value='hunter2' id='x' name='passwd'/>",
    # Of SNMP where nothing says so.
    "Statement not found: community hunter2",
    "warning: statement not found: community 'hunter2'",
    "error: statement 'community hunter2' not found",
    "error: could not delete community hunter2: no such statement",
    "<error-path>/configuration/snmp/community[name='hunter2']</error-path>",
    "snmpd: unauthorized SNMP community from 192.0.2.9 to 192.0.2.1 (hunter2)",
    "set community hunter2 authorization read-only",
    "community hunter2 {\n    authorization read-only;\n}",
    "-    community hunter2;\n+    trap-group hunter2;",
    # Of sentences.
    "login failed, pin: hunter2",
    "the pin: hunter2 was not accepted",
    "Enter otp: hunter2",
    "PIN = hunter2",
    "verification code: hunter2",
    "the password is hunter2",
    "login with password hunter2 failed",
    "API key hunter2 is invalid",
    "TACACS+ key hunter2 mismatch",
    "shared secret of radius server 192.0.2.1 is 'hunter2'",
    "shared secret for 192.0.2.1: hunter2",
    "'hunter2' is not a valid password",
    "hunter2: invalid authentication-key",
    "invalid value: hunter2 (authentication-key)",
    "value 'hunter2' is not valid for secret",
    "Authorization header: Basic hunter2",
    "Bearer hunter2",
    "sessionid=hunter2",
    "Duplicate community hunter2",
    "invalid community name: hunter2",
    "<bad-element>community hunter2</bad-element>",
    "invalid hexadecimal key hunter2",
    "psk mismatch: hunter2",
    "password => hunter2",
    "Unseal Key 1: hunter2",
    "MFA code is hunter2",
    "pass phrase hunter2 is wrong",
    "<userPassword>hunter2</userPassword>",
    "<param name='password'>hunter2</param>",
    f"Invalid header eyJhbGciOiJIUzI1NiJ9.eyJ{'hunter2' * 3}.hunter2_hunter2",
]


@pytest.mark.parametrize("text", SECRETS)
def test_no_secret_survives_and_lines_stay_lines(text: str) -> None:
    done = redact(f"mtu 9000;\n{text}\nmtu 9100;\n")
    assert "hunter2" not in done
    assert "***" in done
    assert done.count("\n") == text.count("\n") + 3
    assert done.startswith("mtu 9000;\n")
    assert redact(done) == done


@pytest.mark.parametrize("lead", ["# ", "    // ", "! ", ";", "+# "])
def test_no_secret_survives_in_a_comment(lead: str) -> None:
    begin = "@@ -1 +1 @@\n" if lead.startswith("+") else ""
    assert not [
        text
        for text in [*SECRETS, *LINES]
        if "hunter2" in redact(begin + "".join(f"{lead}{line}\n" for line in text.split("\n")))
    ]


def test_annotations_and_ends_of_lines() -> None:
    assert redact("/* old: set snmp community hunter2 */ mtu 9000;") == "/* old: set snmp community *** */ mtu 9000;"
    assert redact("/* password hunter2 */\n/* until 7 */") == "/* password *** */\n/* until 7 */"
    assert redact("password: |\r\n  hunter2\r\nmtu: 9000\r\n") == "password: |\r\n  ***\r\nmtu: 9000\r\n"


def test_a_key_that_a_device_repeats_line_by_line() -> None:
    line = "6ESE0APr8PiFFIglkGAZFDbkBDxwId65u53Ahv7756BwGjo0N3xiktfNCAzSL3LG"
    assert redact(line) == "***"
    for public in (f"SHA256:{line[:43]}", "0123456789abcdef" * 4, f"ssh-ed25519 AAAA{line} robot"):
        assert redact(public) == public


@pytest.mark.parametrize(
    "text",
    [
        "the password of spine1 is wrong",
        "the password or the key was refused",
        "authentication failed",
        "password authentication is off there",
        "no host key of spine1 is known in known_hosts",
        "the key of spine1 has changed: SHA256:abc",
        "the token is expired",
        "key 7 of the chain",
        "servers/gpu1/etc/passwd.old: only plain files are pushed",
        "password of spine1: refused",
        "# the algorithm for the password\n# If set to DES, the password file is used\n#StrictModes yes",
        f"{'/' * 79}\nint x;",
        "'plain-text-password' requires a terminal",
        "the password for ops cannot be read: No such file or directory",
        "community green is not defined; it must be color:0:1",
        "from community green; then community add local",
        "Policy FABRIC-OUT references undefined community green",
        "from {\n    protocol bgp;\n    community green;\n}",
        "            community green;",
        "[edit policy-options]\n+   community green { members color:0:1; }",
        "[edit system login]\n!    password minimum-length 12;",
        "the private key /etc/ssl/x.key is not readable",
        "GPIO pin 4; pins: 12; spinning: on; spine1: pinned",
        "pull nvidia/cuda:12.2-base@sha256:abc, cuda:12.2-base@sha256:abc",
        "https://ops@example.net/x and git@github.com:x/y",
        "kind: Secret\nmetadata:\n  name: x",
    ],
)
def test_sentences_stay(text: str) -> None:
    assert redact(text) == text


def test_a_description_with_a_password_stays_a_statement() -> None:
    assert (
        redact('    description "password: hunter2";\n    mtu 9216;')
        == '    description "password: ***";\n    mtu 9216;'
    )


def test_lines_of_one_text() -> None:
    assert redact("\n".join(["secret {", "x", '}; password "a', 'b"; y'])).split("\n") == [
        "secret {",
        "x",
        '}; password "***',
        '***"; y',
    ]


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
    *(("", "sshpass ", ""), ("", "curl -", ""), ("", "echo ", ""), ("", "-pass", ""), ("", "--token", "")),
    *(("", "a.password", ""), ("", "chpasswd <<", "")),
    *(("", "zip ", ""), ("", "curl ", ""), ("", "snmpget -", ""), ("", "chpasswd ", ""), ("", "<<a ", "| chpasswd")),
    *(("", "echo ", "| sudo -S"), ("", "machine x ", ""), ("token", "-", ""), ("", "user a", ""), ("key", " ", "")),
    *(("", "keys:", ""), ("keys: {", "[", ""), ("", "ip macsec a", ""), ("", "xfrm enc a ", ""), ("^", "cak_", "")),
    *(("", "ghp_", ""), ("", "eyJ", ""), ("", "eyJaaaaaaaaaa.", ""), ("", "grub.pbkdf2.", " "), ("", "$argon2id", "")),
    *(("</x><value>", "<name>", ""), ("</x><value><name>secret", " ", ""), ("= value", ' name="', "")),
    *(("", 'password: "***" ', ""), ("keys: {", "},{", ""), ("rootpw", " ", "")),
    *(("@@ -1 +1 @@\n", "+keys:\n", ""), ("", "macsec key ", ""), ("", "message-digest-key ", "")),
    # A name behind its value, logins without a scheme, sentences, comments.
    *(("value='a' ", "a='b' ", "name='password'"), ('"value": "a"', ', "name"', ""), ("", "a:1bcde", "@")),
    *(("", "password is a1", ""), ("", "snmp community", "x"), ("", "community ", ""), ("", "kinit <", "<<")),
    *(("", "/*", ""), ("", "# password a\n", ""), ('secret = """\n', 'a"', "")),
    *(("-password", " ", ""), ("", "wpa_passphrase a ", ""), ("", "x.psk", ""), ("key: ", "|-", "")),
]
LENGTH = 10_000


# A try that other processes have disturbed is repeated.
TRIES = 3


def cpu(text: str) -> float:
    """Return how long this thread computes."""
    begun = time.thread_time()
    redact(text)
    return time.thread_time() - begun


@pytest.mark.sampled(4)
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
