"""Completion on the command line: what a shell asks for while somebody types, so that nothing slow is imported.

Names of devices come from the names of files, ids of checks from a file that `make checks-doc` writes. Where that
cannot be read, nothing is offered.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ailb_gen.cli.project import completed
from ailb_gen.shipped import shipped_examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STUDIES = ("scale-unit", "recovery", "balancers", "queue-pairs", "hopper", "what-if")
PATTERNS = ("all-to-all", "permutation", "ring")
COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "incast", "permutation")
BALANCERS = (
    "ecmp", "spray", "adaptive", "drill", "letflow", "flowlet", "conga", "conweave", "dlb", "dlb-per-packet",
    "dlb-assigned-flow", "glb", "rlb", "flowbender", "hopper",
)  # fmt: skip
VIEWS = ("device", "fabric", "path", "rail", "stripe")
PACKAGE = Path(__file__).parent.parent
# What names a fabric, at the beginning of its file and of a manifest.
NAME = re.compile(r"^name: *[\"']?([^\s\"'#]+)", re.MULTILINE)
HEAD = 4096


def _starting(words: Iterable[str], incomplete: str) -> list[str]:
    return sorted({word for word in words if word.startswith(incomplete)})


def _last(words: Iterable[str], incomplete: str) -> list[str]:
    """Return continuations of the last of several words with commas between; `!` takes one away."""
    before, comma, last = incomplete.rpartition(",")
    start = "!" if last.startswith("!") else ""
    return [f"{before}{comma}{start}{word}" for word in _starting(words, last.removeprefix("!"))]


def devices_of(artifacts: Path, switches: bool = True, servers: bool = True) -> Iterator[str]:
    """Yield the devices that have files below a directory."""
    with suppress(OSError):
        if switches:
            yield from (path.stem for path in (artifacts / "switches").iterdir() if path.suffix in (".conf", ".set"))
    with suppress(OSError):
        if servers:
            yield from (path.name for path in (artifacts / "servers").iterdir() if path.is_dir())


def _trees(fabric: Path) -> Iterator[Path]:
    """Yield the directories that were generated for a fabric file, as far as they are near it or in `build`."""
    with suppress(OSError):
        found = NAME.search(fabric.read_text(encoding="utf-8", errors="replace"))
        near = chain(Path("build").glob("*/manifest.json"), fabric.parent.glob("*/manifest.json"))
        for manifest in near if found else ():
            with manifest.open(encoding="utf-8", errors="replace") as file:
                if found and f'"fabric": "{found[1]}"' in file.read(HEAD):
                    yield manifest.parent


def _given(ctx: typer.Context, name: str) -> str | None:
    """Return the value of a parameter as far as it has been typed, or else as the project file has it."""
    value = ctx.params.get(name)
    if str(getattr(ctx.get_parameter_source(name), "name", "")) == "DEFAULT":
        value = None
    if value is None and ctx.args:
        # Before an option whose value is being typed, arguments are not assigned yet.
        names = [one.name for one in ctx.command.params if one.param_type_name == "argument"]
        value = dict(zip(names, ctx.args, strict=False)).get(name)
    return str(value) if value is not None else completed(ctx, name)


def _places(ctx: typer.Context) -> Iterator[Path]:
    """Yield the directories of files that a command line is about, as far as it has been typed."""
    artifacts, fabric = _given(ctx, "artifacts"), _given(ctx, "fabric")
    if artifacts is not None:
        yield Path(artifacts)
    elif fabric is not None:
        yield from _trees(Path(fabric))
    else:
        yield Path()


def _devices(switches: bool = True, servers: bool = True) -> Callable[[typer.Context, str], list[str]]:
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        names = (name for place in _places(ctx) for name in devices_of(place, switches, servers))
        return _starting(names, incomplete)

    return complete


device, switch, server = _devices(), _devices(servers=False), _devices(switches=False)


def limit(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a role or a device, the last of several."""
    from ailb_gen.selection import ROLES

    return _last(chain(ROLES, *map(devices_of, _places(ctx))), incomplete)


def checks_and_families() -> list[str]:
    """Return the ids of all checks, and the names of their families."""
    from ailb_gen.checks.layers import FAMILIES

    ids = (PACKAGE / "checks" / "ids.txt").read_text(encoding="utf-8").split()
    return [*ids, *(name for name, _ in FAMILIES.values())]


def check(incomplete: str) -> list[str]:
    """Complete a check or a family, the last of several."""
    return _last(checks_and_families(), incomplete)


def example(incomplete: str) -> list[str]:
    """Complete an example that is a fabric."""
    return _starting(shipped_examples(), incomplete)


def platform(incomplete: str) -> list[str]:
    """Complete a platform that this program ships."""
    return _starting((path.stem for path in (PACKAGE / "intent" / "platform_data").glob("*.yaml")), incomplete)


def balancer(incomplete: str) -> list[str]:
    """Complete a load balancer, the last of several."""
    return _last(BALANCERS, incomplete)


def _of(words: Iterable[str]) -> Callable[[str], list[str]]:
    return lambda incomplete: _starting(words, incomplete)


def report_format(incomplete: str) -> list[str]:
    """Complete a format of reports about findings."""
    from ailb_gen.cli.reports import formats

    return _starting(formats(["?"]), incomplete)


def export(incomplete: str) -> list[str]:
    """Complete an export."""
    from ailb_gen.api.export import exports

    return _starting(exports(), incomplete)


page_format = _of(("html",))
study = _of(STUDIES)
collective = _of(COLLECTIVES)
pattern = _of(PATTERNS)
view = _of(VIEWS)


def run(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a run that is recorded for a fabric, the latest first."""
    from ailb_gen.deploy.run_history import StateDirectory

    state, fabric = _given(ctx, "state"), _given(ctx, "fabric")
    if state is None and fabric is None:
        return []
    with suppress(OSError):
        found = StateDirectory(Path(state) if state else Path(fabric or "").parent / ".ailb" / "runs").runs()
        return [name for name in reversed(found) if name.startswith(incomplete)]
    return []


def lab(incomplete: str) -> list[str]:
    """Complete a lab."""
    from ailb_gen.lab.registry import home

    with suppress(OSError):
        return _starting((path.name for path in home().iterdir() if path.is_dir()), incomplete)
    return []


def lab_device(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a device of a lab: of the one that is named, or else of all."""
    import json

    from ailb_gen.lab.registry import LAB, home

    name = _given(ctx, "name")
    found: list[str] = []
    with suppress(OSError):
        for path in home().iterdir():
            if name in (None, path.name):
                with suppress(OSError, ValueError, KeyError, TypeError):
                    record = json.loads((path / LAB.file).read_text(encoding="utf-8"))
                    found += devices_of(Path(record["lab"]["artifacts"]))
    return _starting(found, incomplete)
