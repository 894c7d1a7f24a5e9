"""`ailb-gen junos convert`, `diff` and `check` as a user runs them."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.verbs import Told, refused, run
from tests.conftest import ROOT, need_shared
from tests.junos.models import MODELS

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


def checked(*words: str | Path) -> Told:
    models = () if "--yang" in words else ("--yang", str(need_shared(MODELS)))
    return run("junos", "check", *map(str, words), *models)


def wrong_file(tmp_path: Path) -> Path:
    path = tmp_path / "leaf.conf"
    path.write_text(
        "interfaces {\n    et-0/0/0 {\n        mtuu 9000;\n        speed 401g;\n    }\n}\n"
        "protocols {\n    bgp {\n        fabric-advertise {\n            route fc00::/64 {\n"
        "                backup-color blue;\n            }\n        }\n    }\n}\n"
        "routing-instances {\n    a {\n        interface x;\n        interface y;\n    }\n}\n"
    )
    return path


def test_a_clean_file() -> None:
    code, out, _ = checked(LEAF)
    assert code == 0
    [line] = out.splitlines()
    assert line.startswith("1 file, ")
    assert line.endswith(" constraints evaluated, 0 not: 0 findings")


def test_findings_read_like_those_of_a_compiler(tmp_path: Path) -> None:
    path = wrong_file(tmp_path)
    code, out, _ = checked(path, LEAF)
    assert code == 1
    *lines, summary = out.splitlines()
    assert lines[0] == (
        f"{path}:3: error[AILB901]: interfaces et-0/0/0 mtuu: there is no such statement; did you mean 'mtu'?"
    )
    assert lines[1].startswith(f"{path}:4: error[AILB902]: interfaces et-0/0/0 speed 401g: '401g' is not one of auto, ")
    assert lines[2] == (
        f"{path}:11: error[AILB906]: protocols bgp fabric-advertise route fc00::/64 backup-color blue: the commit "
        'constraint (".. color") does not hold (backup-color can only be configured together with color)'
    )
    assert lines[3] == f"{path}:16: note[AILB907]: no model for routing-instances: 2 statements not checked"
    assert len(lines) == 4
    assert summary.startswith("2 files, ")
    assert summary.endswith(" evaluated, 0 not, 2 statements without a model: 3 findings")


def test_check_as_json(tmp_path: Path) -> None:
    path = wrong_file(tmp_path)
    code, out, _ = checked(path, "--json")
    assert code == 1
    document = json.loads(out)
    [file] = document["files"]
    assert file["file"] == str(path)
    assert [(one["check"], one["kind"], one["line"]) for one in file["findings"]] == [
        ("AILB901", "unknown", 3),
        ("AILB902", "enumeration", 4),
        ("AILB906", "must", 11),
    ]
    assert file["findings"][0]["path"] == ["interfaces", "et-0/0/0", "mtuu"]
    assert file["unmodeled"] == {"routing-instances": 2}
    assert document["totals"]["evaluated"] == file["evaluated"] > 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.conf", "No such file"),
        (".", "Is a directory"),
        ("binary", "not UTF-8"),
        ("open.conf", "'{' is never closed"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "open.conf").write_text("system {")
    refused(checked(tmp_path / name), message)


def test_without_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AILB_YANG", raising=False)
    refused(run("junos", "check", str(LEAF)), "--yang")
    refused(checked(LEAF, "--yang", tmp_path), "junos-conf-root")


def test_the_environment_names_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AILB_YANG", str(need_shared(MODELS)))
    assert run("junos", "check", str(LEAF))[0] == 0


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The shared models without what BGP-DPF added, as those of an older release."""
    folder = tmp_path / "older"
    folder.mkdir()
    for path in need_shared(MODELS).iterdir():
        text = path.read_text(encoding="utf-8")
        while found := re.search(r"(?:container fabric-advertise|leaf fabric-color) \{", text):
            end, depth = found.end(), 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            text = text[: found.start()] + text[end:]
        (folder / path.name).write_text(text, encoding="utf-8")
    return folder


def test_models_of_an_older_release_are_recognized_once(older: Path, tmp_path: Path) -> None:
    switches = sorted(LEAF.parent.glob("*.conf"))
    code, out, _ = checked("--yang", older, *switches)
    assert code == 1
    line, summary = out.splitlines()
    assert "error[AILB908]" in line
    assert "these models lack BGP-DPF (fabric-advertise, fabric-color)" in line
    assert "use the models of 25.4R1 or later, or those of 23.4X100-D4x for the QFX5240" in line
    assert line.endswith(f"({len(switches)} devices)")
    assert summary.endswith(": 1 finding")
    broken = tmp_path / "broken.conf"
    broken.write_text(LEAF.read_text().replace("mtu 9216;", "mtuu 9216;", 1))
    code, out, _ = checked("--yang", older, broken)
    assert [line.split("[")[1][:7] for line in out.splitlines()[:-1]] == ["AILB901", "AILB908"]


def test_what_stands_in_the_wrong_place_is_no_older_release(tmp_path: Path) -> None:
    path = tmp_path / "leaf.conf"
    path.write_text("protocols {\n    fabric-color green;\n}\n")
    _, out, _ = checked(path)
    assert "AILB901" in out and "AILB908" not in out
