"""Nothing that a device or a file says steers a terminal."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.cli.visible import colored, exact, painter, plain, show, visible
from ailb_gen.paint import Style, painted, unpainted
from tests.conftest import ROOT, Cli

HOSTILE = "a\x1b[2Jb\x07\rc\x9b31md\u202ee\u2066f\x7f\x00\u200bg"


def test_what_is_written_out() -> None:
    shown = visible(HOSTILE)
    assert shown == "a\\u001b[2Jb\\u0007\\u000dc\\u009b31md\\u202ee\\u2066f\\u007f\\u0000\\u200bg"
    assert visible("one\n\ttwo grün\n") == "one\n\ttwo grün\n"
    assert visible("\U000e0041") == "\\udb40\\udc41"


@given(st.text())
def test_any_text(text: str) -> None:
    shown = visible(text)
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert visible(shown) == shown


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5))
def test_a_json_document_says_the_same(value: object) -> None:
    assert json.loads(visible(json.dumps(value, ensure_ascii=False))) == value


def test_streams() -> None:
    behind = io.StringIO()
    stream = plain(behind)
    assert plain(stream) is stream
    assert exact(stream) is behind
    assert exact(behind) is behind
    print(HOSTILE, file=stream)
    stream.writelines(["x\r", "y"])
    assert behind.getvalue() == f"{visible(HOSTILE)}\nx\\u000dy"


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        (Terminal(), {"TERM": "xterm"}, True),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": "0"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {}, False),
        (io.StringIO(), {"TERM": "xterm"}, False),
    ],
)
def test_colors_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, environment: dict[str, str], expected: bool
) -> None:
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert colored(stream) is expected
    assert painter(stream) is (painted if expected else unpainted)


@pytest.mark.parametrize("style", Style)
def test_styles_are_shown_and_nothing_else_has_an_effect(monkeypatch: pytest.MonkeyPatch, style: Style) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    behind = Terminal()
    show(f"{painted('a', style)} {HOSTILE} \x1b[4mb\n", plain(behind))
    assert behind.getvalue() == f"\x1b[{style}ma\x1b[0m {visible(HOSTILE)} \\u001b[4mb\n"
    pipe = io.StringIO()
    show(f"a {HOSTILE}\n", plain(pipe))
    assert pipe.getvalue() == f"a {visible(HOSTILE)}\n"


@pytest.mark.parametrize(
    "words",
    [
        ("explain", HOSTILE.replace("\0", "")),
        ("junos", "check", "x.conf"),
        ("generate", "fabric.yaml", "-o", "out"),
        ("junos", "diff", "x.conf", "y.conf"),
    ],
)
def test_no_verb_prints_what_steers(cli: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    quoted = HOSTILE.replace("\0", "").replace("\r", "")
    (tmp_path / "x.conf").write_text(f'system {{ location {{ building "{quoted}"; }} }}\n')
    (tmp_path / "y.conf").write_text(f'system {{ location {{ building "{quoted}y"; }} }}\n')
    (tmp_path / "fabric.yaml").write_text(f'name: "\\e[2J\\u202e"\nspinez: "{1}"\n')
    told = "".join(cli(*words)[1:])
    assert told
    assert visible(told) == told


def test_a_document_into_a_file_stays_as_it_is(cli: Cli, tmp_path: Path) -> None:
    text = 'system {\n    location {\n        building "a\u202eb";\n    }\n}\n'
    (tmp_path / "x.conf").write_text(text)
    assert cli("junos", "convert", "x.conf", "--to", "curly") == (0, text, "")


def test_steady_streams_are_plain_as_well() -> None:
    code = (
        "import sys\nfrom ailb_gen.cli.steady import steady\nfrom ailb_gen.cli.visible import plain_streams\n"
        "with plain_streams(), steady():\n    print('\\x1b[2J')\n    print('\\u202e', file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=ROOT)
    assert (done.stdout, done.stderr) == (b"\\u001b[2J\n", b"\\u202e\n")
