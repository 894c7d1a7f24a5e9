"""The pipelines of `examples/gitops`: they parse, their shell is sound, and every command in them runs."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import ailb_gen.cli
from ailb_gen.errors import ExitCode
from ailb_gen.report.markdown import MARKER
from tests.batfish.fake.service import OPTION, with_fake
from tests.conftest import EXAMPLES, SMALL, need_tool

GITOPS = EXAMPLES / "gitops"


def read(name: str) -> Any:
    # BaseLoader keeps `on` as text, as GitHub reads it.
    return yaml.load((GITOPS / name).read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def github_steps() -> list[dict[str, Any]]:
    return [step for job in read("github-actions.yml")["jobs"].values() for step in job["steps"]]


def scripts() -> Iterator[str]:
    """Yield every piece of shell in both pipelines."""
    yield from (step["run"] for step in github_steps() if "run" in step)
    pipeline = read("gitlab-ci.yml")
    for job in pipeline.values():
        if isinstance(job, dict):
            for part in ("before_script", "script", "after_script"):
                yield from job.get(part, ())


def commands() -> list[list[str]]:
    lines = [line for script in scripts() for line in script.replace("\\\n", " ").splitlines()]
    return [shlex.split(line) for line in lines if line.strip().startswith("ailb-gen ")]


def test_github_has_the_keys_it_needs() -> None:
    flow = read("github-actions.yml")
    assert set(flow) == {"name", "on", "permissions", "concurrency", "env", "jobs"}
    assert flow["permissions"] == {"contents": "read"}, "jobs ask for more one by one"
    assert flow["on"]["schedule"][0]["cron"]
    for name, job in flow["jobs"].items():
        assert {"if", "runs-on", "timeout-minutes", "steps"} <= set(job), name
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            assert set(step) <= {"name", "id", "if", "run", "uses", "with", "env"}, step
            assert re.fullmatch(r"[\w-]+/[\w/-]+@v[0-9]+", step.get("uses", "a/b@v1"))
    assert flow["jobs"]["validate"]["permissions"]["security-events"] == "write"


def test_github_puts_nothing_from_a_contributor_into_shell() -> None:
    for step in github_steps():
        assert "${{" not in step.get("run", ""), step


def test_gitlab_has_the_keys_it_needs() -> None:
    pipeline = read("gitlab-ci.yml")
    jobs = {name: job for name, job in pipeline.items() if name not in ("workflow", "variables", "default", "stages")}
    assert set(jobs) == {"generate", "validate", "batfish", "waivers"}
    known = {"stage", "timeout", "rules", "cache", "script", "after_script", "artifacts", "variables"}
    known |= {"services", "allow_failure"}
    for name, job in jobs.items():
        assert set(job) <= known, name
        assert job["stage"] in pipeline["stages"] and job["rules"] and job["script"], name
    artifacts = jobs["validate"]["artifacts"]
    assert artifacts["when"] == "always"
    assert artifacts["reports"] == {"junit": "reports/junit.xml"}


def test_batfish_is_asked_only_where_it_is_wanted_and_runs() -> None:
    github, gitlab = read("github-actions.yml")["jobs"], read("gitlab-ci.yml")
    job = github["batfish"]
    assert job["if"].endswith("vars.BATFISH == 'true'")
    assert job["services"] == {"batfish": {"image": "batfish/batfish", "ports": ["9996:9996"]}}
    # On the runner itself a service is reached by its port, in a container by its name.
    assert _asked(step.get("run", "") for step in job["steps"]) == {"localhost"}
    job = gitlab["batfish"]
    assert job["rules"][-1] == {"if": '$BATFISH == "true"'}
    assert job["services"] == [{"name": "batfish/batfish", "alias": "batfish"}]
    assert _asked(job["script"]) == {"batfish"}
    assert job["allow_failure"] == {"exit_codes": [str(ExitCode.ENVIRONMENT.value)]}
    named = [words for words in commands() if OPTION in words]
    assert [words[words.index("--checks") + 1] for words in named] == ["batfish", "batfish"]


def _asked(scripts: Iterable[str]) -> set[str]:
    """Return the hosts that pieces of shell ask: with ailb-gen, and before it when they wait for the service."""
    text = " ".join(scripts)
    return {*re.findall(rf"{OPTION} (\S+)", text), *re.findall(r"http://(\S+):9996/v2/version", text)}


def test_the_comment_of_the_last_run_is_found() -> None:
    for name in ("github-actions.yml", "gitlab-ci.yml"):
        assert MARKER in (GITOPS / name).read_text(encoding="utf-8")


def test_the_shell_is_sound() -> None:
    bash = need_tool("bash")
    for script in scripts():
        done = subprocess.run([bash, "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), script


def test_the_program_in_the_gitlab_shell_finds_its_note() -> None:
    (program,) = [found for script in scripts() for found in re.findall(r"python -c '(.*?)'\)", script, re.S)]
    notes = [{"id": 1, "body": "x"}, {"id": 7, "body": f"{MARKER}\n"}]
    for body, expected in ((json.dumps(notes), "7\n"), ("[]", "\n")):
        done = subprocess.run([sys.executable, "-c", program], input=body, capture_output=True, text=True, check=True)
        assert done.stdout == expected


EXPIRED = "- {id: AILB301, scope: '*', reason: optics on order, expires: 2020-06-30}\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as the README lays it out."""
    (tmp_path / "fabric.yaml").write_text(SMALL, encoding="utf-8")
    shutil.copy(GITOPS / "waivers.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AILB_YANG", raising=False)
    done = CliRunner().invoke(ailb_gen.cli.app, ["generate", "fabric.yaml", "-o", "generated"])
    assert done.exit_code == 0
    return tmp_path


