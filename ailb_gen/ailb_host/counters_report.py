"""Counters as a table, as JSON, and as a file for the node exporter (Prometheus text format 0.0.4)."""

from __future__ import annotations

import json
import os
import tempfile
import time

from .console import table
from .counters import COUNTERS, CounterReading, device_of, rates
from .files import HostError, PlannedNic, PlannedServer

FORMAT = 1


def as_json(host: PlannedServer, before: CounterReading | None, after: CounterReading, root: str) -> str:
    """Return totals, and rates where there is a reading before, as JSON: one line with rates, indented without."""
    grown = None if before is None else rates(before, after)
    data = {
        "format": FORMAT,
        "fabric": host.fabric,
        "time": _now(),
        "seconds": None if before is None else round(after.at - before.at, 6),
        "nics": [
            {
                "nic": nic.name,
                "device": device_of(nic, root),
                "color": _only_color(nic),
                "totals": after.nics[nic.name],
                "rates": None if grown is None else grown[nic.name],
            }
            for nic in host.nics
        ],
    }
    return json.dumps(data, indent=2 if before is None else None)


def as_table(host: PlannedServer, before: CounterReading | None, after: CounterReading, root: str) -> str:
    """Return a table with a column per NIC: rates where there is a reading before, else totals.

    Priorities without pauses are left out: the rows of all priorities say whether there are counters of pauses.
    """
    rows = [["device", *(device_of(nic, root) or "-" for nic in host.nics)]]
    columns = after.nics if before is None else rates(before, after)
    for name in COUNTERS:
        values = [columns[nic.name][name] for nic in host.nics]
        if any(values) or not name[-1].isdigit():
            rows.append([name, *map(short, values)])
    lines = table(["counter", *(nic.name for nic in host.nics)], rows)
    if before is not None:
        lines = [f"{_now()}, per second, over {after.at - before.at:.1f} s", *lines, ""]
    return "\n".join(lines)


def short(value: float | None) -> str:
    """Return a number in at most eight characters: exact up to ten million if it is whole, `-` for none."""
    if value is None:
        return "-"
    if isinstance(value, int) and value < 10_000_000:
        return str(value)
    units = iter("kMGTPE")
    unit = ""
    while value >= 1000:
        value, unit = value / 1000, next(units)
    return f"{value:.4g}{unit}"


def metrics(host: PlannedServer, reading: CounterReading, root: str) -> str:
    """Return the totals of all NICs as metrics; a counter that a NIC does not have is left out."""
    lines: list[str] = []
    labels = {nic.name: _labels(host.fabric, nic, root) for nic in host.nics}
    head = ""
    for name, (meaning, _) in COUNTERS.items():
        family, priority = _family(name)
        samples = {nic: total for nic, totals in reading.nics.items() if (total := totals[name]) is not None}
        if samples and family != head:
            head = family
            lines += [f"# HELP {family} {meaning}", f"# TYPE {family} counter"]
        lines += [f"{family}{{{labels[nic]}{priority}}} {total}" for nic, total in samples.items()]
    return "".join(f"{line}\n" for line in lines)


def _family(counter: str) -> tuple[str, str]:
    """Return the name of a metric, and the label of its priority."""
    base, _, priority = counter.rpartition("_")
    if priority.isdigit():
        return f"ailb_host_{base}_by_priority_total", f',priority="{priority}"'
    return f"ailb_host_{counter}_total", ""


def _labels(fabric: str, nic: PlannedNic, root: str) -> str:
    labels = {"fabric": fabric, "nic": nic.name, "device": device_of(nic, root), "color": _only_color(nic)}
    return ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items() if text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _only_color(nic: PlannedNic) -> str | None:
    """Return the color of a NIC with one color: with more, its counters are of no color."""
    return nic.colors[0].name if len(nic.colors) == 1 else None


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def write_textfile(path: str, text: str) -> None:
    """Replace a file in one step, so that the node exporter reads the old one or the new one. Raises HostError."""
    try:
        # The exporter reads names that end in .prom, and this one does not.
        handle, name = tempfile.mkstemp(prefix=".ailb-host.", dir=os.path.dirname(path) or ".")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                # The exporter runs as another user.
                os.fchmod(file.fileno(), 0o644)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        repair = "choose a directory with space that this user can write to"
        raise HostError(f"{path}: {error.strerror}; {repair}") from error
