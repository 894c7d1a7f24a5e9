"""Which labs run: what their directories record, and how one of them is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ailb_gen.background import locked
from ailb_gen.errors import UsageError
from ailb_gen.lab.registry import LAB, Lab, directory, find, forget, home, labs
from tests.lab.labs import let_go


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_labs_that_run(tmp_path: Path) -> None:
    assert list(labs()) == []
    assert home() == tmp_path / "ailb-gen/labs"
    one, two = Lab("one", 4711, "f.yaml", ports={"leaf1": 830}), Lab("two", 4712)
    with locked(directory("one"), LAB) as note:
        note(one.line())
        assert find(None) == find("one") == one
        with locked(directory("two"), LAB) as other:
            other(two.line())
            assert list(labs()) == [one, two]
            with pytest.raises(UsageError, match="2 labs run; name one of them with --lab: one, two"):
                find(None)
            with pytest.raises(UsageError, match="no lab 'twoo' runs; did you mean 'two'"):
                find("twoo")
    for name in ("one", "two"):
        let_go(directory(name) / LAB.file)

    assert list(labs()) == []
    forget("one")
    assert [path.name for path in home().iterdir()] == ["two"]


def test_a_lab_that_starts() -> None:
    with locked(directory("one"), LAB):
        assert [lab.name for lab in labs()] == ["one"]
        with pytest.raises(UsageError, match="the lab one is still starting; try again"):
            find("one")
    let_go(directory("one") / LAB.file)


def test_without_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path / ".local/state/ailb-gen/labs"


@pytest.mark.parametrize("name", ["", "a/b", "..", ".a", "a" * 33, "a b"])
def test_names_that_no_lab_can_have(name: str) -> None:
    with pytest.raises(UsageError, match="the name of a lab has 1 to 32 letters"):
        directory(name)


def test_the_line_is_json() -> None:
    assert json.loads(Lab("one", 7).line())["lab"]["process"] == 7
