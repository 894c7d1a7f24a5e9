"""What pydantic found, said the way a network engineer needs it: place, path, reason, and the likely spelling."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ailb_gen.errors import Problem
from ailb_gen.intent.models import UNWRITTEN_STEPS
from ailb_gen.intent.source import Path, Source, dotted


def _kind(value: object) -> str:
    names = {dict: "a mapping", list: "a list", tuple: "a list", type(None): "empty"}
    text = names.get(type(value), repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _bound(word: str, key: str) -> Callable[[ErrorDetails], tuple[str, str]]:
    return lambda e: ("out-of-range", f"must be {word} {e['ctx'][key]}, not {_kind(e['input'])}")


def _type(expected: str) -> Callable[[ErrorDetails], tuple[str, str]]:
    return lambda e: ("wrong-type", f"must be {expected}, not {_kind(e['input'])}")


# pydantic's error type -> (stable problem code, reason)
REASONS: dict[str, Callable[[ErrorDetails], tuple[str, str]]] = {
    "ailb": lambda e: (e["ctx"]["code"], e["ctx"]["reason"]),
    "missing": lambda e: ("missing-key", "this key is required and missing"),
    "extra_forbidden": lambda e: ("unknown-key", "unknown key"),
    "literal_error": lambda e: ("wrong-value", f"must be {e['ctx']['expected']}, not {_kind(e['input'])}"),
    "greater_than_equal": _bound("at least", "ge"),
    "less_than_equal": _bound("at most", "le"),
    "too_short": lambda e: ("out-of-range", f"needs at least {e['ctx']['min_length']} entry"),
    "too_long": lambda e: ("out-of-range", f"holds more than {e['ctx']['max_length']} entries"),
    "string_too_long": lambda e: ("out-of-range", f"is longer than {e['ctx']['max_length']} characters"),
    "string_too_short": lambda e: ("out-of-range", "must not be empty"),
    "string_pattern_mismatch": lambda e: ("wrong-value", f"{_kind(e['input'])} does not match {e['ctx']['pattern']}"),
    "int_type": _type("a whole number"),
    "int_parsing": _type("a whole number"),
    "int_from_float": _type("a whole number"),
    "string_type": _type("text"),
    "bool_type": _type("true or false"),
    "model_type": _type("a mapping"),
    "dict_type": _type("a mapping"),
    "tuple_type": _type("a list"),
}


def written_path(loc: Iterable[str | int], source: Source) -> Path:
    """Drop the steps of a validation path that a shorthand added and no file holds."""
    path: Path = ()
    for step in loc:
        if step in UNWRITTEN_STEPS and (*path, step) not in source.places:
            continue
        path = (*path, step)
    return path


def known_keys(model: type[BaseModel], path: Path) -> list[str]:
    """Return the keys the schema allows at `path`."""
    schema = model.model_json_schema()
    nodes = [schema]

    def branches(node: dict[str, Any]) -> list[dict[str, Any]]:
        if "$ref" in node:
            return branches(schema["$defs"][node["$ref"].rpartition("/")[2]])
        options = [*node.get("anyOf", []), *node.get("oneOf", [])]
        return [node, *(found for option in options for found in branches(option))]

    for step in path:
        step_nodes: list[dict[str, Any]] = []
        for node in (found for start in nodes for found in branches(start)):
            children = (
                node.get("properties", {}).get(step),
                *node.get("patternProperties", {}).values(),
                node.get("additionalProperties"),
                node.get("items"),
            )
            child = next((found for found in children if found), None)
            step_nodes += [child] if isinstance(child, dict) else []
        nodes = step_nodes
    return [key for start in nodes for node in branches(start) for key in node.get("properties", {})]


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint naming the closest known word, or nothing."""
    # The case of letters counts in names; it is what is mistaken most easily.
    names = {name.lower(): name for name in known}
    close = [names[one] for one in get_close_matches(str(word).lower(), list(names), n=1, cutoff=0.6)]
    return f"did you mean {close[0]!r}?" if close else ""


def told(error: ValidationError) -> list[ErrorDetails]:
    """Return the errors worth telling: a list is not also too short because its entries are wrong."""
    found = error.errors(include_url=False)
    return [e for e in found if not (e["type"] == "too_short" and e["input"])]


def problem(error: ErrorDetails, source: Source, model: type[BaseModel]) -> Problem:
    """Translate one of pydantic's errors."""
    path = written_path(error["loc"], source)
    reader = REASONS.get(error["type"])
    code, reason = reader(error) if reader else ("wrong-value", error["msg"])
    hint = ""
    if code == "unknown-key":
        keys = known_keys(model, path[:-1])
        hint = did_you_mean(path[-1], keys)
    elif error["type"] == "literal_error":
        hint = did_you_mean(error["input"], error["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", "))
    return Problem(code, source.locate(path), dotted(path), reason, hint)
