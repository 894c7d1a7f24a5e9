"""A review from git and from two directories: what is read, and what cannot be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.api.review import review
from ailb_gen.checks import context, failure_outcomes
from ailb_gen.errors import UsageError
from ailb_gen.forwarding import baseline
from ailb_gen.junos.alike import AlikeReader
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.junos.tree import Node
from ailb_gen.network import read
from ailb_gen.network.fabric import Defect
from ailb_gen.network.model import Switch
from ailb_gen.review.json import review_json
from tests.review.fabric import CHANGED, FABRIC, commit, reviewed, write


def test_git_and_directories_give_the_same(tmp_path: Path) -> None:
    before = write(tmp_path / "old", FABRIC)
    fabric, artifacts = write(tmp_path / "repository", FABRIC)
    commit(tmp_path / "repository")
    after = write(tmp_path / "repository", CHANGED)
    assert after == (fabric, artifacts)
    found = review(fabric, artifacts, base="HEAD", executor="serial")
    assert review_json(found).replace('"HEAD"', f'"{before[0]}"') == review_json(reviewed(before, after))


def test_files_that_are_the_same_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)
    file = after[1] / "switches/spine1.conf"
    file.write_text(file.read_text().replace("mtu 9216;", "mtu 9100;"))
    seen: list[tuple[Path, str]] = []
    plain = read.read_switch

    def noted(
        root: Path, name: str, inspect: Callable[[Node, Node], CheckResult], reader: AlikeReader
    ) -> tuple[Switch, CheckResult] | Defect:
        seen.append((root, name))
        return plain(root, name, inspect, reader)

    monkeypatch.setattr(read, "read_switch", noted)
    found = reviewed(before, after)
    assert [name for root, name in seen if root == before[1]] == ["switches/spine1.conf"]
    assert sum(root == after[1] for root, _ in seen) == 7
    assert found.reread == (1, 7)


COMPUTED = ((context, "Routing"), (baseline, "Baseline"), (failure_outcomes, "failure_outcomes"))


@pytest.mark.parametrize(("changed", "times"), [("ailb-net", 1), ("spine1.conf", 2)])
def test_routes_and_failures_are_computed_once_where_no_switch_differs(
    changed: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)
    file = next(path for path in sorted(after[1].rglob("*")) if path.name == changed)
    file.write_text(file.read_text().replace("9216", "9100") + "# changed\n")
    counts = Counter[str]()
    for module, name in COMPUTED:
        plain = getattr(module, name)

        def counted(*given: object, name: str = name, plain: Callable[..., object] = plain) -> object:
            counts[name] += 1
            return plain(*given)

        monkeypatch.setattr(module, name, counted)
    found = reviewed(before, after)
    assert counts == {name: times for _, name in COMPUTED}
    assert found.groups and found.before is not None
    assert found.before.run.results == reviewed(after, before).report.verdict.run.results


def test_processes_give_the_same(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", CHANGED)
    found = review(*after, before=before, executor="processes", jobs=2)
    assert review_json(found) == review_json(reviewed(before, after))


def test_a_new_fabric(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("x")
    commit(tmp_path)
    found = review(*write(tmp_path, FABRIC), base="HEAD", executor="serial")
    assert found.missing == "there is no HEAD:fabric.yaml" and found.report.passed and found.groups == ()


@pytest.mark.parametrize(("text", "told"), [("name: [", "HEAD:fabric.yaml:"), (FABRIC, "HEAD:generated: there is no")])
def test_a_base_that_cannot_be_used(text: str, told: str, tmp_path: Path) -> None:
    """It was committed that way: that is no reason to fail the change that repairs it."""
    fabric, artifacts = write(tmp_path, FABRIC)
    fabric.write_text(text)
    if text == FABRIC:
        for file in (artifacts / "switches").iterdir():
            file.unlink()
    commit(tmp_path)
    found = review(*write(tmp_path, FABRIC), base="HEAD", executor="serial")
    assert told in found.missing and "/tmp" not in found.missing
    assert found.report.passed and found.before is None


def test_arguments(tmp_path: Path) -> None:
    after = write(tmp_path, FABRIC)
    told = "--base REVISION, or --before"
    with pytest.raises(UsageError, match=told):
        review(*after)
    with pytest.raises(UsageError, match=told):
        review(*after, base="HEAD", before=after)
    with pytest.raises(UsageError, match=r"--before .*name a fabric file and a directory that exist"):
        review(*after, before=(tmp_path / "x", tmp_path / "y"))
