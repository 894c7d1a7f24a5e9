"""The two scripts of a server: their lists, the values they set, and the code around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ailb_gen.addresses import address_value, prefix_value
from ailb_gen.hosts.model import Code, QosScript, RdmaNic, Row, Setting, TableName, TableScript
from ailb_gen.hosts.text import Folder, here_document, numbered
from ailb_gen.layout import SCRIPT, TABLE_NAMES

NUMBER = re.compile(r"^[0-9]{1,10}$")
# What `ailb-qos` sets: numbers, and one per priority for PFC.
QOS_VALUE = re.compile(r"(dscp|priority|pfc|traffic_class|cnp_dscp|cnp_priority)=(\d[\d,]*)$")


def _number(text: str) -> int | None:
    return int(text) if NUMBER.match(text) else None


def read_tables(folder: Folder, text: str) -> TableScript:
    """Read `ailb-net`; a line of its list without six words is a defect."""
    inside, rest = here_document(text)
    rows = []
    for line, row in inside:
        words = row.split()
        if len(words) != 6:
            folder.defect(SCRIPT, f"{row[:80]!r} must be NIC, table, name, priority, prefix, gateway", line)
            continue
        nic, table, name, priority, prefix, gateway = words
        rows.append(
            Row(nic, _number(table), name, _number(priority), prefix_value(prefix), address_value(gateway), line)
        )
    return TableScript(tuple(rows), tuple(Code(code, line) for line, code in rest), inside[0][0] if inside else 1)


def read_names(folder: Folder, text: str) -> Iterator[TableName]:
    """Iterate over the lines of `rt_tables.d`; one that is not `NUMBER NAME` is a defect."""
    for line, row in numbered(text):
        words = row.partition("#")[0].split()
        number = _number(words[0])
        if len(words) != 2 or number is None:
            folder.defect(TABLE_NAMES, f"{row[:80]!r} must be the number and the name of a table", line)
        else:
            yield TableName(number, words[1], line)


def read_qos(folder: Folder, file: str, text: str) -> QosScript:
    """Read `ailb-qos`; a line of its list without two words is a defect."""
    inside, rest = here_document(text)
    nics = []
    for line, row in inside:
        words = row.split()
        if len(words) == 2:
            nics.append(RdmaNic(words[0], words[1], line))
        else:
            folder.defect(file, f"{row[:80]!r} must be a NIC and its RDMA device", line)
    settings: list[Setting] = []
    code = []
    for line, text_line in rest:
        found = QOS_VALUE.match(text_line)
        if found:
            settings.append(Setting(found[1], int(found[2]) if NUMBER.match(found[2]) else found[2], "", line))
        code.append(Code(f"{found[1]}=N" if found else text_line, line))
    return QosScript(tuple(nics), tuple(settings), tuple(code), inside[0][0] if inside else 1)
