"""The lab fabric of the golden files as a push sees it: models, looks, plans, without any device."""

from __future__ import annotations

from functools import cache

from ailb_gen.deploy.device_diff import SwitchDiff, edits_of
from ailb_gen.deploy.ownership import commands, digest, fingerprint
from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.deploy.side_by_side import packed, side_by_side
from ailb_gen.deploy.switch_state import FabricModel, read_fabric_model, switch_of
from ailb_gen.junos.diff import diff
from ailb_gen.junos.reader import read
from ailb_gen.network.model import Switch
from tests.network.lab import LAB, TEXTS

NAMES = tuple(file.removeprefix("switches/").removesuffix(".conf") for file in TEXTS if file.startswith("switches/"))


def text_of(name: str) -> str:
    """Return the file of a switch."""
    return TEXTS[f"switches/{name}.conf"]


@cache
def model(name: str, text: str = "") -> Switch:
    """Return what a switch does by its file, or by another text."""
    return switch_of(name, read(text or text_of(name), name))


def fabric_model(**texts: str) -> FabricModel:
    """Return the fabric by its files, but for some switches, whose names have `_` for `-`."""
    changed = {name.replace("_", "-"): text for name, text in texts.items()}
    return read_fabric_model(LAB, {name: model(name, changed.get(name, "")) for name in NAMES})


def edited(name: str, *edits: tuple[str, str]) -> str:
    """Return the file of a switch with texts replaced wherever they are; what is not there cannot be replaced."""
    text = text_of(name)
    for old, new in edits:
        assert old in text, f"{old!r} is not in the file of {name}"
        text = text.replace(old, new)
    return text


def look(name: str, before: str = "", after: str = "") -> SwitchDiff:
    """Return how a switch was found: with the text `before`, to become what `after` says, its file by default."""
    trees = [read(text or text_of(name), name) for text in (before, after)]
    change = commands(*trees)
    return SwitchDiff(
        name,
        fingerprint(trees[0]),
        model(name, before),
        model(name, after),
        tuple(change.splitlines()),
        frozenset(f"et-0/0/{port}.0" for port in range(4)),
        frozenset(),
        digest(change),
        compact_edits=edits_of(trees[0], tuple(diff(*trees)), change.splitlines()),
        compared=packed(side_by_side(*trees)) if change else b"",
    )


def plan_of(*looks: SwitchDiff) -> Plan:
    """Return what a push of such switches would do, each in a wave of its own; the others have what they should."""
    found = {name: look(name) for name in NAMES} | {one.name: one for one in looks}
    waves = tuple(Wave(name, (name,)) for name, one in found.items() if one.commands)
    before = read_fabric_model(LAB, {name: one.before for name, one in found.items()})
    return Plan(found, {}, {}, before, waves)
