"""The wheel holds everything the program needs, and runs without the checkout; the sdist what README names."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder

from ailb_gen.shipped import shipped_examples
from tests.conftest import EXAMPLES, ROOT
from tests.render.test_golden import GOLDEN, snapshot


@pytest.mark.long
def test_the_wheel_generates_the_reference_fabric(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert "ailb_gen/templates/junos/leaf.conf.j2" in names
    assert "ailb_gen/templates/host/ailb-net.sh.j2" in names
    assert "ailb_gen/intent/platform_data/generic.yaml" in names
    assert "ailb_gen/py.typed" in names
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    words = ["generate", str(EXAMPLES / "jvd" / "fabric.yaml"), "-o", "out"]
    home = str(tmp_path / "site")
    code = f"import ailb_gen; assert ailb_gen.__file__.startswith({home!r}); from ailb_gen.cli import main; main()"
    subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, env=env, check=True, capture_output=True)
    assert snapshot(tmp_path / "out") == snapshot(GOLDEN / "jvd")
    # The examples come from the wheel.
    for name in shipped_examples():
        words = ["init", "--example", name]
        subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, env=env, check=True, capture_output=True)
    words = ["generate", "jvd/fabric.yaml", "-o", "copied"]
    subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, env=env, check=True, capture_output=True)
    copied, golden = snapshot(tmp_path / "copied"), snapshot(GOLDEN / "jvd")
    # The digests of the manifest are of other bytes of fabric.yaml.
    assert {name for name in golden if copied[name] != golden[name]} == {"manifest.json"}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "Makefile"])
def test_the_sdist_holds_what_is_named(page: str) -> None:
    """That is every file and folder of the repository that a link or a command of the page names."""
    text = (ROOT / page).read_text(encoding="utf-8")
    words = {word.strip(".,:;").split("#")[0].rstrip("/") for word in re.split(r"[\s`'\"()\[\]<>$=]+", text)}
    named = {
        word for word in words if word and not word.startswith(("/", "build", "dist", ".")) and (ROOT / word).exists()
    }
    assert len(named) > 5
    held = {file.distribution_path for file in SdistBuilder(str(ROOT)).recurse_included_files()} | {"pyproject.toml"}
    folders = {str(folder) for path in held for folder in Path(path).parents}
    assert sorted(named - held - folders) == []
    assert {page, "Makefile", "LICENSE"} <= held
