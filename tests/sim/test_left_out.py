"""Every statement that validation reads has a fate in simulations, and of generated files nothing is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ailb_gen.errors import IntentError
from ailb_gen.network.read import read_network
from ailb_gen.network.statements import READ
from ailb_gen.sim.left_out import fate_of, left_out, of_switch
from ailb_gen.sim.statements import Fate
from tests.checks.trees import GOLDEN, rendered
from tests.conftest import examples
from tests.intents import random_intent, random_mixed

# What stands for a word of patterns that is none itself.
SAMPLES = {"*": "x1", "#": "7", "<port.unit>": "et-0/0/0.0", "<ipv4>": "10.0.0.0/8"}


def samples(words: list[str]) -> Iterator[tuple[str, ...]]:
    """A statement for every alternative of a pattern's words."""
    if not words:
        yield ()
        return
    for word in words[0].split("|"):
        yield from ((SAMPLES.get(word, word), *rest) for rest in samples(words[1:]))


READ_STATEMENTS = [
    statement
    for above, patterns in READ.items()
    for line in filter(str.strip, patterns.split("\n"))
    for statement in samples([word for word in (*above.split(), *line.split()) if word != ";"])
]


def test_every_statement_that_validation_reads_has_a_fate() -> None:
    """Simulated, without effect, or left out on purpose: none is left out because nobody thought of it."""
    without = [" ".join(statement) for statement in READ_STATEMENTS if fate_of(statement)[0] is None]
    assert without == []
    assert len(READ_STATEMENTS) > 150


@pytest.mark.parametrize("make", [random_intent, random_mixed])
@pytest.mark.parametrize("seed", range(examples(6)))
def test_all_of_generated_files_is_known(make: Callable[[int], str], seed: int, tmp_path: Path) -> None:
    try:
        _, root = rendered(make(seed), tmp_path)
    except IntentError as error:
        assert error.problems
        return
    reading = read_network(root, of_switch)
    found = [one for statements in reading.inspected.values() for one in statements]
    # Statements that the user adds below `extra_config` aside.
    assert {one.statement for one in found if not one.group.reason} == set()
    for one in left_out(reading.network, reading.inspected):
        for place in one.places:
            assert (root / place.file).read_text().splitlines()[place.line - 1].strip()


def test_a_statement_is_named_with_the_line_where_it_stands() -> None:
    reading = read_network(GOLDEN / "jvd", of_switch)
    listed = left_out(reading.network, reading.inspected)
    for word in ("pfc-watchdog", "strict-high", "transmit-rate", "minimum-interval", "multiplier", "cnp_dscp"):
        found = [one for one in listed if word in one.statement]
        assert found, word
        for place in (place for one in found for place in one.places):
            lines = (GOLDEN / "jvd" / place.file).read_text().splitlines()
            assert word in lines[place.line - 1], place
    assert {one.after_failures for one in listed if "bfd" in one.statement} == {True}
    assert all(one.reason for one in listed)


def test_a_statement_that_nothing_reads_is_left_out_with_what_it_is_known_to_do() -> None:
    assert fate_of(("interfaces", "et-0/0/0", "unit", "0", "family", "inet6", "policer"))[0] is None
    group, length = fate_of(("class-of-service", "schedulers", "s", "shaping-rate", "5g"))
    assert group is not None
    assert (group.fate, length) == (Fate.LEFT_OUT, 4)
