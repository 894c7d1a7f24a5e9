"""Replaced hardware: MAC addresses and serial numbers of NICs, servers and switches, edited where they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ailb_gen.api.file_edits import EditedFiles, FileEdit, write_edits
from ailb_gen.api.inputs import fabric_file, load
from ailb_gen.errors import UsageError
from ailb_gen.wording import counted, did_you_mean

if TYPE_CHECKING:
    from ailb_gen.design.model import Design, DesignServer
    from ailb_gen.intent.load import Intent
    from ailb_gen.yamlio import Path as KeyPath

# A key below a device in the fabric file, and its new value.
Fact = tuple[tuple["str | int", ...], str]


@dataclass(frozen=True, slots=True)
class Replacement:
    """New hardware of a device: the files before and after, and both designs."""

    device: str
    edits: tuple[FileEdit, ...]
    before: Design
    design: Design

    def diff(self) -> str:
        """Return unified diffs of the files."""
        return "".join(edit.diff() for edit in self.edits)

    def addresses(self) -> tuple[tuple[str, str, str], ...]:
        """Return the addresses of a server that change: NIC, old and new address, empty where none is known."""
        old, new = (_server(design, self.device) for design in (self.before, self.design))
        if old is None or new is None:
            return ()
        rows = []
        for nic, other in zip(old.config.nics, new.config.nics, strict=True):
            count = max(len(nic.addresses), len(other.addresses))
            ends = ((*one.addresses, *[""] * count)[:count] for one in (nic, other))
            rows += [(nic.name, a, b) for a, b in zip(*ends, strict=True) if a != b]
        return tuple(rows)

    def write(self) -> None:
        """Write the files. Raises UsageError and OutputError as `write_edits` does."""
        write_edits(self.edits)


def replace_nic(fabric: str | Path, server: str, nic: str, mac: str) -> Replacement:
    """Return a fabric in which a NIC, by name or number, has another MAC address; its files are not written yet.

    Raises UsageError for a NIC that the fabric lacks or whose MAC address is in none of its files, and for files that
    cannot be edited; IntentError for a MAC address that is none, or that another port has.
    """
    path, intent, design = _read(fabric)
    found = _known_server(design, server)
    names = [one.name for one in found.config.nics]
    number = names.index(nic) if nic in names else int(nic) if nic.isdecimal() and int(nic) < len(names) else None
    if number is None:
        hint = did_you_mean(nic, names) or f"it has {', '.join(names)}, or 0 to {len(names) - 1}"
        raise UsageError(f"{server}: there is no NIC {nic!r}; {hint}")
    if not found.config.nics[number].mac:
        raise UsageError(
            f"{fabric}: no file has a MAC address of {names[number]} of {server}, so nothing changes in them; "
            f"give the new card the name {names[number]}"
        )
    return _replaced(path, intent, design, server, [(("nics", number, "mac"), mac)] if mac else [])


def replace_server(
    fabric: str | Path, server: str, macs: Sequence[str] = (), management_mac: str | None = None
) -> Replacement:
    """Return a fabric in which a server has other MAC addresses: of all its NICs in order, of its management port.

    Raises as `replace_nic` does.
    """
    path, intent, design = _read(fabric)
    nics = _known_server(design, server).config.nics
    if macs and len(macs) != len(nics):
        raise UsageError(f"--mac: {server} has {counted(len(nics), 'NIC')}; give all of them, in order, or none")
    facts: list[Fact] = [(("nics", number, "mac"), mac) for number, mac in enumerate(macs)]
    facts += [(("management_mac",), management_mac)] if management_mac else []
    return _replaced(path, intent, design, server, facts)


def replace_switch(fabric: str | Path, switch: str, mac: str | None = None, serial: str | None = None) -> Replacement:
    """Return a fabric in which a switch has another MAC address of its management port, or another serial number.

    Raises as `replace_nic` does.
    """
    path, intent, design = _read(fabric)
    names = [one.name for one in design.switches]
    if switch not in names:
        raise UsageError(f"{switch!r}: the fabric has no such switch; {_hint(switch, names)}")
    facts: list[Fact] = [((key,), value) for key, value in (("mac", mac), ("serial", serial)) if value]
    return _replaced(path, intent, design, switch, facts)


def _read(fabric: str | Path) -> tuple[Path, Intent, Design]:
    from ailb_gen.design.build import build

    path = fabric_file(Path(fabric))
    intent = load(path)
    return path, intent, build(intent)[0]


def _server(design: Design, name: str) -> DesignServer | None:
    return next((server for server in design.servers if server.name == name), None)


def _known_server(design: Design, name: str) -> DesignServer:
    found = _server(design, name)
    if found is None:
        names = [server.name for server in design.servers]
        raise UsageError(f"{name!r}: the fabric has no such server; {_hint(name, names)}")
    return found


def _hint(name: str, known: Sequence[str]) -> str:
    from ailb_gen.wording import some

    return did_you_mean(name, known) or f"there are {len(known)}: {some(known)}"


def _replaced(path: Path, intent: Intent, before: Design, device: str, facts: Sequence[Fact]) -> Replacement:
    """Return the files with other facts of a device, and the design that follows from them."""
    from ailb_gen.design.build import DesignBuilder, build
    from ailb_gen.intent.growth import ValueEdit, grown

    if not facts:
        raise UsageError(f"{device}: say what is new, such as --mac; nothing else of it is in the files")
    builder = DesignBuilder(intent)
    slot = next((one for one in builder.slots if one.name == device), None)
    group = "servers" if slot is None else "leaves" if slot.role == "leaf" else "spines"
    seat = next((one for one in builder.seated if one.name == device), None)
    levels = slot.own if slot is not None else seat.levels if seat is not None else ()
    places = [(_place(intent, levels, ("overrides", group, device), key), value) for key, value in facts]
    edits = tuple(ValueEdit(_in_data(intent.source.data, place), value) for place, value in places)
    design, _ = build(grown(intent, edits))
    files = EditedFiles()
    for place, value in places:
        _put(files, path, intent, place, value)
    return Replacement(device, files.edits(), before, design)


def _place(intent: Intent, levels: Sequence[KeyPath], override: KeyPath, key: KeyPath) -> KeyPath:
    """Return where a fact of a device is written: at the level that says it, otherwise in the device's override."""
    places = intent.source.places
    return next(((*level, *key) for level in levels if (*level, *key) in places), (*override, *key))


def _in_data(data: Any, path: KeyPath) -> KeyPath:  # noqa: ANN401 - plain data of any shape
    """Return the path of a value in the data of an intent, where rows of CSV files are under `list`."""
    for number, step in enumerate(path):
        if isinstance(step, int) and isinstance(data, dict) and step not in data and "list" in data:
            return (*path[:number], "list", *path[number:])
        data = data.get(step, {}) if isinstance(data, dict) else data[int(step)]
    return path


def _put(files: EditedFiles, fabric: Path, intent: Intent, path: KeyPath, value: str) -> None:
    """Set a value in the fabric file, or in the cell of the CSV file that it comes from."""
    from ailb_gen.intent.csv_edit import set_cell
    from ailb_gen.intent.edit import edit

    place = intent.source.places.get(path)
    if place is None or place.file == intent.source.file:
        files.put(fabric, edit(files.text(fabric), path, value, str(fabric)))
    else:
        file = fabric.parent / place.file
        files.put(file, set_cell(files.text(file), place.file, place.line, place.column - 1, value))
