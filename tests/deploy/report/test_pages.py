"""The changes of a plan as a section: once for all that change alike, within limits, without secrets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ailb_gen.deploy.device_diff import ServerDiff, SwitchDiff
from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.deploy.report import pages
from ailb_gen.deploy.report.pages import changes_section, drawn
from ailb_gen.deploy.servers.files import plain
from ailb_gen.deploy.side_by_side import SideBySideRow, files_side_by_side, packed
from tests.deploy import lab

LEAVES = [name for name in lab.NAMES if "leaf" in name]
SLOWER = ("minimum-interval 300", "minimum-interval 400")


def look(name: str, *edits: tuple[str, str]) -> SwitchDiff:
    """A switch whose file is to have some texts replaced."""
    return lab.look(name, after=lab.edited(name, *edits))


def groups(plan: Plan, mask: Callable[[str], str] = str) -> list[Any]:
    section = changes_section(plan, mask)
    found: Any = section.values["groups"]
    return list(found)


def test_devices_that_change_alike_are_shown_once() -> None:
    plan = lab.plan_of(*(look(name, SLOWER) for name in LEAVES), look("spine1", SLOWER))
    found = groups(plan)
    assert [group.devices for group in found] == [tuple(LEAVES), ("spine1",)] or len(found) == 2
    assert all(group.lines is not None and not group.left_out for group in found)
    section: Any = changes_section(plan, str).data
    assert [names for _, names in section["groups"]] == [list(group.devices) for group in found]
    flat, _ = section["groups"][0]
    texts = [section["texts"][number] for number in flat[2::4]]
    assert "minimum-interval 300;" in texts


def test_rows_that_do_not_fit_into_the_text_are_in_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "SHOWN", 1)
    (group,) = groups(lab.plan_of(look(LEAVES[0], SLOWER)))
    assert (group.lines, group.left_out) == (None, False)
    assert group.count > 1


def test_what_does_not_fit_into_the_page_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = look(LEAVES[0], SLOWER), look("spine1", SLOWER, ("mtu", "description x; mtu"))
    monkeypatch.setattr(pages, "MOST", len(small.compared))
    found = {group.devices[0]: group.left_out for group in groups(lab.plan_of(small, large))}
    assert found == {LEAVES[0]: False, "spine1": True}


def test_known_secrets_and_control_characters() -> None:
    one = look(LEAVES[0], (f"host-name {LEAVES[0]}", 'host-name "hunter2\u202e"'))
    (group,) = groups(lab.plan_of(one), mask=lambda text: text.replace("hunter2", "###"))
    assert [line.right[1] for line in group.lines if line.style == "replaced"] == ['"###\\u202e";']


def test_servers() -> None:
    rows = files_side_by_side({"etc/x": plain(b"a\nb\n", 0o644)}, {"etc/x": plain(b"a\nc\nd\n", 0o644)})
    host = ServerDiff("server1", "f", ("changed /etc/x",), "d", packed(rows))
    plan = Plan({}, {"server1": host}, {}, lab.fabric_model(), (Wave("canary server", ("server1",)),))
    (group,) = groups(plan)
    assert (group.server, group.added, group.removed) == (True, 2, 1)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("mtu 1;", "mtu 2;", (("mtu ", "1;", ""), ("mtu ", "2;", ""))),
        ("x [ a b ];", "x [ b ];", (("x [ ", "a", " b ];"), ("x [ ", "", " b ];"))),
        ("a;", "b;", (("", "a;", ""), ("", "b;", ""))),
        ("a ***;", "a ***;", (("a ***;", "", ""), ("a ***;", "", ""))),
    ],
)
def test_what_differs_is_marked(left: str, right: str, expected: object) -> None:
    line = drawn(SideBySideRow("~", 0, left, right))
    assert (line.left, line.right) == expected


def test_what_is_left_out_is_counted() -> None:
    assert drawn(SideBySideRow("…", 1, "1", "")).note == "1 statement unchanged"
    assert drawn(SideBySideRow("…", 1, "12", "")).note == "12 statements unchanged"
