"""Print the differences from real replies that no line of the table covers: `python -m tests.emulator.replies`."""

import sys

from tests.emulator.replies.compare import differences, subjects
from tests.emulator.replies.table import judged, known


def main() -> None:
    present = {f"{folder} {form}": differences(folder, form) for folder, form in subjects()}
    unknown, stale = judged(present, known())
    sys.stdout.writelines(f"{row}\n" for row in [*unknown, *(f"no longer there: {row}" for row in stale)])


main()
