"""Golden trees that are kept in part: one device of every role, and the manifest with the digest of every file.

Nobody reviews 16 leaves that differ in numbers, or copies of the program `ailb-host`. What is not kept is rendered when
tests begin, and ignored by Git. A byte of it that changes is another digest in the manifest, which is kept:
`tests/render/test_golden.py` compares it.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from ailb_gen.design.build import build
from ailb_gen.intent.load import load
from ailb_gen.layout import HOST_PROGRAM
from ailb_gen.manifest import found_entry
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"
PARTIAL = ("lab", "brownfield", "jvd", "jvd-8-uplinks", "mixed", "static")
KEPT = ("manifest.json", "switches/spine1.conf", "switches/stripe1-leaf1.conf")
# What begins so is kept, besides; of the small trees everything.
KEPT_OF = {
    "lab": ("",),
    "brownfield": ("",),
    "jvd": ("cabling.csv", "topology.json", "profiles/stripe1/"),
    "mixed": ("cabling.csv", "profiles/stripe1-storage/"),
}


def is_kept(name: str, path: str) -> bool:
    """Return whether a file of a tree is in the repository; the others are in `.gitignore`."""
    program = path.endswith(HOST_PROGRAM)
    return not program and (path in KEPT or path.startswith(KEPT_OF.get(name, ("/",))))


def complete() -> None:
    """Render the rest of the trees of which a part is kept, unless it is there with the digests of the manifest."""
    for name in PARTIAL:
        entries = json.loads((GOLDEN / name / "manifest.json").read_text("utf-8"))["files"]
        if any(found_entry(GOLDEN / name / path) != entry for path, entry in entries.items()):
            (ROOT / "build").mkdir(exist_ok=True)
            with TemporaryDirectory(dir=ROOT / "build") as folder:
                _render(name, Path(folder) / "out")


def _render(name: str, fresh: Path) -> None:
    """Replace what is not kept of a tree, file by file: another run of the tests may read it."""
    design, _ = build(load(ROOT / "examples" / name / "fabric.yaml"))
    write_rendering(rendering(design, fresh, RenderOptions()))
    root, paths = GOLDEN / name, _files(fresh)
    for path in _files(root) - paths:
        (root / path).unlink()
    for path in sorted(paths):
        if not is_kept(name, path):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (fresh / path).replace(root / path)


def _files(root: Path) -> set[str]:
    found = (path for path in root.rglob("*") if path.is_symlink() or path.is_file())
    return {path.relative_to(root).as_posix() for path in found}
