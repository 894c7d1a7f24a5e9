"""Files that users write, checked by pydantic: the base of the models, shared types, and what is wrong as problems."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, Strict, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from ailb_gen.errors import IntentError, Problem
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path, Source, dotted, space_after_colon

NAME_PATTERN = r"^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,62}$"
# The step of pydantic that stands for the key itself of a mapping.
MAPPING_KEY = frozenset({"[key]"})
NO_HINTS: Mapping[str, str] = MappingProxyType({})


def wrong(code: str, reason: str) -> PydanticCustomError:
    """Make the error that reaches the user as `reason` under the stable problem code `code`."""
    return PydanticCustomError("ailb", "{reason}", {"code": code, "reason": reason})


class Model(BaseModel):
    """Base of the models of every file that users write: frozen, unknown keys refused.

    Validators are built when they are used: most models are only parts of another. So that importing builds none,
    defaults that are models are made by `model_construct`.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=False, protected_namespaces=(), defer_build=True
    )


M = TypeVar("M", bound=BaseModel)


def merged(base: M, over: BaseModel) -> M:
    """Return `base` with every key that was written in `over`; models and mappings merge, everything else replaces."""
    update: dict[str, Any] = {}
    for key in over.model_fields_set & set(type(base).model_fields):
        old, new = getattr(base, key), getattr(over, key)
        update[key] = _merged_value(old, new)
    return base.model_copy(update=update) if update else base


def _merged_value(old: Any, new: Any) -> Any:
    if isinstance(old, BaseModel) and isinstance(new, BaseModel):
        return merged(old, new)
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: _merged_value(old.get(key), value) for key, value in new.items()}
    return new


def checked_text(value: object, what: str) -> str:
    """Return a value that must be text; `what` names it in the error."""
    if isinstance(value, str):
        return value
    remedy = "" if isinstance(value, (list, dict)) else "; put it in quotes"
    raise wrong("wrong-type", f"{what} must be text, not {_kind(value)}{remedy}")


def _kind(value: object) -> str:
    kinds = {bool: "true/false", int: "a number", float: "a number", list: "a list", dict: "a mapping"}
    return "empty" if value is None else kinds.get(type(value), type(value).__name__)


def keyed(many: str, what: str, accepts: Any) -> BeforeValidator:
    """Let a number stand for a mapping with a `count`, a list for one with the key `many`."""

    def expand(value: object) -> object:
        keys = {int: "count", list: many, dict: ""}
        key = keys.get(type(value))
        if key is None:
            raise wrong("wrong-type", f"must be {what}")
        return {key: value} if key else value

    return BeforeValidator(expand, json_schema_input_type=accepts)


def matching(what: str, pattern: str, allowed: str, example: str) -> Callable[[object], str]:
    """Make a validator for text that must match `pattern`."""
    compiled = re.compile(pattern)

    def check(value: object) -> str:
        text = checked_text(value, what)
        if compiled.match(text) is None or text.endswith("\n"):
            reason = f"{text!r} is not a usable {what}; use {allowed}, such as {example!r}"
            raise wrong("unsafe-name", reason)
        return text

    return check


checked_name = matching("name", NAME_PATTERN, "letters, digits, '-', '_' and single '.'", "stripe1-leaf1")


def _boolean(value: object) -> object:
    words = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}
    return words.get(value.lower(), value) if isinstance(value, str) else value


def schema_of(kind: str, pattern: str, example: str) -> WithJsonSchema:
    """Make the JSON Schema of a scalar, with an example and a pattern if there is one."""
    schema: dict[str, Any] = {"type": kind, "examples": [example]}
    return WithJsonSchema(schema | ({"pattern": pattern} if pattern else {}))


Name = Annotated[
    str,
    PlainValidator(checked_name),
    schema_of("string", NAME_PATTERN.replace(r"\.(?!\.)", r"\."), "stripe1-leaf1"),
]
Switch = Literal["on", "off", "yes", "no", "true", "false"]
Bool = Annotated[bool, BeforeValidator(_boolean, json_schema_input_type=bool | Switch), Strict()]
Int = Annotated[int, Strict()]


