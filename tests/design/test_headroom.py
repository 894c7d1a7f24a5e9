"""How far fabrics grow: up to the limit a fabric has a design, one step beyond it is refused for the reason told."""

from collections.abc import Callable

import pytest
import yaml

from ailb_gen.design.build import build
from ailb_gen.design.headroom import every_headroom, headroom
from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.growth import UNITS, Unit, edited, growth
from ailb_gen.intent.load import Intent, load
from tests.conftest import EXAMPLES, SMALL, examples, intent_of
from tests.intents import random_intent, random_mixed

Told = set[tuple[str, str, str]]


def written(intent: Intent, unit: Unit, number: int) -> str:
    """Return the text of a fabric file with so many units more."""
    return yaml.safe_dump(edited(intent.source.data, growth(intent, unit, number)), sort_keys=False)


def told(problems: tuple[Problem, ...]) -> Told:
    return {(problem.code, problem.path, problem.reason) for problem in problems if problem.severity == "error"}


def refused(text: str) -> Told:
    """Return why a fabric file is refused; nothing if it is not."""
    try:
        build(intent_of(text))
    except IntentError as error:
        return told(error.problems)
    return set()


@pytest.mark.parametrize("make", [random_intent, random_mixed])
@pytest.mark.parametrize("seed", range(examples(20)))
def test_a_fabric_grows_to_its_limit_and_no_further(make: Callable[[int], str], seed: int) -> None:
    intent = usable(make, seed)
    for unit in UNITS:
        found = headroom(intent, unit)
        if not growth(intent, unit, 1):
            assert (found.step, found.most, found.refused) == (0, 0, ())
            continue
        for number in {found.step, found.most} if found.most else ():
            assert refused(written(intent, unit, number)) == set()
        assert refused(written(intent, unit, found.most + found.step)) == told(found.refused) != set()


def usable(make: Callable[[int], str], seed: int) -> Intent:
    """Return the first random intent from a seed on that has a design."""
    for number in range(1000 * seed, 1000 * (seed + 1)):
        try:
            build(intent := intent_of(make(number)))
        except IntentError:
            continue
        return intent
    raise AssertionError(seed)


# Unit: step, how many more, and the keys that set the limit.
KNOWN: dict[str, dict[Unit, tuple[int, int, set[str]]]] = {
    "lab": {
        "stripe": (1, 47, {"asn.leaves"}),
        "rail": (1, 47, {"asn.leaves"}),
        "spine": (4, 12, {"host_ports"}),
        "server": (1, 494, {"host_ports"}),
    },
    "jvd": {
        "stripe": (1, 6, {"downlinks"}),
        "rail": (1, 0, {"hosts.rdma"}),
        "spine": (4, 12, {"host_ports"}),
        "server": (1, 94, {"host_ports"}),
    },
    "brownfield": {
        "stripe": (1, 7, {"overrides.spines.core-b.downlinks.r1l2"}),
        "spine": (2, 0, {"overrides.leaves.r1l1.uplinks.core-a"}),
        "server": (1, 12, {"stripes[0].servers[2].nics[2].port"}),
    },
}


@pytest.mark.parametrize("example", list(KNOWN))
def test_limits_of_examples(example: str) -> None:
    found = {row.unit: row for row in every_headroom(load(EXAMPLES / example / "fabric.yaml"))}
    for unit, (step, most, keys) in KNOWN[example].items():
        row = found[unit]
        assert (row.step, row.most, {problem.path for problem in row.refused}) == (step, most, keys), unit


def test_stripes_with_rails_of_their_own_leave_no_key_for_one_more() -> None:
    intent = intent_of(SMALL.replace("stripes: 2", "stripes: [{rails: 1}, {rails: 2}]"))
    assert (headroom(intent, "rail").step, headroom(intent, "rail").refused) == (0, ())


def test_the_schema_sets_limits_too() -> None:
    intent = intent_of(SMALL.replace("servers: 2", "servers: 0") + "hosts: {rdma: 'm{i}'}\n")
    found = headroom(intent, "rail")
    assert (found.most, found.refused[0].code, found.refused[0].path) == (62, "out-of-range", "rails")
