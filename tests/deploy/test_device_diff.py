"""What a push changes, told to people: what goes with what it holds, a value as old and new, what was never ours."""

from typing import Any

import pytest

from ailb_gen.deploy.device_diff import Edit, edit_of, edits_of, switch_diff
from ailb_gen.emulator.load_config import load, load_set
from ailb_gen.emulator.source import factory
from ailb_gen.junos.diff import diff
from ailb_gen.junos.reader import read
from ailb_gen.junos.writer import to_curly
from ailb_gen.redact.text import redact
from tests.deploy import lab
from tests.deploy.test_planning import LEAF, Fake, aim


def told(first: str, second: str) -> tuple[Edit, ...]:
    running = read(first)
    changes = tuple(diff(running, read(second)))
    shown = redact("".join(f"{change}\n" for change in changes)).splitlines()
    return tuple(map(edit_of, edits_of(running, changes, shown)))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a { mtu 1; }", "a { mtu 2; }", Edit("replace", "a mtu", "1", "2")),
        (
            "a { description x; }",
            'a { description "two words"; }',
            Edit("replace", "a description", "x", '"two words"'),
        ),
        ("a;", "a; b { c; }", Edit("add", "b c")),
        ("a; b { c; d { e; } }", "a;", Edit("remove", "b", held=("b c", "b d e"), block=True)),
        (
            "p { term a { then reject; } term b; }",
            "p { term b; }",
            Edit("remove", "p term a", held=("p term a then reject",), block=True),
        ),
        ("x { unit 0; unit 1; }", "x { unit 0; }", Edit("remove", "x unit 1", block=True)),
        ("p { export [ a b ]; }", "p { export a; }", Edit("remove", "p export b")),
        ("p { term a; term b; }", "p { term b; term a; }", Edit("other", "insert p term b before term a")),
        ("a { b; }", "inactive: a { b; }", Edit("other", "deactivate a")),
    ],
)
def test_edits(first: str, second: str, expected: Edit) -> None:
    assert told(first, second) == (expected,)


def test_counts_are_of_statements() -> None:
    found = told("a { b; c; } m { mtu 1; }", "m { mtu 2; x; y; }")
    assert sum(edit.added for edit in found) == 3
    assert sum(edit.removed for edit in found) == 3


def test_secrets_stay_secret() -> None:
    kept, gone = 'group a { authentication-key "$9$old-secret"; }', 'group b { authentication-key "$9$other"; }'
    found = told(f"protocols {{ bgp {{ {kept} {gone} }} }}", f"protocols {{ bgp {{ {kept.replace('old', 'new')} }} }}")
    assert {edit.kind for edit in found} == {"replace", "remove"}
    assert "secret" not in str(found) and "$9$other" not in str(found)


def test_a_message_of_several_lines() -> None:
    found = told('system { login { message "one\ntwo"; } x; }', "system { y; }")
    assert [(edit.kind, len(edit.held)) for edit in found] == [("remove", 1), ("remove", 0), ("add", 0)]


FOREIGN = """set protocols bgp group CUSTOMER neighbor 10.0.0.1 peer-as 65000
set policy-options policy-statement OLD then reject"""


@pytest.mark.parametrize(
    ("log", "commands", "foreign"),
    [
        ("", FOREIGN, {"protocols bgp group CUSTOMER", "policy-options policy-statement OLD"}),
        ("ailb-gen 7 wave 1", FOREIGN, set()),
        ("", "set interfaces irb unit 2 family inet6 mtu 1500", set()),
        (
            "",
            "set interfaces et-0/0/0 unit 0 family inet address 10.0.0.1/31",
            {"interfaces et-0/0/0 unit 0 family inet"},
        ),
        ("somebody", "set interfaces et-0/0/63 unit 0 family inet", {"interfaces et-0/0/63"}),
        ("", "set system syslog host 10.0.0.1 any any", set()),
    ],
)
def test_what_was_never_ours(log: str, commands: str, foreign: set[str]) -> None:
    running, _ = load_set(load(factory(LEAF, "admin"), read(lab.text_of(LEAF)), "merge"), commands)
    switch: Any = Fake(to_curly(running), log=log)
    found = switch_diff(LEAF, aim(LEAF), switch)
    assert {edit.statement for edit in found.foreign} == foreign
