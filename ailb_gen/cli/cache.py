"""`ailb-gen cache`: where proofs and models are kept, how many, and deleting them."""

from __future__ import annotations

from typing import Annotated

import typer

from ailb_gen.cli.console import echo_json
from ailb_gen.cli.options import JSON
from ailb_gen.errors import OutputError

CLEAR = Annotated[bool, typer.Option("--clear", help="Delete all kept proofs and models.")]


def cache(clear: CLEAR = False, as_json: JSON = False) -> None:
    """Show or delete the proofs that validate keeps.

    While nothing has changed, it takes their findings over; after a change, what the change does not concern.

    Exit codes: 0 done, 3 the directory cannot be read or changed.
    """
    from ailb_gen.kept import folder
    from ailb_gen.wording import counted

    here = folder.folder()
    try:
        files = folder.clear(here) if clear else folder.kept_files(here)
    except OSError as error:
        raise OutputError(f"{here}: the kept proofs cannot be used: {error.strerror or error}") from error
    size = sum(one.size for one in files)
    models = sum(one.path.name.endswith(folder.MODELS) for one in files)
    proofs = len(files) - models
    if as_json:
        echo_json({"directory": str(here), "proofs": proofs, "models": models, "bytes": size, "deleted": clear})
        return
    what = f"{counted(proofs, 'proof')} and models of {counted(models, 'fabric')}"
    typer.echo(f"{here}: {what} {'deleted' if clear else 'kept'}, {size / 1e6:,.1f} MB")
