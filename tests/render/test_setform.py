"""Set lines say the same as curly text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.design.model import Design
from ailb_gen.errors import AilbError, TemplateError
from ailb_gen.junos.reader import read
from ailb_gen.render.artifacts import RenderOptions, render, to_set
from tests.conftest import SMALL, design_of, example


@pytest.mark.parametrize(
    ("curly", "lines"),
    [
        ("system { host-name a; }", ["set system host-name a"]),
        ("a { b { c; } d e; }", ["set a b c", "set a d e"]),
        ("## head\n/* note { */ a; # tail\nb;", ["set a", "set b"]),
        ('description "a { b; } # c";', ['set description "a { b; } # c"']),
        ("fill-level [ 55 90 ];", ["set fill-level 55", "set fill-level 90"]),
        (
            "forwarding-classes { class NO-LOSS queue-num 4 no-loss pfc-priority 3; }",
            [
                "set forwarding-classes class NO-LOSS queue-num 4",
                "set forwarding-classes class NO-LOSS no-loss",
                "set forwarding-classes class NO-LOSS pfc-priority 3",
            ],
        ),
        ("", []),
        ("system { }", ["set system"]),
        ("a { b { } c; }", ["set a b", "set a c"]),
        ("a b/* c; */;", ["set a b"]),
    ],
)
def test_statements(curly: str, lines: list[str]) -> None:
    assert to_set(curly, "x").splitlines() == lines


@pytest.mark.parametrize(
    ("curly", "message"),
    [
        ("a {\n b;\n", "x:1:3: '{' is never closed"),
        ("a;\n}\n", "x:2:1: '}' without '{'"),
        ("a {\n b\n}\n", "x:2:2: ';' is missing before '}'"),
        ("a\nb", "x:2:1: ';' is missing at the end"),
        ("{ a; }", "x:1:1: '{' without a statement"),
        ("a ];", "x:1:3: ']' without '['"),
        ("[ a ];", "x:1:1: '[' without a statement"),
        ("a [ b ] c;", "x:1:9: 'c' after a list"),
        ("a [ b ] { c; }", "x:1:9: '{' without a statement"),
        ("a [ b;", "x:1:6: ';' inside a list"),
        ("a [ b", "x:1:5: ';' is missing at the end"),
        ("a [ ];", "x:1:5: an empty list"),
        ("a;\nb /* c", "x:2:3: a comment is not closed"),
        ("a b/* c;", "x:1:4: a comment is not closed"),
        ("a \0;", "x:1:3: a control character '\\x00'"),
        ("a [ b; ];", "x:1:6: ';' inside a list"),
        ('a "b\n;', "x:1:3: a quoted string is not closed"),
    ],
)
def test_unbalanced_text_is_told_with_its_place(curly: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        to_set(curly, "x")
    assert str(caught.value) == message


def read_set(text: str) -> list[tuple[str, ...]]:
    """Read set lines back the obvious way: words, with quoted strings as one word."""
    return [tuple(word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)[1:]) for line in text.splitlines()]


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "brownfield", "static"])
def test_both_formats_describe_the_same_statements(name: str) -> None:
    design: Design = example(name)
    curly = render(design, RenderOptions("curly"))
    as_set = render(design, RenderOptions("set"))
    for switch in design.switches:
        one = curly[f"switches/{switch.name}.conf"].content.decode()
        two = as_set[f"switches/{switch.name}.set"].content.decode()
        assert list(read(one).paths()) == read_set(two)
        assert all(line.startswith("set ") for line in two.splitlines())


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "brownfield", "static"])
def test_curly_text_is_balanced_and_indented(name: str) -> None:
    for path, artifact in render(example(name), RenderOptions()).items():
        if not path.startswith("switches/"):
            continue
        depth = 0
        for line in artifact.content.decode().splitlines():
            body = line.strip()
            if body.startswith(("#", "/*")):
                continue
            depth -= body.startswith("}")
            assert line.startswith("    " * depth) and not line.startswith("    " * depth + " "), (path, line)
            assert body.endswith(("{", "}", ";")), (path, line)
            depth += body.endswith("{")
        assert depth == 0, path


@given(st.text(alphabet='ab{};[]"#/* \n', max_size=60))
def test_no_text_crashes_the_reader(text: str) -> None:
    try:
        to_set(text, "x")
    except AilbError as error:
        assert str(error).startswith("x:")


def test_extra_config_is_checked_and_written_in_both_formats() -> None:
    good = design_of(SMALL + "extra_config: |\n  snmp {\n      location lab;\n  }\n")
    assert b"set snmp location lab\n" in render(good, RenderOptions("set"))["switches/spine1.set"].content
    assert b"snmp {\n    location lab;\n}\n" in render(good, RenderOptions())["switches/spine1.conf"].content
    no_form, undoes = (
        "has no set form; use --format curly",
        "a load tag before 'protocols', which is already defined above",
    )
    for text, message in (
        ("delete: snmp;", no_form),
        ("replace: snmp { location x; }", no_form),
        ("delete: protocols;", undoes),
    ):
        tagged = design_of(SMALL + f"extra_config: |\n  {text}\n")
        assert text.encode() in render(tagged, RenderOptions())["switches/spine1.conf"].content
        with pytest.raises(TemplateError, match=message):
            render(tagged, RenderOptions("set"))
