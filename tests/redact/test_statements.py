"""No secret of a configuration survives; the names are compared with Juniper's models."""

import re
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.junos.reader import read
from ailb_gen.redact import MARK, SECRET_WORDS
from ailb_gen.redact.statements import ALONE, BELOW, _Secrets, _spans
from ailb_gen.redact.text import redact
from tests.conftest import EXAMPLES, ROOT, need_shared

CURLY = """\
system {
    host-name spine1;
    root-authentication {
        encrypted-password "$6$abc$S3CRETs3cret/."; ## SECRET-DATA
        ssh-ed25519 "ssh-ed25519 AAAAC3Nza public";
    }
    login {
        password {
            minimum-length 12;
        }
        user ops {
            uid 2000;
            class super-user;
            authentication {
                plain-text-password-value "S3CRET";
            }
        }
    }
    radius-server {
        192.0.2.1 secret S3CRET;
        192.0.2.2 {
            port 1812;
            secret "$9$S3CRET"; ## SECRET-DATA
        }
    }
    ntp {
        authentication-key 1 type md5 value "S3CRET"; ## SECRET-DATA
        trusted-key 1;
    }
    license {
        keys {
            key "S3CRET1 S3CRET2";
        }
    }
    something-new "S3CRET"; ## SECRET-DATA
}
snmp {
    community S3CRET {
        authorization read-only;
    }
    v3 {
        snmp-community index1 {
            community-name "S3CRET"; ## SECRET-DATA
        }
        usm {
            local-engine {
                user u {
                    authentication-sha {
                        authentication-key "$9$S3CRET"; ## SECRET-DATA
                    }
                }
            }
        }
    }
}
security {
    ike {
        policy p {
            pre-shared-key ascii-text "S3CRET"; ## SECRET-DATA
        }
    }
    authentication-key-chains {
        key-chain kc {
            key 1 {
                secret "$9$S3CRET"; ## SECRET-DATA
                start-time "2026-1-1.00:00:00 +0000";
            }
        }
    }
    macsec {
        connectivity-association ca {
            pre-shared-key {
                ckn 37c9;
                cak "$9$S3CRET"; ## SECRET-DATA
            }
        }
    }
}
protocols {
    bgp {
        group underlay {
            authentication-key "S3CRET"; ## SECRET-DATA
        }
    }
    ospf {
        area 0.0.0.0 {
            interface et-0/0/0.0 {
                authentication {
                    md5 1 key S3CRET;
                }
            }
        }
    }
}
policy-options {
    community green members color:0:1;
}
"""
SET = r"""
set system host-name spine1
set system root-authentication encrypted-password "$6$S3CRET"
set system login password minimum-length 12
set system ntp authentication-key 1 type md5 value S3CRET
set snmp community S3CRET authorization read-only
set snmp v3 snmp-community index1 community-name "S3CRET with \" a quote"
set security ike policy p pre-shared-key hexadecimal S3CRET
delete snmp community S3CRET
deactivate protocols bgp group g authentication-key S3CRET
set policy-options community green members color:0:1
set security ike policy p pre-shared-key ascii-text S3CRET ## SECRET-DATA
"""
PATCH = """\
[edit system root-authentication]
-   encrypted-password "$1$S3CRET"; ## SECRET-DATA
+   encrypted-password "$5$S3CRET"; ## SECRET-DATA
[edit snmp]
-    community S3CRET {
-        authorization read-only;
-    }
+    community S3CRET;
[edit snmp community S3CRET]
-    authorization read-only;
+    authorization read-write;
[edit]
+  snmp {
+      community S3CRET {
+          clients {
+              192.0.2.0/24;
+          }
+      }
+  }
[edit policy-options]
-   community red members color:0:9;
+   community red members color:0:4;
[edit protocols bgp group g]
!    authentication-key S3CRET
"""
UNIFIED = """\
--- running
+++ intended
@@ -1,3 +1,3 @@
 set system host-name spine1
-set snmp community S3CRET authorization read-only
+set snmp community S3CRET authorization read-write
 set policy-options community green members color:0:1
-set protocols bgp group g authentication-key S3CRET
"""
XML = """\
<configuration><system><root-authentication><encrypted-password>$6$S3CRET</encrypted-password></root-authentication>
<radius-server><name>192.0.2.1</name><secret>S3CRET</secret></radius-server></system></configuration>
"""
CUT_OFF = 'system {\n    root-authentication {\n        encrypted-password "S3CRET'


