from __future__ import annotations

import pytest

from ailb_gen.wording import aligned, counted, did_you_mean, shown, some


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([], "none"),
        (["a"], "a"),
        ([1, 2, 3], "1, 2, 3"),
        ("abcd", "a, b, c and 1 more"),
        (map(str, range(12)), "0, 1, 2 and 9 more"),
    ],
)
def test_the_first_few(items: list[object], text: str) -> None:
    assert some(items) == text


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("leaf3", "did you mean 'leaf3.dc1.example.net'?"),
        ("Leaf4", "did you mean 'leaf3.dc1.example.net'?"),
        ("leaf3.dc2.example.net", "did you mean 'leaf3.dc1.example.net'?"),
        ("leaf3:et-0/0/1", "did you mean 'leaf3.dc1.example.net:et-0/0/1'?"),
        ("spine1", "did you mean 'spine1'?"),
        (".svh", "did you mean '.svg'?"),
        ("zzz", ""),
    ],
)
def test_a_name_without_its_domain_is_close(word: str, hint: str) -> None:
    known = ["leaf3.dc1.example.net", "leaf3.dc1.example.net:et-0/0/1", "spine1.dc1.example.net", "spine1", ".svg"]
    assert did_you_mean(word, known) == hint


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.5, "0.5"),
        (12.345678, "12.35"),
        (999.4, "999.4"),
        (9999.4, "9,999"),
        (9999.5, "10,000"),
        (12_345, "12,345"),
        (99_999.4, "99,999"),
        (99_999.5, "100k"),
        (123_456, "123.5k"),
        (999_949, "999.9k"),
        (999_950, "1M"),
        (1_234_567, "1.235M"),
        (9.99e14, "999T"),
        (5e15, "5000T"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert shown(value) == text
    assert len(text) <= 6


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (1, "switch", "1 switch"),
        (0, "switch", "0 switches"),
        (2, "leaf", "2 leaves"),
        (1, "more leaf", "1 more leaf"),
        (12_345, "prefix", "12,345 prefixes"),
        (3, "entry", "3 entries"),
        (3, "key", "3 keys"),
        (2, "pass", "2 passes"),
        (4096, "server", "4,096 servers"),
        (2, "queue pair", "2 queue pairs"),
    ],
)
def test_counts_have_separators_and_plurals(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


NAMES = [["NAME", "PREFIX"], *([f"leaf-0{n}.pod7.example.net", f"fd12:3456:789a:{n}::/64"] for n in (1, 2))]


def test_a_word_is_broken_only_where_that_is_asked_for() -> None:
    whole = aligned(NAMES)
    assert aligned(NAMES, width=40) == whole
    assert aligned(NAMES, width=60, breaking=True) == whole
    assert aligned(NAMES, width=40, breaking=True)[2:] == [
        "leaf-01.pod7.        fd12:3456:789a:",
        "example.net          1::/64",
        "leaf-02.pod7.        fd12:3456:789a:",
        "example.net          2::/64",
    ]


@pytest.mark.parametrize("width", [10, 24, 40, 79])
def test_nothing_is_cut(width: int) -> None:
    """The letters of every cell are all there, in their order."""
    lines = aligned(NAMES, width=width, breaking=True)
    edge = lines[1].index("  ")
    for column, part in ((0, slice(None, edge)), (1, slice(edge, None))):
        assert "".join(line[part].strip() for line in lines[2:]) == "".join(row[column] for row in NAMES[1:])
