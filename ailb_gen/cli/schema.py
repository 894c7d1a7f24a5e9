"""`ailb-gen schema`: the JSON Schemas of the files that people write."""

from typing import Annotated, Literal

import typer


def schema(
    kind: Annotated[
        Literal["fabric", "scenario", "what-if"], typer.Argument(help="fabric, scenario or what-if.")
    ] = "fabric",
) -> None:
    """Print the JSON Schema of a file that people write.

    That is fabric.yaml, a scenario for simulate, or a file for study what-if.
    For editors and other programs.
    """
    if kind == "scenario":
        from ailb_gen.sim.scenario.models import json_schema as scenario_schema

        typer.echo(scenario_schema(), nl=False)
        return
    if kind == "what-if":
        from ailb_gen.study.what_if.models import json_schema as what_if_schema

        typer.echo(what_if_schema(), nl=False)
        return
    from ailb_gen.intent.schema import json_schema

    typer.echo(json_schema(), nl=False)
