"""Files in `tests/errors`, the exact messages beside them, and what a JSON Schema says of them.

`make golden` renews the messages; read the diff.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from ailb_gen.errors import IntentError
from ailb_gen.yamlio import read_yaml
from tests.conftest import EXAMPLES, ROOT

Parse = Callable[[str, str, Path], object]


def wrong_files(kind: str) -> list[Path]:
    """The files of a kind in which something is wrong."""
    return sorted((ROOT / "tests" / "errors" / kind).glob("*.yaml"))


def check_messages(path: Path, parse: Parse) -> None:
    """Assert that a file gives exactly the messages beside it."""
    with pytest.raises(IntentError) as caught:
        parse(path.read_text(encoding="utf-8"), path.name, path.parent)
    got, expected = f"{caught.value}\n".replace(f"{ROOT}/", ""), path.with_suffix(".txt")
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        expected.write_text(got, encoding="utf-8")
    assert got == expected.read_text(encoding="utf-8")


def is_valid(schema: str, path: Path) -> bool:
    """Whether a JSON Schema accepts a file."""
    data = read_yaml(path.read_text(encoding="utf-8"), path.name).data
    return bool(jsonschema.Draft202012Validator(json.loads(schema)).is_valid(data))


def check_schema(schema: str, kind: str, examples: str) -> None:
    """Assert that a schema is that of the documentation, and that it accepts the examples, which name it."""
    name = f"{kind}.schema.json"
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == schema, "run: make schema"
    for path in sorted((EXAMPLES / examples).glob("*.yaml")):
        assert is_valid(schema, path), path
        assert path.read_text(encoding="utf-8").startswith(f"# yaml-language-server: $schema=../../docs/{name}\n"), path
