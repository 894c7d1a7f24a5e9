"""Read `fabric.yaml` and what it refers to into a checked intent."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from hashlib import sha256
from operator import getitem
from pathlib import Path as FilePath
from typing import Any, Literal

from pydantic import ValidationError

from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.as_built import AS_BUILT
from ailb_gen.intent.models import UNWRITTEN_STEPS, Fabric
from ailb_gen.intent.servers_csv import read_servers
from ailb_gen.textio import read_text, text_problem
from ailb_gen.validation import distinct, problem, problem_at
from ailb_gen.yamlio import Path, Source, dotted, read_yaml

# A cluster file (intent/cluster.py) has this key, which a fabric file lacks. Without it, a file of this name is one,
# too, if it has no key that every fabric file has.
FABRICS, CLUSTER_FILE = "fabrics", "cluster.yaml"
OF_FABRICS = ("stripes", "spines")
# What is checked after the syntax, and after keys and values: the beginning of a note.
AFTER_SYNTAX, AFTER_VALUES = "keys, values and the design are", "the design (names, numbers, links, ports) is"


@dataclass(frozen=True, slots=True)
class Intent:
    """A valid `fabric.yaml`: the models, where everything stood, and the sha256 of all input files."""

    fabric: Fabric
    source: Source
    digest: str

    def problem(
        self, code: str, path: Path, reason: str, hint: str = "", severity: Literal["error", "warning"] = "error"
    ) -> Problem:
        """Make a problem at `path` of the document."""
        return Problem(code, self.source.locate(path), dotted(path), reason, hint, severity)


@dataclass(slots=True)
class _CsvFiles:
    """The CSV files that a fabric file names: their texts in order, and what is wrong with them.

    Those in `absent` are taken for empty.
    """

    source: Source
    folder: FilePath
    absent: frozenset[str]
    texts: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def read(self, path: Path, use: Callable[[str, str], None]) -> None:
        """Hand text and name of the file that is named at `path` on to `use`; notes what is wrong with it."""
        group = reduce(getitem, path, self.source.data)
        name, where = group.get("csv") if isinstance(group, dict) else None, (*path, "csv")
        if not isinstance(name, str) or name in self.absent:
            return
        if "list" in group and path[-1] == "servers":
            reason = "give the servers either as a list or as a CSV file"
            self.problems.append(Problem("conflict", self.source.locate(where), dotted(where), reason))
            return
        try:
            self.texts.append(read_text(self.folder / name, name))
            use(self.texts[-1], name)
        except IntentError as error:
            self.problems += [
                Problem(p.code, self.source.locate(where), dotted(where), f"{name}: {p.reason}", p.hint)
                if p.code in ("unreadable", "too-large")
                else p
                for p in error.problems
            ]

    def servers(self, path: Path) -> None:
        """Put the rows of a file of servers under `list`, as if the fabric file listed them."""

        def use(text: str, name: str) -> None:
            reduce(getitem, path, self.source.data)["list"] = read_servers(text, name, path, self.source)

        self.read(path, use)

    def fill(self) -> None:
        """Replace every `csv:` by the rows of its file."""
        for path in _server_lists(self.source.data):
            self.servers(path)
        for key, fill in AS_BUILT.items():
            if key in self.source.data:
                self.read((key,), partial(fill, self.source))


def _server_lists(data: Mapping[str, Any]) -> list[Path]:
    """Return where a fabric file describes servers, each place with a file of its own."""
    stripes = data.get("stripes")
    own = enumerate(stripes) if isinstance(stripes, list) else ()
    found: list[Path] = [("servers",)] if "servers" in data else []
    return found + [("stripes", at, "servers") for at, row in own if isinstance(row, dict) and "servers" in row]


def csv_names(path: FilePath) -> tuple[str, ...]:
    """Return the CSV files that a fabric file names, as written there; none if it cannot be read (see `load`)."""
    try:
        data = read_yaml(read_text(path, str(path)), str(path)).data
    except IntentError:
        return ()
    if not isinstance(data, dict):
        return ()
    places = (*_server_lists(data), *((key,) for key in AS_BUILT if key in data))
    groups: Iterator[Any] = (reduce(getitem, place, data) for place in places)
    names = (group.get("csv") for group in groups if isinstance(group, dict))
    return tuple(name for name in names if isinstance(name, str))


def parse(text: str, file: str, folder: FilePath, absent: Collection[str] = ()) -> Intent:
    """Check the text of a fabric file; `folder` is where its relative paths start.

    CSV files whose names are in `absent` are not read, as if they were empty.

    Raises IntentError with everything that is wrong: first the syntax, then the files referred to, then all
    keys and values at once.
    """
    try:
        source = read_yaml(text, file)
    except IntentError as error:
        raise IntentError(error.problems, AFTER_SYNTAX) from error
    if not isinstance(source.data, dict):
        raise text_problem(
            file, "wrong-type", "the file must hold a mapping; start with 'name:', 'stripes:', 'spines:'"
        )
    if lists_fabrics(file, source.data):
        raise _of_cluster(source)
    files = _CsvFiles(source, folder, frozenset(absent))
    files.fill()
    try:
        fabric = Fabric.model_validate(source.data)
    except ValidationError as error:
        raise IntentError(
            [*files.problems, *(problem(e, source, Fabric, UNWRITTEN_STEPS) for e in distinct(error))], AFTER_VALUES
        ) from error
    if files.problems:
        raise IntentError(files.problems, AFTER_VALUES)
    digest = sha256("\0".join([text, *files.texts]).encode()).hexdigest()
    return Intent(fabric, source, digest)


def lists_fabrics(file: str, data: Mapping[str, Any]) -> bool:
    """Return whether a file with this name and these keys is a cluster file."""
    return FABRICS in data or (FilePath(file).name == CLUSTER_FILE and not any(key in data for key in OF_FABRICS))


def _of_cluster(source: Source) -> IntentError:
    """Return the error of a cluster file where a fabric file belongs."""
    listed = source.data.get(FABRICS)
    names = ", ".join(map(str, listed)) if isinstance(listed, list) else "it lists none"
    reason = "this is a cluster file, with several fabrics, and 'generate' and 'validate' alone take it"
    return IntentError(
        [problem_at(source, "wrong-value", (FABRICS,), reason, f"name one of its fabric files: {names}")]
    )


def load(path: FilePath) -> Intent:
    """Read the fabric file at `path`. Raises IntentError."""
    return parse(read_text(path, str(path)), str(path), path.parent)
