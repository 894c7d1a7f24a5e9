from __future__ import annotations

import ast

import pytest

from ailb_gen.deploy.switch_driver import DeviceError, Phase, once
from ailb_gen.redact.text import redact
from tests.conftest import ROOT


def failed(name: str, reason: str = "no answer", hint: str = "is it up?") -> DeviceError:
    return DeviceError(name, Phase.CONNECT, reason, hint)


def test_errors_that_differ_in_the_device_alone_are_one_line() -> None:
    names = [f"leaf{number}" for number in range(1, 6)]
    assert once(
        [*map(failed, names), failed("spine1", "refused", ""), DeviceError("leaf6", Phase.READ, "no answer")]
    ) == [
        "5 devices, leaf1, leaf2, leaf3 and 2 more: connect: no answer; is it up?",
        "spine1: connect: refused",
        "leaf6: read: no answer",
    ]


def test_what_names_the_device_in_its_words_is_said_once_for_all() -> None:
    errors = [
        DeviceError(name, Phase.CONNECT, f"no key of {name}; run scan {name}", shared="no key; run scan -f FILE")
        for name in ("leaf1", "leaf2")
    ]
    assert once(errors) == ["2 devices, leaf1, leaf2: connect: no key; run scan -f FILE"]
    assert once(errors[:1]) == ["leaf1: connect: no key of leaf1; run scan leaf1"]


def test_one_error_is_told_as_it_is() -> None:
    assert once([failed("leaf1")]) == ["leaf1: connect: no answer; is it up?"]
    assert once([]) == []


def test_a_reason_has_an_end() -> None:
    """A device may send messages of any length."""
    error = failed("leaf1", "x" * 1_000_000)
    assert len(str(error)) < 2100
    assert "(998,000 more letters)" in str(error)


# Modules whose texts become errors of devices.
TELLING = (
    "credentials",
    "drivers",
    "emulated",
    "host_keys",
    "login",
    "netconf",
    "session",
    "switch_driver",
    "transaction",
)


@pytest.mark.parametrize("module", TELLING)
def test_no_error_of_its_own_is_taken_for_a_secret(module: str) -> None:
    tree = ast.parse((ROOT / "ailb_gen/deploy" / f"{module}.py").read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    texts = {
        str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert len(texts - docs) > 5
    assert [text for text in texts - docs if redact(text) != text] == []
