"""Read `fabric.yaml` and what it refers to into a checked intent."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any, Literal

from pydantic import ValidationError

from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.models import UNWRITTEN_STEPS, Fabric
from ailb_gen.intent.servers_csv import read_servers
from ailb_gen.textio import read_text, text_problem
from ailb_gen.validation import distinct, problem
from ailb_gen.yamlio import Path, Source, dotted, read_yaml

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


def _fill_csv(source: Source, folder: FilePath) -> list[str]:
    """Replace every `csv:` by the rows of its file; returns the texts that were read, in order."""
    texts: list[str] = []
    problems: list[Problem] = []
    data = source.data
    stripes = data.get("stripes")
    holders: list[tuple[Path, Any]] = [(("servers",), data.get("servers"))]
    if isinstance(stripes, list):
        holders += [(("stripes", n, "servers"), s.get("servers")) for n, s in enumerate(stripes) if isinstance(s, dict)]
    for path, group in holders:
        name = group.get("csv") if isinstance(group, dict) else None
        if not isinstance(name, str):
            continue
        if "list" in group:
            reason = "give the servers either as a list or as a CSV file"
            problems.append(Problem("conflict", source.locate((*path, "csv")), dotted((*path, "csv")), reason))
            continue
        try:
            texts.append(read_text(folder / name, name))
            group["list"] = read_servers(texts[-1], name, path, source)
        except IntentError as error:
            where = (*path, "csv")
            problems += [
                Problem(p.code, source.locate(where), dotted(where), f"{name}: {p.reason}", p.hint)
                if p.code in ("unreadable", "too-large")
                else p
                for p in error.problems
            ]
    if problems:
        raise IntentError(problems)
    return texts


def parse(text: str, file: str, folder: FilePath) -> Intent:
    """Check the text of a fabric file; `folder` is where its relative paths start.

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
    problems: list[Problem] = []
    texts: list[str] = []
    try:
        texts = _fill_csv(source, folder)
    except IntentError as error:
        problems += error.problems
    try:
        fabric = Fabric.model_validate(source.data)
    except ValidationError as error:
        raise IntentError(
            [*problems, *(problem(e, source, Fabric, UNWRITTEN_STEPS) for e in distinct(error))], AFTER_VALUES
        ) from error
    if problems:
        raise IntentError(problems, AFTER_VALUES)
    digest = sha256("\0".join([text, *texts]).encode()).hexdigest()
    return Intent(fabric, source, digest)


def load(path: FilePath) -> Intent:
    """Read the fabric file at `path`. Raises IntentError."""
    return parse(read_text(path, str(path)), str(path), path.parent)