@pytest.mark.sampled(4)
@pytest.mark.parametrize("words", commands(), ids=" ".join)
@pytest.mark.parametrize("clean", [True, False])
def test_every_command_runs(words: list[str], clean: bool, repository: Path) -> None:
    switch = repository / "generated" / "switches" / "stripe1-leaf1.conf"
    if not clean:
        switch.write_text(switch.read_text().replace("fabric-color green", "fabric-color blue"))
        (repository / "waivers.yaml").write_text(EXPIRED)
    with with_fake(words) as here:
        done = CliRunner().invoke(ailb_gen.cli.app, here[1:])
    assert done.exit_code == (0 if clean else 1), done.output
    expected = {word.partition("=")[2] for word in words if "=" in word}
    assert {str(path.relative_to(repository)) for path in repository.glob("reports/*")} == expected


def test_the_commands_are_the_ones_that_matter() -> None:
    verbs = [words[1] for words in commands()]
    assert verbs.count("generate") == 2
    assert verbs.count("validate") == 6
    for words in commands():
        if words[1] == "validate" and "--checks" not in words:
            kinds = {word.partition("=")[0] for word in words if "=" in word}
            assert {"junit", "sarif", "md"} <= kinds


def installations() -> list[str]:
    """Return the shell that installs the program, of every job of both pipelines."""
    steps = [step["run"] for step in github_steps() if "pip install" in step.get("run", "")]
    pipeline = read("gitlab-ci.yml")
    first = pipeline["default"]["before_script"]
    later = [line for line in pipeline["batfish"]["script"] if "pip install" in line]
    return [*steps, "\n".join(first), *("\n".join([*first, line]) for line in later)]


@pytest.mark.parametrize("script", installations())
def test_the_program_is_installed_from_a_url_only(script: str, tmp_path: Path) -> None:
    """An index may give the name to anybody. A python that shows its words stands for pip."""
    (tmp_path / "python").write_text('#!/bin/sh\nfor word; do echo "$word"; done\n', encoding="ascii")
    (tmp_path / "python").chmod(0o755)

    def install(url: str) -> tuple[int, list[str], str]:
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "AILB_GEN": url}
        done = subprocess.run(["bash", "-ec", script], env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr

    code, words, told = install("")
    assert code != 0 and words == [] and "must be a URL" in told
    code, words, told = install("git+https://example.net/ailb-gen@v1")
    assert (code, told) == (0, "")
    asked = [word for word in words if word.startswith("ailb-gen")]
    assert asked and all(
        re.fullmatch(r"ailb-gen(\[batfish\])? @ git\+https://example\.net/ailb-gen@v1", word) for word in asked
    )


def test_pip_refuses_a_name_in_place_of_a_url() -> None:
    """What the pipelines do with `AILB_GEN: ailb-gen`; nothing is looked up."""
    words = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index", "ailb-gen @ ailb-gen"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "Invalid requirement" in done.stderr
