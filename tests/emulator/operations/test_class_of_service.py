"""Queues, classifiers and schedulers are those of the configuration."""

from __future__ import annotations

import re

import pytest

from ailb_gen.emulator.messages import RpcRefusedError
from tests.emulator.operations.lab import (
    Fake,
    ask,
    say,
)


def test_queues_are_those_of_the_configuration(leaf: Fake) -> None:
    text = "\n".join(say(leaf, "show interfaces queue et-0/0/0"))
    assert re.findall(r"^Queue: (\d+), Forwarding classes: (\S+)$", text, re.MULTILINE) == [
        ("0", "best-effort"),
        ("3", "CNP"),
        ("4", "NO-LOSS"),
        ("7", "network-control"),
    ]
    one = ask(leaf, "get-interface-queue-information", interface_name="et-0/0/0", forwarding_class="CNP")
    assert [row.text for row in one.iter("queue-number")] == ["3"]
    with pytest.raises(RpcRefusedError, match="forwarding class none-such does not exist"):
        say(leaf, "show interfaces queue forwarding-class none-such")


def test_class_of_service_is_that_of_the_configuration(leaf: Fake) -> None:
    parts = ("forwarding-class", "classifier", "scheduler-map sm1")
    whole = [line for part in parts for line in ["", *say(leaf, f"show class-of-service {part}")]]
    assert say(leaf, "show class-of-service") == whole[1:]
    for text in ("classifier name none-such", "scheduler-map none-such"):
        with pytest.raises(RpcRefusedError, match="none-such does not exist"):
            say(leaf, f"show class-of-service {text}")
