"""Tags in the middle of a statement, lists behind words with keys, and one-line statements that share a word."""

import pytest

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.groups import active
from ailb_gen.junos.reader import check_protection, read, read_whole
from ailb_gen.junos.tree import DELETE, INACTIVE, PROTECT, REPLACE
from ailb_gen.junos.writer import to_curly, to_set
from tests.junos.models import signature


@pytest.mark.parametrize(
    ("text", "path", "flag"),
    [
        ("policy-options { community x members [ a inactive: b ]; }", "policy-options community x members b", INACTIVE),
        ("x { export [ protect: a b ]; }", "x export a", PROTECT),
        ("interface a inactive: b;", "interface a b", INACTIVE),
        ("interface a inactive: mtu 9000;", "interface a mtu", INACTIVE),
        ("then inactive: community add x;", "then community add x", INACTIVE),
        ("from inactive: route-filter ::/0 upto /8;", "from route-filter ::/0 upto /8", INACTIVE),
        ("unit 0 inactive: family inet { mtu 1; }", "unit 0 family inet", INACTIVE),
        ("traceoptions { file x size 10m inactive: files 3; }", "traceoptions file files", INACTIVE),
        (
            "forwarding-classes { class A queue-num 4 inactive: no-loss; }",
            "forwarding-classes class A no-loss",
            INACTIVE,
        ),
        ("flag all replace: detail;", "flag all detail", REPLACE),
        ("a\n  inactive:\n  b;", "a b", INACTIVE),
        ("interface a delete: b;", "interface a b", DELETE),
        ("a active: b;", "a b", 0),
        ("inactive: interface [ a b ];", "interface b", INACTIVE),
        ("inactive: flex-algorithm [ 128 129 ];", "flex-algorithm 129", INACTIVE),
        ("peer-auto-discovery { inactive: interface [ a b ]; }", "peer-auto-discovery interface a", INACTIVE),
    ],
)
def test_a_tag_is_about_what_it_stands_in_front_of(text: str, path: str, flag: int) -> None:
    root = read(text)
    node = root.get(*path.split())
    assert node is not None
    assert node.flags & (INACTIVE | PROTECT | REPLACE | DELETE) == flag
    assert root.flags & flag == flag
    for again in (read(to_curly(root)), read(to_set(root))):
        assert signature(again) == signature(root)


@pytest.mark.parametrize("text", ["a inactive: ;", "a [ b inactive: ];", "a inactive: { b; }", "a inactive: [ b ];"])
def test_a_tag_without_a_statement_is_refused(text: str) -> None:
    with pytest.raises(JunosSyntaxError, match="a tag without a statement"):
        read(text, "f")


AGAIN = "a load tag before '{}', which is already defined above"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a { b; } replace: a { c; }", "a"),
        ("a { b; } delete: a;", "a"),
        ("mtu 1; replace: mtu 2;", "mtu"),
        ("unit 0 { mtu 1; } replace: unit 0 { mtu 2; }", "unit 0"),
        ("interfaces { a { mtu 1; } } interfaces { delete: a; }", "a"),
        ("mtu 1;\nreplace:\nmtu 1;", "mtu"),
    ],
)
def test_a_load_tag_behind_what_it_is_about_is_refused(text: str, path: str) -> None:
    """`load replace` and `load override` make different configurations of it."""
    with pytest.raises(JunosSyntaxError) as caught:
        read(text, "f")
    assert caught.value.reason == AGAIN.format(path)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a { b; }\nreplace: c { d; }\n", "f:2:1: replace: in front of 'c' is carried out by `load replace`"),
        ("a {\n  delete: b;\n  replace: c;\n}\n", "f:2:1: delete: in front of 'b'"),
    ],
)
def test_a_whole_configuration_has_no_load_tags(text: str, place: str) -> None:
    assert read(text, "f").flags
    with pytest.raises(JunosSyntaxError) as caught:
        read_whole(text, "f")
    assert str(caught.value).startswith(place)


@pytest.mark.parametrize("text", ["inactive: a; protect: b;", "set a\ndelete a\nset a b\ndeactivate a\ndelete c\n"])
def test_other_tags_and_commands_are_part_of_a_configuration(text: str) -> None:
    assert list(read_whole(text).paths())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a {\n    protect: b;\n}\n", 2),
        ("a {\n    b {\n        unprotect: c 1;\n    }\n}\n", 3),
        ("set a b\nprotect a\n", 2),
        ("a link-protection;\nb { protect: [ c d ]; }\n", 2),
    ],
)
def test_protection_does_not_belong_in_a_generated_file(text: str, line: int) -> None:
    with pytest.raises(JunosSyntaxError, match=r"protect:? is a command to the device") as caught:
        check_protection(text, "f")
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text", ['a "protect: b";\n', "a { /* protect: b */ link-protection; }\n", "set a protect b\n"]
)
def test_other_words_are_no_protection(text: str) -> None:
    check_protection(text, "f")


