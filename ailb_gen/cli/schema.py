"""`ailb-gen schema`: the JSON Schema of the fabric file."""

import typer


def schema() -> None:
    """Print the JSON Schema of fabric.yaml.

    For editors and other programs.
    """
    from ailb_gen.intent.schema import json_schema

    typer.echo(json_schema(), nl=False)
