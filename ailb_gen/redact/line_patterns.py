"""Patterns of the text in front of a secret in a line: keys with a sign, options, commands, messages."""

import re

from ailb_gen.redact import FILE, NAME

# In the name of a key, or the whole name: netplan's `password`, WireGuard's `PrivateKey`, networkd's `InputKey`, `psk`
# and `wep_key0` of wpa_supplicant, variables such as BMC_PASSWORD. `rocommunity` is of snmpd.conf.
KEYS = (
    "access|account|aes|api|auth(?:entication)?|cert(?:ificate)?|crypto|deploy|encryption|hmac|input|integration|master"
    "|output|pre[-_]?shared|principal|privacy|private|recovery|routing|security|service|session|shared|signing|ssl|tls|wep"
)
# Not language models' `max_tokens` and `tokenizer`, sudo's `passwd_tries`, `passwd: files` of nsswitch.conf.
PARTS = (
    rf"passw(?:or)?d(?!_tries|:\s+(?:files|compat|db|sss)\b)|passphrase|secret(?!ary)|(?<!max[-_])token(?!iz)|psk|(?:{KEYS})[-_]?key|credential"
    r"|authorization|authtok|jwt|client-key-data|privkey|[a-z0-9]_private\b|_creds\b|shared[-_]?access[-_]?signature"
    r"|(?<![A-Za-z0-9])(?:cak|pmk)"
)
WHOLE = r"(?<![\w-])(?:key|private)"
# Where a secret is: networkd's `PrivateKeyFile`, with a path.
PATH = r"""(?:(?:[-_.]?(?:file|path|dir)(?:name)?)["']?\s*[:=]\s*["']?(?:[/~%.]|\$\{?\w{1,32}\}?/))"""
# Numbers that are requested by name or sent to somebody, to log in.
CODE = r"(?:2fa|access|activation|mfa|one-time|security|verification)[ _-]code"
CODES = rf"pin(?:[-_]?code)?|puk|t?otp|passcode|pass|{CODE}"
# The letters of options whose value is a secret, or has one behind a user's name, by the commands that have them.
LETTERS = {
    "sshpass|mysql(?:dump|admin)?|mariadb(?:-dump|-admin)?|(?:id)?racadm7?|login|user(?:add|mod)|ipmipower": "p",
    "mongo(?:sh|dump|restore|export|import)?|redfishtool|rdesktop|ncftp(?:get|put)?": "p",
    "lftp": "u",
    "(?:free)?ipa-client-install|kadmin|ktutil": "w",
    "zip|unzip|mosquitto_(?:pub|sub)": "P",
    "ipmitool": "Pky",
    "curl": "uU",
    "smbclient|rpcclient": "U",
    "redis-cli": "a",
    "ldap(?:add|compare|delete|modify|modrdn|passwd|search|whoami)": "w",
    "snmp(?:bulk)?(?:get|getnext|set|walk|table|trap|inform|status)|trapsess": "cAX",
    r"^\s*proxy": "c",
    "ssh-keygen": "NP",
    "htpasswd": "b",
    r"openssl\s+enc": "kK",
}
# Between a command and its option; text behind ssh, such as the port, is no longer the command's own.
OWN = r"(?:(?!\bs(?:sh|cp|ftp)\b)[^|;&]){0,200}?"
OPTIONS = "|".join(rf"(?:{names})\b{OWN}\s-[A-Za-z]{{0,8}}?[{letters}]" for names, letters in LETTERS.items())
# Commands that read a secret from their standard input, and options that let others do so.
READERS = r"chpasswd|passwd|smbpasswd|cryptsetup|kinit|ssh-add|sudo\s+-S|gh\s+auth"
PIPED = rf"\|\s*(?:sudo\s+)?(?:/\S{{1,64}}/)?(?:{READERS}|\S.{{0,200}}?-stdin)\b"
# Words for a secret in messages.
NOUN = (
    r"(?:pass(?: ?phrase|word|wd|code)?|pwd|secret|token|psk|cak|pin|otp|(?:2fa|access|mfa)[ -]code"
    r"|(?:access|api|auth(?:entication)?|encryption|hexadecimal|md5|pre-?shared|privacy|private|radius|recovery|shared"
    r"|tacacs\+?|unseal)[ -]key(?:\s\d)?)"
)
# A word that is no word of a sentence: letters and digits.
STRONG = r"""(?=[^\s"'()<>\[\]]{0,256}\d)(?=[^\s"'()<>\[\]]{0,256}[A-Za-z])[^\s"'()<>\[\]]{5,256}"""
# A key with its sign, an option, or a command that reads a secret. Bounded, so that no line takes long.
SECRET = re.compile(
    "|".join(
        (
            # Not the end of a path: `/etc/passwd: cannot be read`; nor sudo's NOPASSWD. A message: `password value: x`.
            rf"""(?:(?<!/)(?<!\bNO)(?:{PARTS})(?!{PATH})[\w.-]{{0,64}}(?:\svalue)?|{WHOLE})(?:\\{{0,3}}["'])?\s*(?:[:=]{{1,2}}|[-=]>)\s*+(?!{FILE})""",
            # Netplan's keys of a tunnel: a block, or in braces.
            r"""(?<![\w.])(?<!\w-)keys["']?\s*:\s*(?=\{|$)""",
            # JSON, also of Junos and of Docker.
            rf"""\"(?:{NAME}|{CODES}|pwd|auth)\\{{0,3}}\"\s*:\s*""",
            # Variables such as MYSQL_PWD and REDISCLI_AUTH.
            rf"(?<![\w-])(?:\w{{0,64}}_)?(?:(?:{CODES}|pwd|pw)\s*=|auth=)\s*",
            r"(?<![\w-])(?:[\w-]{0,64}-)?pass=",
            # Not the verdict of a report: `PASS: no findings; 96 checks passed`.
            r"^(?!(?-i:PASS): .{1,2000}\d checks? passed\b)"
            r"\s*(?:-\s+)?\w{0,64}(?:(?<![a-z])(?:pass|pin|otp)|pwd|passcode)[\"']?\s*:\s+",
            # A sentence says of several that they pass: more than a word follows.
            rf"(?<![\w-])(?!pass\s?:\s+\S+\s+\S)(?:{CODES}|pw)\s?:\s(?=.*\S)(?!\d+\s)",
            r"(?-i:\b\w{1,64}(?:[a-z]Pass|[a-z]Pwd|[A-Za-z]PW)\s*[:=]\s*)",
            rf"(?-i:(?<![\w-])(?![A-Z0-9_]{{0,64}}PUBLIC)[A-Z0-9_]{{1,64}}_KEY=(?!{FILE})|\bSSHPASS=)",
            rf"(?<![\w-])--?[\w-]{{0,64}}(?:{PARTS})[\w-]{{0,64}}\s++(?!{FILE})",
            # As items of a list; a name and its value, as in the environment of a container.
            rf"""(?<![\w-])--?[\w-]{{0,64}}(?:{PARTS})[\w-]{{0,64}}["']\s*,\s*(?=["'])""",
            rf"""\bname["']?\s*:\s*["']?[\w.-]{{0,64}}(?:{PARTS})[\w.-]{{0,64}}["']?\s*,\s*["']?value["']?\s*:\s*""",
            rf"""["']value["']\s*:\s*(?=["'][^"']{{1,500}}["']\s*,\s*["']name["']\s*:\s*["'][\w.-]{{0,64}}(?:{PARTS}))""",
            # OpenSSL's, Java's, curl's; and nmcli's `wifi-sec.psk`.
            r"(?<!\S)--?(?:pass(?:in|out)?|(?:store|key)pass|pw|(?:proxy-)?user(?=\s+[^\s:]{1,64}:))\s+",
            rf"(?<!\S)--(?:key|auth)[=\s]\s*+(?!\.|\S{{0,200}}\.(?:pem|key)\b|{FILE})",
            rf"[\w-]\.(?:{PARTS})\s+(?:\*\*\*\s+(?=[^\s;]+\s*$))?",
            # snmpd.conf, snmp.conf, .netrc, and text piped to a command that prompts.
            r"(?:r[ow]|trap)community6?\s+",
            r"\bauthcommunity\s+\S{1,64}\s+",
            r"\bdef(?:community|(?:auth|priv)?(?:passphrase|masterkey|localizedkey))\s+",
            r"\bsnmp-server\s+community\s+",
            r"\b(?:trap2?|inform)sink\s+\S{1,128}\s+",
            r"\busmuser\s+",
            r"\bcom2sec(?:6|unix)?\s+(?:-Cn\s+\S{1,64}\s+)?\S{1,64}\s+\S{1,64}\s+",
            r"\bcreateuser\s+(?:-[el]\s+\S{1,64}\s+)?\S{1,64}\s+\S{1,16}\s+",
            # The community of Telegraf and of Prometheus' exporter; one of BGP has a colon.
            r"""(?:^|[{,(\s>])["']?(?!bgp|ext|large|std)[\w-]{0,32}community["']?\s*[:=]\s*(?!["']?[\w-]*:\S|[\[{(])(?=\S)""",
            r"\bcommunity\s+name:?\s+(?=\S+$)",
            r"\bmachine\s.{0,200}?\bpassword\s+",
            r"(?<![\w-])\w{0,32}password\s+(?=[^\s{]\S*\s*$)",
            # Behind what was taken for it: GRUB's user, the number of a cipher, an option.
            r"\b(?:secret|passw(?:or)?d)\s+\*\*\*\s+(?!pam_|\*/)(?=[^\s;]+\s*$)",
            r"\*\*\*\s+<<<\s*",
            # LDAP's, Redis's; Cisco's and FRR's with the number of a cipher.
            r"(?<![\w-])\w{0,32}(?:bindpw|rootpw)\s*[:=]?\s*",
            r"(?:\brequirepass|\bmasterauth|\bsentinel\s+auth-pass\s+\S{1,64})\s+",
            r"^\s*user\s(?=[^>#]{0,200}\s[>#])[^>#]{1,200}[>#]",
            r"\b(?:radius|tacacs)-server\b.{0,128}?\skey\s+",
            r"\bkey-string\s+",
            r"\b(?:rip\s+authentication\s+string|nhrp\s+authentication|authentication\s+text|tcp-md5-auth)\s+",
            # Keys of ntpd and chrony: a number, an algorithm, the key. A switch's message about a value.
            r"(?-i:^\s*\d{1,10}\s+(?:M|MD5|SHA-?\d{1,3}|SHA3-\d{1,3}|AES\d{1,3}(?:CMAC)?|RMD160)\s+)",
            rf"\bvalue:?\s+(?=[\"']?\S{{1,256}}\s+(?:(?:for|of|in)\b|is\b|\().{{0,128}}?\b(?:{NAME})\b)",
            rf"\bvalue:?\s+(?=(?P<quote>[\"']).{{1,256}}?(?P=quote)\s+(?:for|of|in)\b.{{0,128}}?(?:{NAME})\b)",
            # Sentences: the password is x; the secret of y: x; x is no valid password; x: invalid password. Not that
            # packets pass spine1.
            rf"""\b(?!(?:pass|pin)\s+(?!is\b|was\b|phrase\b)){NOUN}(?:\s+(?:is|was))?[:=]?\s+["'(<\[]?(?={STRONG})""",
            rf"""\b{NOUN}\b[^:"'(\n]{{0,60}}(?:\bis|:)\s+(?=["']?{STRONG}(?:["'.;)]{{0,3}}\s*$|</))""",
            rf"""["'](?=[^"'\s]{{1,256}}["']\s+(?:is|was)\s+(?:not|no|an?)\b.{{0,40}}\b(?:{NOUN}|{NAME})\b)""",
            rf"(?<![^\s(>])(?={STRONG}:\s+(?:invalid|bad|illegal|not\s+a)\s.{{0,40}}\b(?:{NOUN}|{NAME})\b)",
            r"\bsnmp.{0,200}?\bcommunity\b[^:('\"]{0,100}[:('\"]\s*(?:got\s+)?(?=\S)",
            # Commands that take it as a word.
            r"\brclone\s+obscure\s+",
            r"--from-literal[=\s][\w.-]{1,64}=",
            rf"(?:echo|printf|yes)\s(?=[^|]{{0,500}}{PIPED})",
            rf"(?:echo|printf)\s(?=[^|>]{{0,500}}>>?\s*\S{{0,200}}?(?:{PARTS}|\.key\b))",
            r"<\((?:echo|printf)\s+",
            rf"\b(?:{READERS})\b[^|;&]{{0,200}}?<<<\s*|-stdin\b[^|;&]{{0,200}}?<<<\s*",
            r"\bchpasswd\s*:\s*",
            r"\bwpa_passphrase\s+\S{1,200}\s+",
            r"\bwpa_cli\b.{0,64}?\s(?:psk|password|wep_key\d|wps_(?:pin|reg)(?:\s+\S+(?=\s))?)\s+",
            r"\biw(?:config)?\s.{0,200}?\skey\s+(?:\d:)?",
            r"\bip\s+(?:link|tunnel)\s.{0,200}?\s[io]?key\s+",
            r"\bvault\s+(?:login|kv\s+(?:put|patch)\s+\S{1,200})\s+(?!-)",
            r"\brabbitmqctl\s.{0,64}?\b(?:add_user|change_password|authenticate_user)\s+\S{1,64}\s+",
            r"(?:\s-U\s*|\buser(?:name)?=)[^\s%,]{1,64}%(?![0-9a-f]{2})(?=\S)",
            r"\s/p:(?=\S)",
            r"\bsqlplus\s+(?:-\w+\s+)*[^\s/@]{1,64}/(?=\S)",
            r"\bidentified\s+(?:with\s+\S{1,64}\s+)?(?:by\s+(?=[\"'])|as\s+(?='))",
            r"\bset_key\s+",
            r"\bipmitool\s.{0,200}?\ssnmp\s+|\bsetpwd\s+\d{1,3}\s+|--security-(?:unlock|erase|set-pass|disable)\s+",
            r"\bwandb\s+login\s+(?!-)|\bmc\s+alias\s+set\s+\S{1,64}\s+\S{1,200}\s+|\bBW_SESSION=",
            # Of a user and a secret: UPS monitoring, HAProxy; snmp's of nmap.
            r"^\s*monitor\s+\S{1,128}@\S{1,128}\s+\d{1,3}\s+\S{1,64}\s+",
            r"\bstats\s+auth\s+[^\s:]{1,64}:",
            r"\bsnmpcommunity=",
            # HTTP; Kickstart, OpenVPN, keepalived; FRR; keys of ip-macsec(8) and ip-xfrm(8).
            r"\bcookie\s*:\s*",
            rf"\bauthorization\b\W{{1,4}}(?:header\W{{1,4}})?(?:bearer|basic|digest|negotiate|token)[\s\\]+(?=\S)|\bbearer\s+(?={STRONG})",
            r"\b(?:set|add|pass)[-_]header\s+(?:authorization|x-[\w-]{0,32}(?:key|token|auth)[\w-]{0,16})\s+",
            rf"\b(?:j|php)?sess(?:ion)?[-_]?id=(?={STRONG})",
            r"^askpass\s+|\bauth_pass\s+",
            r"\b(?:message-digest|authentication)-key\s+\d{1,3}\s+md5\s+",
            r"\bip\s+macsec\s.{0,200}?\skey\s+\S{1,64}\s+",
            r"\bxfrm\s.{0,200}?\s(?:aead|auth|auth-trunc|enc)\s+\S{1,64}\s+(?=0x|[\"'])",
            rf"(?-i:(?:\b|(?<=^)|(?=\s))(?:{OPTIONS})\s*)",
        )
    ),
    re.IGNORECASE,
)
# A key of YAML or JSON by the name of a secret, or an option alone in a list: the secret is in the next line.
NAMED = re.compile(
    rf"""^\s*(?:-\s+)?["']?name["']?\s*:\s*["']?[\w.-]{{0,64}}(?:{PARTS})[\w.-]{{0,64}}["']?\s*,?\s*$""", re.IGNORECASE
)
OPTION = re.compile(rf"""^\s*(?:-\s+)?["']?--?[\w-]{{0,64}}(?:{PARTS})[\w-]{{0,64}}["']?\s*,?\s*$""", re.IGNORECASE)
VALUE = re.compile(r"""\s*["']?value["']?\s*:\s*""")
ITEM = re.compile(r"""\s*(?:-\s+)?""")
# The values of a Secret of Kubernetes have any name.
SECRET_KIND = re.compile(r"""^[-+ ]?[\s{]*["']?kind["']?\s*:\s*["']?Secret\b|["']kind["']\s*:\s*["']Secret\b""", re.M)
DATA = re.compile(r"""(?:^|[{,])\s*["']?(?:string)?data["']?\s*:\s*""", re.IGNORECASE)


