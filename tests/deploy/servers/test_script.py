"""The script of the host: readable by the shells there are, whole or not at all, and nothing secret about it."""

from __future__ import annotations

import base64
import hashlib
import io
import subprocess
import tarfile
from importlib.resources import files as files_of_package
from pathlib import Path

import pytest

from ailb_gen.deploy.servers import script
from ailb_gen.deploy.servers.files import RunState, Tree
from ailb_gen.deploy.servers.script import REFUSALS
from tests.conftest import need_tool


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_script_is_shell(shell: str) -> None:
    subprocess.run([need_tool(shell), "-n"], input=script.call("look", data="x"), text=True, check=True)


def test_parts_cover_the_folder() -> None:
    folder = files_of_package("ailb_gen.deploy.servers") / "host"
    assert {entry.name for entry in folder.iterdir()} == {f"{part}.sh" for part in script.PARTS}


def test_an_unknown_verb_and_a_bad_name_are_refused() -> None:
    for words in (("format", "r1"), ("restore", "../x"), ("restore", "a b"), ("restore", ".x")):
        done = subprocess.run(["sh", "-s"], input=script.call(*words), text=True, capture_output=True, check=False)
        assert done.returncode == 14
        assert done.stderr.startswith("ailb-stage: ")


def test_exit_codes_and_states_are_those_of_the_program() -> None:
    text = script.host_script()
    for code in REFUSALS:
        assert f" {code}" in text
    for state in set(RunState) - {RunState.UNKNOWN}:
        assert f"mark {state}" in text


def test_a_call_is_data_not_code(tmp_path: Path) -> None:
    """What looks like shell in the data or the words stays what it is."""
    nasty = f"$(touch {tmp_path}/owned) `touch {tmp_path}/owned`\nEOF\n}}; touch {tmp_path}/owned"
    text = script.call("look", f"; touch {tmp_path}/owned #", data=nasty)
    subprocess.run(["sh", "-s"], input=text, text=True, capture_output=True, check=False)
    assert not (tmp_path / "owned").exists()


def test_the_archive_holds_files_list_and_script(files: Tree) -> None:
    data, digest = script.pack(files)
    assert script.pack(files) == (data, digest), "bytes are deterministic"
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(data))) as archive:
        names = set(archive.getnames())
        listing = archive.extractfile("wanted")
        agent = archive.extractfile("agent")
        assert listing is not None
        assert agent is not None
        assert hashlib.sha256(listing.read()).hexdigest() == digest
        assert agent.read().decode() == script.host_script() + '\nmain "$@"\n'
        assert all(member.uid == member.gid == 0 and member.mtime == 0 for member in archive)
    assert names == {"agent", "wanted", *(f"tree/{path}" for path in files)}