def test_a_tag_inside_an_expression_is_refused() -> None:
    with pytest.raises(JunosSyntaxError, match="a tag inside an expression"):
        read("export ( A && inactive: B );", "f")


def test_a_value_in_quotes_is_no_tag() -> None:
    root = read('a "inactive:" b;')
    assert list(root.paths()) == [("a", "inactive:", "b")]
    assert to_curly(root) == 'a "inactive:" b;\n'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("community x members [ a inactive: b ];", ["community x members a"]),
        ("traceoptions { flag all inactive: detail; }", ["traceoptions flag all"]),
        ("set traceoptions flag all detail\ndeactivate traceoptions flag all detail", ["traceoptions flag all"]),
        ("unit 0 inactive: family inet;", ["unit 0"]),
        ("family inet inactive: mtu 9000;", ["family inet"]),
        ("x { export [ inactive: a inactive: b ]; } c;", ["x", "c"]),
        ("a { b inactive: c; }", ["a"]),
    ],
)
def test_what_is_left_without_inactive_parts(text: str, left: list[str]) -> None:
    assert [" ".join(path) for path in active(read(text)).paths()] == left


@pytest.mark.parametrize(
    "text",
    [
        "interface [ a b ];",
        "flex-algorithm [ 128 129 ];",
        "protocols { lldp { interface [ ge-0/0/0 ge-0/0/1 ]; } }",
        "dynamic-neighbor x { peer-auto-discovery { interface [ a.0 b.0 ]; } }",
        "from { route-filter [ 1.0.0.0/8 2.0.0.0/8 ]; }",
        "then { community [ add set ]; }",
        "drop-profile-map [ a b ];",
        "term [ a b ];",
        "family [ inet inet6 ];",
        "address [ ::1/64 ::2/64 ];",
        "unit [ 0 1 ];",
        "class [ A B ];",
        "flag [ all state ];",
        "as-path [ a b ];",
    ],
)
def test_a_list_behind_a_word_with_keys(text: str) -> None:
    root = read(text)
    assert len(list(root.paths())) == 2
    for written in (to_curly(root), to_set(root)):
        assert sorted(read(written).paths()) == sorted(root.paths())


@pytest.mark.parametrize(
    ("statement", "curly"),
    [
        ('system syslog file messages match "a b"', 'system { syslog { file messages { match "a b"; } } }'),
        ("system syslog file size any notice", "system { syslog { file size { any notice; } } }"),
        ("system scripts op file x.slax command y", "system { scripts { op { file x.slax { command y; } } } }"),
        ("system login class files permissions all", "system { login { class files { permissions all; } } }"),
        ("protocols bgp traceoptions file x size 10m microsecond-stamp", None),
        ("forwarding-options sampling output file filename x size 10m files 3", None),
    ],
)
def test_curly_and_set_text_are_the_same_tree(statement: str, curly: str | None) -> None:
    as_set = read(f"set {statement}")
    words = statement.split(" file ", maxsplit=1)[0].split()
    text = curly or " { ".join(words) + " { file " + statement.split(" file ")[1] + ";" + " }" * len(words)
    assert sorted(as_set.paths()) == sorted(read(text).paths())
    for written in (to_curly(as_set), to_set(as_set), to_set(read(text)), to_curly(read(text))):
        assert sorted(read(written).paths()) == sorted(as_set.paths())


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("mtu 1; mtu 2;", "mtu", "2"),
        ("mtu 1; mtu 2; mtu 1;", "mtu", "1"),
        ("set mtu 1\nset mtu 2\nset mtu 1", "mtu", "1"),
        ('set d "a b"\nset d c\nset d "a b"', "d", "a b"),
        ("local-as 1 loops 2;", "local-as", "1"),
        ("local-as 1; local-as 2 loops 3;", "local-as", "2"),
        ("local-as 2 private; local-as 1; local-as 2;", "local-as", "2"),
        (
            "routing-options { autonomous-system 1 loops 2; autonomous-system 2; }",
            "routing-options autonomous-system",
            "2",
        ),
        ("set local-as loops 3\nset local-as 7", "local-as", "7"),
        ("local-as private;", "local-as", None),
        ("traceoptions { file size size 10m; }", "traceoptions file", None),
    ],
)
def test_of_several_values_the_last_counts(text: str, path: str, value: str | None) -> None:
    assert read(text).value(*path.split()) == value


def test_the_order_of_policies_is_the_first_one_written() -> None:
    assert read("set export a\nset export b\nset export a").values("export") == ("a", "b")
    assert read("export [ a b ]; export a;").values("export") == ("a", "b")
