"""Secrets that show by their form, in any text: hashes, passwords and tokens in URLs, keys in PEM, XML elements."""

import re

from ailb_gen.redact import MARK, NAME

# crypt(3) and Junos: $1$ MD5, $5$ and $6$ SHA-2, $8$ with the master password, $9$ reversible; of htpasswd.
HASH = re.compile(r"\$(?:[0-9][a-z]?|sha1|y|gy|apr1|argon2[a-z]{1,2}|scrypt|pbkdf2(?:-sha\d{1,3})?)\$[^\s\";<>\]}]+")
# PostgreSQL's verifiers.
SCRAM = re.compile(r"\bSCRAM-SHA-\d{1,3}(?:-PLUS)?\$[^\s\"';,]++")
GRUB = re.compile(r"(?<=grub\.pbkdf2\.)[\w.]++")
# Tokens of a known form: of GitHub, GitLab, Hugging Face, OpenAI, Anthropic, Vault, Slack; RFC 7519; of NVIDIA,
# Docker, npm, PyPI, Grafana, Google, Tailscale, SendGrid, Stripe, age; LDAP's hashes.
TOKENS = (
    *("ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "glrt-", "gldt-", "glcbt-", "glsa_", "glc_"),
    *("hf_", "sk-", "hvs.", "hvb.", "xox", "eyJ", "nvapi-", "dckr_", "npm_", "pypi-", "AIza", "tskey-"),
    *("SG.", "k_live_", "AGE-SECRET-KEY-", "{SHA", "{SSHA", "{SMD5", "{MD5", "{CRYPT"),
)
TOKEN = re.compile(
    r"(?<![\w-])(?:gh[opsur]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+|gl(?:pat|rt|dt|cbt)-[\w-]{16,}+"
    r"|hf_[A-Za-z0-9]{20,}+|sk-(?:(?:ant|proj|svcacct)-[\w-]{20,}+|[A-Za-z0-9]{20,}+)|hv[sb]\.[\w-]{20,}+"
    r"|xox[a-z]-[\w-]{10,}+|eyJ[\w-]{10,}+\.[\w-]{10,}+(?:\.[\w-]*+)?|nvapi-[\w-]{20,}+|dckr_[a-z]{3}_[\w-]{20,}+"
    r"|npm_[A-Za-z0-9]{30,}+|pypi-[\w-]{30,}+|gl(?:sa|c)_[\w=]{20,}+|AIza[\w-]{30,}+|tskey-[\w-]{16,}+"
    r"|SG\.[\w-]{16,}+\.[\w-]{16,}+|[rs]k_live_\w{16,}+|AGE-SECRET-KEY-1[A-Z0-9]{40,}+)"
    r"|(?<=\{)(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT)\}[^\s\"',;]{4,}+"
)
# Elements that hold a secret; OpenVPN has its keys in such, too.
ELEMENT = (
    rf"(?:\w+:)?(?:{NAME}|\w{{0,64}}(?:password|passphrase|secret|token)|key|auth_key|pin|otp"
    r"|tls-auth|tls-crypt(?:-v2)?|(?:auth|http-proxy)-user-pass|pkcs12)"
)
XML = re.compile(rf"<({ELEMENT})((?:\s[^<>]*)?)>(\s*+(?:<!\[CDATA\[)?[^<]++)<", re.IGNORECASE)
# XML as a text in XML.
ESCAPED_XML = re.compile(rf"(&lt;{ELEMENT}(?:\s[^<>&]*)?&gt;)[^<&]+", re.IGNORECASE)
# A name and its value: as two elements, and as two attributes.
PAIR = re.compile(rf"(<(?:name|key|id)>\s*+(?:{NAME})\s*+</(?:name|key|id)>\s*+<value>)([^<]++)", re.IGNORECASE)
OTHERS = r"""(?:\s++[\w:.-]{1,64}+\s*+=\s*+["'][^"'<>]{0,200}+["']){0,4}?"""
PAIR_ATTRIBUTES = re.compile(
    rf"""(\b(?:name|key|id)\s*+=\s*+["'](?:{NAME})["']{OTHERS}\s++value\s*+=\s*+["'])[^"'<>]++""", re.IGNORECASE
)
PAIR_REVERSED = re.compile(
    rf"""(\bvalue\s*+=\s*+["'])[^"'<>]{{1,2000}}+(?=["']{OTHERS}\s++(?:name|key|id)\s*+=\s*+["'](?:{NAME})["'])""",
    re.IGNORECASE,
)
PARAMETER_ELEMENT = re.compile(
    rf"""(<\w{{1,64}}{OTHERS}\s++(?:name|key|id)\s*+=\s*+["'](?:{NAME})["']{OTHERS}\s*+>)[^<]++""", re.IGNORECASE
)
# In XML the name of an SNMP community is an element of its own; in a path of XPath it is a key.
SNMP_PATH = re.compile(r"(\bsnmp/(?:\w+:)?(?:community|trap-group)\[(?:\w+:)?name\s*=\s*[\"'])[^\"'\n]+")
SNMP_XML = re.compile(r"(<(?:community|trap-group)(?:\s[^<>]*)?>\s*<name>)[^<]+")
# The password in a URL (RFC 3986, section 3.2.1), up to the last @: in quotes, and as a bare word. Of a word all that
# follows its first `://` is taken at once: what is looked at twice takes longer than the text is long.
QUOTED_URL = re.compile(r"""("[A-Za-z][A-Za-z0-9+.-]*+://[^\s/:@"]*+:)[^"\n]+@""")
BARE_URL = re.compile(r"""(?<=://)[^\s"'<>;]++""")
USER = re.compile(r"(?:^|(?<=://))[^/:@]*+:")
# The same without a scheme, as proxies are named; an image with its digest is none.
LOGIN = re.compile(r"(?<![\w/:@.-])([A-Za-z][\w.-]{0,63}:)(?=[^\s:/@]{0,255}\d)[^\s:/@\"'<>]{5,256}@(?=\w)(?!sha\d)")
# A token instead of the user.
TOKEN_USER = re.compile(r"(\bhttps?://)[\w-]{16,}+(?=@)", re.IGNORECASE)
# Addresses to post to, which whoever knows them may use.
HOOK = re.compile(
    r"(\bhooks\.slack\.com/(?:services|workflows)/|\bdiscord(?:app)?\.com/api/webhooks/\d{1,32}/"
    r"|\bapi\.telegram\.org/bot|\bwebhook\.office\.com/webhookb2/|\boutlook\.office\.com/webhook/)[^\s\"'<>]+",
    re.IGNORECASE,
)
# A parameter of a URL or a form (`?token=`, `&X-Amz-Signature=`).
PARAMETER = re.compile(
    r"([?&](?:amp;)?[\w.-]{0,64}(?:passw|secret|token|key|sig|auth|credential|code)[\w.-]{0,64}=)[^&\s\"'<>;#]+",
    re.IGNORECASE,
)
# RFC 7468 and OpenSSH's form; the rest of one that was cut goes to the end.
PEM = re.compile(
    r"(-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN [\w -]{1,40}?key(?: V\d)?)-----)"
    r"(.*?)(?=-----END |\Z)",
    re.DOTALL,
)
# A line of such a key alone: base64, and no number in hexadecimal.
BASE64 = re.compile(r"^([ \t+<>-]*+)(?![0-9a-f]+$)(?![/+]+$)[A-Za-z0-9+/]{60,}={0,2}$", re.MULTILINE)
LINE = re.compile(r"[^\n]+")


def mask_forms(text: str) -> str:
    """Return text with everything replaced that its form gives away; lines stay lines."""
    text = _elements(_addresses(text))
    if "PRIVATE KEY" in text or "OpenVPN" in text:
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


def _addresses(text: str) -> str:
    """Return text without the passwords and tokens in URLs and the like."""
    if "://" in text:
        text = BARE_URL.sub(_url, QUOTED_URL.sub(rf"\1{MARK}@", text))
        text = HOOK.sub(rf"\1{MARK}", TOKEN_USER.sub(rf"\1{MARK}", text))
    if "@" in text:
        text = LOGIN.sub(rf"\1{MARK}@", text)
    return PARAMETER.sub(rf"\1{MARK}", text) if "=" in text else text


def _elements(text: str) -> str:
    """Return text without the secrets in its elements, their attributes, and paths to them."""
    if "snmp/" in text:
        text = SNMP_PATH.sub(rf"\1{MARK}", text)
    if "=" in text and "value" in text:
        text = PAIR_REVERSED.sub(rf"\1{MARK}", PAIR_ATTRIBUTES.sub(rf"\1{MARK}", text))
    if "</" in text:
        text = XML.sub(lambda found: f"<{found[1]}{found[2]}>{_lines(found[3])}<", text)
        text = PARAMETER_ELEMENT.sub(lambda found: f"{found[1]}{_lines(found[0].removeprefix(found[1]))}", text)
        if "<value>" in text:
            text = PAIR.sub(lambda found: f"{found[1]}{_lines(found[2])}", text)
        if "<snmp" in text:
            text = SNMP_XML.sub(rf"\1{MARK}", text)
    if "&lt;/" in text:
        text = ESCAPED_XML.sub(lambda found: f"{found[1]}{_lines(found[0].removeprefix(found[1]))}", text)
    return text


def _url(found: re.Match[str]) -> str:
    """Return a URL behind its `://`, without its password."""
    rest = found[0]
    user, last = USER.search(rest), rest.rfind("@")
    return f"{rest[: user.end()]}{MARK}{rest[last:]}" if user and user.end() < last else rest


def _lines(text: str) -> str:
    """Return as many lines with nothing to read in them."""
    return LINE.sub(MARK, text)
