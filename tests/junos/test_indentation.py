"""A brace that is missing is told where the indentation says so, not where the last one is left."""

import pytest

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.reader import read

TEXT = """\
system {
    services {
        ssh;
        netconf {
            ssh;
        }
    }
}
/* Ports,
   all of them. */
interfaces {
    lo0 {
        unit 0 {
            family inet;
        }
    }
}
"""


def told(text: str) -> tuple[int, str]:
    with pytest.raises(JunosSyntaxError) as caught:
        read(text, "f")
    return caught.value.line, caught.value.reason


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("    services {\n", "", 2),
        ("    services {\n", "    # services {\n", 3),
        ("        netconf {\n            ssh;\n", "", 4),
        ("        }\n    }\n}\n/*", "/*", 8),
        ("            family inet;\n        }\n", "", 14),
    ],
)
def test_the_line_is_the_first_that_the_indentation_contradicts(old: str, new: str, line: int) -> None:
    assert old in TEXT
    found, reason = told(TEXT.replace(old, new, 1))
    assert found == line
    assert "by the indentation" in reason


@pytest.mark.parametrize("end", ["", " ("])
def test_a_heading_without_its_brace_is_told_at_its_line(end: str) -> None:
    line, reason = told(TEXT.replace("    services {\n", f"    services{end}\n"))
    assert line == 2
    assert "line 2 lacks its '{'" in reason


def test_a_comment_without_its_end_is_told_where_it_starts() -> None:
    line, reason = told(TEXT.replace("        ssh;\n        netconf", "        /* ssh;\n        netconf"))
    assert line == 3
    assert "a comment has no `*/` in front of the next `/*`" in reason


@pytest.mark.parametrize("text", ["a {\nb;\n", "a;\n}\n", "a { b; } }\n"])
def test_text_without_indentation_is_told_at_its_brace(text: str) -> None:
    assert "indentation" not in told(text)[1]
