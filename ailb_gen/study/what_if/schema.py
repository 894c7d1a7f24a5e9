"""The JSON Schema of what-if files, for editors (yaml-language-server) and for other programs."""

import json

from ailb_gen.study.what_if.models import WhatIf


def json_schema() -> str:
    """Return the JSON Schema (draft 2020-12) as indented text ending in a newline."""
    schema = WhatIf.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "file of ailb-gen study what-if"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
