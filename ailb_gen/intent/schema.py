"""The JSON Schema of `fabric.yaml`, for editors (yaml-language-server) and for other programs."""

import json

from ailb_gen.intent.models import Fabric


def json_schema() -> str:
    """Return the JSON Schema (draft 2020-12) as indented text ending in a newline."""
    schema = Fabric.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "fabric.yaml of ailb-gen"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
