"""Secrets that show by their form, in any text: hashes, passwords and tokens in URLs, keys in PEM, XML elements."""

import re

from ailb_gen.redact.names import MARK, NAME

# crypt(3) and Junos: $1$ MD5, $5$ and $6$ SHA-2, $8$ with the master password, $9$ reversible; of htpasswd.
HASH = re.compile(r"\$(?:[0-9][a-z]?|sha1|y|gy|apr1|argon2[a-z]{1,2}|scrypt|pbkdf2(?:-sha\d{1,3})?)\$[^\s\";<>\]}]+")
# PostgreSQL's verifiers.
SCRAM = re.compile(r"\bSCRAM-SHA-\d{1,3}(?:-PLUS)?\$[^\s\"';,]++")
GRUB = re.compile(r"(?<=grub\.pbkdf2\.)[\w.]++")
# Tokens that show what they are: of GitHub, GitLab, Hugging Face, OpenAI, Anthropic, Vault, Slack; RFC 7519.
TOKENS = ("gh", "glpat-", "hf_", "sk-", "hvs.", "xox", "eyJ")
TOKEN = re.compile(
    r"(?<![\w-])(?:gh[opsur]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+|glpat-[\w-]{16,}+|hf_[A-Za-z0-9]{20,}+"
    r"|sk-(?:(?:ant|proj|svcacct)-[\w-]{20,}+|[A-Za-z0-9]{20,}+)|hvs\.[\w-]{20,}+|xox[a-z]-[\w-]{10,}+"
    r"|eyJ[\w-]{10,}+\.[\w-]{10,}+(?:\.[\w-]*+)?)"
)
XML = re.compile(rf"<((?:\w+:)?(?:{NAME}|key|auth_key))((?:\s[^<>]*)?)>(\s*+(?:<!\[CDATA\[)?[^<]++)<", re.IGNORECASE)
# XML as a text in XML.
ESCAPED_XML = re.compile(rf"(&lt;(?:\w+:)?(?:{NAME}|key|auth_key)(?:\s[^<>&]*)?&gt;)[^<&]+", re.IGNORECASE)
# A name and its value: as two elements, and as two attributes.
PAIR = re.compile(rf"(<(?:name|key|id)>\s*+(?:{NAME})\s*+</(?:name|key|id)>\s*+<value>)([^<]++)", re.IGNORECASE)
PAIR_ATTRIBUTES = re.compile(
    rf"""(\b(?:name|key|id)\s*+=\s*+["'](?:{NAME})["']\s*+value\s*+=\s*+["'])[^"'<>]++""", re.IGNORECASE
)
# In XML the name of an SNMP community is an element of its own.
SNMP_XML = re.compile(r"(<(?:community|trap-group)(?:\s[^<>]*)?>\s*<name>)[^<]+")
# The password in a URL (RFC 3986, section 3.2.1), up to the last @: in quotes, and as a bare word. Of a word all that
# follows its first `://` is taken at once: what is looked at twice takes longer than the text is long.
QUOTED_URL = re.compile(r"""("[A-Za-z][A-Za-z0-9+.-]*+://[^\s/:@"]*+:)[^"\n]+@""")
BARE_URL = re.compile(r"""(?<=://)[^\s"'<>;]++""")
USER = re.compile(r"(?:^|(?<=://))[^/:@]*+:")
# A parameter of a URL or a form (`?token=`, `&X-Amz-Signature=`).
PARAMETER = re.compile(
    r"([?&](?:amp;)?[\w.-]{0,64}(?:passw|secret|token|key|sig|auth|credential|code)[\w.-]{0,64}=)[^&\s\"'<>;#]+",
    re.IGNORECASE,
)
# RFC 7468, and what OpenSSH writes; what a cut has left of one goes to the end.
PEM = re.compile(r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)(.*?)(?=-----END |\Z)", re.DOTALL)
# A line of such a key alone: base64, and no number in hexadecimal.
BASE64 = re.compile(r"^([ \t+<>-]*+)(?![0-9a-f]+$)[A-Za-z0-9+/]{60,}={0,2}$", re.MULTILINE)
LINE = re.compile(r"[^\n]+")


def mask_forms(text: str) -> str:
    """Return text with everything replaced that its form gives away; lines stay lines."""
    if "://" in text:
        text = BARE_URL.sub(_url, QUOTED_URL.sub(rf"\1{MARK}@", text))
    if "=" in text:
        text = PARAMETER.sub(rf"\1{MARK}", text)
        text = PAIR_ATTRIBUTES.sub(rf"\1{MARK}", text) if "value" in text else text
    if "</" in text:
        text = XML.sub(lambda found: f"<{found[1]}{found[2]}>{_lines(found[3])}<", text)
        if "<value>" in text:
            text = PAIR.sub(lambda found: f"{found[1]}{_lines(found[2])}", text)
        if "<snmp" in text:
            text = SNMP_XML.sub(rf"\1{MARK}", text)
    if "&lt;/" in text:
        text = ESCAPED_XML.sub(lambda found: f"{found[1]}{_lines(found[0].removeprefix(found[1]))}", text)
    if "PRIVATE KEY" in text:
        text = PEM.sub(lambda found: f"{found[1]}{_lines(found[2])}", text)
    if len(text) >= 60:
        text = BASE64.sub(rf"\1{MARK}", text)
    if "SCRAM-" in text:
        text = SCRAM.sub(MARK, text)
    if "grub." in text:
        text = GRUB.sub(MARK, text)
    if any(start in text for start in TOKENS):
        text = TOKEN.sub(MARK, text)
    return HASH.sub(MARK, text) if "$" in text else text


def _url(found: re.Match[str]) -> str:
    """Return what follows the `://` of a URL, without its password."""
    rest = found[0]
    user, last = USER.search(rest), rest.rfind("@")
    return f"{rest[: user.end()]}{MARK}{rest[last:]}" if user and user.end() < last else rest


def _lines(text: str) -> str:
    """Return as many lines with nothing to read in them."""
    return LINE.sub(MARK, text)
