"""What all commands have in common: each option means the same everywhere, and help lists all by section."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import typer.main

from ailb_gen.cli import SECTIONS, app
from ailb_gen.cli.verb import verbs_of
from tests.cli.verbs import run
from tests.conftest import EXAMPLES, Cli
from tests.render.test_golden import GOLDEN

ROOT: Any = typer.main.get_command(app)
VERBS: dict[str, Any] = dict(verbs_of(ROOT))
JVD = str(EXAMPLES / "jvd" / "fabric.yaml")
# Spellings that stay for what is scripted, with the verbs that have them, and the option they stand for.
OLD = {
    "--out": ("--output", {"draw", "export", "plan", "collect", "batfish snapshot", "lab capture"}),
    "--inventory": ("--write-inventory", {"emulate", "lab up"}),
    "-i": ("--write-inventory", {"emulate", "lab up"}),
    "--links": ("--server-links", {"generate"}),
    "--no-links": ("--no-server-links", {"generate"}),
}
# Verbs that print no data: they write files, run a program, or print a document in a format of its own.
NO_DATA = {
    "init", "schema", "draw", "monitoring", "junos convert", "batfish snapshot", "lab down", "lab shell", "lab exec",
    "lab capture", "runs report",
}  # fmt: skip


def options(verb: str) -> list[Any]:
    return [param for param in VERBS[verb].params if param.param_type_name == "option"]


def test_each_option_has_one_meaning_type_and_help() -> None:
    meanings: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for verb in VERBS:
        for option in options(verb):
            for name in (*option.opts, *option.secondary_opts):
                new, verbs = OLD.get(name, ("", set()))
                if verb in verbs:
                    assert new in (*option.opts, *option.secondary_opts), (verb, name)
                    continue
                # It says what is written, and nothing else.
                told = re.sub(r"^Where to write the [a-z ]+\.$", "Where to write the result.", option.help)
                meanings[name][str(option.type_descriptor.annotation), told].append(verb)
    assert {name: dict(found) for name, found in meanings.items() if len(found) > 1} == {}


def test_every_argument_of_one_name_and_key_means_the_same() -> None:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for command in VERBS.values():
        for param in command.params:
            if param.param_type_name == "argument" and param.envvar:
                found[param.metavar, param.envvar].add(param.help)
    assert {key: helps for key, helps in found.items() if len(helps) > 1} == {}


def test_common_options_are_everywhere() -> None:
    for verb in VERBS:
        names = {name for option in options(verb) for name in option.opts}
        # What it runs has options of its own.
        assert ({"-q", "--quiet", "-v", "--verbose", "--color"} <= names) == (verb != "lab exec"), verb
        assert ("--json" in names) == (verb not in NO_DATA), verb
        assert ("-o" in names) == ("--output" in names), verb


@pytest.mark.parametrize(
    ("verb", "usage"),
    [
        ("generate", "[OPTIONS] [FABRIC]"),
        ("simulate", "[OPTIONS] [SCENARIO|FABRIC] [ARTIFACTS]"),
        ("explain", "[OPTIONS] [FABRIC] [DEVICE]"),
        ("rib", "[OPTIONS] SWITCH [PREFIX]"),
    ],
)
def test_usage_has_brackets_around_what_can_be_omitted(cli: Cli, verb: str, usage: str) -> None:
    assert cli(verb, "--help")[1].startswith(f"Usage: ailb-gen {verb} {usage}\n")


def test_help_says_what_a_project_file_can_give(cli: Cli) -> None:
    lines = " ".join(cli("generate", "--help")[1].split())
    assert "FABRIC <path> The fabric file. [env var: AILB_FABRIC; required unless ailb.toml has it]" in lines
    assert "-o, --output DIR Where to write the generated files. [env var: AILB_ARTIFACTS; required unless" in lines
    assert "-j, --jobs <int> Devices" in lines
    lines = " ".join(cli("rib", "--help")[1].split())
    assert "SWITCH <str> A switch. [required]" in lines


def test_help_lists_every_verb_in_a_section(cli: Cli) -> None:
    code, out, _ = cli("--help")
    assert code == 0
    places = [out.index(f"\n{section}:\n") for section in SECTIONS]
    assert places == sorted(places)
    assert [word for word in ROOT.commands if f"\n  {word} " not in out] == []
    assert "\nCommands:\n" not in out


@pytest.mark.parametrize(
    ("words", "environment", "colored"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), {"FORCE_COLOR": "1"}, True),
        ((), {"AILB_COLOR": "always", "NO_COLOR": "1"}, True),
        (("--color", "never"), {"AILB_COLOR": "always"}, False),
        ((), {"file": "always"}, True),
        ((), {"file": "always", "NO_COLOR": "1"}, False),
        ((), {"file": "never", "FORCE_COLOR": "1"}, True),
        (("--color", "never"), {"file": "always"}, False),
    ],
)
@pytest.mark.parametrize("first", [False, True])
def test_colors_follow_the_flag_then_the_environment_then_the_file(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    environment: dict[str, str],
    colored: bool,
    first: bool,
) -> None:
    """Before the verb as behind it."""
    for name in ("NO_COLOR", "FORCE_COLOR", "AILB_COLOR"):
        monkeypatch.delenv(name, raising=False)
    if "file" in environment:
        (tmp_path / "ailb.toml").write_text(f'color = "{environment["file"]}"\n')
    for name in environment.keys() - {"file"}:
        monkeypatch.setenv(name, environment[name])
    line = [*words, "explain", JVD, "spine1"] if first else ["explain", JVD, "spine1", *words]
    code, out, _ = cli(*line)
    assert code == 0
    assert ("\x1b[" in out) is colored


def test_what_stands_behind_the_verb_wins(cli: Cli) -> None:
    code, out, _ = cli("--color", "always", "explain", JVD, "spine1", "--color", "never")
    assert (code, "\x1b[" in out) == (0, False)


def test_quiet_leaves_warnings_out_and_verbose_says_how_long(cli: Cli, tmp_path: Path) -> None:
    text = (EXAMPLES / "jvd" / "fabric.yaml").read_text(encoding="utf-8")
    (tmp_path / "fabric.yaml").write_text(text.replace("count: 2", "count: 8"))
    words = ("generate", "fabric.yaml", "-o", "out")
    code, _, err = cli(*words)
    assert code == 0
    assert "warning[oversubscribed]" in err
    for line in (("-q", *words), (*words, "--quiet")):
        assert cli(*line)[::2] == (0, ""), line
    code, _, err = cli("validate", "fabric.yaml", "out", "--checks", "AILB1*", "-v")
    assert code == 0
    assert "checking: " in err
    refused = cli("-q", "validate", "gone.yaml", "out")
    assert refused[0] == 2
    assert "gone.yaml" in refused[2]


def test_a_program_that_lab_exec_runs_keeps_its_options() -> None:
    """They would otherwise be taken for ours."""
    assert "-q" not in {name for option in options("lab exec") for name in option.opts}


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (("checks", "AILB001", "--json"), {"id", "family", "severity", "meaning", "why", "repair", "from"}),
        (("validate", JVD, str(GOLDEN / "jvd"), "--checks", "AILB1*", "--json"), None),
        (("export", "--list", "--json"), None),
        (("study", "--list", "--json"), None),
        (("config", "--json"), {"file", "keys"}),
    ],
)
def test_data_is_printed_as_json(words: tuple[str, ...], keys: set[str] | None) -> None:
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found
    if keys is not None:
        assert set(found[0] if isinstance(found, list) else found) == keys


def test_json_is_short_for_a_report() -> None:
    words = ("validate", JVD, str(GOLDEN / "jvd"), "--checks", "AILB1*")
    assert json.loads(run(*words, "--json")[1]).keys() == json.loads(run(*words, "--report", "json")[1]).keys()
    code, _, err = run(*words, "--json", "--report", "table")
    assert code == 2
    assert "standard output takes one report" in err


def test_a_wrong_choice_is_told_without_the_words_of_pydantic() -> None:
    code, _out, err = run("inventory", "push", "netbx", "fabric.yaml")
    assert (code, err.splitlines()[-1]) == (
        2,
        "Error: Invalid value for 'SERVICE': 'netbx' is not one of 'netbox', 'nautobot'.",
    )
