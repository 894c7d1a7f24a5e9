"""The driver: what is asked for is done and told; broken trees end in findings, never in a traceback."""

import gc
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.model import Finding, Run, RunOptions
from ailb_gen.checks.progress import CALLED, STEPS, WEIGHTS, RunProgress
from ailb_gen.checks.run import NEED_ROUTES, _models, examine, run
from ailb_gen.errors import UsageError
from ailb_gen.intent.load import Intent, load
from tests.checks.trees import GOLDEN, rendered, shown
from tests.checks.variants import VARIANTS
from tests.conftest import EXAMPLES, ROOT, SMALL, examples, need_shared
from tests.mutations.kind import BOTH
from tests.mutations.score import YANG
from tests.mutations.tree import Changes, Entry, Folder, Link, copy_with, read_tree

# Waivers are judged afterwards, by the report, and Batfish's checks by a service.
ALL = frozenset(BY_ID) - {name for name, check in BY_ID.items() if check.run is None}
TINY = SMALL.replace("rails: 2", "rails: 1").replace("servers: 2", "servers: 1")
LONG = b"x" * 2_000_000


@cache
def lab() -> Intent:
    return load(EXAMPLES / "lab" / "fabric.yaml")


def validated(intent: Intent, root: Path, checks: frozenset[str] = ALL) -> Run:
    return run(intent, root, RunOptions(checks, executor="serial"))


def found_in(done: Run) -> list[Finding]:
    return [finding for result in done.results for finding in result.findings]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Intent, Path]:
    """A fabric with one of everything, and two of what needs two."""
    return rendered(TINY, tmp_path_factory.mktemp("tiny"))


# Only brownfield has statements of its own, IPv6 loopbacks and management addresses, only mixed spare ports; no example
# has filters.
EXAMINED = {"brownfield": {"AILB010", "AILB110"}, "mixed": {"AILB113"}}
NOTHING_TO_EXAMINE = {"AILB010", "AILB110", "AILB113", "AILB212"}


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "mixed", "brownfield", "static"])
def test_shipped_trees_are_clean_and_every_check_examines_something(name: str) -> None:
    # The models that are shared are of a release without some statements of brownfield.
    yang = YANG if YANG.is_dir() and name in BOTH else None
    done = run(load(EXAMPLES / name / "fabric.yaml"), GOLDEN / name, RunOptions(ALL, yang, executor="serial"))
    assert not shown(done.results)
    assert {result.check.id for result in done.results} == ALL
    idle = {result.check.id for result in done.results if not result.examined and not result.skipped}
    assert idle == NOTHING_TO_EXAMINE - EXAMINED.get(name, set())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", VARIANTS)
def test_whatever_is_asked_the_rendered_tree_is_clean(name: str, tmp_path: Path) -> None:
    intent, root = rendered(VARIANTS[name], tmp_path)
    assert not shown(validated(intent, root).results)


def test_results_are_those_asked_for_in_order_with_roles_of_all_devices() -> None:
    chosen = frozenset({"AILB901", "AILB310", "AILB001", "AILB701"})
    done = validated(lab(), GOLDEN / "lab", chosen)
    assert [result.check.id for result in done.results] == sorted(chosen)
    assert done.fabric == "lab" and done.artifacts == str(GOLDEN / "lab")
    roles = [role for _, role in done.roles]
    assert {role: roles.count(role) for role in roles} == {"leaf": 4, "spine": 4, "server": 4}


def test_without_models_the_commit_check_is_skipped_with_the_reason() -> None:
    done = validated(lab(), GOLDEN / "lab", frozenset(name for name in ALL if name.startswith("AILB9")))
    assert done.results
    assert all("AILB_YANG" in result.skipped for result in done.results)


@pytest.mark.parametrize("checks", [ALL, frozenset({"AILB301"}), frozenset({"AILB501"})])
def test_a_progress_bar_gets_full(checks: frozenset[str]) -> None:
    steps: list[int] = []
    run(lab(), GOLDEN / "lab", RunOptions(checks, executor="serial"), steps.append)
    assert sum(steps) == STEPS
    assert min(steps) > 0


