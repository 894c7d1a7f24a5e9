"""How replies look: layouts, and the output of commands in `shown.txt`, which AILB_UPDATE_GOLDEN writes anew."""

from __future__ import annotations

import os
from pathlib import Path

from ailb_gen.emulator.operations.build import element
from ailb_gen.emulator.operations.commands import OPERATIONS
from ailb_gen.emulator.operations.layout import LAYOUTS, lines, read_layouts
from tests.emulator.operations.lab import Fake, filtering, lab, say


def test_layouts() -> None:
    text = "= a b\n|x {c:>3}\\\n|[[ of {e}]] {d@style} {c!title}\n@d |{../c}{.!mark}\n!last\n= c\n"
    layouts = read_layouts(text, {"last": lambda reply: iter([str(reply.tag)])})
    assert (layouts["a"] is layouts["b"], layouts["c"]) == (True, [])
    reply = element("a", ("c", "one"), element("d", style="s"), element("d"))
    assert list(lines(reply, layouts["a"])) == ["x one s One", "one>", "one>", "a"]


def test_every_layout_is_of_an_rpc_or_part_of_one() -> None:
    parts = ("fpc-", "interfaces-", "instances-", "route", "exchanged", "bgp-", "bfd-", "vlans-")
    assert all(rpc.partition("+")[0] in OPERATIONS or rpc.startswith(parts) for rpc in LAYOUTS)


SHOWN = Path(__file__).with_name("shown.txt")


def _device(state: str) -> Fake:
    """Return a device in the state that a heading of `shown.txt` names."""
    device = Fake(state.split(maxsplit=1)[0], lab())
    if "session down" in state:
        device.fabric.keep_down(device.name, "et-0/0/0.0")
    if "spine2 off" in state:
        device.fabric.power_off("spine2")
    if "alarms" in state:
        device.alarming = ("FPC 0 Hard errors", "PSM 1 Not Powered")
    return filtering() if "filter" in state else device


def _section(section: str) -> str:
    """Return a section with the output of its commands: a heading, and commands behind `$`."""
    state, _, rest = section.partition("\n")
    commands = [line[2:] for line in rest.splitlines() if line[:2] == "$ "]
    device = _device(state)
    return f"{state}\n" + "".join(f"$ {one}\n" + "".join(f"{line}\n" for line in say(device, one)) for one in commands)


def test_the_output_of_commands() -> None:
    text = SHOWN.read_text(encoding="utf-8")
    shown = "# ".join(["", *map(_section, text.split("# ")[1:])])
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        SHOWN.write_text(shown, encoding="utf-8")
    assert shown == text
