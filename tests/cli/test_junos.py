"""`ailb-gen junos convert` and `ailb-gen junos diff` as a user runs them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.cli.junos import app
from tests.conftest import ROOT

Cli = Callable[..., tuple[int, str, str]]
LEAF = ROOT / "tests" / "golden" / "lab" / "switches" / "stripe1-leaf1.conf"
CURLY = """\
groups {
    g {
        system {
            location here;
        }
    }
}
apply-groups g;
system {
    inactive: ntp;
    host-name a;
}
"""
LINES = """\
set groups g system location here
set apply-groups g
set system ntp
deactivate system ntp
set system host-name a
"""


def test_convert_there_and_back(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text(CURLY)
    assert cli("junos", "convert", "a.conf", "--to", "set") == (0, LINES, "")
    assert cli("junos", "convert", "-", "--to", "curly", stdin=LINES) == (0, CURLY, "")
    code, out, _ = cli("junos", "convert", "-", "--to", "json", stdin=LINES)
    assert code == 0 and json.loads(out)["system"] == {"@ntp": {"inactive": True}, "ntp": {}, "host-name": {"a": {}}}
    expanded = "set system host-name a\nset system location here\n"
    assert cli("junos", "convert", "a.conf", "--to", "set", "--expand-groups") == (0, expanded, "")


def test_convert_a_rendered_switch(cli: Cli) -> None:
    code, lines, _ = cli("junos", "convert", str(LEAF), "--to", "set")
    assert code == 0 and "set system host-name stripe1-leaf1\n" in lines
    code, out, err = cli("junos", "diff", str(LEAF), "-", stdin=lines)
    assert (code, out, err) == (0, "", "")


def test_diff(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text(CURLY)
    other = LINES.replace("host-name a", "host-name b").replace("deactivate system ntp\n", "")
    expected = "delete system host-name\nset system host-name b\nactivate system ntp\n"
    code, out, err = cli("junos", "diff", "a.conf", "-", stdin=other)
    assert (code, sorted(out.splitlines()), err) == (1, sorted(expected.splitlines()), "")
    code, out, _ = cli("junos", "diff", "a.conf", "-", "--json", stdin=other)
    assert code == 1
    result = json.loads(out)
    assert (result["first"], result["second"]) == ("a.conf", "-")
    assert {"command": "set system host-name b", "line": 4} in result["changes"]
    assert cli("junos", "diff", "a.conf", "a.conf")[:2] == (0, "")


@pytest.mark.parametrize(
    ("words", "stdin", "message"),
    [
        (["convert", "none", "--to", "set"], "", "ailb-gen: none: cannot be read: No such file or directory\n"),
        (["convert", ".", "--to", "set"], "", "ailb-gen: .: cannot be read: Is a directory\n"),
        (["convert", "-", "--to", "set"], "a {\n  b;\n", "ailb-gen: standard input:1:3: '{' is never closed\n"),
        (["diff", "-", "-"], "", "ailb-gen: standard input can be only one of the two configurations\n"),
    ],
)
def test_bad_input(cli: Cli, words: list[str], stdin: str, message: str) -> None:
    assert cli("junos", *words, stdin=stdin) == (2, "", message)


def test_help_fits_a_terminal(cli: Cli) -> None:
    for command in (*(command.name for command in app.registered_commands), None):
        code, out, _ = cli("junos", *([command] if command else []), "--help")
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80, out
