"""The one redaction: of messages, records, reports, differences and files."""

from ailb_gen.redact.forms import mask_forms
from ailb_gen.redact.lines import mask_lines
from ailb_gen.redact.statements import mask_statements


def redact(text: str) -> str:
    """Return text with every secret replaced, whatever it is; names and everything else stay, lines stay lines.

    Configurations as curly, set or patch text, unified diffs, XML; files of servers; messages. The text may be a part,
    or cut off. Too much is hidden rather than too little.
    """
    return mask_lines(mask_forms(mask_statements(text)))
