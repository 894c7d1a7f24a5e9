"""Read `cluster.yaml`: the fabric files of several fabrics, which may share servers."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Annotated

from pydantic import Field, Strict

from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.load import Intent, load
from ailb_gen.layout import is_artifact
from ailb_gen.paths import absent
from ailb_gen.textio import read_text, text_problem
from ailb_gen.validation import Model, Name, problem_at, schema_text, validated
from ailb_gen.yamlio import Source, read_yaml


class ClusterFile(Model):
    """Several fabrics, such as the planes of a multi-plane cluster."""

    name: Name = Field(description="name of the cluster")
    fabrics: Annotated[
        tuple[Annotated[str, Strict(), Field(min_length=1)], ...], Field(min_length=1, max_length=64)
    ] = Field(description="the fabric files: paths relative to this file")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A valid `cluster.yaml`: its name and file, the sha256 of all input files, and the intents of its fabrics."""

    name: str
    file: str
    digest: str
    intents: tuple[Intent, ...]


def load_cluster(path: FilePath) -> Cluster:
    """Read the cluster file at `path` and its fabrics. Raises IntentError with everything that is wrong."""
    text = read_text(path, str(path))
    source = read_yaml(text, str(path))
    if not isinstance(source.data, dict):
        raise text_problem(str(path), "wrong-type", "the file must hold a mapping; start with 'name:' and 'fabrics:'")
    given = validated(ClusterFile, source)
    intents, problems = [], []
    for number, file in enumerate(given.fabrics):
        if reason := absent(path.parent / file, "file"):
            problems.append(problem_at(source, "unreadable", ("fabrics", number), f"{path.parent / file}: {reason}"))
            continue
        try:
            intents.append(load(path.parent / file))
        except IntentError as error:
            problems += error.problems
    problems += [] if problems else _names(intents, source)
    if problems:
        raise IntentError(problems)
    digest = sha256("\0".join([text, *(intent.digest for intent in intents)]).encode()).hexdigest()
    return Cluster(given.name, str(path), digest, tuple(intents))


def _names(intents: list[Intent], source: Source) -> list[Problem]:
    """Return what is wrong with the names of the fabrics, which are those of their folders."""
    problems: list[Problem] = []
    first: dict[str, int] = {}
    for number, intent in enumerate(intents):
        name, path = intent.fabric.name, ("fabrics", number)
        if is_artifact(name.lower()):
            reason = f"{name!r} cannot be the name of a fabric of a cluster: it is that of a generated file or folder"
            problems.append(intent.problem("reserved-name", ("name",), reason))
        elif name.lower() in first:
            reason = f"the name {name} of this fabric is already used by fabric {first[name.lower()] + 1} of the list"
            problems.append(problem_at(source, "duplicate-name", path, reason, "every fabric has a folder of its name"))
        first.setdefault(name.lower(), number)
    return problems


def json_schema() -> str:
    """Return the JSON Schema (draft 2020-12) of cluster files as indented text ending in a newline."""
    return schema_text(ClusterFile.model_json_schema(), "cluster.yaml of ailb-gen")
