"""Limits of a user's templates: whatever they compute ends soon, with one line that says where and why."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from ailb_gen.api.generate import render_pool
from ailb_gen.errors import TemplateError
from ailb_gen.render import budget
from ailb_gen.render.artifacts import RenderOptions, Tree, render
from tests.conftest import ROOT, SMALL, design_of
from tests.render.test_environment import user_template

PIECE = "junos/_lldp.j2"
MEMORY = "this needs more than 512 MiB of memory; reduce what the template computes and writes"
DEEP = r"a macro, an include or an expression is nested too deeply \(recursion\)"


def rendered(options: RenderOptions) -> Tree:
    design = design_of(SMALL)
    with render_pool(design, options, 1) as executor:
        return render(design, options, executor=executor)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x\n{{ 'a' * 9999999999 }}", 2, MEMORY),
        ("{{ '%9999999999d' % 1 }}", 1, MEMORY),
        ("{{ '{:999999999}'.format(1) }}", 1, MEMORY),
        ("\n{{ ('a' * 300000000) + 'b' }}", 2, MEMORY),
        ("{% for i in range(10**12) %}{% endfor %}", 1, "a range of more than 100,000 numbers; reduce"),
        ("\n{{ 10**5000 }}", 2, "a number of more than 4,300 digits"),
        ("{% macro a(n) %}\n{{ a(n + 1) }}{% endmacro %}{{ a(1) }}", 2, DEEP),
        (f"\n{{{{ {'(' * 3000}1{')' * 3000} }}}}", 2, DEEP),
        (
            "\n{% for i in range(99999) %}\n{{ 'a' * 1000 }}\n{% endfor %}",
            "[23]",
            "the file becomes larger than 16 MiB",
        ),
        ("{{ design['a' * 99999999] }}", 1, "'ailb_gen.design.model.Design object' has no attribute 'a+"),
    ],
)
def test_what_takes_too_much_is_one_line(tmp_path: Path, text: str, line: int | str, reason: str) -> None:
    with pytest.raises(TemplateError, match=rf"/_lldp\.j2:{line}: {reason}") as caught:
        rendered(user_template(tmp_path, PIECE, text))
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    assert message.endswith("(while rendering stripe1-leaf1)")


def test_a_constant_that_is_too_large_names_its_template(tmp_path: Path) -> None:
    # Smaller, it fails where it is rendered, and has a line; larger, writing its numbers down takes seconds.
    with pytest.raises(TemplateError, match=rf"/_lldp\.j2: {MEMORY}"):
        rendered(user_template(tmp_path, PIECE, "{{ ([0] * 999999) * 99999 }}"))


def test_all_files_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "TREE_BYTES", 1000)
    with pytest.raises(TemplateError, match=f"{tmp_path}: all files become larger than 0 MiB"):
        rendered(user_template(tmp_path, PIECE, ""))


def test_all_devices_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "CPU_S", -1.2)
    with pytest.raises(TemplateError, match="all devices take more than"):
        rendered(user_template(tmp_path, PIECE, ""))


def test_within_the_limits_the_same_is_rendered(tmp_path: Path) -> None:
    text = (ROOT / "templates" / PIECE).read_text()
    assert rendered(user_template(tmp_path, PIECE, text)) == render(design_of(SMALL), RenderOptions())


SHORT = """
import sys
from pathlib import Path
from ailb_gen.junos import tokens
from ailb_gen.render import artifacts, budget
from tests.conftest import SMALL, design_of
# What comes before the template takes a tenth of a second, on a busy machine more than one.
budget.CPU_S, budget.GRACE_S = 3, int(sys.argv[2])
tokens.MAX_TEXT = tokens.MAX_WORDS = 1 << 30
design = design_of(SMALL)
artifacts.start_worker(design, artifacts.RenderOptions(templates=Path(sys.argv[1])))
try:
    artifacts._work([0])
except artifacts.TemplateError as error:
    print(error)
"""


def limited(folder: Path, grace_s: int = 9) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", SHORT, str(folder), str(grace_s)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "text",
    [
        "\n{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "\n{{ (3**9000000 * 7**9000000) % 11 }}",
    ],
)
def test_time_is_over(tmp_path: Path, text: str) -> None:
    user_template(tmp_path, PIECE, text)
    found = limited(tmp_path).stdout
    assert (
        "/_lldp.j2:2: this needs more than 3 s of processor time; reduce what the template computes and writes" in found
    )


def test_reading_what_is_written_has_a_limit(tmp_path: Path) -> None:
    text = "{% for n in 'abc' %}{% for i in range(99999) %}\n{{ n }}{{ i }} { b;\n}{% endfor %}{% endfor %}"
    user_template(tmp_path, PIECE, text)
    found = limited(tmp_path).stdout
    assert "stripe1-leaf1: parsing the output of the templates: this needs more than 3 s of processor time" in found


def test_the_kernel_ends_what_does_not_come_back(tmp_path: Path) -> None:
    lists = "{% set a = [1] * 99999 %}{% set b = [1] * 99999 %}"
    user_template(tmp_path, PIECE, lists + "{{ [a] * 999999 == [b] * 999999 }}")
    assert limited(tmp_path, grace_s=1).returncode < 0


def test_a_worker_that_was_ended_is_the_templates_fault(tmp_path: Path) -> None:
    options = user_template(tmp_path, PIECE, "")
    with (
        pytest.raises(TemplateError, match=f"{tmp_path}: a template takes more than"),
        render_pool(design_of(SMALL), options, 1) as executor,
    ):
        assert executor is not None
        executor.submit(_die).result()


def test_the_device_of_a_worker_that_was_ended_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadPoolExecutor, "map", _broken)
    with pytest.raises(TemplateError, match=r"the first device without files is stripe1-leaf1\)$"):
        render(design_of(SMALL), user_template(tmp_path, PIECE, ""), executor=ThreadPoolExecutor(1))


def _broken(executor: object, work: object, chunks: object) -> Iterator[object]:
    yield from ()
    raise BrokenProcessPool


def _die() -> None:
    os.kill(os.getpid(), 9)
