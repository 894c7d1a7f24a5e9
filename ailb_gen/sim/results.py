"""The directory of results: a point's files as soon as it is finished, and what all points make together.

`summary.json` says everything about every point; `flows.parquet` and `links.parquet` have a row per flow and link, and
a row group per point. `points/` holds the same by point and digest: what is there is not simulated again; and, where a
report needed them, profiles for its charts. Importing this module raises MissingExtraError where pyarrow is not
installed.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from ailb_gen.atomic import replace_file, replacing
from ailb_gen.errors import OutputError
from ailb_gen.optional import without_extra
from ailb_gen.sim.fabric import FabricArrays, Int64
from ailb_gen.sim.outcome import NEVER, SimulationOutcome
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.statistics import link_loads
from ailb_gen.sim.unloaded import slowdowns
from ailb_gen.sim.workload import Workload
from ailb_gen.textio import parse_json
from ailb_gen.version import NAME_AND_VERSION

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError as missing:
    raise without_extra("simulate", "pyarrow is not installed", "sim") from missing

POINTS, SUMMARY = "points", "summary.json"
KINDS = ("flows", "links")
PROFILE = "profile"
# What `sim/profile.py` writes; another number when that changes.
PROFILE_FORM = 2


@dataclass(frozen=True, slots=True)
class PointResult:
    """A simulated point: what `summary.json` says of it, and its files by kind: Parquet, and the profile as JSON."""

    digest: str
    seed: int
    statistics: Mapping[str, Any]
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class PointRow:
    """A point of a scenario: the values that distinguish it, and its statistics, None if it was not simulated."""

    variant: str
    seed: int
    digest: str
    statistics: Mapping[str, Any] | None


def flow_columns(
    fabric: FabricArrays, workload: Workload, settings: SimulationSettings, outcome: SimulationOutcome
) -> pa.Table:
    """Return a row per flow, in the order of the tasks; times that have not come are null."""
    flows = workload.flows()
    start, finish = outcome.start_ps[flows], outcome.finish_ps[flows]
    ended = (finish != NEVER) & (start != NEVER)
    nodes = fabric.names[: fabric.host_count]
    return pa.table(
        {
            "task": flows,
            "label": _named(workload.label[flows], workload.labels),
            "job": _named(workload.job[flows], workload.jobs),
            "source": _named(workload.source[flows], nodes),
            "target": _named(workload.target[flows], nodes),
            "queue_pair": workload.queue_pair[flows],
            "port": workload.port[flows],
            "bytes": workload.amount[flows],
            "start_ps": pa.array(start, mask=start == NEVER),
            "finish_ps": pa.array(finish, mask=finish == NEVER),
            "fct_ps": pa.array(finish - start, mask=~ended),
            "slowdown": pa.array(slowdowns(fabric, settings, workload, flows, start, finish), mask=~ended),
            **{
                name: getattr(outcome, name)[flows]
                for name in ("retransmitted", "marked", "out_of_order", "distance", "rerouted")
            },
        }
    )


def link_columns(fabric: FabricArrays, outcome: SimulationOutcome) -> pa.Table:
    """Return a row per directed link; `load` is a share of its rate, `load_bytes` what it sent per interval."""
    names = ("packets", "bytes", "peak", "peak_bytes", "drops", "lost", "marks", "pauses", "paused_ps")
    return pa.table(
        {
            "link": _named(np.arange(fabric.link_count), fabric.link_names),
            "source": _named(fabric.link_source, fabric.names),
            "target": _named(fabric.link_target, fabric.names),
            "rate_bps": fabric.rate_bps,
            "load": link_loads(fabric, outcome),
            **{name: getattr(outcome, f"link_{name}") for name in names},
            "histogram": _lists(outcome.histogram),
            "load_bytes": _lists(outcome.load.T),
        }
    )


def _named(numbers: npt.NDArray[np.integer[Any]], names: Sequence[str]) -> pa.Array:
    """Return names by number as a dictionary column; negative numbers are null."""
    indices = pa.array(numbers.astype(np.int32), mask=numbers < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


def _lists(rows: Int64) -> pa.Array:
    width = rows.shape[1] if rows.ndim == 2 else 0
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * width
    return pa.ListArray.from_arrays(offsets, np.ascontiguousarray(rows).reshape(-1).astype(np.int64))


def encoded(table: pa.Table, about: Mapping[str, object]) -> bytes:
    """Return a table as Parquet, with what it is about in the metadata of the schema."""
    stream = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(_metadata(about)), stream, compression="zstd")
    return stream.getvalue()


def _metadata(about: Mapping[str, object]) -> dict[str, str]:
    return {f"ailb_gen.{name}": str(value) for name, value in about.items()}


def open_results(out: Path, tables: bool = True) -> dict[str, Mapping[str, Any]]:
    """Return the statistics of the finished points in a directory, by digest; nothing is written.

    With `tables` a point without its Parquet files is not finished. Raises OutputError for what is not a directory of
    results.
    """
    try:
        if not out.exists():
            return {}
        if not out.is_dir():
            raise OutputError(f"{out}: this is not a directory")
        inside = {path.name for path in out.iterdir()}
        if inside and not inside & {POINTS, SUMMARY}:
            raise OutputError(f"{out}: this directory has files that are not results; name a new or empty one")
        found = {
            path.stem: _statistics(path, KINDS if tables else ())
            for path in sorted((out / POINTS).glob("*.json"))
            if not path.name.endswith(f".{PROFILE}.json")
        }
    except OSError as error:
        raise OutputError(f"{error.filename or out}: cannot be read: {error.strerror}") from error
    return {name: body for name, body in found.items() if body is not None and body.get("interrupted") is False}


def held_name(out: Path, file: str = SUMMARY, key: str = "scenario") -> str | None:
    """Return the name of the scenario, or what `key` says, whose results are in a directory; None without any."""
    try:
        body = parse_json((out / file).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    name = body.get(key) if isinstance(body, dict) else None
    return name if isinstance(name, str) else None


def begin(out: Path) -> None:
    """Make a directory of results, so that what cannot be written is known before anything is simulated.

    Raises OutputError.
    """
    with writing(out):
        (out / POINTS).mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out / POINTS):
            pass


def profile_of(out: Path, digest: str) -> Mapping[str, Any] | None:
    """Return the profile of a point; None when it has none that is as it was written for this point."""
    try:
        data = _file(out / POINTS, digest, PROFILE).read_bytes()
    except OSError:
        return None
    profile = b"".join(data.split(b"\n")[1:2])
    if data != _sealed(digest, profile):
        return None
    found: Mapping[str, Any] = json.loads(profile)
    return found


def _sealed(digest: str, profile: bytes) -> bytes:
    """Return the file of a profile, by which damage is known, and what another point or version wrote."""
    seal = sha256(f"{NAME_AND_VERSION} {PROFILE_FORM} {digest} ".encode() + profile).hexdigest()
    return f'{{"sha256": "{seal}", "profile":\n'.encode() + profile + b"\n}\n"


def _statistics(path: Path, kinds: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the statistics of a point; None without the files it needs, or when it is not this program's."""
    whole = all(_file(path.parent, path.stem, kind).is_file() for kind in kinds)
    try:
        body = parse_json(path.read_bytes()) if whole else None
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _file(points: Path, digest: str, kind: str) -> Path:
    return points / f"{digest}.{kind}.{'json' if kind == PROFILE else 'parquet'}"


