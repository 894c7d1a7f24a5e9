"""What the emulator answers has the structure of what real devices answered, or the difference is known.

The real replies are in the shared test data. Values are never compared.
"""

import re

import pytest

from tests.conftest import ROOT, need_shared
from tests.emulator.replies.compare import differences, subjects
from tests.emulator.replies.ours import never_judged
from tests.emulator.replies.table import judged, known

SUBJECTS = subjects()


@pytest.mark.parametrize(("folder", "form"), SUBJECTS, ids=[f"{folder}-{form}" for folder, form in SUBJECTS])
def test_structure(folder: str, form: str) -> None:
    """A new sample is compared by itself; a line of the table that no longer differs is to be taken out."""
    front = f"{folder} {form} "
    unknown, stale = judged(
        {front.strip(): differences(folder, form)}, [row for row in known() if row.pattern.startswith(front)]
    )
    assert (unknown, stale) == ([], [])


def test_the_table_names_what_is_compared() -> None:
    need_shared("junos-replies/INDEX.csv")
    fronts = {f"{folder} {form}" for folder, form in SUBJECTS}
    assert [row.pattern for row in known() if " ".join(row.pattern.split(" ")[:2]) not in fronts] == []
    assert all(row.reason for row in known())


def test_the_documentation_lists_what_is_not_judged() -> None:
    need_shared("junos-replies/INDEX.csv")
    page = (ROOT / "docs/emulator.md").read_text(encoding="utf-8")
    listed = page.partition("Not judged")[2].partition("\n## ")[0]
    assert set(re.findall(r"^- `(.+)`$", listed, re.MULTILINE)) == never_judged({folder for folder, _ in SUBJECTS})
