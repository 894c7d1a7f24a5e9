"""The base of `validate --since`: a directory, or the same files as of a git revision, and its proof."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.inputs import load
from ailb_gen.errors import AilbError, UsageError
from ailb_gen.progress import Progress

if TYPE_CHECKING:
    from ailb_gen.checks.model import RunOptions
    from ailb_gen.kept.proof import KeptProofs
    from ailb_gen.kept.since import ProvedBase
    from ailb_gen.review.base import BaseFiles

OTHERWISE = "or leave out --since"


def proved_base(since: str, proofs: KeptProofs | None, options: RunOptions, progress: Progress) -> ProvedBase:
    """Return a base with its proof: the one that is kept, or a new one, which is kept.

    `proofs` are those of the files after the change. Raises UsageError for a base that cannot be used.
    """
    if proofs is None:
        reason = "the fabric file or the artifacts cannot be compared: a link leads out, or checks of extensions are in"
        raise UsageError(f"--since {since}: {reason}; remove that, {OTHERWISE}")
    with _base_files(since, proofs.asked.fabric, proofs.asked.artifacts) as base:
        if base.missing:
            raise UsageError(f"--since {since}: there is no {base.missing}; name another base, {OTHERWISE}")
        try:
            return _proved(base, proofs, options, progress)
        except AilbError as error:
            # Its exit code is that of an option that cannot be used.
            if error.exit_code != UsageError.exit_code:
                raise
            reason = f"the base cannot be used: {base.explained(error)}"
            raise UsageError(f"--since {since}: {reason}; name another base, {OTHERWISE}") from error


def _proved(base: BaseFiles, proofs: KeptProofs, options: RunOptions, progress: Progress) -> ProvedBase:
    from ailb_gen.checks.catalogue import WAIVABLE
    from ailb_gen.checks.progress import STEPS
    from ailb_gen.checks.run import examine
    from ailb_gen.kept.earlier import earlier, kept_models, models_of, write_models
    from ailb_gen.kept.proof import KeptProof, inputs_of
    from ailb_gen.kept.run_json import without_functions
    from ailb_gen.kept.since import ProvedBase

    intent = load(base.fabric)
    if base.folder is not None:
        _share_modes(base.artifacts, proofs.asked.artifacts)
    asked = replace(proofs.asked, fabric=base.fabric, artifacts=base.artifacts, origin=proofs.asked.fabric)
    inputs = inputs_of(asked)
    if inputs is None:
        raise UsageError("a file cannot be read, or a link leads out of the artifacts")
    own = replace(proofs, asked=asked, inputs=inputs)
    models, proof = kept_models(own), own.recall()
    if models is None or proof is None or models.tree != inputs.tree:
        over = earlier(own, models)
        with progress("checking the base", STEPS) as advance:
            done, context = examine(intent, base.artifacts, options, advance, advance.step, over=over)
        models = models_of(inputs.tree, context, over.read_lists)
        proof = KeptProof(without_functions(done), "", options.checks, WAIVABLE)
        if own.keep(done, options.checks, WAIVABLE):
            write_models(own, models)
    # One warning is enough.
    proofs.usable = own.usable
    return ProvedBase(base.name, inputs.general, models, proof)


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
def _base_files(since: str, fabric: Path, artifacts: Path) -> Iterator[BaseFiles]:
    """Yield the files of a base. Raises UsageError for what is neither a directory nor a revision."""
    from ailb_gen.review.base import BaseFiles, revision

    with ExitStack() as stack:
        if since and Path(since).is_dir():
            base = BaseFiles(since, fabric, Path(since))
        else:
            try:
                base = stack.enter_context(revision(since, fabric, artifacts))
            except UsageError as error:
                hint = f"name an artifact directory or a revision, {OTHERWISE}"
                raise UsageError(
                    f"--since: {since!a} is no directory, and git has no such files: {error}; {hint}"
                ) from error
        yield base
