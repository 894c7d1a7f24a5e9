"""`--report FORMAT[=FILE]`: what every verb takes, and where it goes."""

from pathlib import Path

import pytest

from ailb_gen.cli.reports import targets, write_reports
from ailb_gen.errors import OutputError, UsageError

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
        (["html=a", "html=./a"], "is written to, or read from, twice"),
        (["html=in.yaml"], "is written to, or read from, twice"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(words: list[str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        targets(words, [Path("in.yaml")], ONLY)


@pytest.mark.parametrize("name", ["topology.json", "cabling.csv", "switches/spine1.conf", "servers/a/x", "profiles/p"])
def test_no_report_replaces_a_generated_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "profiles" / "p").mkdir(parents=True)
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "a").symlink_to("../profiles/p")
    with pytest.raises(UsageError, match="belongs to the generated files; name another file"):
        targets([f"html={tmp_path / name}"], [Path("in.yaml"), tmp_path], ONLY)


def test_a_report_may_lie_beside_the_generated_files(tmp_path: Path) -> None:
    assert targets([f"html={tmp_path / 'a.html'}"], [tmp_path], ONLY) == [("html", tmp_path / "a.html")]


def test_what_cannot_be_written_is_said_when_the_others_are(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path
    with pytest.raises(OutputError, match="cannot write the report"):
        write_reports([("html", bad), ("json", good)], {"html": lambda: "a", "json": lambda: "b"})
    assert good.read_text() == "b"
