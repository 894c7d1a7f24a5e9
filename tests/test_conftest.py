"""What is missing skips a test, or fails it where it is required."""

from pathlib import Path

import pytest

from tests import conftest
from tests.conftest import LONGEST, ROOT, need_shared, need_tool


def test_shared_data_is_required_only_by_who_says_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conftest, "SHARED", tmp_path)
    (tmp_path / "there").touch()
    assert need_shared("there") == tmp_path / "there"
    for in_ci in (False, True):
        monkeypatch.setattr(conftest, "IN_CI", in_ci)
        monkeypatch.setattr(conftest, "SHARED_REQUIRED", False)
        with pytest.raises(pytest.skip.Exception, match="yang is not beside this checkout"):
            need_shared("yang")
        monkeypatch.setattr(conftest, "SHARED_REQUIRED", True)
        with pytest.raises(pytest.fail.Exception, match="there is no yang"):
            need_shared("yang")


def test_tools_are_required_in_continuous_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conftest, "IN_CI", False)
    with pytest.raises(pytest.skip.Exception, match="no-such-tool is not installed"):
        need_tool("no-such-tool")
    monkeypatch.setattr(conftest, "IN_CI", True)
    with pytest.raises(pytest.fail.Exception, match="no-such-tool is not installed"):
        need_tool("no-such-tool")


def test_the_modules_that_take_longest_come_first(request: pytest.FixtureRequest) -> None:
    modules = [ROOT / "tests" / name for name in LONGEST]
    assert [str(path) for path in modules if not path.is_file()] == []
    collected = list(dict.fromkeys(item.path for item in request.session.items))
    first = [path for path in modules if path in collected]
    assert collected[: len(first)] == first
