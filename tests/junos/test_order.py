"""Moving entries of a block gives what taking them out and putting them back one by one gives."""

from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.junos.edit import Order
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node

WORDS = st.sampled_from("abcdefg")


@given(st.lists(st.tuples(WORDS, WORDS, st.sampled_from(["add", "last", "before", "after"]))))
def test_moves_between_additions(steps: list[tuple[str, str, str]]) -> None:
    block = Node("block")
    order = Order(block)
    plain: list[str] = []
    for word, other, step in steps:
        if step == "add" and word not in plain:
            block.children[word] = Node(word)
            plain.append(word)
        elif step == "last" and word in plain:
            # What a reader does with a value that is set again.
            order.update()
            block.children[word] = block.children.pop(word)
            order.update()
            plain.append(plain.pop(plain.index(word)))
        elif {word, other} <= {*plain} and step in ("before", "after"):
            order.move(word, other, step == "after")
            if word != other:
                plain.remove(word)
                plain.insert(plain.index(other) + (step == "after"), word)
    order.apply()
    assert [*block.children] == plain
    assert all(word == node.word for word, node in block.children.items())


def test_thousands_of_moves_between_commands_that_set_and_delete() -> None:
    many = range(5_000)
    text = "".join(f"set p e{number} x\ninsert p e{number} before e0\n" for number in many)
    assert [*read(text).children["p"].children] == [f"e{number}" for number in (*many[1:], 0)]
    again = f"{text}delete p\nset p b\nset p a\ninsert p a before b\n"
    assert [*read(again).children["p"].children] == ["a", "b"]


def test_values_that_are_set_again_between_moves() -> None:
    text = "set p a\nset p b\nset p c\ninsert p c before a\nset p d\nset p a\nset p d\n"
    assert [*read(text).children["p"].children] == ["c", "b", "a", "d"]
