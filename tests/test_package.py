"""The wheel holds everything the program needs, and runs without the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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
