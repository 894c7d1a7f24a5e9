"""Files that hold more than one configuration, or another format: refused at the first line that says so."""

import pytest

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import ENDS, Node
from ailb_gen.junos.writer import to_curly, to_set

CURLY = "system {\n  host-name a;\n}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"R1\n{CURLY}", "f:1:1: 'R1' before 'system' is not a statement"),
        (f"{CURLY}\nDevice R2 (spine):\ninterfaces {{\n  a;\n}}\n", "f:5:1: 'Device R2 (spine):' before 'interf"),
        ("leaf1:\nset system host-name a\n", "f:1:1: 'leaf1:' before 'set' is not a statement"),
        (f"{CURLY}==== R2 ====\nversion 23.4R1;\n", "f:4:1: '==== R2 ====' before 'version'"),
        (
            f"{CURLY}user@host> show configuration | no-more\n{CURLY}",
            "f:4:1: 'user@host> show configuration | no-more'",
        ),
        (f"{CURLY}  root@re0:spine-1# show\n{CURLY}", "f:4:1: 'root@re0:spine-1# show' is a prompt"),
        (f"{CURLY}root@:RE:0% cli\n{CURLY}", "f:4:1: 'root@:RE:0% cli' is a prompt"),
        (f"{CURLY}{{master:0}}\n{CURLY}", "f:4:1: '{master:0}' is printed around a prompt"),
        (f"{CURLY}[edit interfaces]\n{CURLY}", "f:4:1: '[edit interfaces]' is printed around a prompt"),
        (
            "system {\n  host-name a;\n---(more 40%)---\n  services;\n}\n",
            "f:3:1: '---(more 40%)---' is printed by a pager",
        ),
        ("system {\n  host-name\n---(more)---\n  a;\n}\n", "f:3:1: '---(more)---' is printed by a pager"),
        ("system {\n  host-name a\n{master:0}\n}\n", "f:3:1: '{master:0}' is printed around"),
        ("set a b\n--More--\nset c\n", "f:2:1: '--More--' is printed by a pager"),
        ("set a b\n\nroot@l2# run show x\nset c\n", "f:3:1: 'root@l2# run show x' is a prompt"),
        ("set a b\nR2\nset c\n", "f:2:1: 'R2' is not a command of set text"),
        (
            "[edit interfaces]\n+   xe-0/0/0 {\n+       mtu 3;\n+   }\n",
            "f:2:1: '+   xe-0/0/0 {' is a line of `show | co",
        ),
        ("\n<rpc-reply><configuration/></rpc-reply>\n", "f:2:1: this is XML"),
        ('<?xml version="1.0"?>\n<configuration/>\n', "f:1:1: this is XML"),
        ('{"configuration": {}}', "f:1:1: this is JSON"),
        ("!\nhostname x\n!\n", "f:1:1: this is the configuration of another vendor's device"),
        ("! x\nhostname x\n", "f:1:1: this is the configuration of another vendor's device"),
        ("hostname x\ninterface Ethernet1\n", "f:1:1: this is the configuration of another vendor's device"),
        ("feature bgp\nhostname x\n", "f:1:1: this is the configuration of another vendor's device"),
        (
            f"{CURLY}# leaf2\nsystem {{\n  host-name b;\n}}\n",
            "f:6:1: host-name 'b' is another device than 'a' in line 2",
        ),
        ("# a\nset system host-name a\n# b\nset system host-name b\n", "f:4:1: host-name 'b' is another device"),
        (
            "".join(f"set system host-name {name}\nset vlans v\nset protocols lldp\n" for name in "ab"),
            "f:4:1: host-name 'b' is another device than 'a' in line 1",
        ),
        ("# leaf1\nset a b\n# leaf2\nset a c\n", "f:3:1: '# leaf2' is the heading of a second device"),
        ("/* leaf1 */\na {\n  b;\n}\n/* leaf2 */\na {\n  c;\n}\n", "f:5:1: '/* leaf2 */' is the heading of"),
        (
            "set system host-name s1-leaf2\nset a b\n### leaf2 ###\nset a b\n## leaf1 --\nset a c\n",
            "f:5:1: '## leaf1 --' is the heading",
        ),
        ("\ufeffset a b\n", "f:1:1: a byte order mark"),
        ("[edit interfaces]\na {\n  b;\n}\n", "f:1:1: this was shown at a level of the configuration"),
        ("a {\n  b;\n}\n\n[edit protocols bgp]\nroot@r#\n", "f:5:1: this was shown at a level"),
        *(
            (f"root@leaf1# {command}\n{CURLY}", f"f:1:1: 'root@leaf1# {command}' is a prompt")
            for command in ("set system host-name b", "delete system", "deactivate system", "commit", "load override x")
        ),
        ("root@leaf1# set system a\nset system b\n", "f:1:1: 'root@leaf1# set system a' is a prompt"),
        (f"{CURLY}root@leaf1> set system b\n", "f:4:1: 'root@leaf1> set system b' is a prompt"),
        ("set system b\nroot@leaf1# delete system b\n", "f:2:1: 'root@leaf1# delete system b' is a prompt"),
    ],
)
def test_the_first_line_that_is_no_configuration_is_reported(text: str, message: str) -> None:
    with pytest.raises(JunosSyntaxError) as caught:
        read(text, "f")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text",
    [
        "system\n{\n  host-name a;\n}\n",
        "apply-groups [\n a\n system\n b ];\n",
        "## Last changed: now\nversion 23.4R1;\nsystem {\n  host-name a;\n}\n",
        'system {\n  message "user@host> x\n{master:0}\n---(more)---\nR2\nsystem";\n}\n',
        "/* user@host> show\n{master:0} */\nsystem {\n  host-name a;\n}\n",
        "groups {\n  re0 {\n    system {\n      host-name a;\n    }\n  }\n"
        "  re1 {\n    system {\n      host-name b;\n    }\n  }\n}\n",
        "system {\n  host-name a;\n  host-name b;\n}\n",
        "# uplinks\nset a b\n# servers\nset a c\n",
        "set system host-name leaf1\n# spine1\nset a b\n# spine2\nset a c\n",
        "set system host-name leaf1\n# leaf1\nset a b\n# to leaf2\nset a c\n",
        "set a b\n# rail1\nset a c\n# rail2\nset a d\n",
        "set system host-name a\nset system host-name b\n",
        "groups {\n  g {\n    interfaces {\n      <*> {\n        mtu 9000;\n      }\n    }\n  }\n}\n",
    ],
)
def test_what_only_looks_like_it_is_read(text: str) -> None:
    assert list(read(text, "f").paths())


@pytest.mark.parametrize(
    "word", ["+", "-", "!", "--more--", "a@b>", "root@x#", "<?xml", "<configuration", "<data>", "set"]
)
def test_a_word_that_looks_like_it_survives_every_form(word: str) -> None:
    root = Node("")
    node = root.children["x"] = Node("x", 1)
    node.children[word] = Node(word, 1, ENDS)
    alone = Node("")
    alone.children[word] = Node(word, 1, ENDS)
    for tree in (root, alone) if word != "set" else (root,):
        assert list(read(to_curly(tree)).paths()) == list(read(to_set(tree)).paths()) == list(tree.paths())


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
