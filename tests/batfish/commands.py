"""Commands of the documentation and of the pipelines: they are run with a stand-in for the service that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.batfish.stand_in import StandIn

OPTION = "--batfish"


@contextmanager
def with_stand_in(words: Sequence[str]) -> Iterator[list[str]]:
    """Give the words of a command, with the address of a stand-in where it names a service.

    Afterwards the command has asked the stand-in, and nothing is left there.
    """
    named = OPTION if OPTION in words else "clean"
    if OPTION not in words and list(words[1:3]) != ["batfish", "clean"]:
        yield list(words)
        return
    at = words.index(named) + 1
    with StandIn() as server:
        yield [*words[:at], server.address, *words[at + 1 :]]
        assert (server.asked or named == "clean") and not server.networks
