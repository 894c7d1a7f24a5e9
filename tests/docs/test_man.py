"""Man pages: one for every command, in which every option stands, and roff has nothing to complain about."""

import re
import subprocess
import sys
from pathlib import Path

import typer.main

from ailb_gen.cli import app
from ailb_gen.cli.verb import verbs_of
from tests.conftest import ROOT, need_tool


def test_every_command_has_a_page(tmp_path: Path) -> None:
    need_tool("groff")
    subprocess.run([sys.executable, ROOT / "docs/site/man.py", tmp_path], check=True)
    pages = {path.stem: path for path in tmp_path.iterdir()}
    commands = {
        f"ailb-gen-{name.replace(' ', '-')}": command for name, command in verbs_of(typer.main.get_command(app))
    }
    names = ("lab", "junos", "batfish", "inventory", "runs", "grow", "replace")
    groups = {"ailb-gen", *(f"ailb-gen-{name}" for name in names)}
    assert {*commands, *groups} == set(pages)
    for name, path in pages.items():
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tascii", "-P-c", path], capture_output=True, text=True, check=True
        )
        assert done.stderr == "", name
        text = re.sub("-\n +", "-", re.sub(".\x08", "", done.stdout))
        options = [one for one in commands[name].params if one.param_type_name == "option"] if name in commands else []
        shown = [one.opts[0] for one in options if not one.hidden]
        assert [word for word in shown if word not in text] == [], name
