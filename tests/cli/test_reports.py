"""`--report FORMAT[=FILE]`: what every verb takes, and where it goes."""

import shutil
from functools import reduce
from pathlib import Path

import pytest

from ailb_gen.cli.reports import check_place, targets, write_reports
from ailb_gen.errors import OutputError, UsageError
from tests.cli.verbs import run
from tests.conftest import ROOT

FABRIC, GOLDEN = str(ROOT / "examples/lab/fabric.yaml"), ROOT / "tests/golden/lab"

FINDINGS = ("table", "json", "html")
ONLY = ("html",)


def test_a_table_goes_to_standard_output_unless_something_else_does() -> None:
    assert targets([], [], FINDINGS) == [("table", None)]
    assert targets(["json"], [], FINDINGS) == [("json", None)]
    assert targets(["html=a.html"], [], FINDINGS) == [("html", Path("a.html")), ("table", None)]


def test_a_verb_with_text_of_its_own_writes_reports_to_files() -> None:
    assert targets([], [], ONLY) == []
    assert targets(["html=a.html"], [], ONLY) == [("html", Path("a.html"))]
    for word in ("html", "html=-"):
        with pytest.raises(UsageError, match="name a file: html=FILE"):
            targets([word], [], ONLY)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["htm=x"], "did you mean 'html'"),
        (["json=x"], "formats: html"),
        (["html="], "the name of the file is missing"),
        (["html=a", "html=./a"], "is written to twice"),
        (["html=/"], "--report html: / is a directory; name a file"),
        (["html=in.yaml"], "in.yaml is used by this command already; name another file"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(words: list[str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        targets(words, [Path("in.yaml")], ONLY)


def test_links_in_a_circle_fail_where_they_are_used(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    assert targets([f"html={loop}"], [tmp_path / "in.yaml"], ONLY) == [("html", loop)]
    with pytest.raises(UsageError, match="is used by this command already"):
        targets([f"html={loop}"], [loop], ONLY)


@pytest.mark.parametrize("name", ["topology.json", "cabling.csv", "switches/spine1.conf", "servers/a/x", "profiles/p"])
def test_no_report_replaces_a_generated_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "profiles" / "p").mkdir(parents=True)
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "a").symlink_to("../profiles/p")
    with pytest.raises(UsageError, match="belongs to the generated files; name another file"):
        targets([f"html={tmp_path / name}"], [Path("in.yaml"), tmp_path], ONLY)


WRITING = [
    ("draw", "FABRIC", "TREE", "-o", "TREE/switches/spine1.svg"),
    ("plan", "FABRIC", "TREE", "-o", "TREE/topology.json"),
    ("plan", "FABRIC", "TREE", "--exit-code", "--report", "html=TREE/cabling.csv"),
    ("collect", "FABRIC", "-o", "TREE/state/found"),
    ("simulate", "FABRIC", "TREE", "--bytes", "1M", "-o", "TREE/switches/results"),
    ("study", "balancers", "-o", "TREE/servers/results"),
    ("study", "balancers", "--report", "html=TREE/manifest.json"),
    ("batfish", "snapshot", "TREE", "-o", "TREE/profiles/snapshot"),
    ("init", "TREE/topology.json", "--force", "--yes"),
]


@pytest.mark.parametrize("words", WRITING, ids=lambda words: f"{words[0]} {words[-1]}")
def test_no_option_of_any_verb_replaces_a_generated_file(words: tuple[str, ...], tmp_path: Path) -> None:
    tree = tmp_path / "lab"
    tree.mkdir()
    for name in ("manifest.json", "topology.json"):
        shutil.copy(GOLDEN / name, tree)
    before = {path: path.read_bytes() for path in tree.rglob("*")}
    paths = {"FABRIC": FABRIC, "TREE": str(tree)}
    code, out, error = run(*(reduce(lambda word, name: word.replace(name, paths[name]), paths, word) for word in words))
    assert (code, out) == (1 if "--exit-code" in words else 2, "")
    assert "belongs to the generated files; name another file" in error
    assert {path: path.read_bytes() for path in tree.rglob("*")} == before


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_no_option_of_a_push_replaces_the_inventory(option: str, tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text("spine1: {hostname: 127.0.0.1}")
    word = str(file) if option == "-o" else f"html={file}"
    code, _, error = run("plan", FABRIC, str(GOLDEN), "-i", str(tmp_path), option, word)
    assert code == 2
    assert f"{file} is used by this command already; name another file" in error
    assert file.read_text() == "spine1: {hostname: 127.0.0.1}"


def test_a_manifest_of_another_program_makes_no_generated_files(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    check_place("-o", tmp_path / "state" / "a.svg")


def test_a_report_may_lie_beside_the_generated_files(tmp_path: Path) -> None:
    assert targets([f"html={tmp_path / 'a.html'}"], [tmp_path], ONLY) == [("html", tmp_path / "a.html")]


def test_what_cannot_be_written_is_said_when_the_others_are(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path
    with pytest.raises(OutputError, match="cannot write the report"):
        write_reports([("html", bad), ("json", good)], {"html": lambda: "a", "json": lambda: "b"})
    assert good.read_text() == "b"


@pytest.mark.parametrize("mode", [None, 0o644])
def test_nobody_else_can_read_an_html_report(mode: int | None, tmp_path: Path) -> None:
    page, other = tmp_path / "page.html", tmp_path / "report.json"
    for path in (page, other):
        if mode is not None:
            path.touch()
            path.chmod(mode)
    write_reports([("html", page), ("json", other)], {"html": lambda: "<p>", "json": lambda: "{}"})
    assert page.stat().st_mode & 0o777 == 0o600
    assert other.stat().st_mode & 0o044