def keep(out: Path, result: PointResult) -> None:
    """Write the files of a point; the last one says that it is there. Raises OutputError."""
    points = out / POINTS
    with writing(out):
        points.mkdir(parents=True, exist_ok=True)
        for kind, data in result.files.items():
            content = _sealed(result.digest, data) if kind == PROFILE else data
            replace_file(_file(points, result.digest, kind), content)
        replace_file(points / f"{result.digest}.json", json_bytes(result.statistics))


def finish(
    out: Path, rows: Sequence[PointRow], about: Mapping[str, Any], comparison: Iterable[Mapping[str, Any]]
) -> None:
    """Write what all points make together; `about` says which scenario it is. Raises OutputError."""
    body = {
        "program": NAME_AND_VERSION,
        **about,
        "variants": list(comparison),
        "points": [
            {"variant": row.variant, "seed": row.seed, "digest": row.digest, "statistics": row.statistics}
            for row in rows
        ],
    }
    done = [(number, row) for number, row in enumerate(rows) if row.statistics is not None]
    seeds = " ".join(map(str, dict.fromkeys(row.seed for row in rows)))
    metadata = _metadata({"program": NAME_AND_VERSION, **about, "seeds": seeds})
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for kind in KINDS:
            with replacing(out / f"{kind}.parquet") as file:
                _join(file, _tables(out / POINTS, done, kind), metadata)
        replace_file(out / SUMMARY, json_bytes(body))


def _tables(points: Path, rows: Iterable[tuple[int, PointRow]], kind: str) -> Iterator[pa.Table]:
    """Yield the tables of points, each with columns that say which point it is."""
    for number, row in rows:
        table = parquet.read_table(_file(points, row.digest, kind), partitioning=None)
        count = len(table)
        variant = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [row.variant])
        columns = {
            "point": pa.array(np.full(count, number, np.int32)),
            "variant": variant,
            "seed": pa.array(np.full(count, row.seed, np.int64)),
        }
        for place, (name, column) in enumerate(columns.items()):
            table = table.add_column(place, name, column)
        yield table


def _join(file: Any, tables: Iterator[pa.Table], metadata: Mapping[str, str]) -> None:  # noqa: ANN401 - a binary file
    """Write tables one after the other, a row group each, so that one at a time is in memory."""
    first = next(tables, None)
    if first is None:
        parquet.write_table(pa.table({"point": pa.array([], pa.int32())}).replace_schema_metadata(metadata), file)
        return
    schema = first.schema.with_metadata(metadata)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        writer.write_table(first.replace_schema_metadata(metadata), row_group_size=max(len(first), 1))
        for table in tables:
            writer.write_table(table.cast(schema), row_group_size=max(len(table), 1))


def json_bytes(body: object) -> bytes:
    """Return JSON with a line per value."""
    return (json.dumps(body, indent=1, ensure_ascii=False) + "\n").encode()


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Turn what fails while writing below a directory into OutputError."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{error.filename or out}: cannot be written: {error.strerror}") from error
