"""Output that is shown a screen at a time."""

import pytest

from ailb_gen.emulator.pager import ERASE, Pager

TEXT = "".join(f"line {number}\n" for number in range(1, 11))


def shown(text: str) -> list[int]:
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith("line")]


def test_what_fits_is_not_held_back() -> None:
    for length in (0, 11):
        pager = Pager(TEXT, length, 80)
        assert (pager.start(), pager.done) == (TEXT, True)


@pytest.mark.parametrize(
    ("key", "lines"),
    [
        *((" ", [4, 5, 6]), ("\x06", [4, 5, 6])),
        *(("\r", [4]), ("\n", [4]), ("d", [4, 5]), ("\t", [4, 5])),
        *(("G", list(range(4, 11))), ("N", list(range(4, 11)))),
        *(("q", []), ("\x03", []), ("x", [])),
    ],
)
def test_keys(key: str, lines: list[int]) -> None:
    pager = Pager(TEXT, 4, 80)
    assert pager.start() == "line 1\nline 2\nline 3\n---(more)---"
    said = pager.press(key)
    assert shown(said.removeprefix(ERASE)) == lines
    assert pager.done is (key in "GNq\x03")
    assert said.startswith(ERASE) is (key != "x")


def test_how_far_it_is() -> None:
    pager = Pager(TEXT, 4, 80)
    pager.start()
    assert pager.press(" ").endswith("line 6\n---(more 60%)---")
    assert pager.press(" ").endswith("line 9\n---(more 90%)---")
    assert (shown(pager.press(" ").removeprefix(ERASE)), pager.done) == ([10], True)


def test_long_lines_take_several_rows() -> None:
    pager = Pager("a" * 15 + "\nb\nc\nd\n", 4, 10)
    assert pager.start() == "a" * 15 + "\nb\n---(more)---"
    # One that is longer than the screen is shown all the same.
    assert Pager("a" * 100 + "\nb\n", 2, 10).start() == "a" * 100 + "\n---(more)---"
