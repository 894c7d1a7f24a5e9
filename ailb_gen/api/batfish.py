"""Ask a Batfish service for its opinion of a fabric's files."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ailb_gen.errors import AilbError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ailb_gen.batfish.answers import Batfish
    from ailb_gen.checks.context import Context
    from ailb_gen.checks.model import Result
    from ailb_gen.progress import Progress, Warn

    Service = Callable[[], AbstractContextManager[Batfish]]

# So much of a bad word is shown.
CUT = 12


def open_service(address: str, timeout_s: int) -> Service:
    """Return what opens the service. Raises UsageError for a bad address, or without pybatfish."""
    from ailb_gen.batfish.address import parse_address

    host, port = parse_address(address)

    from ailb_gen.batfish.service import connect

    return lambda: connect(host, port, timeout_s)


def most_failures(wanted: int | str | None, has_service: bool) -> int | None:
    """Return how many failures Batfish computes at most, None for as many as take a few minutes. Raises UsageError."""
    if wanted is None:
        return None
    text = str(wanted)
    from ailb_gen.batfish.sample import ALL

    if not has_service:
        raise UsageError("--batfish-failures: no Batfish service was given; add --batfish HOST")
    if text == "all":
        return ALL
    if not (text.isascii() and text.isdigit() and len(text) < CUT and int(text) > 1):
        raise UsageError(
            f"--batfish-failures {text[:CUT]!r}: must be all, or a number from 2, for one spine and one link; "
            "for none exclude the checks: --checks '*,!AILB818,!AILB819,!AILB822,!AILB823'"
        )
    return int(text)


def ask(
    service: Service | None,
    context: Context,
    chosen: frozenset[str],
    most: int | None,
    progress: Progress,
    warn: Warn,
) -> tuple[list[Result], AilbError | None]:
    """Return the results of the checks that Batfish makes, and the error that ended them early, if any.

    `most` is how many failures it computes at most; without it, as many as it does in a few minutes.
    """
    from ailb_gen.checks.catalogue import skipped_by_batfish
    from ailb_gen.checks.families.batfish import NO_SERVICE

    if service is None:
        return list(skipped_by_batfish(chosen, (), NO_SERVICE)), None
    from ailb_gen.batfish.run import SecondOpinion, second_opinion
    from ailb_gen.batfish.unsupported import doubt

    second = SecondOpinion(context, chosen, most)
    results: list[Result] = []
    trouble: AilbError | None = None
    try:
        with progress("asking Batfish", 1) as bar, service() as batfish:
            if unsure := doubt(batfish.version):
                warn(f"the version of this Batfish, {batfish.version}, {unsure}")
            for result in second_opinion(batfish, second, bar):
                results.append(result)
        if batfish.left_behind:
            warn(f"{batfish.left_behind}")
    except AilbError as error:
        trouble = error
        results += skipped_by_batfish(chosen, results, str(error))
    return results, trouble
