"""The base of `validate --since`: a directory, or the same files as of a git revision, and its proof."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.inputs import is_cluster, load
from ailb_gen.errors import AilbError, UsageError
from ailb_gen.extensions import installed
from ailb_gen.progress import Progress, Warn

if TYPE_CHECKING:
    from ailb_gen.checks.model import RunOptions
    from ailb_gen.intent.load import Intent
    from ailb_gen.kept.proof import AskedProof, KeptProofs
    from ailb_gen.kept.since import ProvedBase
    from ailb_gen.review.base import BaseFiles


def refuse_what_needs_more(since: str | Path, fabric: Intent | str | Path, batfish: str | None, html: bool) -> None:
    """Raise UsageError for what needs more than is taken over from a base, or may depend on anything."""
    for given, what in (
        (batfish is not None, "Batfish needs"),
        (html, "an HTML report needs"),
        (installed("checks"), "checks of extensions may need"),
        (not isinstance(fabric, str | Path), "an intent without a file needs"),
        (isinstance(fabric, str | Path) and is_cluster(Path(fabric)), "a cluster needs"),
    ):
        if given:
            raise UsageError(f"--since {since}: {what} more than is taken over from a base; leave out one of them")


def proved_base(
    since: str, asked: AskedProof, proofs: KeptProofs | None, options: RunOptions, progress: Progress, warn: Warn
) -> ProvedBase | None:
    """Return a base with its proof: the one that is kept, or a new one, which is kept.

    `asked` and `proofs` are those of the files after the change. Where these cannot be compared, or the files of a
    revision cannot be used, that is a warning, for the change may repair it, and there is no base. Raises UsageError
    for a directory that cannot be used, and for what is neither a directory nor a revision.
    """
    with _base_files(since, asked) as base:
        try:
            return _proved(base, _comparable(asked, proofs), options, progress)
        except AilbError as error:
            if error.exit_code != UsageError.exit_code:
                raise
            reason = base.explained(error)
            if base.folder is None and proofs is not None:
                raise UsageError(f"--since {since}: {reason}; name another base, or leave out --since") from error
            warn(f"--since {since}: nothing is taken over: {reason}")
            return None


def _comparable(asked: AskedProof, proofs: KeptProofs | None) -> KeptProofs:
    """Return the proofs of the files after the change. Raises AilbError with the reason where there are none."""
    from ailb_gen.kept.proof import read_inputs

    if proofs is None:
        read_inputs(asked)
        raise UsageError(f"{asked.artifacts}: files changed while they were read")
    return proofs


def _proved(base: BaseFiles, proofs: KeptProofs, options: RunOptions, progress: Progress) -> ProvedBase:
    from ailb_gen.checks.catalogue import WAIVABLE
    from ailb_gen.checks.progress import STEPS
    from ailb_gen.checks.run import examine
    from ailb_gen.kept.earlier import earlier, kept_models, models_of, write_models
    from ailb_gen.kept.proof import KeptProof, read_inputs
    from ailb_gen.kept.run_json import without_functions
    from ailb_gen.kept.since import ProvedBase

    if base.missing:
        raise UsageError(f"there is no {base.missing}")
    if base.folder is not None:
        _share_modes(base.artifacts, proofs.asked.artifacts)
    asked = replace(proofs.asked, fabric=base.fabric, artifacts=base.artifacts, origin=proofs.asked.fabric)
    inputs = read_inputs(asked)
    own = replace(proofs, asked=asked, inputs=inputs)
    models, proof = kept_models(own), own.recall()
    if models is None or proof is None or models.tree != inputs.tree:
        intent, over = load(base.fabric), earlier(own, models)
        with progress("checking the base", STEPS) as advance:
            done, context = examine(intent, base.artifacts, options, advance, advance.step, over=over)
        models, proof = models_of(own, context, over), KeptProof(without_functions(done), "", options.checks, WAIVABLE)
        if own.keep(done, options.checks, WAIVABLE):
            write_models(own, models)
        elif read_inputs(asked) != inputs:
            raise UsageError(f"{base.artifacts}: files changed while they were read")
    # One warning is enough.
    proofs.usable = own.usable
    return ProvedBase(base.name, inputs.general, models, proof, proofs)


def _share_modes(base: Path, artifacts: Path) -> None:
    """Give files of a revision the permissions of the artifacts: git knows only whether a file can be executed."""
    for path in sorted(base.rglob("*")):
        other = artifacts / path.relative_to(base)
        if path.is_symlink() or other.is_symlink() or not other.exists():
            continue
        old, new = path.stat().st_mode, other.stat().st_mode
        if stat.S_IFMT(old) == stat.S_IFMT(new) and (stat.S_ISDIR(old) or (old ^ new) & stat.S_IXUSR == 0):
            path.chmod(stat.S_IMODE(new))


@contextmanager
def _base_files(since: str, asked: AskedProof) -> Iterator[BaseFiles]:
    """Yield the files of a base. Raises UsageError for what is neither a directory nor a revision."""
    from ailb_gen.review.base import BaseFiles, revision

    with ExitStack() as stack:
        # Unlike Path.is_dir it takes every name.
        if os.path.isdir(since):  # noqa: PTH112
            base = BaseFiles(since, asked.fabric, Path(since))
        else:
            try:
                base = stack.enter_context(revision(since, asked.fabric, asked.artifacts))
            except UsageError as error:
                hint = "name an artifact directory or a revision, or leave out --since"
                raise UsageError(f"--since: there is no such directory; {error}; {hint}") from error
        yield base
