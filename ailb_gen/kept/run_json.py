"""A run of the checks as JSON and back: data that can be read without trusting its writer to send no code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Finding, Result, Run, Severity
from ailb_gen.checks.subjects import Subject, SubjectKind
from ailb_gen.errors import Place

Json = Any
# A function is none of the data; whoever judges a run or reports it does not call it.
OF_CHECK = tuple(field.name for field in fields(Check) if field.name != "run")
OF_FINDING = tuple(field.name for field in fields(Finding))
# What decoding raises for data that was not encoded here; RecursionError where they are nested deeply.
DAMAGED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
# Types of fields, as they are written in the classes, that JSON has, too.
SCALARS = {"str": str, "int": int, "bool": bool}


def to_json(run: Run) -> Json:
    """Return a run as lists and texts, without the paths that were given."""
    return {
        "fabric": run.fabric,
        "roles": run.roles,
        "folders": run.folders,
        "notes": run.notes,
        "results": [_result(result) for result in run.results],
    }


def from_json(data: Json, intent: str, artifacts: str) -> Run:
    """Return the run that `to_json` wrote, of files at other paths.

    Raises one of DAMAGED for anything else.
    """
    return Run(
        fabric=text_of(data["fabric"]),
        intent=intent,
        artifacts=artifacts,
        roles=_pairs(data["roles"]),
        results=tuple(_read_result(row) for row in data["results"]),
        folders=_pairs(data["folders"]),
        notes=tuple(map(text_of, data["notes"])),
    )


def without_functions(run: Run) -> Run:
    """Return a run with what is kept of it: checks without their functions."""
    return replace(run, results=tuple(replace(result, check=replace(result.check, run=None)) for result in run.results))


def _pairs(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((text_of(name), text_of(value)) for name, value in rows)


def text_of(value: object) -> str:
    """Return a text. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


T = TypeVar("T", Check, Finding, Place, Result)


def _typed(one: T) -> T:
    """Return something whose fields of text and numbers hold these. Raises TypeError for anything else."""
    for field in fields(one):
        value, kind = getattr(one, field.name), SCALARS.get(str(field.type))
        if kind is not None and type(value) is not kind:
            raise TypeError(f"{field.name} is {value!r}")
    return one


def _result(result: Result) -> Json:
    return {
        "check": {name: getattr(result.check, name) for name in OF_CHECK},
        "findings": [{name: _value(getattr(finding, name)) for name in OF_FINDING} for finding in result.findings],
        "examined": result.examined,
        "figures": result.figures,
        "skipped": result.skipped,
    }


def _value(value: object) -> Json:
    return [value.file, value.line, value.column] if isinstance(value, Place) else value


def _read_result(data: Json) -> Result:
    row = data["check"]
    check = _typed(Check(**{**row, "severity": Severity(row["severity"]), "layer": Layer(row["layer"])}))
    findings = tuple(_finding(finding) for finding in data["findings"])
    return _typed(Result(check, findings, data["examined"], _pairs(data["figures"]), data["skipped"]))


def _finding(row: Json) -> Finding:
    place = None if row["place"] is None else _typed(Place(*row["place"]))
    subjects = {name: tuple(_subject(*one) for one in row[name]) for name in ("involves", "subjects")}
    return _typed(Finding(**{**row, **subjects, "place": place}))


def _subject(kind: str, device: str, name: str) -> Subject:
    return Subject(SubjectKind(kind), text_of(device), text_of(name))
