"""`ailb-gen draw`: a picture of a fabric as SVG, Graphviz DOT or Mermaid."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.live import working
from ailb_gen.cli.options import ARTIFACTS, FABRIC, FAILED, output_option
from ailb_gen.cli.reports import check_place
from ailb_gen.cli.routes import warn_of
from ailb_gen.cli.verb import Verb
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.forwarding.link_loads import LinkLoads
    from ailb_gen.forwarding.trace import PathTrace
    from ailb_gen.forwarding.trace import View as Outage
    from ailb_gen.picture.model import Overlay, PathMark, Picture
    from ailb_gen.picture.view import PictureView

VIEW = "--view"


class Views(Verb):
    """A command whose option `--view` takes as many words as the view has."""

    def words(self, args: list[str]) -> list[str]:
        """Return the arguments with the words of the view as one."""
        return joined(args)

    def refused(self, args: list[str], error: Exception) -> None:
        """Say first that there is no such view: what stands behind it looks like arguments too many."""
        from ailb_gen.picture.view import arguments_of

        for word, behind in pairwise([*args, ""]):
            option, equals, kind = word.partition("=")
            if option == VIEW and (equals or behind):
                arguments_of(kind if equals else behind)


def joined(args: list[str]) -> list[str]:
    """Return arguments in which the words behind `--view` are one; an option ends them."""
    from ailb_gen.picture.view import ARGUMENTS

    found: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        option, equals, kind = word.partition("=")
        if option == VIEW and (equals or rest):
            words = [kind if equals else rest.pop(0)]
            for _ in ARGUMENTS.get(words[0], "").split():
                if rest and not rest[0].startswith("-"):
                    words.append(rest.pop(0))
            found += [VIEW, " ".join(words)]
        else:
            found.append(word)
    return found


def draw(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    out: Annotated[Path, output_option("picture", "FILE", "--out")],
    view: Annotated[
        str,
        typer.Option(
            VIEW,
            help="fabric, rail N, stripe N, device NAME, or path SRC DST (SERVER or SERVER:NIC).",
            metavar="VIEW",
            autocompletion=complete.view,
        ),
    ] = "fabric",
    load: Annotated[
        str | None,
        typer.Option(
            "--load",
            help="Show loads: all-to-all, ring or permutation.",
            metavar="PATTERN",
            autocompletion=complete.pattern,
        ),
    ] = None,
    fail: FAILED = None,
) -> None:
    """Draw a fabric: devices, links, colors, loads, paths, failures.

    The file ends in .svg, .dot or .mmd. Loads are in percent of the highest without failures.

    Exit codes: 0 drawn, 2 bad input and nothing is written, 3 the file cannot be written.
    """
    from ailb_gen.api.inputs import load as load_intent
    from ailb_gen.checks.expected import expected_fabric
    from ailb_gen.garbage import no_garbage_collection
    from ailb_gen.picture.formats import written
    from ailb_gen.picture.model import Overlay
    from ailb_gen.picture.overlays import drained_in, failed
    from ailb_gen.picture.view import view_of
    from ailb_gen.report.write import write

    _check(out, load, (fabric, artifacts))
    words = view.split()
    with working("reading") as doing, no_garbage_collection(last=True):
        expected = expected_fabric(load_intent(fabric).fabric)
        if load is None and words[:1] != ["path"]:
            picture, missing = _listed(expected, artifacts)
            down, dead = failed(picture, fail or ())
            seen = view_of(picture, words)
            overlay = Overlay(down, dead, drained_in(picture, expected.drained), missing)
        else:
            picture, overlay, seen = _computed(expected, artifacts, words, load, fail, doing)
        doing("drawing")
        text = written(out, picture, overlay, seen)
    write(out, text, "picture")


def _check(out: Path, load: str | None, inputs: Iterable[Path]) -> None:
    """Refuse what cannot be written or is no pattern, before anything is read. Raises UsageError."""
    from ailb_gen.picture.formats import FORMATS
    from ailb_gen.wording import did_you_mean

    if out.suffix not in FORMATS:
        hint = did_you_mean(out.suffix, FORMATS) or f"file names end in {', '.join(FORMATS)}"
        raise UsageError(f"-o {out}: unknown picture format; {hint}")
    check_place("-o", out, inputs)
    if load is None:
        return
    from ailb_gen.forwarding.patterns import PATTERNS

    if load not in PATTERNS:
        hint = did_you_mean(load, PATTERNS) or f"patterns: {', '.join(PATTERNS)}"
        raise UsageError(f"--load {load!r}: unknown pattern; {hint}")


def _listed(expected: ExpectedFabric, artifacts: Path) -> tuple[Picture, frozenset[str]]:
    """Return the picture of the listed cables, and the switches that have no file."""
    from ailb_gen.picture.build import picture_in, without_file

    picture, defects = picture_in(expected, artifacts)
    missing = without_file(picture, artifacts)
    lost = (f"{name}: this switch has no file; it is drawn as it is cabled" for name in missing)
    warn_of([*(f"{defect.place or defect.scope}: {defect.message}" for defect in defects), *lost])
    return picture, frozenset(missing)


def _computed(
    expected: ExpectedFabric,
    artifacts: Path,
    words: list[str],
    load: str | None,
    fail: list[str] | None,
    doing: Callable[[str], None],
) -> tuple[Picture, Overlay, PictureView]:
    """Return the picture with what follows from the files of all switches: loads and paths."""
    from ailb_gen.api.routes import doubts, outage
    from ailb_gen.forwarding.link_loads import loads_of
    from ailb_gen.forwarding.trace import View as Outage
    from ailb_gen.network.routed import read_routed
    from ailb_gen.picture.build import picture_of, unread
    from ailb_gen.picture.model import Overlay
    from ailb_gen.picture.overlays import drained_in, failed, path_marks
    from ailb_gen.picture.view import view_of
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import Routing

    network = read_routed(artifacts)
    warn_of(doubts(network))
    picture = picture_of(expected, network)
    seen = view_of(picture, words)
    down, dead = failed(picture, fail or ())
    doing("computing routes")
    graph = Graph(network)
    sessions, switches, nics = outage(graph, fail)
    paths: tuple[PathMark, ...] = ()
    if seen.kind == "path":
        whole = Outage(network, Routing(network, graph=graph), frozenset(), frozenset())
        outages = Outage(network, Routing(network, graph=graph.without(sessions)), switches, nics)
        traces = [_traces(one, words[1], words[2]) for one in ((outages, whole) if fail else (whole,))]
        paths = path_marks(picture, *traces)
    loads: LinkLoads = {}
    if load is not None:
        off = frozenset(graph.index[name] for name in switches)
        loads = loads_of(Routing(network, graph=graph), load, sessions, off)
    drained = drained_in(picture, expected.drained)
    return picture, Overlay(down, dead, drained, unread(picture, network), loads, paths=paths), seen


def _traces(outage: Outage, source: str, target: str) -> list[PathTrace]:
    from ailb_gen.forwarding.endpoints import flows
    from ailb_gen.forwarding.trace import trace_pair

    return [trace_pair(outage, start, end, 0) for start, end in flows(outage.network, source, target)]
