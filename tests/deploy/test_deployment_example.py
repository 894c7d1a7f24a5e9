"""A shipped example, from switches as they come from the factory to a fabric that runs, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.emulator.source import specs
from tests.conftest import EXAMPLES
from tests.deploy.fabric import DRIVERS, USER, Generated, outcomes_of, run, site
from tests.network.lab import LAB


@pytest.mark.long
@pytest.mark.parametrize("driver", DRIVERS)
def test_from_the_factory_and_back(tmp_path: Path, driver: str) -> None:
    new = {spec.name: spec.factory for spec in specs(LAB, USER, loaded=True)}
    lab = Generated(EXAMPLES / "lab" / "fabric.yaml", LAB, specs(LAB, USER, loaded=False), new)
    how = ("--driver", driver)
    with site(lab, tmp_path) as on:
        assert run(*on.place("drift"), *how).code == 1
        done = on.deploy(*how, minutes=60)
        assert (done.code, done.err) == (0, "")
        assert outcomes_of(on.events()) == dict.fromkeys(on.fleet.devices, "confirmed")
        for name in on.fleet.devices:
            assert on.settled(name).active == on.new[name]
        assert run(*on.place("verify"), *how).code == 0
        assert run(*on.place("drift"), *how).code == 0
        assert on.deploy(*how).out == "Nothing to do.\n"
        back = run(*on.words("rollback", *how, "--min-paths", "0", minutes=60))
        assert (back.code, back.err) == (0, "")
        for name in on.fleet.devices:
            assert on.settled(name).active == on.old[name]
