"""The two scripts of a server: their lists, the values they set, and the code around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ailb_gen.addresses import address_value, prefix_value
from ailb_gen.hosts.model import Code, QosScript, RdmaNic, Row, Setting, TableName, TableScript
from ailb_gen.hosts.text import Folder, here_document, numbered
from ailb_gen.layout import SCRIPT, TABLE_NAMES

NUMBER = re.compile(r"^[0-9]{1,10}$")
LOOP = "while read"
# What `ailb-qos` sets in its loop; the groups are the values.
QOS_PATTERNS = tuple(
    (key, re.compile(pattern))
    for key, pattern in (
        ("trust", r'mlnx_qos -i "\$nic" --trust ([a-z]+)(?= )'),
        ("pfc", r'mlnx_qos -i "\$nic"(?: --trust [a-z]+)? --pfc ((?:\d,)*\d)$'),
        ("dscp2prio", r'mlnx_qos -i "\$nic" --dscp2prio set,(\d+),(\d+)$'),
        ("tos", r'cma_roce_tos -d "\$rdma" -t (\d+)$'),
        ("traffic_class", r'echo (\d+) >"/sys/class/infiniband/\$rdma/tc/1/traffic_class"$'),
        ("cnp_dscp", r'echo (\d+) >"/sys/class/net/\$nic/ecn/roce_np/cnp_dscp"$'),
        ("cnp_priority", r'echo (\d+) >"/sys/class/net/\$nic/ecn/roce_np/cnp_802p_prio"$'),
        ("ecn_np", r'echo (\d+) >"/sys/class/net/\$nic/ecn/roce_np/enable/(\d+)"$'),
        ("ecn_rp", r'echo (\d+) >"/sys/class/net/\$nic/ecn/roce_rp/enable/(\d+)"$'),
    )
)


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


def _values(line: int, code: str) -> Iterator[Setting]:
    for key, pattern in QOS_PATTERNS:
        found = pattern.match(code)
        if found:
            words = tuple(int(word) if NUMBER.match(word) else word for word in found.groups())
            yield Setting(key, words[0] if len(words) == 1 else words, "", line)


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
        found = list(_values(line, text_line.removesuffix("&&").rstrip()))
        settings += found
        # How commands are joined stays code: without `&&` a failure would be missed.
        code.append(Code(re.sub(r"\d+", "N", text_line) if found else text_line, line))
    start = next((line for line, text_line in rest if text_line.startswith(LOOP)), 1)
    return QosScript(tuple(nics), tuple(settings), tuple(code), start)
