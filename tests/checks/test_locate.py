"""Findings point to the statement that they are about, wherever it stands, and to what is around a missing one."""

from pathlib import Path

import pytest

from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.locate import ANY, OR, located, taken_out
from ailb_gen.checks.model import Finding, Result
from ailb_gen.errors import Place
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from tests.checks.trees import GOLDEN

FILE = "switches/spine1.conf"
TEXT = (GOLDEN / "lab" / FILE).read_text()
GROUP = """groups {
    REMOTE {
        interfaces {
            <et-*> {
                disable;
            }
        }
    }
}
apply-groups REMOTE;
"""
RANGE = """interfaces {
    interface-range UPLINKS {
        member et-0/0/0;
        mtu 1500;
    }
"""
BFD = "protocols bgp group fabric-green bfd-liveness-detection"


def about(statement: str, message: str = "wrong", instead: bool = False) -> Finding:
    return Finding("AILB209", "spine1", message, Place(FILE, 3), statement=statement, instead=instead)


def placed(tmp_path: Path, text: str, *findings: Finding) -> list[Finding]:
    (tmp_path / "switches").mkdir(exist_ok=True)
    (tmp_path / FILE).write_text(text)
    (result,) = located([Result(BY_ID["AILB209"], findings)], tmp_path)
    return list(result.findings)


def line_of(finding: Finding, text: str) -> str:
    assert finding.place is not None
    return text.split("\n")[finding.place.line - 1].strip()


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        (f"{BFD} multiplier", "multiplier 3;"),
        ("class-of-service schedulers s2-cnp priority", "priority strict-high;"),
        ("policy-options policy-statement FABRIC-OUT term fabric then accept", "accept;"),
        (f"protocols bgp group no-such type{OR}protocols bgp group fabric-green type", "type external;"),
    ],
)
def test_what_is_there_is_found(tmp_path: Path, statement: str, line: str) -> None:
    (found,) = placed(tmp_path, TEXT, about(statement))
    assert (line_of(found, TEXT), found.gap, found.message) == (line, "", "wrong")


@pytest.mark.parametrize(
    ("statement", "line", "gap"),
    [
        (f"{BFD} holddown-interval", "bfd-liveness-detection {", f"{BFD} holddown-interval"),
        ("protocols bgp group other type", "bgp {", "protocols bgp group other"),
        (
            "class-of-service forwarding-classes class CNP no-loss",
            "class CNP queue-num 3;",
            "class-of-service forwarding-classes class CNP no-loss",
        ),
        ("routing-options forwarding-table x y", "forwarding-table {", "routing-options forwarding-table x"),
        (f"policy-options policy-statement FABRIC-IN {ANY}", "policy-statement FABRIC-IN {", None),
    ],
)
def test_what_is_missing_is_placed_at_the_innermost_block_around_it(
    tmp_path: Path, statement: str, line: str, gap: str | None
) -> None:
    (found,) = placed(tmp_path, TEXT, about(statement))
    assert line_of(found, TEXT) == line
    assert found.gap == f"{FILE} {gap or statement}"


@pytest.mark.parametrize(
    ("block", "statement"),
    [
        ("group fabric-green {", f"{BFD} multiplier"),
        ("multiplier 3;", f"{BFD} multiplier"),
        ("then reject;", f"policy-options policy-statement FABRIC-IN {ANY}"),
    ],
)
def test_what_is_inactive_is_the_place(tmp_path: Path, block: str, statement: str) -> None:
    text = TEXT.replace(block, f"inactive: {block}", 1)
    (found,) = placed(tmp_path, text, about(statement))
    assert line_of(found, text) == f"inactive: {block}"
    assert "is inactive)" in found.message


EXPORT = "policy-options policy-statement FABRIC-OUT"
OTHERS = """        term others {
            then reject;
        }
"""
SET = "set policy-options policy-statement FABRIC-OUT term others then reject\n"


@pytest.mark.parametrize(
    ("text", "statement", "line"),
    [
        (TEXT.replace(OTHERS, f"/*\n{OTHERS}*/\n"), f"{EXPORT} {ANY}", "term others {"),
        (TEXT.replace("multiplier 3;", "# multiplier 3;", 1), f"{BFD} multiplier", "# multiplier 3;"),
        (f"#{SET}set system host-name x\n", f"{EXPORT} term others then", f"#{SET.strip()}"),
        (f"{SET}delete {EXPORT} term others\n", f"{EXPORT} {ANY}", f"delete {EXPORT} term others"),
        (f"{SET}delete {EXPORT}\n", f"{EXPORT} term others then reject", f"delete {EXPORT}"),
        (
            f"{SET}set {EXPORT} term a then accept\ninsert {EXPORT} term others before term a\n",
            f"{EXPORT} term others",
            f"insert {EXPORT} term others before term a",
        ),
    ],
)
def test_what_is_taken_out_is_the_place(tmp_path: Path, text: str, statement: str, line: str) -> None:
    (found,) = placed(tmp_path, text, about(statement))
    assert line_of(found, text) == line
    assert found.message.endswith(" here)")


@pytest.mark.parametrize(
    ("text", "statement", "line", "source"),
    [
        (TEXT + GROUP, "interfaces et-0/0/1 disable", "disable;", "group REMOTE"),
        (
            TEXT.replace("        mtu 9216;\n", "", 1).replace("interfaces {\n", RANGE, 1),
            "interfaces et-0/0/0 mtu",
            "mtu 1500;",
            "interface-range UPLINKS",
        ),
    ],
)
def test_what_is_inherited_names_its_source(tmp_path: Path, text: str, statement: str, line: str, source: str) -> None:
    (found,) = placed(tmp_path, text, about(statement))
    assert line_of(found, text) == line
    assert found.message == f"wrong (inherited from {source})"


def test_what_stands_in_the_place_of_something_missing_has_the_same_gap(tmp_path: Path) -> None:
    text = TEXT.replace("multiplier 3;", "multiplyer 3;")
    wrong = about(f"{BFD} multiplyer", "there is no such statement", instead=True)
    missing, other = about(f"{BFD} multiplier", "missing"), about(f"{BFD} detection-time", "missing, too")
    found = {one.message: one.gap for one in placed(tmp_path, text, wrong, missing, other)}
    assert found["there is no such statement"] == found["missing"] != found["missing, too"]


def test_a_finding_without_a_statement_and_one_in_a_file_that_is_no_configuration_stay_as_they_are(
    tmp_path: Path,
) -> None:
    assert placed(tmp_path, TEXT, about("")) == [about("")]
    assert placed(tmp_path, "{", about(BFD)) == [about(BFD)]
    assert placed(tmp_path, TEXT, about(f"interfaces none {ANY}{OR}")) == [about(f"interfaces none {ANY}{OR}")]


@pytest.mark.parametrize("verb", ["", "deactivate", "#set"])
def test_lines_of_thousands_of_words_are_looked_through(tmp_path: Path, verb: str) -> None:
    words = " ".join(f"a{number}" for number in range(3_000))
    text = f"set {words}\n{verb} {words} b\n".removesuffix(f" {words} b\n" if not verb else "")
    statement = f"a0 {ANY}" if verb == "deactivate" else "a0 x"
    (finding,) = placed(tmp_path, text, about(statement))
    assert finding.place is not None
    assert finding.place.line == (2 if verb == "deactivate" else 1)


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
