"""What paths with wildcards cover."""

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygnmi.spec.v080 import gnmi_pb2

from ailb_gen.emulator.gnmi.errors import GnmiRefusedError
from ailb_gen.emulator.gnmi.paths import ANY, ANY_DEPTH, Steps, absolute, below, covers, message_of, text_of

PORT: Steps = (("interfaces", ()), ("interface", (("name", "et-0/0/0"),)), ("state", ()), ("oper-status", ()))


def pattern(text: str) -> Steps:
    """Read names with at most one key each: `interface[name=*]`."""
    found = []
    for part in text.split("|"):
        name, _, key = part.rstrip("]").partition("[")
        found.append((name, (tuple(key.split("=", 1)),) if key else ()))
    return tuple(found)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("interfaces", True),
        ("interfaces|interface", True),
        ("interfaces|interface[name=*]", True),
        ("interfaces|interface[name=et-0/0/0]|state|oper-status", True),
        ("interfaces|interface[name=et-0/0/1]", False),
        ("interfaces|interface[index=1]", False),
        ("interfaces|*|state", True),
        ("*|*|*|*", True),
        ("*|*|*|*|*", False),
        ("...", True),
        ("...|oper-status", True),
        ("interfaces|...|oper-status", True),
        ("interfaces|...|state|...", True),
        ("...|counters", False),
        ("interfaces|interface|state|oper-status|x", False),
    ],
)
def test_wildcards(text: str, covered: bool) -> None:
    assert covers(pattern(text), PORT) is covered


names = st.sampled_from(["a", "b", "c"])
steps = st.tuples(names, st.sampled_from([(), (("k", "1"),), (("k", "2"),)]))
paths = st.lists(steps, max_size=6).map(tuple)


@given(paths, st.data())
def test_a_path_covers_what_is_below_it_with_any_wildcards(path: Steps, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(path)))
    made: list[tuple[str, tuple[tuple[str, str], ...]]] = []
    for step in path[:end]:
        made.append(data.draw(st.sampled_from([step, (ANY, step[1]), (step[0], ()), (ANY_DEPTH, ())])))
    assert covers(tuple(made), path)
    assert all(below(tuple(made), path[:at]) for at in range(len(path) + 1))


@given(paths, paths)
def test_without_wildcards_it_covers_what_begins_with_it(one: Steps, other: Steps) -> None:
    begins = len(one) <= len(other) and all(
        a[0] == b[0] and set(a[1]) <= set(b[1]) for a, b in zip(one, other, strict=False)
    )
    assert covers(one, other) is begins
    if begins:
        assert below(one, other)


@given(paths)
def test_messages_and_back(path: Steps) -> None:
    assert absolute(gnmi_pb2.Path(), message_of(path)) == path
    assert absolute(message_of(path[:2]), message_of(path[2:])) == path


def test_origins() -> None:
    for origin in ("", "openconfig", "openconfig-interfaces"):
        assert absolute(gnmi_pb2.Path(origin=origin), gnmi_pb2.Path()) == ()
    with pytest.raises(GnmiRefusedError, match="origin 'cli' is not served") as error:
        absolute(gnmi_pb2.Path(), gnmi_pb2.Path(origin="cli"))
    assert error.value.status is grpc.StatusCode.INVALID_ARGUMENT


def test_as_people_write_it() -> None:
    assert text_of(PORT) == "/interfaces/interface[name=et-0/0/0]/state/oper-status"
    assert text_of(()) == "/"