@pytest.mark.parametrize("text", [CURLY, SET, PATCH, UNIFIED, XML, CUT_OFF])
def test_secrets_go_and_nothing_else(text: str) -> None:
    done = redact(text)
    assert "S3CRET" not in done
    assert "$" not in done
    assert done.count("\n") == text.count("\n")
    for kept in ("host-name spine1", "community green members color:0:1", "ssh-ed25519 AAAAC3Nza public", "ckn 37c9"):
        assert (kept in done) == (kept in text)
    assert "minimum-length 12" in done or "minimum-length" not in text
    assert redact(done) == done


def test_what_is_left_is_still_a_configuration() -> None:
    assert redact(CURLY).count(MARK) == 15
    assert f"authentication-key 1 type md5 value {MARK};" in redact(CURLY)
    assert len(list(read(redact(CURLY)))) == len(list(read(CURLY)))


def test_a_configuration_without_secrets_stays_as_it_is() -> None:
    for path in (ROOT / "tests/golden").glob("*/switches/*.conf"):
        text = path.read_text(encoding="utf-8")
        assert redact(text) == text
    assert list((ROOT / "tests/golden").glob("*/switches/*.conf"))
    assert EXAMPLES.is_dir()


VALUES = st.text("ABCXYZ0189!@%^&*()+=|~`:,.?_/-", min_size=6, max_size=20).map(lambda text: f"Q{text}")
STATEMENTS = (
    ("system root-authentication", 'encrypted-password "{}"'),
    ("system radius-server 192.0.2.1", "secret {}"),
    ("system radius-server 192.0.2.1", 'secret "{}"'),
    ("system ntp", 'authentication-key 1 type md5 value "{}"'),
    ("snmp", 'community "{}"'),
    ("snmp v3 snmp-community x", 'community-name "{}"'),
    ("security ike policy p", 'pre-shared-key ascii-text "{}"'),
    ("security authentication-key-chains key-chain kc key 7", 'secret "{}"'),
    ("protocols bgp group g neighbor 192.0.2.1", 'authentication-key "{}"'),
    ("protocols ospf area 0.0.0.0 interface ae0.0 authentication", 'md5 1 key "{}"'),
    ("unknown to us", 'new-key "{}"; ## SECRET-DATA'),
)
HARMLESS = ("protocols bgp group g", "policy-options community red members color:0:1", "interfaces et-0/0/0 mtu 9216")


def written(path: str, statement: str, form: str) -> str:
    end = "" if "##" in statement else ";"
    if form == "set":
        return f"set {path} {statement.replace(';', '')}\n"
    if form == "patch":
        return f"[edit {path}]\n+   {statement}{end}\n"
    sign = "+ " if form == "added" else ""
    words = path.split()
    opened = "".join(f"{sign}{word} {{\n" for word in words)
    return f"{opened}{sign}{statement}{end}\n" + f"{sign}}}\n" * len(words)


@given(st.lists(st.tuples(st.sampled_from(STATEMENTS), VALUES, st.sampled_from(("set", "patch", "added", "curly")))))
def test_no_secret_of_a_generated_configuration_survives(rows: list[tuple[tuple[str, str], str, str]]) -> None:
    """Each text is of one form; what stands around a secret does not hide it."""
    for form in ("set", "patch", "added", "curly"):
        text = "".join(
            written(path, statement.format(value), form) + (f"set {HARMLESS[1]}\n" if form == "set" else "")
            for (path, statement), value, own in rows
            if own == form
        )
        done = redact(text)
        assert not [value for _, value, own in rows if own == form and value in done]


COMMANDS = (
    *(f"set {path} {statement}" for path, statement in STATEMENTS[:-1]),
    *(f"{verb} {path}" for verb in ("set", "delete") for path in HARMLESS),
    'set interfaces et-0/0/0 description "the password is; {} [a] # b"',
    "set policy-options policy-statement p from community {}",
    "community {}",
    "+set snmp community {}",
    "set snmp {{ community {}; }}",
    "set a /* b",
    'set system login message "the password',
    "",
)


@given(st.lists(st.tuples(st.sampled_from(COMMANDS), VALUES)))
def test_a_command_by_itself_shows_what_it_shows_among_others(rows: list[tuple[str, str]]) -> None:
    text = "\n".join(command.format(value) for command, value in rows)
    assert sorted(set(_spans(text))) == sorted(set(_Secrets(text).spans()))


