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
from ailb_gen.errors import AilbError
from ailb_gen.shipped import shipped_examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STUDIES = ("scale-unit", "recovery", "balancers", "queue-pairs", "hopper", "paths", "congestion", "what-if")
PATTERNS = ("all-to-all", "permutation", "ring")
COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "incast", "permutation")
BALANCERS = (
    "ecmp", "spray", "adaptive", "drill", "letflow", "presto", "flowlet", "conga", "conweave", "dlb", "dlb-per-packet",
    "dlb-assigned-flow", "glb", "spectrum-x", "seqbalance", "rlb", "flowbender", "plb", "mp-rdma", "hopper",
)  # fmt: skip
VIEWS = ("device", "fabric", "path", "rail", "stripe")
PACKAGE = Path(__file__).parent.parent
# What names a fabric, at the beginning of its file and of a manifest.
NAME = re.compile(r"^name: *[\"']?([^\s\"'#]+)", re.MULTILINE)
HEAD = 4096
# A device at the beginning of a line of hosts.yaml.
HOST = re.compile(r"^[\"']?([^\s\"'#:-][^\s\"'#:]*)[\"']?:(?:\s|$)", re.MULTILINE)
# As many runs are described, the latest: the records of all may be long.
DESCRIBED = 20
# A path that is broken, too long, or no path at all.
UNREADABLE = (OSError, ValueError)


def _starting(words: Iterable[str], incomplete: str) -> list[str]:
    return sorted({word for word in words if word.startswith(incomplete)})


def _last(words: Iterable[str], incomplete: str) -> list[str]:
    """Return continuations of the last of several words with commas between; `!` takes one away."""
    before, comma, last = incomplete.rpartition(",")
    start = "!" if last.startswith("!") else ""
    return [f"{before}{comma}{start}{word}" for word in _starting(words, last.removeprefix("!"))]


def devices_of(artifacts: Path, switches: bool = True, servers: bool = True) -> Iterator[str]:
    """Yield the devices that have files below a directory."""
    with suppress(*UNREADABLE):
        if switches:
            yield from (path.stem for path in (artifacts / "switches").iterdir() if path.suffix in (".conf", ".set"))
    with suppress(*UNREADABLE):
        if servers:
            yield from (path.name for path in (artifacts / "servers").iterdir() if path.is_dir())


def _trees(fabric: Path) -> Iterator[Path]:
    """Yield the directories that were generated for a fabric file, as far as they are near it or in `build`."""
    with suppress(*UNREADABLE):
        found = NAME.search(fabric.read_text(encoding="utf-8", errors="replace"))
        near = chain(Path("build").glob("*/manifest.json"), fabric.parent.glob("*/manifest.json"))
        for manifest in near if found else ():
            with manifest.open(encoding="utf-8", errors="replace") as file:
                if found and f'"fabric": "{found[1]}"' in file.read(HEAD):
                    yield manifest.parent


def _typed(ctx: typer.Context, name: str) -> str | None:
    """Return the value of a parameter as far as it has been typed."""
    value = ctx.params.get(name)
    if str(getattr(ctx.get_parameter_source(name), "name", "")) == "DEFAULT":
        value = None
    if value is None and ctx.args:
        # Before an option whose value is being typed, arguments are not assigned yet.
        names = [one.name for one in ctx.command.params if one.param_type_name == "argument"]
        value = dict(zip(names, ctx.args, strict=False)).get(name)
    return str(value) if value is not None else None


def _given(ctx: typer.Context, name: str) -> str | None:
    """Return the value of a parameter as far as it has been typed, or else as the project has it."""
    return _typed(ctx, name) or completed(ctx, name)


def _names(ctx: typer.Context, switches: bool = True, servers: bool = True) -> Iterator[str]:
    """Yield the devices that a command line is about: from their files, or else from the inventory."""
    found = False
    for place in _places(ctx):
        for name in devices_of(place, switches, servers):
            found = True
            yield name
    if not found and switches and servers:
        folder = _given(ctx, "inventory") or Path(_given(ctx, "fabric") or "").parent
        with suppress(*UNREADABLE):
            hosts = Path(folder, "hosts.yaml").read_text(encoding="utf-8", errors="replace")
            yield from (name[1] for name in HOST.finditer(hosts))


def _places(ctx: typer.Context) -> Iterator[Path]:
    """Yield the directories of files that a command line is about, as far as it has been typed.

    The project's artifacts are those of its own fabric file only.
    """
    fabric, ours = _given(ctx, "fabric"), completed(ctx, "fabric")
    artifacts = _typed(ctx, "artifacts") or (completed(ctx, "artifacts") if fabric == ours else None)
    if artifacts is not None:
        yield Path(artifacts)
    elif fabric is not None:
        yield from _trees(Path(fabric))
    else:
        yield Path()


def _devices(switches: bool = True, servers: bool = True) -> Callable[[typer.Context, str], list[str]]:
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        return _starting(_names(ctx, switches, servers), incomplete)

    return complete


device, switch, server = _devices(), _devices(servers=False), _devices(switches=False)


def limit(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a role or a device, the last of several."""
    from ailb_gen.selection import ROLES

    return _last(chain(ROLES, _names(ctx)), incomplete)


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
executor = _of(("processes", "serial", "dask:"))
collector = _of(("gnmic", "telegraf"))
study = _of(STUDIES)
collective = _of(COLLECTIVES)
pattern = _of(PATTERNS)
view = _of(VIEWS)


def run(ctx: typer.Context, incomplete: str) -> list[str | tuple[str, str]]:
    """Complete a run that is recorded for a fabric, the latest first, with its time and result."""
    from ailb_gen.deploy.run_history import RecordedRun, StateDirectory

    state, fabric = _given(ctx, "state"), _given(ctx, "fabric")
    if state is None and fabric is None:
        return []
    directory = StateDirectory(Path(state) if state else Path(fabric or "").parent / ".ailb" / "runs")
    found: list[str | tuple[str, str]] = []
    with suppress(*UNREADABLE):
        for name in reversed(directory.runs()):
            if not name.startswith(incomplete):
                continue
            about = ""
            if len(found) < DESCRIBED:
                # A record that cannot be read is refused by the command.
                with suppress(AilbError):
                    about = RecordedRun(name, directory.events(name)).summary
            found.append((name, about) if about else name)
    return found


def resumed(ctx: typer.Context, incomplete: str) -> list[str | tuple[str, str]]:
    """Complete the run that is to be resumed; without `--resume` there is none."""
    return run(ctx, incomplete) if ctx.params.get("resume") else []


def lab(incomplete: str) -> list[str]:
    """Complete a lab."""
    from ailb_gen.lab.registry import home

    with suppress(*UNREADABLE):
        return _starting((path.name for path in home().iterdir() if path.is_dir()), incomplete)
    return []


def lab_device(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a device of a lab: of the one that is named, or else of all."""
    import json

    from ailb_gen.lab.registry import LAB, home

    name = _given(ctx, "name")
    found: list[str] = []
    with suppress(*UNREADABLE):
        for path in home().iterdir():
            if name in (None, path.name):
                with suppress(*UNREADABLE, KeyError, TypeError):
                    record = json.loads((path / LAB.file).read_text(encoding="utf-8"))
                    found += devices_of(Path(record["lab"]["artifacts"]))
    return _starting(found, incomplete)
