"""How an extra is installed: from where this installation came, for every origin that pip records."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ailb_gen import optional
from ailb_gen.optional import how_to_install
from tests.conftest import EXAMPLES, ROOT

URL = "https://example.net/ailb-gen"


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ({"url": "file:///home/kim/ailb-gen", "dir_info": {}}, "pip install '/home/kim/ailb-gen[sim]'"),
        (
            {"url": "file:///home/kim/my%20work/ailb-gen", "dir_info": {"editable": True}},
            "pip install '/home/kim/my work/ailb-gen[sim]'",
        ),
        (
            {"url": URL, "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": "a1b2"}},
            f"pip install 'ailb-gen[sim] @ git+{URL}@a1b2'",
        ),
        (
            {"url": f"{URL}/ailb_gen-1-py3-none-any.whl", "archive_info": {}},
            f"pip install 'ailb-gen[sim] @ {URL}/ailb_gen-1-py3-none-any.whl'",
        ),
        (None, "in the checkout: pip install '.[sim]'"),
    ],
    ids=["checkout", "editable", "git", "wheel", "unknown"],
)
def test_where_it_came_from(origin: Any, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(optional, "distribution", lambda name: SimpleNamespace(read_text=lambda file: record))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert how_to_install("sim") == told


@pytest.mark.parametrize(
    ("file", "told"),
    [("pipx_metadata.json", "pipx install --force '"), ("uv-receipt.toml", "uv tool install --force '")],
)
def test_of_programs_with_environments_of_their_own(
    file: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert how_to_install("sim").startswith(told)


def test_of_an_environment_that_is_not_activated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever `pip` is first on the PATH would install elsewhere."""
    (tmp_path / "pip").touch(0o755)
    for path in (tmp_path, tmp_path / "nowhere"):
        monkeypatch.setenv("PATH", str(path))
        assert how_to_install("sim").startswith(f"{shlex.quote(sys.executable)} -m pip install '")


def test_pip_accepts_what_is_told() -> None:
    """This installation is one from a checkout."""
    assert how_to_install("sim").endswith(f"pip install '{ROOT}[sim]'")
    words = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*words, f"{ROOT}[sim]"], check=True, capture_output=True)


FABRIC, FILES = str(EXAMPLES / "lab/fabric.yaml"), str(ROOT / "tests/golden/lab")
SIMULATE = ("simulate", FABRIC, FILES, "--bytes", "1M", "--collective", "permutation", "--balancer")
EMULATE = ("emulate", FILES, "--inventory", "no-such-folder")
WHAT_IF = str(EXAMPLES / "study/jvd.yaml")


def without(module: str, *words: str) -> tuple[int, str]:
    """Return the exit code and the errors of the program in a Python that lacks a module."""
    code = f"import sys; sys.modules[{module!r}] = None; from ailb_gen.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("module", "extra", "words"),
    [
        ("numba", "sim", (*SIMULATE, "ecmp")),
        ("pyarrow", "sim", (*SIMULATE, "ecmp")),
        ("numba", "study", ("study", "recovery", "--quick")),
        ("matplotlib", "study", ("study", "recovery", "--quick", "-o", "no-such-folder")),
        ("numba", "study", ("study", "what-if", WHAT_IF, "--quick")),
        ("pybatfish", "batfish", ("validate", FABRIC, FILES, "--batfish", "localhost")),
        ("pybatfish", "batfish", ("batfish", "clean", "localhost")),
        ("distributed", "dask", ("validate", FABRIC, FILES, "--executor", "dask:localhost:1")),
        ("reportlab", "print", ("export", "racks-pdf", FABRIC)),
        ("distributed", "dask", (*SIMULATE, "ecmp", "--executor", "dask:localhost:1")),
        ("grpc", "gnmi", (*EMULATE, "--gnmi-port", "0")),
        ("pygnmi", "gnmi", (*EMULATE, "--gnmi-port", "0")),
        ("prometheus_client", "watch", ("watch", FABRIC, FILES, "--listen", "0")),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else value,
)
def test_a_verb_without_its_extra(module: str, extra: str, words: tuple[str, ...]) -> None:
    code, err = without(module, *words)
    assert code == 3, err
    assert "is not installed" in err
    assert f"-m pip install '{ROOT}[{extra}]'" in err or f"; pip install '{ROOT}[{extra}]'" in err
    assert not (ROOT / "no-such-folder").exists()


@pytest.mark.parametrize(
    ("module", "words", "told"),
    [
        ("pyarrow", ("study", "nosuch"), "there is no study 'nosuch'"),
        ("numba", ("study", "recovery", "--report", "pdf=x"), "unknown format"),
        ("numba", ("study", "what-if", "no-such-file"), "no-such-file"),
        ("numba", (*SIMULATE, "nosuch"), "there is no load balancer 'nosuch'"),
        ("numba", (*SIMULATE, "ecmp", "--report", "pdf=x"), "unknown format"),
        ("numba", (*SIMULATE, "ecmp", "--executor", "nosuch"), "--executor 'nosuch'"),
        ("pybatfish", ("validate", FABRIC, FILES, "--batfish", "localhost", "--checks", "nosuch"), "'nosuch'"),
        ("pybatfish", ("validate", FABRIC, FILES, "--batfish", "localhost", "--report", "pdf=x"), "unknown format"),
    ],
)
def test_a_bad_argument_is_reported_before_a_missing_extra(module: str, words: tuple[str, ...], told: str) -> None:
    code, err = without(module, *words)
    assert code == 2, err
    assert told in err
    assert "is not installed" not in err


def test_studies_are_listed_without_an_extra() -> None:
    for module in ("numba", "pyarrow", "matplotlib"):
        assert without(module, "study", "--list") == (0, "")


def test_no_page_and_no_message_installs_by_name() -> None:
    """A name is looked up in an index, where it is nobody's, or somebody else's."""
    folders = ("ailb_gen", "docs", "examples", "inventory", "templates")
    files = [ROOT / "README.md", *(path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())]
    texts = {path: path.read_bytes().replace(b"uninstall", b"") for path in files}
    by_name = [b"install ailb-gen", b"install 'ailb-gen", b'install "ailb-gen', b"install --quiet 'ailb-gen"]
    assert [str(path) for path, text in texts.items() if any(name in text for name in by_name)] == []
