"""`host.json`, what `ailb-host` knows of the fabric: NICs with their colors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ailb_gen.addresses import address_value, prefix_value
from ailb_gen.hosts.model import HostColor, HostFileNic
from ailb_gen.hosts.text import Folder
from ailb_gen.layout import HOST_FILE
from ailb_gen.textio import parse_json

FORMAT = 1
# Every NIC and every color begins with its name.
NAME = re.compile(r'"name"\s*:')


def read_host_file(folder: Folder, text: str) -> tuple[HostFileNic, ...]:
    """Return the NICs in the file; anything but the JSON that `ailb-host` reads is a defect."""
    try:
        data = parse_json(text)
        if data["format"] != FORMAT:
            folder.defect(HOST_FILE, f"the format must be {FORMAT}, not {data['format']!r}")
            return ()
        if not isinstance(data["fabric"], str):
            raise TypeError("the fabric must be a name")
        lines = (text.count("\n", 0, found.start()) + 1 for found in NAME.finditer(text))
        return tuple(_nic(row, lines) for row in data["nics"])
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        folder.defect(HOST_FILE, f"ailb-host cannot read the file: {type(error).__name__}: {error}", line)
        return ()


def _nic(row: dict[str, Any], lines: Iterator[int]) -> HostFileNic:
    line = next(lines)
    colors = tuple(_color(one, lines) for one in row["colors"])
    return HostFileNic(
        name=_text(row["name"]),
        rdma=_text(row["rdma"]),
        rail=_number(row["rail"]),
        dscp=_number(row["dscp"]) if row["dscp"] is not None else None,
        mac=_text(row["mac"]),
        mtu=_number(row["mtu"]),
        colors=colors,
        line=line,
    )


def _color(row: dict[str, Any], lines: Iterator[int]) -> HostColor:
    prefix, gateway = prefix_value(_text(row["prefix"])), address_value(_text(row["gateway"]))
    return HostColor(_text(row["name"]), prefix, gateway, _number(row["table"]), next(lines))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} must be text")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} must be a whole number")
    return value
