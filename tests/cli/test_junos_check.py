import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ailb_gen.cli.junos_check import check
from ailb_gen.errors import JunosSyntaxError, UsageError
from tests.conftest import ROOT, need_shared
from tests.junos.models import MODELS

APP = typer.Typer()
APP.command()(check)
LEAF = ROOT / "tests/golden/lab/switches/stripe1-leaf1.conf"


def _run(*words: str) -> tuple[int, str]:
    models = [] if "--yang" in words else ["--yang", str(need_shared(MODELS))]
    done = CliRunner().invoke(APP, [*words, *models], catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def _wrong(tmp_path: Path) -> Path:
    path = tmp_path / "leaf.conf"
    path.write_text(
        "interfaces {\n    et-0/0/0 {\n        mtuu 9000;\n        speed 401g;\n    }\n}\n"
        "protocols {\n    bgp {\n        fabric-advertise {\n            route fc00::/64 {\n"
        "                backup-color blue;\n            }\n        }\n    }\n}\n"
        "routing-instances {\n    a {\n        interface x;\n        interface y;\n    }\n}\n"
    )
    return path


def test_a_clean_file() -> None:
    code, out = _run(str(LEAF))
    assert code == 0
    [line] = out.splitlines()
    assert line.startswith("1 file, ")
    assert line.endswith(" constraints evaluated, 0 not: 0 findings")


def test_findings_read_like_those_of_a_compiler(tmp_path: Path) -> None:
    path = _wrong(tmp_path)
    code, out = _run(str(path), str(LEAF))
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


def test_json(tmp_path: Path) -> None:
    path = _wrong(tmp_path)
    code, out = _run(str(path), "--json")
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


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        _run(str(tmp_path / "none.conf"))
    with pytest.raises(UsageError, match="Is a directory"):
        _run(str(tmp_path))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(JunosSyntaxError, match="not UTF-8"):
        _run(str(tmp_path / "binary"))
    (tmp_path / "open.conf").write_text("system {")
    with pytest.raises(JunosSyntaxError):
        _run(str(tmp_path / "open.conf"))


def test_without_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AILB_YANG", raising=False)
    done = CliRunner().invoke(APP, [str(LEAF)])
    assert isinstance(done.exception, UsageError)
    assert "--yang" in str(done.exception)
    done = CliRunner().invoke(APP, [str(LEAF), "--yang", str(tmp_path)])
    assert isinstance(done.exception, UsageError)
    assert "junos-conf-root" in str(done.exception)


def test_the_environment_names_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AILB_YANG", str(need_shared(MODELS)))
    assert CliRunner().invoke(APP, [str(LEAF)]).exit_code == 0


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
    code, out = _run("--yang", str(older), *map(str, switches))
    assert code == 1
    line, summary = out.splitlines()
    assert "error[AILB908]" in line
    assert "these models lack BGP-DPF (fabric-advertise, fabric-color)" in line
    assert "use the models of 25.4R1 or later, or those of 23.4X100-D4x for the QFX5240" in line
    assert line.endswith(f"({len(switches)} devices)")
    assert summary.endswith(": 1 finding")
    broken = tmp_path / "broken.conf"
    broken.write_text(LEAF.read_text().replace("mtu 9216;", "mtuu 9216;", 1))
    code, out = _run("--yang", str(older), str(broken))
    assert [line.split("[")[1][:7] for line in out.splitlines()[:-1]] == ["AILB901", "AILB908"]


def test_what_stands_in_the_wrong_place_is_no_older_release(tmp_path: Path) -> None:
    path = tmp_path / "leaf.conf"
    path.write_text("protocols {\n    fabric-color green;\n}\n")
    _, out = _run(str(path))
    assert "AILB901" in out and "AILB908" not in out
