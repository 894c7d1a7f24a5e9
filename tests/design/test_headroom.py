"""How far fabrics grow: up to the limit a fabric has a design, one step beyond it is refused for the reason told."""

from collections.abc import Callable

import pytest
import yaml

from ailb_gen.design.build import build
from ailb_gen.design.headroom import Headroom, every_headroom, headroom
from ailb_gen.design.larger import larger
from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.growth import UNITS, Unit, edited, grown, growth
from ailb_gen.intent.load import Intent, load
from tests.conftest import EXAMPLES, SMALL, examples, intent_of
from tests.intents import random_intent, random_mixed

Told = set[tuple[str, str, str]]


def told(problems: tuple[Problem, ...]) -> Told:
    return {(problem.code, problem.path, problem.reason) for problem in problems if problem.severity == "error"}


@pytest.mark.sampled(4, 6)
@pytest.mark.parametrize("make", [random_intent, random_mixed])
@pytest.mark.parametrize("seed", range(examples(20)))
def test_a_fabric_grows_to_its_limit_and_no_further(make: Callable[[int], str], seed: int) -> None:
    intent = usable(make, seed)
    design, _ = build(intent)
    for unit in UNITS:
        found = headroom(intent, design, unit)
        if not growth(intent, unit, 1):
            assert (found.step, found.most, found.refused) == (0, 0, ())
            continue
        for number in {found.step, found.most} if found.most else ():
            more = larger(intent, design, unit, number)
            build(intent_of(yaml.safe_dump(edited(intent.source.data, more.edits), sort_keys=False)))
        with pytest.raises(IntentError) as caught:
            larger(intent, design, unit, found.most + found.step)
        assert told(caught.value.problems) == told(found.refused) != set()


def usable(make: Callable[[int], str], seed: int) -> Intent:
    """Return the first random intent from a seed on that has a design."""
    for number in range(1000 * seed, 1000 * (seed + 1)):
        try:
            build(intent := intent_of(make(number)))
        except IntentError:
            continue
        return intent
    raise AssertionError(seed)


def room(intent: Intent) -> tuple[Headroom, ...]:
    return every_headroom(intent, build(intent)[0])


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
    found = {row.unit: row for row in room(load(EXAMPLES / example / "fabric.yaml"))}
    for unit, (step, most, keys) in KNOWN[example].items():
        row = found[unit]
        assert (row.step, row.most, {problem.path for problem in row.refused}) == (step, most, keys), unit


def test_stripes_with_rails_of_their_own_leave_no_key_for_one_more() -> None:
    intent = intent_of(SMALL.replace("stripes: 2", "stripes: [{rails: 1}, {rails: 2}]"))
    assert [(row.step, row.refused) for row in room(intent) if row.unit == "rail"] == [(0, ())]


def test_the_schema_sets_limits_too() -> None:
    intent = intent_of(SMALL.replace("servers: 2", "servers: 0") + "hosts: {rdma: 'm{i}'}\n")
    (found,) = (row for row in room(intent) if row.unit == "rail")
    assert (found.most, found.refused[0].code, found.refused[0].path) == (62, "out-of-range", "rails")


def test_what_was_grown_before_leaves_the_same_room() -> None:
    """Overrides that pin existing leaves, and servers by name, meet what a plain larger number would add."""
    intent = load(EXAMPLES / "lab" / "fabric.yaml")
    more = larger(intent, build(intent)[0], "rail", 1)
    assert any(edit.path[0] == "overrides" for edit in more.edits)
    (found,) = (row for row in room(grown(intent, more.edits)) if row.unit == "rail")
    assert (found.step, found.most, {problem.path for problem in found.refused}) == (1, 46, {"asn.leaves"})
