"""Files that hold secrets at places without a name: of their lines the first word stays."""

import pytest

from ailb_gen.redact.files import redact_file


@pytest.mark.parametrize(
    ("path", "text", "shown"),
    [
        ("etc/ppp/chap-secrets", "# client\nops * hunter2 *\n", "# client\nops ***\n"),
        ("etc/ppp/pap-secrets", '"ops" h "hunter2" *', '"ops" ***'),
        ("etc/ntp.keys", "1 other hunter2", "1 ***"),
        ("root/.pgpass", "db:5432:x:ops:hunter2\n\n", "db:***\n\n"),
        ("etc/pgbouncer/userlist.txt", '"ops" "hunter2"', '"ops" ***'),
        ("etc/shadow", "ops:hunter2:19000:0:99999:7:::", "ops:***"),
        ("etc/munge/munge.key", "hunter2", "***"),
        ("root/.netrc", "default\nlogin ops\npassword\nhunter2\n", "***\nlogin ***\n***\n***\n"),
        ("root/.git-credentials", "https://hunter2@example.net", "https:***"),
        (
            "etc/ppp/chap-secrets",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-ops * hunter2 *\n+ops * hunter3 *\n",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-ops ***\n+ops ***\n",
        ),
        ("etc/netplan/60-x.yaml", "mtu: 9000 # all\npassword: hunter2", "mtu: 9000 # all\npassword: ***"),
    ],
)
def test_what_follows_the_first_word(path: str, text: str, shown: str) -> None:
    assert redact_file(path, text) == shown
