"""The JSON Schema of `fabric.yaml`, for editors (yaml-language-server) and for other programs."""

import re
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from ailb_gen.intent.models import Fabric
from ailb_gen.intent.scalars import AsnRange, Cidr
from ailb_gen.validation import schema_text

SPEED = re.compile(r"\^\\d\+g\$")


class _AsWritten(GenerateJsonSchema):
    """Writes defaults the way a file would have them."""

    def encode_default(self, dft: Any) -> Any:
        """Return a default as it is written: networks and ranges as text."""
        if isinstance(dft, Cidr | AsnRange):
            return str(dft)
        if isinstance(dft, tuple) and len(dft) == 2 and all(isinstance(end, int) for end in dft):
            return f"{dft[0]}-{dft[1]}"
        return super().encode_default(dft)


def _with_units(node: Any) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("default"), int) and SPEED.fullmatch(str(node.get("pattern", ""))):
            node["default"] = f"{node['default']}g"
        node = list(node.values())
    for child in node if isinstance(node, list) else ():
        _with_units(child)


def json_schema() -> str:
    """Return the JSON Schema (draft 2020-12) as indented text ending in a newline."""
    schema = Fabric.model_json_schema(schema_generator=_AsWritten)
    _with_units(schema)
    return schema_text(schema, "fabric.yaml of ailb-gen")
