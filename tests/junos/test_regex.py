"""Expressions that users write: what they match, and that none of them takes long."""

import re
import time

import pytest

from ailb_gen.junos.regex import community_fault, community_pattern, is_pattern, regex

NESTED = ("^(([0-9]+)*)*x$", "(a|aa)+$", "^(.*.*)*x$", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)x", "(([0-9a]*){30}){30}x")


@pytest.mark.parametrize("pattern", NESTED)
def test_nested_repeats_take_no_time(pattern: str) -> None:
    """An engine that goes back takes longer than the universe exists for all but the last two."""
    start = time.process_time()
    for text in ("1" * 2000, "a" * 2000 + "!"):
        assert regex(pattern).fullmatch(text) is None
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("0:(", "missing ): 0:("),
        ("(1)\\1", "invalid escape sequence: \\1"),
        ("((a{100}){100}){100}", "invalid repetition size: {100}"),
        ("[0-9]" * 1000, "more than 4,096 characters"),
    ],
)
def test_what_is_no_expression(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        regex(pattern)


def test_upper_and_lower_case() -> None:
    assert regex("EBGP", ignore_case=True).search("group ebgp {") is not None
    assert regex("EBGP").search("group ebgp {") is None


@pytest.mark.parametrize(
    ("member", "pattern"),
    [
        ("65000:1", False),
        ("target:192.0.2.1:7", False),
        ("65000:*", True),
        ("6{1}5000:1", True),
        ("target:192.0.2.1:.*", True),
    ],
)
def test_patterns_of_communities(member: str, pattern: bool) -> None:
    assert is_pattern(member) is pattern
    assert community_fault(member) is None


def test_a_star_alone_is_any_number() -> None:
    assert community_pattern("65000:*").fullmatch("65000:77") is not None
    assert community_pattern("65000:*").fullmatch("65001:77") is None
    assert community_fault("65000:(*") == "missing ): 65000:(.*"
