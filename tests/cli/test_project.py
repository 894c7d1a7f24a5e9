"""The project file: where it is found, what it gives to which argument, and what wins over it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from ailb_gen.cli.project import find_file, project
from ailb_gen.errors import UsageError
from tests.cli.verbs import refused
from tests.conftest import EXAMPLES, Cli, need_root
from tests.render.test_golden import GOLDEN

LAB = EXAMPLES / "lab" / "fabric.yaml"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """Give a directory with a fabric, its files and a project file, below one with a .git."""
    folder = tmp_path / "pod"
    folder.mkdir()
    (tmp_path / ".git").mkdir()
    shutil.copy(LAB, folder)
    shutil.copytree(GOLDEN / "lab", folder / "out", symlinks=True)
    (folder / "ailb.toml").write_text('fabric = "fabric.yaml"\nartifacts = "out"\n')
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "generate --check",
        "validate --checks AILB1*",
        "explain spine1",
        "export topology",
        "rib spine1",
        "fib spine1",
        "draw -o lab.svg",
        "batfish snapshot -o ../snapshots",
        "confirm",
        "deploy --dry-run",
        "drift",
    ],
)
def test_a_verb_needs_no_argument_that_the_file_gives(cli: Cli, inside: Path, words: str) -> None:
    """From the directory of the file and from one below it, as with all arguments."""
    below = inside / "sub" / "below"
    below.mkdir(parents=True)
    here, there = cli(*words.split(), cwd=inside), cli(*words.split(), cwd=below)
    for _, _, err in (here, there):
        assert "Missing" not in err
    assert here[0] == there[0]
    # These go on until they look for an inventory.
    wanted = "inventory" if words.split(maxsplit=1)[0] in ("confirm", "deploy", "drift") else ""
    assert wanted in here[2]
    assert here[0] == (2 if wanted else 0), here


def test_outside_what_is_missing_is_said_with_a_hint(cli: Cli, inside: Path, tmp_path: Path) -> None:
    refused(cli("validate"), "Missing argument 'FABRIC'. An ailb.toml can give it: ailb-gen config")
    (inside / "ailb.toml").write_text('fabric = "fabric.yaml"\n')
    refused(cli("validate", cwd=inside), "Missing argument 'ARTIFACTS'. ailb.toml has no key 'artifacts'")
    # No key gives these.
    assert "ailb.toml" not in cli("junos", "diff", cwd=tmp_path)[2]


def test_a_flag_wins_then_the_environment_then_the_file(
    cli: Cli, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def words(*given: str) -> str:
        code, out, err = cli("generate", "--json", "--check", *given, cwd=inside)
        assert code in (0, 1), err
        return Path(json.loads(out)["output"]).name

    assert words() == "out"
    monkeypatch.setenv("AILB_ARTIFACTS", "by-variable")
    assert words() == "by-variable"
    assert words("-o", "by-flag") == "by-flag"
    monkeypatch.setenv("AILB_FABRIC", "missing.yaml")
    refused(cli("explain", "spine1", cwd=inside), "missing.yaml")
    assert cli("explain", "fabric.yaml", "spine1", cwd=inside)[0] == 0


def test_one_argument_is_the_fabric_wherever_it_was(cli: Cli, inside: Path) -> None:
    """Also when that file does not exist: what is scripted keeps its meaning."""
    shutil.copy(inside / "fabric.yaml", inside / "other.yml")
    (inside / "nosuffix").write_text("nonsense: 1\n")
    assert cli("validate", "other.yml", "--checks", "AILB1*", cwd=inside)[0] == 0
    refused(cli("validate", "nosuffix", cwd=inside), "nosuffix:1:1: error[")
    refused(cli("validate", "gone.yaml", cwd=inside), "gone.yaml")
    for word in ("gone.yaml", "./gone", "nosuffix"):
        refused(cli("explain", word, cwd=inside), Path(word).name)
    assert cli("explain", "other.yml", cwd=inside) == cli("explain", cwd=inside)
    assert cli("explain", "other.yml", "spine1", cwd=inside) == cli("explain", "spine1", cwd=inside)
    refused(cli("explain", "gone.yaml", "spine1", cwd=inside), "gone.yaml")
    # A directory is no fabric file: the name of a device may be that of one.
    (inside / "spine1").mkdir()
    assert cli("explain", "spine1", cwd=inside)[0] == 0


def test_a_run_alone_is_a_run(cli: Cli, inside: Path) -> None:
    (inside / "inventory").mkdir()
    for file in ("hosts.yaml", "groups.yaml", "defaults.yaml"):
        (inside / "inventory" / file).write_text("{}\n")
    (inside / "ailb.toml").write_text('fabric = "fabric.yaml"\nartifacts = "out"\nstate = "kept"\n')
    alone, whole = (
        cli("rollback", *words, "-i", "inventory", cwd=inside) for words in (("7",), ("fabric.yaml", "out", "7"))
    )
    assert alone == whole
    assert "7" in alone[2]


def test_a_scenario_stays_a_scenario(cli: Cli, inside: Path) -> None:
    (inside / "scenario.yaml").write_text("nonsense: 1\n")
    refused(cli("simulate", "scenario.yaml", cwd=inside), "scenario.yaml:1:1: error[unknown-key]")
    refused(cli("simulate", cwd=inside), "--bytes is missing")


def test_the_nearest_file_holds_and_git_ends_the_search(tmp_path: Path) -> None:
    low = tmp_path / "a" / "b"
    low.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert find_file(low) is None
    (tmp_path / "ailb.toml").write_text("")
    assert find_file(low) == tmp_path / "ailb.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_file(low) == tmp_path / "ailb.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n[ tool . ailb ]\ncolor = 'never'\n")
    assert find_file(low) == tmp_path / "a" / "pyproject.toml"
    (tmp_path / "a" / "ailb.toml").write_text("")
    assert find_file(low) == tmp_path / "a" / "ailb.toml"
    # A dangling link is not passed over.
    (tmp_path / "a" / "ailb.toml").unlink()
    (tmp_path / "a" / "ailb.toml").symlink_to("nowhere")
    assert find_file(low) == tmp_path / "a" / "ailb.toml"
    # A worktree has a file of that name.
    (low / ".git").write_text("gitdir: elsewhere\n")
    assert find_file(low) is None


@pytest.mark.parametrize(
    "text", ["# see tool.ailb\n[project]\n", "tool = 3 # tool.ailb\n", "[tool.ailbx]\n", "[tool\nailb"]
)
def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text(text)
    assert find_file(tmp_path) is None


def test_a_broken_pyproject_with_the_table_is_an_error(cli: Cli, inside: Path) -> None:
    (inside / "ailb.toml").unlink()
    (inside / "pyproject.toml").write_text("[tool.ailb]\nfabric = fabric.yaml\n")
    refused(cli("config", cwd=inside), "pyproject.toml:2:10: error[toml-syntax]: not valid TOML: Invalid value")


def test_a_table_of_pyproject_gives_the_same(cli: Cli, inside: Path) -> None:
    expected = cli("explain", "spine1", cwd=inside)
    (inside / "ailb.toml").unlink()
    (inside / "pyproject.toml").write_text('[tool.ailb]\nfabric = "fabric.yaml"\n[tool.other]\nfabrik = 1\n')
    assert cli("explain", "spine1", cwd=inside) == expected


def test_reports_are_named_by_verb(cli: Cli, inside: Path) -> None:
    with (inside / "ailb.toml").open("a") as file:
        file.write('reports = ["json=seen/{verb}.json", "html=seen/{verb}.html"]\n')
    assert cli("validate", "--checks", "AILB1*", cwd=inside)[0] == 0
    assert {path.name for path in (inside / "seen").iterdir()} == {"validate.json", "validate.html"}
    assert cli("validate", "--checks", "AILB1*", "--report", "md=one.md", cwd=inside)[0] == 0
    assert (inside / "one.md").exists()
    # The report of a plan is a page only; no device is reached here.
    code, _, err = cli("plan", cwd=inside)
    assert (code, "inventory" in err, "unknown format" in err) == (2, True, False)


def test_help_does_not_read_the_file(cli: Cli, inside: Path) -> None:
    expected = cli("validate", "--help", cwd=inside)
    (inside / "ailb.toml").write_text("[[")
    assert cli("validate", "--help", cwd=inside) == expected
    refused(cli("validate", cwd=inside), "error[toml-syntax]")
    assert cli("plan", "--exit-code", cwd=inside)[0] == 1


@pytest.mark.parametrize("line", ["explain --json", "--verbose explain", "explain -v"])
def test_options_stand_anywhere(cli: Cli, inside: Path, line: str) -> None:
    code, out, err = cli(*line.split(), "spine1", cwd=inside)
    assert code == 0
    assert "spine1" in out
    assert ("project file: ailb.toml\n" in err) == ("-v" in line)


def test_completion_takes_the_directory_of_files_from_it(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import typer.main  # noqa: PLC0415

    from ailb_gen.cli import app, complete  # noqa: PLC0415

    monkeypatch.chdir(inside)
    root = typer.main.get_command(app)
    for words in (["validate"], ["rib"], ["generate"]):
        with root.make_context("ailb-gen", [*words], resilient_parsing=True) as ctx:
            name, command, rest = root.resolve_command(ctx, [*words])  # type: ignore[attr-defined]
            with command.make_context(name, rest, parent=ctx, resilient_parsing=True) as below:
                assert complete.switch(below, "spine") == [f"spine{number}" for number in range(1, 5)], words
                if words == ["validate"]:
                    (inside / "ailb.toml").write_text("[[")
                    assert complete.switch(below, "spine"), "it was read before"
        (inside / "ailb.toml").write_text('fabric = "fabric.yaml"\nartifacts = "out"\n')
    (inside / "ailb.toml").write_text("[[")
    with root.make_context("ailb-gen", ["rib"], resilient_parsing=True) as ctx:
        name, command, rest = root.resolve_command(ctx, ["rib"])  # type: ignore[attr-defined]
        with command.make_context(name, rest, parent=ctx, resilient_parsing=True) as below:
            assert complete.switch(below, "spine") == []


def test_a_file_above_that_belongs_to_somebody_else_is_not_used(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the directory of the file itself it is: whoever goes there means it, as with a Makefile."""
    need_root()
    below = inside / "below"
    below.mkdir()
    os.chown(inside / "ailb.toml", 4242, -1)
    monkeypatch.chdir(below)
    with pytest.raises(UsageError, match="belongs to another user"):
        project()
    monkeypatch.chdir(inside)
    assert project() is not None
    # A checkout of another user, as in a container: all of it is theirs.
    os.chown(below, 4242, -1)
    monkeypatch.chdir(below)
    assert project() is not None