def test_every_long_step_is_named_and_advances_while_it_lasts() -> None:
    told: dict[str, list[int]] = {"": []}
    options = RunOptions(ALL, executor="serial")

    def advance(count: int) -> None:
        told[list(told)[-1]].append(count)

    examine(lab(), GOLDEN / "lab", options, advance, lambda name: told.update({name: []}))
    # Without models nothing is loaded: that step is over when reading begins.
    shares = {"" if name == "YANG models" else CALLED.get(name, name): share for name, share in WEIGHTS.items()}
    assert {name: sum(steps) for name, steps in told.items()} == shares
    # More than once: not only when the next step begins. These two go by chunks, and the lab is one.
    once = ("", CALLED["reading"], CALLED["failures"])
    assert all(len(steps) > 1 for name, steps in told.items() if name not in once), told


def test_models_that_are_parsed_for_the_first_time_advance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    models = tmp_path / "yang"
    models.mkdir()
    leaves = "".join(f"leaf a{n} {{ type string; }}" for n in range(9))
    groups = "list groups { key name; leaf name { type string; } }"
    module = f"module junos-conf-root {{ namespace urn:x; prefix x; container configuration {{ {leaves} {groups} }} }}"
    (models / "junos-conf-root@2024-01-01.yang").write_text(module)
    told: list[int] = []
    steps = RunProgress(told.append, lambda name: None)
    steps.begin("YANG models", 1)
    _models(models, steps)
    assert sum(told) == WEIGHTS["YANG models"]
    # They are kept: nothing is done again.
    _models(models, steps)
    assert sum(told) == WEIGHTS["YANG models"]


def test_a_step_never_goes_beyond_its_share_or_back() -> None:
    told: list[int] = []
    steps = RunProgress(told.append, lambda name: None)
    done = steps.begin("reading", 3)
    for _ in range(5):
        done(1)
    assert sum(told) == WEIGHTS["YANG models"] + WEIGHTS["reading"]
    steps.begin("failures", 0)(1)
    assert sum(told) == STEPS - WEIGHTS["failures"]
    steps.finish()
    assert sum(told) == STEPS and min(told) > 0


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_is_as_before(collecting: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        with pytest.raises(UsageError):
            validated(lab(), GOLDEN / "nowhere")
        assert gc.isenabled() == collecting
        validated(lab(), GOLDEN / "lab", frozenset({"AILB301"}))
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("place", ["nowhere", "manifest.json", "profiles"])
def test_a_place_without_artifacts_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="ailb-gen generate -o DIR"):
        validated(lab(), GOLDEN / "lab" / place)