# Without one of these, in lower case, no line has a secret. Looking for words is much faster than for what they mean.
HINTS = (
    *(
        "pin:",
        "pin=",
        "pin =",
        "pin ",
        'pin"',
        'otp"',
        "puk",
        "pincode",
        "pin_code",
        "pin-code",
        "bw_session",
        "wandb",
        "otp:",
        "otp=",
        "otp =",
        "otp ",
        "code:",
        "code =",
        "code=",
        "bearer",
        "sess",
    ),
    *("passw", "passphrase", "secret", "token", "psk", "private", "preshared", "api", "access", "credential"),
    *("authoriz", "key", "-pass", "-user", "community", "machine", "sudo", "cryptsetup", "sshpass", "curl", "mysql"),
    *("mariadb", "racadm", "login", "useradd", "usermod", "ipmi", "zip", "smbclient", "rpcclient", "redis-cli"),
    *("cookie", "askpass", "auth_pass", "rootpw", "xfrm", 'auth"', "auth\\", "ldap", "snmp", "auth=", "auth ", "cak"),
    *(
        "com2sec",
        "createuser",
        "keyname",
        "ascii-text",
        "hexadecimal",
        "-auth",
        "header",
        "identified",
        "_creds",
        "pmk",
    ),
    *("pass", "pwd", "pw:", "pw ", "pw=", "pw =", "authtok", "jwt", "masterauth", "usmuser", "sink", "trapsess"),
    *("obscure", "from-literal", "user ", " m ", "md5", "sha", " aes", "rmd160", "mongo", "redfish", "mosquitto"),
    *("rdesktop", "openssl", "kinit", "ssh-add", "-stdin", "<<<", "<(", "vault", "rabbitmq", "%", "/p:", "sqlplus"),
    *(
        "monitor ",
        "proxy",
        "lftp",
        "ncftp",
        "ipa-",
        "kadmin",
        "ktutil",
        "security-",
        "mc alias",
        "code ",
        "authentication",
        "wps_",
    ),
)
