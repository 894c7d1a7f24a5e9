"""Finding what a file takes out again costs no more per byte, whatever the file holds."""

import pytest

from ailb_gen.checks.locate import taken_out
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node

MANY = 200_000


@pytest.mark.parametrize(
    "text",
    [
        f"/* {';' * MANY} * {';' * MANY} */",
        f"/* a; */{' /* b' * MANY}",
        "\n" * MANY + "# a;",
        f"{'#' * MANY} a",
        f"# {';' * MANY} a",
        f"# ;{' ' * MANY} a",
    ],
    ids=lambda text: text[:6],
)
def test_long_texts(text: str) -> None:
    """With a cost that grows with the square of the length, each would take minutes."""
    assert all(line > 0 for line, _ in taken_out(text, "leaf1.conf", Node(""), is_set=False).values())


def test_comments_between_statements() -> None:
    text = "a {\n    /* b; */\n    /* words */\n    # c;\n    d;\n}\n"
    found = taken_out(text, "leaf1.conf", read(text, "leaf1.conf"), is_set=False)
    assert found == {("a", "b"): (2, "is a comment"), ("a", "c"): (4, "is a comment")}