def wrecks(path: str, entry: Entry) -> Iterator[tuple[str, Entry | None]]:
    """Everything that can become of a file, by name."""
    data = entry if isinstance(entry, bytes) else b""
    yield "removed", None
    yield "folder", Folder()
    yield "link to itself", Link(Path(path).name)
    yield "random", random.Random(path).randbytes(4000)
    yield "one long line", data + LONG
    if data:
        yield "empty", b""
        yield "half", data[: len(data) // 2]
        yield "zeros", data[:100] + bytes(100) + data[100:]
        yield "braces", b"{" * 100_000
    else:
        yield "file", b"a file where a link belongs\n"


@pytest.mark.long
def test_broken_files_end_in_findings(tiny: tuple[Intent, Path], tmp_path: Path) -> None:
    intent, root = tiny
    others = ("stripe2", "spine2", "server-002")
    for path, entry in read_tree(root).items():
        if any(name in path for name in others):
            continue
        for number, (name, wreck) in enumerate(wrecks(path, entry)):
            changes: Changes = {path: wreck}
            folder = tmp_path / str(number)
            copy_with(root, changes, folder)
            assert found_in(validated(intent, folder)), f"{path}: {name}"
            shutil.rmtree(folder)


def test_missing_folders_end_in_findings(tiny: tuple[Intent, Path], tmp_path: Path) -> None:
    intent, root = tiny
    for name in sorted(path.name for path in root.iterdir() if path.is_dir() and path.name != "switches"):
        for file in (False, True):
            folder = tmp_path / f"{name}{file}"
            shutil.copytree(root, folder, symlinks=True)
            shutil.rmtree(folder / name)
            if file:
                (folder / name).write_text("not a folder\n")
            assert found_in(validated(intent, folder)), name


def test_no_switch_is_left(tiny: tuple[Intent, Path], tmp_path: Path) -> None:
    intent, root = tiny
    shutil.copytree(root, tmp_path / "out", symlinks=True)
    for path in (tmp_path / "out" / "switches").iterdir():
        path.write_text("")
    assert {finding.check for finding in found_in(validated(intent, tmp_path / "out"))} >= {"AILB201", "AILB402"}
    shutil.rmtree(tmp_path / "out" / "switches")
    (tmp_path / "out" / "switches").mkdir()
    assert {finding.check for finding in found_in(validated(intent, tmp_path / "out"))} >= {"AILB001", "AILB402"}


def test_files_of_another_fabric_end_in_findings(tiny: tuple[Intent, Path]) -> None:
    assert found_in(validated(tiny[0], GOLDEN / "brownfield"))
    assert found_in(validated(lab(), tiny[1]))


SHUFFLED = st.sampled_from(["delete", "swap", "double", "cut", "move"])
FILES = st.sampled_from(
    ["switches/stripe1-leaf1.conf", "switches/spine2.conf", "cabling.csv", "topology.json", "manifest.json"]
)


@pytest.mark.long
@settings(max_examples=examples(60))
@given(FILES, st.lists(st.tuples(SHUFFLED, st.integers(0, 10_000), st.integers(0, 10_000)), min_size=1, max_size=6))
def test_lines_in_any_order_end_in_a_run(
    tiny: tuple[Intent, Path],
    tmp_path_factory: pytest.TempPathFactory,
    file: str,
    edits: list[tuple[str, int, int]],
) -> None:
    intent, root = tiny
    text = (root / file).read_text().splitlines(keepends=True)
    for how, first, second in edits:
        one, other = first % len(text), second % len(text)
        if how == "delete" and len(text) > 1:
            del text[one]
        elif how == "swap":
            text[one], text[other] = text[other], text[one]
        elif how == "double":
            text.insert(other, text[one])
        elif how == "cut":
            text[one] = text[one][: len(text[one]) // 2]
        else:
            text.insert(other, text.pop(one))
    folder = tmp_path_factory.mktemp("shuffled") / "out"
    copy_with(root, {file: "".join(text).encode()}, folder)
    done = validated(intent, folder)
    assert {result.check.id for result in done.results} == ALL
    shutil.rmtree(folder)


def test_broken_files_end_in_findings_with_the_commit_check(tmp_path: Path) -> None:
    yang = need_shared("yang/24.4R1-EVO")
    for number, wreck in enumerate((b"", b"{" * 100_000, b"interfaces;\nprotocols bgp;\n", LONG, b'"' * 5000)):
        folder = tmp_path / str(number)
        copy_with(GOLDEN / "lab", {"switches/stripe1-leaf1.conf": wreck}, folder)
        done = run(lab(), folder, RunOptions(ALL, yang, executor="serial"))
        assert found_in(done)
        assert not [result for result in done.results if result.skipped and result.check.id.startswith("AILB9")]


def calls(folder: Path, stripes: int) -> Counter[str]:
    """Count the calls that every function makes in a run without routes, with so many stripes and static neighbors."""
    folder.mkdir()
    text = TINY.replace("stripes: 2", f"stripes: {stripes}") + "bgp: {neighbors: static}\n"
    intent, root = rendered(text, folder)
    without_routes = frozenset(name for name in ALL if BY_ID[name].family not in NEED_ROUTES)
    made = Counter[str]()

    def counted(frame: FrameType, event: str, _argument: object) -> None:
        caller = frame.f_back if event == "call" else frame
        if caller is not None and "call" in event:
            made[f"{caller.f_code.co_filename}:{caller.f_code.co_name}"] += 1

    sys.setprofile(counted)
    try:
        validated(intent, root, without_routes)
    finally:
        sys.setprofile(None)
    return made


def test_the_work_on_files_and_sessions_grows_with_the_switches_and_no_faster(tmp_path: Path) -> None:
    """What walks the whole network for every switch, or for every group, makes sixteen times as many calls."""
    calls(tmp_path / "first", 2)  # what is compiled and remembered once
    few, many = calls(tmp_path / "few", 5), calls(tmp_path / "many", 20)
    ours = {name: count for name, count in many.items() if str(ROOT / "ailb_gen") in name}
    assert len(ours) > 100
    assert {name: (few[name], count) for name, count in ours.items() if count > 4.5 * few[name] + 100} == {}
