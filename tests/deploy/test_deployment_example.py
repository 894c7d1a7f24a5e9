"""A shipped example, from switches as they come from the factory to a fabric that runs, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.emulator.source import specs
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import EXAMPLES, example
from tests.deploy.fabric import DRIVERS, USER, Generated, outcomes_of, run, site


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """Two stripes, two rails, four spines of four colors."""
    artifacts = tmp_path_factory.mktemp("lab") / "artifacts"
    write_rendering(rendering(example("lab"), artifacts, RenderOptions("curly", None)))
    return Generated(
        EXAMPLES / "lab" / "fabric.yaml",
        artifacts,
        specs(artifacts, USER, loaded=False),
        {spec.name: spec.factory for spec in specs(artifacts, USER, loaded=True)},
    )


@pytest.mark.sampled(9)
@pytest.mark.parametrize("driver", DRIVERS)
def test_from_the_factory_and_back(lab: Generated, tmp_path: Path, driver: str) -> None:
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
