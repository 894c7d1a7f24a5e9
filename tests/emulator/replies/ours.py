"""What the emulator answers where there are real replies: the command of a folder, asked of several devices."""

from __future__ import annotations

from functools import cache

from lxml import etree

from ailb_gen.emulator.messages import RpcRefusedError
from ailb_gen.emulator.operations import run
from ailb_gen.emulator.operations.bgp import peer_address
from ailb_gen.emulator.operations.commands import COMMANDS, OPERATIONS, rpc_of
from tests.emulator.operations.lab import LEAF, SPINE, Fake, filtering, lab
from tests.emulator.replies.samples import Sample, samples

# What a command needs, by its name in full; a link-local neighbor of the first link is `{peer}`.
ARGUMENTS = {
    "show route advertising-protocol": "bgp {peer}",
    "show route receive-protocol": "bgp {peer}",
    "ping": "{peer}",
    "traceroute": "{peer}",
}
# Folders whose last word is no option.
COMMAND_OF = {"show-log-messages": "show log messages"}
# What the XML of a folder was asked with, though its name does not say so.
TREE_OPTIONS = {"show-bfd-session": "extensive"}
RPC_ARGUMENTS = {
    "get-checksum-information": {"path": "/etc/hosts.junos"},
}


@cache
def devices() -> tuple[Fake, ...]:
    """Return a leaf, one with a session down, an alarm and no commits, and a spine."""
    fabric, broken = lab(), lab()
    broken.keep_down(LEAF, "et-0/0/0.0")
    return Fake(LEAF, fabric), Fake(LEAF, broken, ("PSM 1 Absent",)), Fake(SPINE, fabric)


def _asked(folder: str) -> tuple[Fake, ...]:
    """Return the devices that are asked for a folder: for filters one that has some, which no generated file has."""
    return (filtering(),) if folder == "show-firewall" else devices()


def command_of(folder: str) -> str | None:
    """Return the command whose words a folder is named after, with options behind it; None if none has the name."""
    if folder in COMMAND_OF:
        return COMMAND_OF[folder]
    for name in sorted(COMMANDS, key=len, reverse=True):
        spelled = name.replace(" ", "-")
        if folder == spelled or folder.startswith(f"{spelled}-"):
            options = folder[len(spelled) :].split("-")[1:]
            if all(option in COMMANDS[name].options for option in options):
                return " ".join([name, *ARGUMENTS.get(name, "").split(), *options])
    return None


def requests(folder: str, rows: list[Sample], form: str) -> list[tuple[Fake, etree._Element]]:
    """Return what to ask, and whom; nothing if the emulator does not answer it."""
    text = command_of(folder)
    if text is not None and form != "text" and folder in TREE_OPTIONS:
        text = f"{text} {TREE_OPTIONS[folder]}"
    made = []
    for device in _asked(folder):
        peer = _peer(device)
        try:
            if text is not None:
                made.append((device, rpc_of(text.format(peer=peer))))
                continue
        except RpcRefusedError:
            pass
        tag = next((row.asked for row in rows if row.asked in OPERATIONS), None)
        if tag is not None and form != "text":
            rpc = etree.Element(tag)
            for name, value in RPC_ARGUMENTS.get(tag, {}).items():
                etree.SubElement(rpc, name).text = value
            made.append((device, rpc))
    return made


def _peer(device: Fake) -> str:
    session = next(found for found in device.fabric.sessions(device.name) if found.established)
    return peer_address(device.fabric, session)


def answers(folder: str, rows: list[Sample], form: str) -> list[str]:
    """Return what the emulator answers in a form, as it is sent."""
    return [run(device, rpc, form) for device, rpc in requests(folder, rows, form)]


def never_judged(judged: set[str]) -> set[str]:
    """Return the commands that the emulator answers and that no folder of samples is about; a longer name is another's.

    `judged` are the folders that are compared.
    """
    of = {str(rpc_of(text.format(peer="fe80::1")).tag) for folder in judged if (text := command_of(folder)) is not None}
    of |= {row.asked for folder in judged for row in samples()[folder]}
    return {name for name, command in COMMANDS.items() if command.rpc not in of}
