"""The configuration as the command line shows it: `show configuration`, and `show` while it is edited."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lxml import etree

from ailb_gen.emulator.configuration import attributes, inherited, rollback_number, with_attributes, with_version
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.json_codec import to_json
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.outline import top
from ailb_gen.emulator.pipes import TypedLine, filtered
from ailb_gen.emulator.show_compare import patch
from ailb_gen.emulator.xml_codec import to_xml
from ailb_gen.junos.tokens import written
from ailb_gen.junos.tree import ENDS, Node
from ailb_gen.junos.writer import set_lines, to_curly

JUNOS = "http://xml.juniper.net/junos/{release}/junos"


def show_tree(device: EmulatedDevice, tree: Node, path: Sequence[str], line: TypedLine) -> str:
    """Return a part of a configuration through the filters of a line. Raises RpcRefusedError."""
    return filtered(_shown(device, tree, path, line), line.pipes)


def _shown(device: EmulatedDevice, tree: Node, path: Sequence[str], line: TypedLine) -> str:
    comparing = next((pipe for pipe in line.pipes if pipe.name == "compare"), None)
    if comparing is not None:
        return patch(only(_other(device, comparing.words), path), only(tree, path))
    if line.display("inheritance"):
        tree = inherited(tree)
    whole = with_version(device, tree)
    if any(pipe.words[1:2] == ("rpc",) for pipe in line.pipes):
        raise refusal("this emulator has no 'display xml rpc' of a configuration", element="rpc")
    if line.display("xml", "json"):
        return _marked_up(device, tree, only(whole, path), line)
    part = whole.get(*path)
    if part is None:
        return ""
    if line.display("set"):
        relative = any(pipe.words[1:2] == ("relative",) for pipe in line.pipes)
        lead = [] if relative else [_written(word) for word in path]
        if path and not part.children:
            return f"{' '.join(['set', *lead])}\n"
        return "".join(f"{text}\n" for text in set_lines(part, lead))
    # Of a block its content, of anything else the statement.
    return to_curly(part if part.flags & ENDS or not part.word else _alone(part))


def _other(device: EmulatedDevice, words: Sequence[str]) -> Node:
    """Return the configuration that `compare` names. Raises RpcRefusedError."""
    if list(words) in ([], ["rescue"]):
        return device.database.rescue_tree() if words else device.database.active
    if len(words) == 2 and words[0] == "rollback":
        return device.database.rollback_tree(rollback_number(words[1]))
    raise refusal("syntax error, compare takes nothing, 'rollback NUMBER' or 'rescue'", element=words[0])


def _marked_up(device: EmulatedDevice, tree: Node, whole: Node, line: TypedLine) -> str:
    known = top(device.schema)
    made = to_xml(whole, known)
    if line.display("json"):
        return f"{to_json(made, known, attributes(device, tree))}\n"
    text = etree.tostring(made, encoding="unicode", pretty_print=True)
    return wrapped(device.version, with_attributes(text, attributes(device, tree)))


def wrapped(version: str, xml: str) -> str:
    """Return XML as `| display xml` shows it: in a reply, with the banner that the command line has."""
    release = version.partition("-")[0].rpartition(".")[0]
    body = re.sub(r"^(?=.)", "    ", xml.strip("\n"), flags=re.MULTILINE)
    return (
        f'<rpc-reply xmlns:junos="{JUNOS.format(release=release)}">\n{body}\n'
        "    <cli>\n        <banner></banner>\n    </cli>\n</rpc-reply>\n"
    )


def only(root: Node, path: Sequence[str]) -> Node:
    """Return a tree with nothing but one path and the statements below it."""
    if not path:
        return root
    result = Node(root.word, root.line, root.flags)
    child = root.children.get(path[0])
    if child is not None:
        result.children[path[0]] = only(child, path[1:])
    return result


def _written(word: str) -> str:
    return written(Node(word))


def _alone(node: Node) -> Node:
    root = Node("")
    root.children[node.word] = node
    return root
