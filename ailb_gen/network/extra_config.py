"""Check `extra_config` before it is written: find statements that `validate` will not accept."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.errors import Problem, UsageError
from ailb_gen.intent.load import Intent
from ailb_gen.yamlio import Path

KEY = "extra_config"
# Where it may stand: for all, or in an entry of one of these.
LEVELS: tuple[Path, ...] = (
    ("stripes",),
    ("spines",),
    ("overrides", "stripes"),
    ("overrides", "leaves"),
    ("overrides", "spines"),
)
HINT = "validate reports it (AILB209): remove it, or accept it with a waiver"


def warnings(intent: Intent) -> list[Problem]:
    """Return a warning for every statement of `extra_config` that is neither read nor known to be harmless."""
    texts = list(_texts(intent))
    if not texts:
        return []
    from ailb_gen.junos.interface_ranges import effective  # noqa: PLC0415 - slow to import, and seldom needed
    from ailb_gen.junos.reader import read  # noqa: PLC0415
    from ailb_gen.network.statements import consequence  # noqa: PLC0415
    from ailb_gen.network.supported_statements import judged  # noqa: PLC0415
    from ailb_gen.redact.text import redact  # noqa: PLC0415

    found = []
    for path, text in texts:
        try:
            tree = effective(read(text, KEY))
        except UsageError:
            # Groups in a circle: validate names them where the file has them.
            continue
        for entry in judged(tree).unmodeled:
            reason = f"{redact(entry.whole)} is not modeled: {consequence(entry.whole)}"
            found.append(intent.problem("not-modelled", path, reason, HINT, "warning"))
    return found


def _texts(intent: Intent) -> Iterator[tuple[Path, str]]:
    """Yield every text with its path in the document; an entry is one of a list or of a mapping."""
    data = intent.source.data
    if data.get(KEY):
        yield (KEY,), data[KEY]
    for level in LEVELS:
        entries = data
        for word in level:
            entries = entries.get(word) if isinstance(entries, dict) else None
        named = dict(enumerate(entries)) if isinstance(entries, list) else entries
        for name, entry in named.items() if isinstance(named, dict) else ():
            if isinstance(entry, dict) and entry.get(KEY):
                yield (*level, name, KEY), entry[KEY]
