"""What is missing skips a test, or fails it where it is required."""

import re
import sys
import threading
import time
import tomllib
from collections import defaultdict
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from tests import conftest
from tests.conftest import (
    APART,
    EXHAUSTIVE,
    LONGEST,
    ROOT,
    SERVICES,
    UNMEASURED,
    ByService,
    is_untraced,
    need_shared,
    need_tool,
)


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
    assert [name for name in EXHAUSTIVE if not (ROOT / name).is_file()] == []
    collected = list(dict.fromkeys(item.path for item in request.session.items))
    first = [path for path in modules if path in collected]
    assert collected[: len(first)] == first


def test_one_worker_has_all_modules_of_a_service() -> None:
    """The modules that take the fixture of a service are those that the table names."""
    fixture = re.compile(r"\b(netbox|nautobot): (?:services\.)?Running")
    found = {}
    for path in sorted((ROOT / "tests").glob("**/test_*.py")):
        if used := fixture.findall(path.read_text(encoding="utf-8")):
            found[str(path.relative_to(ROOT))] = used[0]
    assert found == SERVICES
    distribution: Any = ByService.__new__(ByService)
    scopes = [distribution._split_scope(f"{name}::test_one") for name in (*SERVICES, "tests/sot/test_plan.py")]
    assert scopes == [*SERVICES.values(), "tests/sot/test_plan.py"]


def test_modules_that_are_run_by_test_share_no_set_up() -> None:
    shared = re.compile(r"scope=.(module|class)|^@(functools\.)?cache$", re.M)
    assert [name for name in APART if shared.search((ROOT / name).read_text(encoding="utf-8"))] == []
    distribution: Any = ByService.__new__(ByService)
    node = f"{APART[0]}::test_one[a::b]"
    assert distribution._split_scope(node) == node


def test_coverage_measures_the_beginning_of_a_test_and_more_of_its_first_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def trace(frame: FrameType, event: str, argument: object) -> None:
        """Measure nothing."""

    spent: dict[str, float] = defaultdict(float)
    monkeypatch.setattr(conftest, "measured_s", spent)
    monkeypatch.setattr(conftest, "FIRST_CASE_S", 2)
    monkeypatch.setattr(conftest, "MEASURED_S", 0.2)
    item: Any = SimpleNamespace(nodeid="tests/test_one.py::test_one[1]", get_closest_marker=lambda name: None)
    before = sys.gettrace(), threading.gettrace()
    seen = []
    try:
        # The clock of the timer may be behind the one of the thread.
        for before_s, more in ((None, 0.5), (None, 20.0), (0.1, 0.0), (0.1, 20.0), (3.0, 0.0)):
            spent.clear()
            if before_s is not None:
                spent["tests/test_one.py::test_one call"] = before_s
            conftest.set_trace(trace, trace)
            call: Any = conftest.pytest_runtest_call(item)
            next(call)
            ends = time.thread_time() + more
            while time.thread_time() < ends and sys.gettrace() is not None:
                sum(range(10_000))
            assert threading.gettrace() is sys.gettrace()
            seen.append(sys.gettrace())
            with pytest.raises(StopIteration):
                call.send(None)
            assert sys.gettrace() is trace
            assert threading.gettrace() is trace
    finally:
        conftest.set_trace(*before)
    assert seen == [trace, None, trace, None, None]
    assert spent["tests/test_one.py::test_one call"] > 3


def test_folders_whose_programs_coverage_leaves_out_run_unmeasured() -> None:
    omitted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]["run"]["omit"]
    assert {f"ailb_gen/{folder}*" for folder in UNMEASURED} <= set(omitted)
    assert [folder for folder in UNMEASURED if not (ROOT / "tests" / folder).is_dir()] == []
    rows = {"tests/ailb_host/test_ping.py::test_one": True, "tests/test_ailb_host.py::test_one": False}
    for nodeid, expected in rows.items():
        item: Any = SimpleNamespace(nodeid=nodeid, get_closest_marker=lambda name: None)
        assert is_untraced(item) is expected
    marked: Any = SimpleNamespace(nodeid="tests/test_one.py::test_one", get_closest_marker=lambda name: name)
    assert is_untraced(marked)
