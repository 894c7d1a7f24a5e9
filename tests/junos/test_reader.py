"""Curly and set text read: places, tags, comments, lists, banners, and everything that is no Junos text."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ailb_gen.errors import AilbError, JunosSyntaxError, UsageError
from ailb_gen.junos.reader import read, read_curly, read_file
from ailb_gen.junos.tokens import MAX_TEXT
from ailb_gen.junos.tree import DELETE, ENDS, INACTIVE, LIST, PROTECT, QUOTED, REPLACE, Node
from ailb_gen.junos.writer import to_curly, to_json, to_set
from tests.conftest import need_shared

Paths = list[tuple[str, ...]]


def paths(text: str) -> Paths:
    return list(read(text).paths())


def node(text: str, *words: str) -> Node:
    found = read(text).get(*words)
    assert found is not None
    return found


def test_however_statements_are_grouped_they_share_nodes() -> None:
    one = [("interfaces", "irb", "unit", "2", "family", "inet6", "mtu", "9170")]
    assert paths("interfaces { irb { unit 2 { family inet6 { mtu 9170; } } } }") == one
    assert paths("interfaces irb unit 2 { family { inet6 { mtu 9170; } } }") == one
    assert paths("set interfaces irb unit 2 family inet6 mtu 9170\n") == one
    assert paths("system { a; } b; system { c; }") == [("system", "a"), ("system", "c"), ("b",)]


STATEMENTS = st.lists(
    st.sampled_from(["a", "b", "a:", "file", "size", "hold-time", "inactive:", "é"]), min_size=1, max_size=4
)
STRINGS = st.text("xy;{}[]#/*:( \\", max_size=4)


def outcome(text: str) -> object:
    """Return every field of the tree of a text, or where and why it is refused."""
    try:
        root = read_curly(text)
    except JunosSyntaxError as error:
        return error.line, error.reason
    return [(found.word, found.line, found.flags, found.comment, *found.children) for found in root.below()]


@given(st.lists(st.tuples(STATEMENTS, STRINGS), max_size=6))
@example([(["a"], "x"), (["a"], "y"), (["a"], "x")])
@example([(["file"], "x"), (["file", "a", "size"], "y")])
@example([(["inactive:", "a"], "x"), (["a", "b:"], "x")])
def test_a_string_at_the_end_of_a_line_is_read_as_its_tokens_are(statements: list[tuple[list[str], str]]) -> None:
    """A blank in front of the semicolon, and the reader of tokens takes the line."""
    lines = [f'{" ".join(words)} "{string}"' for words, string in statements]
    assert outcome("".join(f"{line};\n" for line in lines)) == outcome("".join(f"{line} ;\n" for line in lines))


@pytest.mark.parametrize("prompt", ["user@host> show", "-", "+"])
def test_a_line_of_a_terminal_is_refused_before_a_string(prompt: str) -> None:
    with pytest.raises(JunosSyntaxError, match="save `show configuration"):
        read_curly(f'a;\n{prompt} "x";\n')


@pytest.mark.parametrize(
    "text",
    [
        "protocols { bgp { traceoptions {\nfile X {\nsize 1m;\nfiles 2;\n} } } }",
        "protocols { bgp { traceoptions { file X { size 1m; files 2; } } } }",
        "set protocols bgp traceoptions file X size 1m\nset protocols bgp traceoptions file X files 2\n",
    ],
)
def test_a_value_and_its_attributes_are_side_by_side(text: str) -> None:
    tree = read(text)
    assert sorted(tree.values("protocols", "bgp", "traceoptions", "file")) == ["X", "files", "size"]
    assert "file X size 1m files 2;" in to_curly(tree)
    assert sorted(to_set(read(to_set(tree))).splitlines()) == sorted(to_set(tree).splitlines())


def at(root: Node, *path: str) -> Node:
    """Return the node of a path, which is there."""
    node = root.get(*path)
    assert node is not None
    return node


def test_lines_are_true() -> None:
    root = read(
        "\n\nsystem {\n    host-name\n      x;\n    /* two\n lines */\n    ntp {\n server 1.1.1.1; }\n}\nfoo;\n"
    )
    lines = {path[-1]: at(root, *path).line for path in root.paths()}
    assert lines == {"x": 4, "1.1.1.1": 9, "foo": 11}
    assert at(root, "system", "ntp").line == 8
    root = read('set a b\n\nset a c "x\ny" d\nset a e\n')
    assert [at(root, *path).line for path in root.paths()] == [1, 3, 5]


def test_lists() -> None:
    members = node("community x members [ 1:1\n 2:2 ];", "community", "x", "members")
    assert members.flags & LIST and list(members.children) == ["1:1", "2:2"]
    assert all(value.flags & ENDS for value in members)
    assert paths("set a members [ 1:1 2:2 ]") == [("a", "members", "1:1"), ("a", "members", "2:2")]


def test_policy_expressions_are_one_word() -> None:
    expected = [("export", "( A && ! ( B || C ) )"), ("export", "D")]
    assert paths("export [ ( A &&\n ! ( B || C ) ) D ];") == expected
    assert paths("set export ( A && ! ( B || C ) )\nset export D") == expected
    assert paths("as-path x (1|2);") == [("as-path", "x", "(1|2)")]
    assert paths("a (b c;") == [("a", "(b", "c")]


@pytest.mark.parametrize(
    ("written", "word"),
    [('"a b"', "a b"), ('""', ""), (r'"a\"b"', 'a"b'), (r'"a\\"', r"a\\"), (r'"\."', r"\."), ('"a\nb"', "a\nb")],
)
def test_quoted_strings(written: str, word: str) -> None:
    for text in (f"description {written};", f"set description {written}"):
        root = read(text)
        assert list(root.paths()) == [("description", word)]
        value = root.get("description", word)
        assert value is not None and value.flags & QUOTED
        assert to_curly(root) == f"description {written};\n"
        assert to_set(root) == f"set description {written}\n"


@pytest.mark.parametrize(
    ("text", "path", "flag"),
    [
        ("inactive: system { a; }", ["system"], INACTIVE),
        ("x { inactive: mtu 9000; }", ["x", "mtu"], INACTIVE),
        ("x { inactive: unit 0; }", ["x", "unit", "0"], INACTIVE),
        ("x { inactive: from protocol bgp; }", ["x", "from"], INACTIVE),
        (
            "forwarding-classes { inactive: class A queue-num 1 no-loss; }",
            ["forwarding-classes", "class", "A"],
            INACTIVE,
        ),
        ("inactive: export [ a b ];", ["export"], INACTIVE),
        ("unit 0 { inactive: family inet; }", ["unit", "0", "family", "inet"], INACTIVE),
        ("from { inactive: family inet; }", ["from", "family"], INACTIVE),
        ("then { inactive: community add x; }", ["then", "community", "add", "x"], INACTIVE),
        ("traceoptions { inactive: flag state detail; }", ["traceoptions", "flag", "state"], INACTIVE),
        ("from { inactive: route-filter ::/0 exact accept; }", ["from", "route-filter", "::/0", "exact"], INACTIVE),
        ("from { inactive: route-filter ::/0 upto /8; }", ["from", "route-filter", "::/0", "upto", "/8"], INACTIVE),
        ("protect: system { a; }", ["system"], PROTECT),
        ("replace: system { a; }", ["system"], REPLACE),
        ("delete: system;", ["system"], DELETE),
        ("inactive: protect: system;", ["system"], INACTIVE | PROTECT),
        ("active: unprotect: system;", ["system"], 0),
        ("set x mtu 1\ndeactivate x mtu", ["x", "mtu"], INACTIVE),
        ("set x mtu 1\ndeactivate x mtu\nactivate x mtu", ["x", "mtu"], 0),
        ("set x\nprotect x", ["x"], PROTECT),
        ("delete x", ["x"], DELETE),
        ("set x a\ndelete x\nset x b", ["x"], REPLACE),
        ("delete x\nset x", ["x"], REPLACE),
    ],
)
def test_tags(text: str, path: list[str], flag: int) -> None:
    assert node(text, *path).flags & (INACTIVE | PROTECT | REPLACE | DELETE) == flag


def test_delete_takes_back_what_was_set() -> None:
    assert paths("set x a\ndelete x\nset x b") == [("x", "b")]


def test_edit_moves_and_insert_reorders() -> None:
    text = "edit a\nedit b\nset c\nexit\nset d\nexit\nedit e\ntop\nset f\n"
    assert paths(text) == [("a", "b", "c"), ("a", "d"), ("e",), ("f",)]
    text = "set p term a\nset p term b\nset p term c\ninsert p term c before term a\ninsert p term a after term b\n"
    assert [path[-1] for path in paths(text)] == ["c", "b", "a"]


def test_comments_stay_with_their_statement() -> None:
    root = read("# one\n/* two */\na {\n    b; ## three\n    # four\n}\n/* five */ c;\n# six\n")
    assert root.comment == ["# six"]
    assert [at(root, *path).comment for path in (["a"], ["a", "b"], ["c"])] == [
        ["# one", "/* two */", "# four"],
        ["## three"],
        ["/* five */"],
    ]
    root = read('# one\nset a b\nedit a\nannotate b "two"\n')
    assert at(root, "a", "b").comment == ["# one", "/* two */"]


@pytest.mark.parametrize(
    "text",
    [
        "\nuser@host> show configuration |no-more\n\nsystem {\n    a;\n}\n\n{master:0}\nuser@host> \n\n",
        "show configuration | display set | no-more\n\nset system a\n\n\n{master}[edit]\nuser@host# exit\n",
        "## Last commit: 2024-01-01 by root\nsystem {\n    a;\n}\n",
        "user@host-re0> set cli screen-length 0\n\nuser@host> show configuration system|display set\nset system a\n",
        "{master:0}[edit]\nuser@host# run show configuration\nset system a\n\n[edit interfaces]\nuser@host#\n",
        "\r\nsystem {\r\n    a;\r\n}\r\n",
    ],
)
def test_what_a_device_prints_around_it_is_passed_over(text: str) -> None:
    assert paths(text) == [("system", "a")]


# Python takes the first six for blanks.
ODD = (
    "\u00a0",
    "\u2003",
    "\u3000",
    "\u2028",
    "\u0085",
    "\u1680",
    "\u200b",
    "\u2060",
    "\u00ad",
    "\u202e",
    "\ufeff",
    "\u2800",
)


@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a {{\n    mtu{}9216;\n}}\n", "f:2:8"),
        ("a {{\n{}   mtu 9216;\n}}\n", "f:2:1"),
        ("a {{\n    mtu 9216{};\n}}\n", "f:2:13"),
        ("a {{\n    mtu 9216;\n}}{}\n", "f:3:2"),
        ("a {{\n    mtu 9216;\n{}\n}}\n", "f:3:1"),
        ("a [ b{}c ];\n", "f:1:6"),
        ('a "b"{};\n', "f:1:"),
        ("set a mtu{}9216\n", "f:1:10"),
        ("set{}a mtu 9216\n", "f:1:4"),
        ("set a b\n{}set a mtu 9216\n", "f:2:1"),
        ("set a mtu 9216{}\n", "f:1:15"),
        ("{}set a\n", "f:1:1"),
    ],
)
def test_what_looks_like_a_blank_is_none(text: str, place: str, odd: str) -> None:
    with pytest.raises(JunosSyntaxError) as caught:
        read(text.format(odd), "f")
    assert str(caught.value).startswith(place)


def test_wildcards_of_ports_need_no_quotes_in_commands() -> None:
    text = "set interfaces interface-range r member et-0/0/*\nset c et-*/*/* unit 0 /* all */\n"
    assert [*read(text).paths()] == [
        ("interfaces", "interface-range", "r", "member", "et-0/0/*"),
        (*["c", "et-*/*/*", "unit", "0"],),
    ]


@pytest.mark.parametrize("text", ["a \u201cb c\u201d;\n", "set a \u201cb c\u201d\n", "a b\u201e;\n"])
def test_quotes_of_word_processors_are_none(text: str) -> None:
    with pytest.raises(JunosSyntaxError, match=r'DOUBLE .*QUOTATION MARK is part of a word on a device; write `"`'):
        read(text, "f")
    assert list(read('a "\u201cb\u201d";\n').paths()) == [("a", "\u201cb\u201d")]


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_quotes_and_comments_hold_any_letter(odd: str) -> None:
    root = read(f'/* a{odd}b */\n# c{odd}d\na "x{odd}y"; # e{odd}f\n')
    assert list(root.paths()) == [("a", f"x{odd}y")]
    for text in (to_curly(root), to_set(root)):
        assert list(read(text).paths()) == [("a", f"x{odd}y")]


@pytest.mark.parametrize("text", ["a;\rb;\n", "# a\rb;\n", "set a\rset b\n", 'a "b\rc";\n'])
def test_a_carriage_return_ends_no_line(text: str) -> None:
    with pytest.raises(JunosSyntaxError, match=r"a control character '\\r'"):
        read(text)
    assert paths(text.replace("\r", "\r\r\n"))


@pytest.mark.parametrize(
    "text",
    [
        'system {\n    /* of\n     * two */\n    a "x\ny"; ## SECRET-DATA\n    # one\n    b;\n}\n',
        "# one\nset system a x\nset system b ## SECRET-DATA\n",
    ],
)
def test_line_ends_of_windows_are_no_part_of_texts_and_comments(text: str) -> None:
    other = read(text.replace("\n", "\r\n"))
    assert to_set(other) == to_set(read(text))
    assert to_curly(other) == to_curly(read(text))
    assert "\r" not in to_curly(other)


def test_line_ends_of_windows_in_a_piece_of_text() -> None:
    assert to_curly(read_curly("a; # one\r\nb;\r\n")) == to_curly(read_curly("a; # one\nb;\n"))


def test_several_attributes_on_a_line_are_statements_of_their_own() -> None:
    expected = [("class", "A", "queue-num", "4"), ("class", "A", "no-loss"), ("class", "A", "pfc-priority", "3")]
    assert paths("class A queue-num 4 no-loss pfc-priority 3;") == expected
    assert paths("set class A queue-num 4 no-loss pfc-priority 3\n") == expected
    assert paths("file x.log size 10m files 3;") == [("file", "x.log"), ("file", "size", "10m"), ("file", "files", "3")]
    assert paths("class A permissions all other;") == [("class", "A", "permissions", "all", "other")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a {\n b;", "f:1:3: '{' is never closed"),
        ("a { b { c; }", "f:1:3: '{' is never closed"),
        ("a;\n}", "f:2:1: '}' without '{'"),
        ("a {\n b\n}", "f:2:2: ';' is missing before '}'"),
        ("a\n b", "f:2:2: ';' is missing at the end"),
        ("a [ b;", "f:1:6: ';' inside a list"),
        ("a [ ];", "f:1:5: an empty list"),
        ("a [ b ] c;", "f:1:9: 'c' after a list"),
        ('a "b;\n', "f:1:3: a quoted string is not closed"),
        ('a "b;\nc "d";\n', "f:1:3: a quoted string is not closed"),
        ('a "b"c;', "f:1:3: text right behind a quoted string"),
        ("a; /* b", "f:1:4: a comment is not closed"),
        ("a;\n  \x00;", "f:2:3: a control character '\\x00'"),
        ("inactive: ;", "f:1:11: a tag without a statement"),
        ("a { inactive: }", "f:1:15: a tag without a statement"),
        ("inactive:", "f:1:9: ';' is missing at the end"),
        ("set a b;", "f:1:8: ';' is not allowed here in a set line"),
        ("set a\nfoo b", "f:2:1: 'foo' is not a command of set text, such as set, delete or deactivate"),
        ("set a\nset\n", "f:2:1: nothing after 'set'"),
        (
            "set a\n  rename a to b",
            "f:2:3: 'rename' depends on the existing configuration; write the result as set lines",
        ),
        ("set a [ b\n", "f:1:1: a list is not closed at the end of the line"),
        ("set a\ntop", None),
        ("set a\nexit", "f:2:1: 'exit' at the top level"),
        ("set a\nup", "f:2:1: 'up' is not a command of set text"),
        ("set a\ntop b", "f:2:1: nothing is allowed after 'top'"),
        ('set a\nannotate a "b */ c;"', "f:2:1: a comment cannot hold '*/'"),
        ("annotate a b", "f:1:1: annotate takes a statement and a comment in quotes"),
        ("set a b\ninsert a c before b", "f:2:1: insert takes an entry that is set"),
        (
            "a;\n" * 1_400_000,
            "f:1:1: 4,199,999 characters, more than 4,194,304: no device's configuration is that long",
        ),
        ("set" + " a" * 400_000, "f:1:1: 400,001 words, more than 400,000: no device's configuration has that many"),
        ("delete a [ b ]", "f:1:1: a list with words behind it"),
    ],
)
def test_errors_name_the_place(text: str, message: str | None) -> None:
    if message is None:
        read(text, "f")
        return
    with pytest.raises(JunosSyntaxError) as caught:
        read(text, "f")
    assert str(caught.value).startswith(message)


def test_a_piece_of_curly_text_is_nothing_else() -> None:
    assert list(read_curly("set a;").paths()) == [("set", "a")]
    for text in ("set a b\n", "{master:0}\na;\n"):
        with pytest.raises(JunosSyntaxError):
            read_curly(text)


def test_a_closed_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError, match="standard input: cannot be read: it is closed"):
        read_file(Path("-"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_file(tmp_path / "none")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read_file(tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_file(Path("a\0b"))
    with pytest.raises(UsageError, match="larger than 4 MiB"):
        read_file(Path("/dev/zero"))
    (tmp_path / "x").write_bytes(b"a;\n \xff\n")
    with pytest.raises(JunosSyntaxError, match="x:2:2: this is not UTF-8 text"):
        read_file(tmp_path / "x")


HOSTILE = {
    "blocks on a line": "a{" * 50_000 + "}" * 50_000,
    "blocks on lines": "a {\n" * 50_000 + "}\n" * 50_000,
    "words of a set line": "set " + "a " * 50_000,
    "a quarter of a million lines with a break": "a\n;\n" * 125_000,
    "brackets": "a " + "( " * 50_000 + ";",
    "escapes": 'a "' + '\\"' * 400_000 + '";',
    "one word": "a" * 900_000 + ";",
    "banners": "{master:0}\n" * 100_000,
    "empty lines": 'a "b";' + "\n" * 1_000_000 + 'a "c";',
    "open comments": "/*" * 400_000,
    "never closed": "a {\n" * 100_000,
}


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_read_or_refused(text: str) -> None:
    try:
        root = read(text)
    except JunosSyntaxError:
        return
    for write in (to_curly, to_set):
        # Indentation of deep blocks makes more text than is read.
        written = write(root)
        assert len(written) > MAX_TEXT or read(written).children.keys() == root.children.keys()
    to_json(root)


@pytest.mark.parametrize("line", ["a", "a;", "a ", "a{", '"', "/*", "set a "], ids=repr)
def test_a_line_without_end_is_refused(line: str) -> None:
    with pytest.raises(JunosSyntaxError) as caught:
        read(f"b;\n{line * 10_000_000}\nc;\n", "f")
    assert str(caught.value) == "f:2:1: a line of more than 1,000,000 characters"


@example("!0")
@given(st.one_of(st.text(alphabet='ab{};[]()"\\#/*: \n\t\r\x00', max_size=80), st.text(max_size=40)))
def test_no_text_crashes_the_reader(text: str) -> None:
    for start in ("", "set ", "set a\n"):
        try:
            root = read(start + text, "f")
        except AilbError as error:
            assert str(error).startswith("f:")
        else:
            again = read(to_curly(root))
            assert to_curly(again) == to_curly(root)
            to_set(root)
            to_json(root)


@given(st.binary(max_size=80))
def test_no_bytes_crash_the_reader(content: bytes) -> None:
    try:
        read(content.decode("utf-8", "surrogateescape"), "f")
    except AilbError as error:
        assert str(error).startswith("f:")


def test_published_configurations_are_read() -> None:
    files = [path for path in need_shared("junos-corpus").rglob("*") if path.suffix in (".conf", ".set")]
    assert len(files) == 26
    for path in files:
        root = read_file(path)
        assert sum(1 for _ in root.paths()) > 80, path


# The set text of this device has lost an address that is no address in its curly text.
TYPO = {"dci2_mx304": {("interfaces", "ae12", "unit", "0", "family", "inet", "address", "10.12..1.2/30")}}


def test_published_pairs_are_the_same_tree() -> None:
    for path in need_shared("junos-corpus/pairs").glob("*.conf"):
        curly, as_set = (set(read_file(path.with_suffix(suffix)).paths()) for suffix in (".conf", ".set"))
        assert curly - as_set == TYPO.get(path.stem, set()), path
        assert {words for words in as_set - curly if path.stem not in TYPO} == set(), path


WORD = st.sampled_from(["a", "a", "b", "c", "flag", "send", "detail", "prefix-list", '"a b"', '"a"', "[ a b ]", "é"])
SET = st.lists(WORD, min_size=1, max_size=6).map(lambda words: f"set {' '.join(words)}")
OTHER = st.sampled_from(
    ["delete a", "edit a b", "top", "deactivate a", "# x", "", "activate a b", "set a  b", "set b "]
)


@example(["set a flag b send detail"])
@example(["set a b", "set a c", "set a b"])
@given(st.lists(st.one_of(SET, SET, SET, OTHER), min_size=2, max_size=20))
def test_a_line_reads_the_same_whichever_way_it_is_read(rows: list[str]) -> None:
    rows = ["set a", *rows]
    # Two spaces make every line one that is read token by token.
    assert seen("\n".join(rows)) == seen("\n".join(row.replace("set ", "set  ", 1) for row in rows))


def seen(text: str) -> object:
    """Return words, lines, flags, comments and the order of everything, or the error."""
    try:
        return everything(read(text))
    except JunosSyntaxError as error:
        return error.line, error.reason


def everything(root: Node) -> object:
    return root.word, root.line, root.flags, root.comment, [everything(child) for child in root]


@pytest.mark.parametrize(
    "text",
    [
        "interfaces {\n    et-0/0/0 { mtu %s; }\n}\n",
        "class-of-service {\n    interfaces { et-0/0/0 { flow-control-queue [ 3 %s ]; } }\n}\n",
        'system {\n    location { building "%s"; }\n}\n',
        "set system host-name a\nset interfaces et-0/0/0 mtu %s\n",
    ],
)
def test_numbers_of_thousands_of_digits_are_refused(text: str) -> None:
    read(text % ("9" * 1000))
    with pytest.raises(JunosSyntaxError, match="a number of more than 1,000 digits") as caught:
        read(text % ("9" * 5000))
    assert caught.value.line == 2
