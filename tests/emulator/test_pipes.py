"""Pipes of the command line: what may stand together, and what is refused instead of being ignored."""

from __future__ import annotations

import pytest

from ailb_gen.emulator.messages import RpcRefusedError
from ailb_gen.emulator.pipes import as_it_is, read_line


@pytest.mark.parametrize(
    ("pipes", "word", "reason"),
    [
        ("compare rollback 1 | display xml", "xml", "a comparison is not available as 'xml'"),
        ("display inheritance | compare", "inheritance", "a comparison is not available as 'inheritance'"),
        ("display xml | display json", "json", "choose one form of output, not both 'xml' and 'json'"),
        ("display set | display xml", "xml", "choose one form of output, not both 'set' and 'xml'"),
        ("display changed", "changed", "has no 'display changed'"),
        ("display detail", "detail", "has no 'display detail'"),
        ("display set explicit", "explicit", "set takes relative"),
        ("display inheritance defaults", "defaults", "inheritance takes no-comments"),
        ("display json pretty", "pretty", "json takes nothing"),
        ("display set relative again", "again", "set takes relative"),
        ("count lines", "lines", "syntax error"),
        ("no-more please", "please", "syntax error"),
        ("last 3 4", "4", "syntax error"),
    ],
)
def test_what_would_be_ignored_is_refused(pipes: str, word: str, reason: str) -> None:
    with pytest.raises(RpcRefusedError, match=reason) as caught:
        read_line(f"show configuration | {pipes}")
    assert caught.value.errors[0].element == word


@pytest.mark.parametrize(
    "pipes", ["display inheritance no-comments | display set | match mtu", "compare rollback 1 | count", "display omit"]
)
def test_what_may_stand_together(pipes: str) -> None:
    assert read_line(f"show configuration | {pipes}").piped == f"| {pipes}"


def test_text_without_another_form() -> None:
    assert as_it_is("one\ntwo\n", read_line("show cli | match two")) == "two\n"
    with pytest.raises(RpcRefusedError, match="this output is not available as 'xml'"):
        as_it_is("one\n", read_line("show cli | display xml"))
