"""The JSON Schema of scenario files, for editors (yaml-language-server) and for other programs."""

import json

from ailb_gen.sim.scenario.models import Scenario


def json_schema() -> str:
    """Return the JSON Schema (draft 2020-12) as indented text ending in a newline."""
    schema = Scenario.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "scenario file of ailb-gen simulate"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
