"""Networks that runs have left on a service: their names, their age, and why one is kept."""

import time

import pytest

from ailb_gen.batfish.leftovers import RunNetwork, age_text, began_at, left_over, network_name, why_kept

HOUR_S = 3600
NOW = time.time()


def test_a_run_that_goes_on_is_never_left_over() -> None:
    """Its name says when it began; no run has the name of another."""
    names = {network_name() for _ in range(100)}
    assert len(names) == 100
    for name in names:
        began = began_at(name)
        assert began is not None and abs(began - time.time()) < HOUR_S
        assert why_kept(RunNetwork(name, 0, (began,), 0), began + 60, 120)


def test_ages() -> None:
    ages = {60: "1 min", 7199: "119 min", 7200: "2 h", 172799: "47 h", 172800: "2 d"}
    assert {age: age_text(RunNetwork("n", 0, (NOW - age,), 0), NOW) for age in ages} == ages
    # The clocks of both machines differ.
    assert age_text(RunNetwork("n", 0, (NOW + 100,), 0), NOW) == "0 min"


@pytest.mark.parametrize(
    ("signs", "unfinished", "reason"),
    [
        ((NOW - 3 * HOUR_S,), 0, ""),
        ((NOW - 3 * HOUR_S,), 1, "runs: unfinished work"),
        ((NOW - 3 * HOUR_S, None), 0, "age not known"),
        ((), 0, "age not known"),
        ((NOW - 3 * HOUR_S, NOW - HOUR_S), 0, "may run: under 120 min"),
    ],
)
def test_why_a_network_is_kept(signs: tuple[float | None, ...], unfinished: int, reason: str) -> None:
    network = RunNetwork("n", 0, signs, unfinished)
    assert why_kept(network, NOW, 120) == reason
    assert left_over([network], NOW, 120) == ([] if reason else [network])


@pytest.mark.parametrize("name", ["ailb-gen-0123456789ab", "ailb-gen", "ailb-gen-mine", "prod"])
def test_names_that_do_not_say_when_a_run_began(name: str) -> None:
    assert began_at(name) is None
