"""`ailb-gen validate --since`: what is told, where, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ailb_gen.errors import ExitCode
from tests.cli.verbs import run
from tests.conftest import EXAMPLES
from tests.review.fabric import FABRIC, commit, write


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Words that prove a fabric one of whose switches is not as it was committed."""
    monkeypatch.chdir(tmp_path)
    _, artifacts = write(tmp_path, FABRIC)
    commit(tmp_path)
    leaf = artifacts / "switches/stripe1-leaf1.conf"
    leaf.write_text(leaf.read_text().replace("mtu 9216;", "mtu 4000;", 1))
    return ["validate", "fabric.yaml", "generated", "--checks", "!failures", "--executor", "serial"]


def test_a_program_reads_it_from_json_and_people_from_standard_error(words: list[str]) -> None:
    code, from_nothing, err = run(*words, "--json")
    assert (code, err, "since" in json.loads(from_nothing)) == (ExitCode.FINDINGS, "", False)
    code, out, err = run(*words, "--json", "--since", "HEAD")
    body = json.loads(out)
    told = body.pop("since")
    assert (code, body) == (ExitCode.FINDINGS, json.loads(from_nothing))
    assert (told["base"], told["files"]["changed"], told["checked"]["AILB113"]) == ("HEAD", 1, ["MTUs"])
    assert err.startswith(f"since HEAD: 1 of {told['files']['all']} artifacts changed; ")
    assert "\n  MTUs: AILB113, " in err
    assert run(*words, "--json", "--since", "HEAD", "-q") == (code, out, "")


def test_what_is_no_base_and_what_needs_more(words: list[str]) -> None:
    code, out, err = run(*words, "--since", "nowhere")
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert "revision 'nowhere': no commit of this repository" in err
    for more in (("--report", "html=x.html"), ("--batfish", "localhost")):
        code, out, err = run(*words, "--since", "HEAD", *more)
        assert (code, out) == (ExitCode.BAD_INPUT, "")
        assert err.endswith("more than is taken over from a base; leave out one of them\n")
    code, _, err = run("validate", str(EXAMPLES / "planes/cluster.yaml"), "generated", "--since", "HEAD")
    assert code == ExitCode.BAD_INPUT and "a cluster needs more than is taken over from a base" in err
