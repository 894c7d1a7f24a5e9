"""`ailb-gen schema`: the JSON Schemas of the files that people write."""

from typing import Annotated, Literal

import typer


def schema(
    kind: Annotated[Literal["fabric", "scenario"], typer.Argument(help="fabric or scenario.")] = "fabric",
) -> None:
    """Print the JSON Schema of fabric.yaml, or of a scenario for simulate.

    For editors and other programs.
    """
    if kind == "scenario":
        from ailb_gen.sim.scenario.schema import json_schema as scenario_schema

        typer.echo(scenario_schema(), nl=False)
        return
    from ailb_gen.intent.schema import json_schema

    typer.echo(json_schema(), nl=False)
