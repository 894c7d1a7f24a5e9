"""Every leaf that Juniper's models call unreadable is a secret: the names here are compared with the models."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from ailb_gen.redact.statements import BELOW
from ailb_gen.redact.text import redact
from tests.conftest import need_shared

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
    return frozenset(row for path in need_shared(MODELS).glob("*.yang") for row in leaves(path.read_text()))


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
