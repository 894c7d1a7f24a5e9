"""Even shares: the model of the intent against the control plane and the formulas of docs/proof.md."""

from math import gcd
from pathlib import Path

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.checks.expected_loads import ExpectedLoads
from ailb_gen.checks.expected_paths import ExpectedPaths
from ailb_gen.forwarding.failures import Failure, assess
from tests.checks.trees import network_of, rendered
from tests.conftest import intent_of


def text(spines: int, links: int, colors: int, more: str = "", drain: str = "") -> str:
    """A fabric of three leaves."""
    return (
        f"name: f\nplatform: generic\nstripes: 3\nrails: 1\nspines: {spines}\nlinks_per_spine: {links}\n"
        f"servers: 1\nhost_ports: {{first_port: 100}}\ncolors: {{count: {colors}{more}}}\ndrain: [{drain}]\n"
    )


def bounds(asked: ExpectedFabric) -> tuple[float, float]:
    """The highest load after a link, and after a spine, failed, over that before."""
    shares = ExpectedLoads(asked, ExpectedPaths(asked))
    return shares.without_a_link() / shares.highest(), shares.without_a_spine() / shares.highest()


def simulated(asked: ExpectedFabric, root: Path) -> tuple[float, float]:
    """The same as the control plane computes it, failure by failure; what loses something is left out."""
    context = Context(asked.fabric, network_of(root))
    routing = context.routing
    baseline = context.baseline
    links = [Failure("link", frozenset({number})) for number in range(len(routing.graph.sessions.up))]
    spines = [Failure("spine", dead=frozenset({routing.graph.index[spine.name]})) for spine in asked.spines]
    found = []
    for failures in (links, spines):
        impacts = [assess(baseline, failure) for failure in failures]
        found.append(max((impact.worst for impact in impacts if not impact.lost), default=0.0))
    return found[0], found[1]


# Several links per spine and fewer colors than uplinks are where colors meet on spines.
SHAPES = [
    text(6, 3, 9),
    text(6, 2, 4),
    text(4, 2, 4),
    text(4, 2, 8),
    text(2, 4, 4),
    text(2, 4, 2),
    text(3, 2, 2),
    text(4, 1, 4),
    text(8, 1, 2),
    text(4, 4, 8),
    text(4, 6, 8),
    text(6, 4, 3),
    text(4, 1, 4, ", backup: [green, blue]"),
    text(4, 2, 8, ", backup: {green: blue, blue: red, red: blue, orange: green, purple: blue}"),
    text(4, 1, 4, drain="spine3"),
    text(4, 2, 8, drain="spine2"),
    text(6, 2, 4, drain="'stripe1-leaf1 spine1', 'stripe2-leaf1 et-0/0/4:0'"),
    text(4, 1, 4, drain="'stripe1-leaf1 spine1', 'stripe2-leaf1 spine2'"),
    text(8, 1, 2, drain="spine1, 'stripe3-leaf1 spine2'"),
    text(4, 1, 4, ", backup: {green: blue, blue: red, red: orange, orange: green}", drain="'stripe1-leaf1 spine3'"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_model_says_what_the_control_plane_does(shape: str, tmp_path: Path) -> None:
    intent, root = rendered(
        shape.replace("generic", "qfx5240-64od").replace("first_port: 100", "first_port: 32"), tmp_path
    )
    asked = expected_fabric(intent.fabric)
    (link, spine), (link_bound, spine_bound) = simulated(asked, root), bounds(asked)
    assert link <= link_bound + 1e-9 and spine <= spine_bound + 1e-9
    if not asked.drained.missing:
        # Nothing above it is allowed either: the bound is reached.
        assert (link, spine) == pytest.approx((link_bound, spine_bound))


def formula(spines: int, links: int, colors: int) -> tuple[float, float]:
    """Docs/proof.md, for backups by all other colors."""
    common = gcd(spines, colors)
    of_color, parallel, on_spine = spines // common, links * common // colors, colors // common
    if of_color > 1:
        link = parallel / (parallel - 1) if parallel > 1 else of_color / (of_color - 1)
        return link, of_color / (of_color - 1)
    link = parallel / (parallel - 1) if parallel > 1 else 1 + 1 / (spines - 1)
    return link, 1 + on_spine / (spines - 1)


SIZES = [
    (spines, links, colors)
    for spines in (2, 3, 4, 6, 8, 9)
    for links in (1, 2, 3, 4, 6)
    for colors in range(1, spines * links + 1)
    if spines * links % colors == 0
]


@pytest.mark.parametrize(("spines", "links", "colors"), SIZES)
def test_the_formula(spines: int, links: int, colors: int) -> None:
    asked = expected_fabric(intent_of(text(spines, links, colors)).fabric)
    assert bounds(asked) == pytest.approx(formula(spines, links, colors))


def test_the_shapes_that_were_wrong_once() -> None:
    assert bounds(expected_fabric(intent_of(text(6, 3, 9)).fabric)) == pytest.approx((2.0, 2.0))
    assert bounds(expected_fabric(intent_of(text(6, 2, 4)).fabric)) == pytest.approx((1.5, 1.5))