def test_a_push_is_commands_by_themselves() -> None:
    pushed = "".join(f"{command}\n".format("Q123456") for command in COMMANDS[:-6])
    assert ALONE.fullmatch(pushed)
    assert len(set(_spans(pushed))) == len(STATEMENTS) - 1
    assert not [one for one in COMMANDS[-5:] if ALONE.fullmatch(f"{pushed}{one}\n{pushed}")]


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ('archive-sites { "ftp://me:S3CRET@10.0.0.1/x"; }', 'archive-sites { "ftp://me:***@10.0.0.1/x"; }'),
        ("set system url https://me:S3CRET@host:8443/x?y=1", "set system url https://me:***@host:8443/x?y=1"),
        ("scp://me:S3/CR@ET@host:/var/log;", "scp://me:***@host:/var/log;"),
        ('+  url "http://:S3 CR;ET@host"; x://a:b@c', '+  url "http://:***@host"; x://a:***@c'),
        ("<name>sftp://me:S3CRET@host</name>", "<name>sftp://me:***@host</name>"),
        ("ftp://me@host:21/x; http://host:80/y;", "ftp://me@host:21/x; http://host:80/y;"),
    ],
)
def test_passwords_in_urls(text: str, done: str) -> None:
    assert redact(text) == done


@pytest.mark.parametrize(
    "before", ["", "+", "-", "+ ", "- ", "!", "x;", "x{", "{ ", "[edit x]\n", "x\n", "x ", "<", "\t"]
)
@pytest.mark.parametrize("word", sorted(SECRET_WORDS))
def test_every_word_that_tells_a_secret_wherever_it_stands(before: str, word: str) -> None:
    assert "hunter2" not in redact(f"{before}{word} hunter2;")


@pytest.mark.parametrize(
    "text", ["set protocols ospf md5 1 key hunter2", "snmp{community hunter2;}", "x {\n  y hunter2; ## SECRET-DATA\n}"]
)
def test_words_that_tell_a_secret_at_some_places(text: str) -> None:
    assert "hunter2" not in redact(text)


TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'|//[^\n]*|/\*.*?\*/|[{};]|[^\s{};"\']+', re.DOTALL)
LEVELS = ("container", "list", "leaf", "leaf-list", "grouping")
# What `authentication` and `key` are below is in another grouping, and ssh's own `key` names a file.
MODELS = "yang/24.4R1-EVO"


def leaves(text: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Iterate over the unreadable leaves of a model: the names around each, and whether its own name is written."""
    stack: list[list[str]] = []
    words: list[str] = []
    bare = False
    for found in TOKEN.finditer(text):
        token = found[0]
        if token.startswith(("//", "/*")):
            continue
        if token == "{":
            stack.append(words)
            words, bare = [], False
        elif token == "}":
            stack.pop()
            words = []
        elif token == ";":
            bare = bare or words[:2] == ["junos:cli-feature", "nokeyword"]
            if words[:1] == ["type"] and words[1].endswith("unreadable"):
                yield tuple(row[1] for row in stack if row[0] in LEVELS), bare
            words = []
        else:
            words.append(token.strip('"'))


@cache
def unreadable() -> frozenset[tuple[tuple[str, ...], bool]]:
    """Return the unreadable leaves of all models."""
    texts = (path.read_text() for path in need_shared(MODELS).glob("*.yang"))
    return frozenset(row for text in texts if "unreadable" in text for row in leaves(text))


def test_the_models_have_unreadable_leaves() -> None:
    assert len({path[-1] for path, _ in unreadable()}) == 21


@pytest.mark.parametrize("form", ["set {}\n", "[edit]\n-  {};\n", "error: syntax error: '{}'", "invalid value in ({})"])
def test_every_unreadable_leaf_is_a_secret(form: str) -> None:
    for path, bare in unreadable():
        words = " ".join(path[-4:-1] if bare else path[-4:])
        assert "hunter2" not in redact(form.format(f'{words} "hunter2"')), words
        if path[-1] not in BELOW and path[-1] != "value":
            assert "hunter2" not in redact(form.format(f"{words} hunter2")), words


@pytest.mark.parametrize(
    "text",
    [
        "set system ntp trusted-key 1",
        "set protocols bgp group g authentication-key-chain kc",
        "set security authentication-key-chains key-chain kc key 1 start-time now",
        "set system login password minimum-length 12",
        "set system services ssh root-login deny-password",
        "set forwarding-options enhanced-hash-key ecmp-dlb flowlet",
        "set snmp v3 usm local-engine user u authentication-none",
        "set system authentication-order password",
        "set system login user u authentication ssh-ed25519 public",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == text