def schema_text(schema: dict[str, Any], title: str) -> str:
    """Return a JSON Schema (draft 2020-12) as indented text ending in a newline."""
    whole = schema | {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _shown(value: object) -> str:
    names = {dict: "a mapping", list: "a list", tuple: "a list", type(None): "empty"}
    text = names.get(type(value), repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _bound(word: str, key: str) -> Callable[[ErrorDetails], tuple[str, str]]:
    return lambda e: ("out-of-range", f"must be {word} {e['ctx'][key]}, not {_shown(e['input'])}")


def _type(expected: str) -> Callable[[ErrorDetails], tuple[str, str]]:
    return lambda e: ("wrong-type", f"must be {expected}, not {_shown(e['input'])}")


# pydantic's error type -> (stable problem code, reason)
REASONS: dict[str, Callable[[ErrorDetails], tuple[str, str]]] = {
    "ailb": lambda e: (e["ctx"]["code"], e["ctx"]["reason"]),
    "missing": lambda e: ("missing-key", "this key is required and missing"),
    "extra_forbidden": lambda e: ("unknown-key", "unknown key"),
    "literal_error": lambda e: ("wrong-value", f"must be {e['ctx']['expected']}, not {_shown(e['input'])}"),
    "greater_than_equal": _bound("at least", "ge"),
    "less_than_equal": _bound("at most", "le"),
    "greater_than": _bound("more than", "gt"),
    "less_than": _bound("less than", "lt"),
    "too_short": lambda e: ("out-of-range", f"needs at least {e['ctx']['min_length']} entry"),
    "too_long": lambda e: ("out-of-range", f"holds more than {e['ctx']['max_length']} entries"),
    "string_too_long": lambda e: ("out-of-range", f"is longer than {e['ctx']['max_length']} characters"),
    "string_too_short": lambda e: ("out-of-range", "must not be empty"),
    "string_pattern_mismatch": lambda e: ("wrong-value", f"{_shown(e['input'])} does not match {e['ctx']['pattern']}"),
    "int_type": _type("a whole number"),
    "int_parsing": _type("a whole number"),
    "int_from_float": _type("a whole number"),
    "string_type": _type("text"),
    "bool_type": _type("true or false"),
    "model_type": _type("a mapping"),
    "dict_type": _type("a mapping"),
    "tuple_type": _type("a list"),
}


def written_path(loc: Iterable[str | int], source: Source, unwritten: frozenset[str]) -> Path:
    """Drop the steps of a validation path that a shorthand added and no file holds."""
    path: Path = ()
    for step in loc:
        if step in unwritten and (*path, step) not in source.places:
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


def distinct(error: ValidationError) -> list[ErrorDetails]:
    """Return the errors that do not follow from others: a list is not also too short because its entries are wrong."""
    found = error.errors(include_url=False)
    return [e for e in found if not (e["type"] == "too_short" and e["input"])]


def problem(
    error: ErrorDetails,
    source: Source,
    model: type[BaseModel],
    unwritten: frozenset[str] = MAPPING_KEY,
    hints: Mapping[str, str] = NO_HINTS,
) -> Problem:
    """Translate one of pydantic's errors.

    `unwritten` are the steps of its path that are in no file, `hints` say where some unknown keys belong.
    """
    path = written_path(error["loc"], source, unwritten)
    reader = REASONS.get(error["type"])
    code, reason = reader(error) if reader else ("wrong-value", error["msg"])
    hint = ""
    if code == "unknown-key":
        keys = known_keys(model, path[:-1])
        # A union of models may know the key in another one of them.
        near = space_after_colon(path[-1], keys) or did_you_mean(path[-1], keys) or hints.get(str(path[-1]), "")
        hint = "it does not go with the other keys here" if path[-1] in keys else near
    elif code == "wrong-type" and space_after_colon(error["input"]):
        hint = space_after_colon(error["input"], known_keys(model, path))
    elif error["type"] == "literal_error":
        hint = did_you_mean(error["input"], error["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", "))
    return Problem(code, source.locate(path), dotted(path), reason, hint)


def validated(
    model: type[M], source: Source, unwritten: frozenset[str] = MAPPING_KEY, hints: Mapping[str, str] = NO_HINTS
) -> M:
    """Return the model of a file. Raises IntentError with everything that is wrong."""
    try:
        return model.model_validate(source.data)
    except ValidationError as error:
        raise IntentError(problem(e, source, model, unwritten, hints) for e in distinct(error)) from error


def problem_at(source: Source, code: str, path: Path, reason: str, hint: str = "") -> Problem:
    """Make a problem at a path of a file."""
    return Problem(code, source.locate(path), dotted(path), reason, hint)
