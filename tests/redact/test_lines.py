"""Secrets of servers' files: replaced in every form that such files have, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.host_program import host_program
from ailb_gen.redact.line_patterns import HINTS, SECRET_KIND
from ailb_gen.redact.lines import CLEAN, DIFF, MOST_CLEAN, _hidden, mask_lines
from ailb_gen.redact.text import redact
from tests.hosts.test_read import GOLDEN

SECRETS = [
    'password: "hunter2"',
    "auth: {password: hunter2, method: tls}",
    "  client-key-password: hunter2",
    "- key: hunter2",
    "keys:\n  private: hunter2",
    "PrivateKey = hunter2",
    "PresharedKey=hunter2",
    'psk="hunter2"',
    "pin: hunter2",
    "otp=hunter2",
    "export BMC_PASSWORD=hunter2",
    "# old password: hunter2",
    "curl --api-key hunter2 https://example.net",
    "ExecStart=/usr/bin/agent --token=hunter2",
    "https://user:hunter2@example.net/",
    "rocommunity hunter2",
    "root:$6$hunter2",
    '{"secret": "hunter2"}',
    '"authentication-key" : [{"data" : "hunter2"}]',
    '"secret" : [\n{\n"data" : "hunter2"\n}\n]',
    '"encrypted-password" : [\n    {\n        "data" : "hunter2"\n    }\n]',
    "<secret><![CDATA[hunter2]]></secret>",
    "<output>&lt;secret&gt;hunter2&lt;/secret&gt;</output>",
    '\\"password\\": \\"hunter2\\"',
    "DB_PASS=hunter2",
    "MYSQL_PWD=hunter2 mysql",
    "REDISCLI_AUTH=hunter2",
    'createUser monitor SHA "hunter2" AES',
    "com2sec readonly default hunter2",
    "sshpass -p hunter2 ssh root@bmc",
    "/usr/bin/sshpass -v -phunter2 scp x bmc:",
    "sshpass -p \\\n  hunter2 ssh root@bmc",
    "sshpass -p \\\nhunter2 \\\nssh root@bmc",
    "mysqldump -uroot -p'hunter2' metrics",
    "ipmitool -I lanplus -H bmc -U admin -P hunter2 power status",
    "docker login -u robot -p hunter2 registry.example.net",
    "curl -sfu robot:hunter2 https://example.net",
    "curl --user robot:hunter2 https://example.net",
    "curl -x http://proxy:hunter2@proxy.example.net:3128/ -O https://example.net/x",
    "wget --password=hunter2 https://example.net",
    "mysqladmin --password hunter2 ping",
    "redis-cli -h db -a hunter2 ping",
    "ldapsearch -x -D cn=admin -w hunter2",
    "snmpwalk -v2c -c hunter2 leaf1",
    "snmpget -v3 -u ops -A hunter2 leaf1",
    "smbclient //nas/share -U robot%hunter2",
    "htpasswd -cb /etc/users robot hunter2",
    "openssl pkcs12 -in x -passin pass:hunter2",
    "keytool -list -storepass hunter2",
    "nmcli connection modify uplink 802-1x.password hunter2",
    "machine example.net login robot password hunter2",
    "echo root:hunter2 | chpasswd",
    "printf '%s' hunter2 | sudo -S reboot",
    "chpasswd <<< root:hunter2",
    "chpasswd -e <<'EOF'\nroot:hunter2\nops:hunter2\nEOF",
    "cat <<EOF | sudo chpasswd\nroot:hunter2\nEOF",
    "chpasswd:\n  list: |\n    root:hunter2",
    "wpa_passphrase guests hunter2",
    "machine example.net\n  login robot\n  password hunter2",
    " neighbor fc00::1 password hunter2",
    "psql postgresql://robot:hunter2@db/metrics",
    "keys: {input: hunter2, output: hunter2}",
    "  keys:\n    input: hunter2\n    output: hunter2",
    "- keys:\n    public: x\n    shared: hunter2",
    "InputKey=hunter2",
    "OutputKey = hunter2",
    "auth: {key-management: psk, password: hunter2}",
    'auth: {key-management: 802.1x, client-key-password: "hunter2"}',
    'wep_key0="hunter2"',
    "wep-key0=hunter2",
    "mka_cak=hunter2",
    "pre-shared-key=hunter2",
    "authentication-key: hunter2",
    "auth_pass hunter2",
    '{"auths": {"registry": {"auth": "hunter2"}}}',
    "Set-Cookie: session=hunter2",
    "rootpw hunter2",
    "askpass hunter2",
    "ip ospf message-digest-key 1 md5 hunter2",
    "ip macsec add macsec0 tx sa 0 pn 1 on key 01 hunter2",
    "ip xfrm state add src a dst b proto esp spi 1 enc 'cbc(aes)' 0xhunter2",
    "admin:$apr1$salt$hunter2",
    "admin:$argon2id$v=19$m=65536,t=3,p=4$salt$hunter2",
    "password_pbkdf2 root grub.pbkdf2.sha512.10000.hunter2",
    "password: |\n  hunter2\n\n  hunter2",
    "password:\n  hunter2",
    "passwords:\n- hunter2\n- hunter2",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\nhunter2\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2",
    "1 MD5 hunter2",
    "10 SHA1 hunter2",
    "2 AES128 HEX:hunter2",
    "password root hunter2",
    "enable secret 5 hunter2",
    "password 8 hunter2",
    "isis password clear hunter2",
    "openssl passwd -6 hunter2",
    "ipmitool user set password 2 hunter2",
    "iscsiadm -o update -n node.session.auth.password -v hunter2",
    '"robot" "SCRAM-SHA-256$4096:c2FsdA==$hunter2:x"',
    "error: value 'hunter2' for encrypted-password is invalid",
    "<error-message>invalid value 'hun ter2 hunter2' for authentication-key</error-message>",
    "snmp-server community hunter2 RO",
    "trapcommunity hunter2",
    "trap2sink host hunter2",
    "trapsess -v 3 -u ops -A hunter2 -X hunter2 host",
    'usmUser 1 3 0x80 "ops" "ops" NULL .1.3 0xhunter2',
    "WG_KEY=hunter2",
    "SLURM_JWT=hunter2",
    "AccountingStoragePass=hunter2",
    "ansible_become_pass: hunter2",
    "pwd: hunter2",
    "pass = hunter2",
    "ldap_default_authtok = hunter2",
    "bindpw hunter2",
    "olcRootPW: hunter2",
    "requirepass hunter2",
    "user default on >hunter2 ~* +@all",
    "ssh-keygen -q -N hunter2 -f key",
    "rclone obscure hunter2",
    "kubectl create secret generic s --from-literal=k=hunter2",
    "tacacs-server key 7 hunter2",
    "key-string hunter2",
    "track { auth_pass hunter2",
    # Keys that hold one by another name.
    "pmk=hunter2",
    "wps_nfc_dh_privkey=hunter2",
    "MQTT_PW=hunter2",
    "APP_CREDS=hunter2",
    "export SSHPASS=hunter2",
    "AccountKey=hunter2;EndpointSuffix=core",
    "SharedAccessSignature=hunter2",
    "- routing_key: hunter2",
    "    client-key-data: hunter2",
    "krbPrincipalKey:: hunter2",
    "ssh_keys: {ed25519_private: hunter2}",
    "rsa_private: |\n  hunter2\n  hunter2",
    "cert-pass=hunter2",
    "    pkinit_pin = hunter2",
    '  community = "hunter2"',
    "    community: hunter2",
    "cmdpassword hunter2",
    "password: !hunter2",
    "password: &hunter2",
    "auth_token: !vault |\n  hunter2\n  hunter2",
    'secret = """\nhunter2\nhunter2\n"""',
    "deploy_key: hunter2",
    "tls_key: |\n  hunter2",
    "snmp_community: hunter2",
    '{"community": "hunter2"}',
    '{"pass": "hunter2"}',
    '{"pin": "hunter2"}',
    '[{"value": "hunter2", "name": "password"}]',
    # A name and its value, and the words of a command, one below the other.
    "- name: AWS_SECRET_ACCESS_KEY\n  value: hunter2",
    '- name: DB_PASSWORD\n  value: "hunter2"',
    "- name: DB_PASSWORD\n  value: |\n    hunter2",
    '"name": "DB_PASSWORD",\n"value": "hunter2"',
    "- {name: TOKEN, value: hunter2}",
    "- --token\n- hunter2",
    '"--token",\n"hunter2"',
    'args: ["--password", "hunter2"]',
    "kind: Secret\ndata:\n  db: hunter2",
    "data:\n  db: hunter2\n  other: hunter2\nkind: Secret",
    '{"kind": "Secret", "data": {"db": "hunter2"}}',
    # Of routers, of SNMP, of UPS and proxies.
    " ip rip authentication string hunter2",
    " ip nhrp authentication hunter2",
    "tcp-md5-auth hunter2",
    "vrrp 1 authentication text hunter2",
    "ntp authentication-key 1 md5 hunter2",
    "authcommunity log,execute hunter2",
    "proxy -v 2c -c hunter2 host .1.3",
    "defAuthPassphrase hunter2",
    "defPrivLocalizedKey hunter2",
    "defcommunity hunter2",
    "com2secunix x default hunter2",
    "com2sec -Cn context readonly default hunter2",
    "createUser -l key ops SHA-512 hunter2",
    "MONITOR ups@host 1 monitor hunter2 primary",
    "stats auth ops:hunter2",
    'proxy_set_header Authorization "Basic hunter2";',
    "http-request set-header X-Api-Key hunter2",
    "sentinel auth-pass main hunter2",
    "user ops on #hunter2 ~*",
    "//nas/share /mnt cifs user=ops%hunter2 0 0",
    # What scripts give to commands.
    "agent --auth ops:hunter2",
    "agent --pass=hunter2",
    "agent --key hunter2",
    "mosquitto_pub -u ops -P hunter2 -t x",
    "mongosh -u ops -p hunter2",
    "redfishtool -r bmc -u ops -p hunter2 Systems",
    "plink -pw hunter2 bmc",
    "xfreerdp /u:ops /p:hunter2 /v:host",
    "openssl enc -aes-256-cbc -k hunter2",
    "ipmitool -k hunter2 -H bmc",
    "ipmitool lan set 1 snmp hunter2",
    "sqlplus ops/hunter2@db",
    "net ads join -U admin%hunter2",
    "wg set wg0 private-key <(echo hunter2)",
    "echo -n hunter2 > /etc/x.secret",
    "echo hunter2 | docker login --password-stdin",
    "printf hunter2 | podman login -u ops --password-stdin registry",
    "echo hunter2 | kinit ops",
    "kinit ops <<< hunter2",
    "adcli join --stdin-password ops <<< hunter2",
    "yes hunter2 | passwd ops",
    'echo "ops:hunter2" | /usr/sbin/chpasswd',
    "ipa-client-install -p ops -w hunter2",
    "lftp -u ops,hunter2 host",
    "ipmicfg -user setpwd 2 hunter2",
    "hdparm --security-unlock hunter2 /dev/x",
    "storcli64 /c0 set securitykey=hunter2",
    "wandb login hunter2",
    "mc alias set x http://host key hunter2",
    "passwd --stdin ops <<< hunter2",
    "smbpasswd -s ops <<EOF\nhunter2\nhunter2\nEOF",
    "mysql -e \"ALTER USER x IDENTIFIED BY 'hunter2'\"",
    "rabbitmqctl change_password ops hunter2",
    "vault login hunter2",
    "vault kv put secret/x k=hunter2",
    "wpa_cli set_network 0 psk '\"hunter2\"'",
    "wpa_cli -i wlan0 wps_reg x hunter2",
    "iwconfig wlan0 key s:hunter2",
    "iw dev wlan0 connect x key 0:hunter2",
    "mstflint -d x set_key hunter2",
    "ip tunnel add x mode gre key hunter2",
    'ip xfrm state add src a dst b proto esp spi 1 auth sha1 "hunter2"',
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_replaced_and_lines_stay_lines(text: str) -> None:
    done = redact(f"mtu: 9000\n{text}\nmtu: 9100")

    assert "hunter2" not in done
    assert "***" in done
    assert done.count("\n") == text.count("\n") + 2
    assert done.startswith("mtu: 9000\n")


def test_what_follows_a_secret_stays() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----"
    done = redact(f"password: |\n  hunter2\nmtu: 9000\n{key.format('A')}\nlast")

    assert done == f"password: |\n  ***\nmtu: 9000\n{key.format('***')}\nlast"


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("chpasswd <<EOF\nroot:hunter2\nEOF\nexit 0", "chpasswd <<EOF\n***\nEOF\nexit 0"),
        ("tokens:\n- hunter2\nmtu: 9000", "tokens:\n***\nmtu: 9000"),
        ("- token:\n    hunter2\n- mtu: 9000", "- token:\n    ***\n- mtu: 9000"),
        ("keys: {input: hunter2,\n  output: hunter2}\nmtu: 9000", "keys: ***\n  ***\nmtu: 9000"),
        ('x: {password: "$6$hunter2", token: hunter2}', 'x: {password: "***", token: ***'),
        ("@@ -1 +1,3 @@\n+keys:\n+  input: hunter2\n mtu: 9000", "@@ -1 +1,3 @@\n+keys:\n+  ***\n mtu: 9000"),
        ("curl -u \\\nhunter2\nexit 0", "curl -u \\\n***\nexit 0"),
    ],
)
def test_what_follows_secret_lines_stays(text: str, done: str) -> None:
    assert redact(text) == done


def test_files_without_secrets_stay_as_they_are() -> None:
    files = (path.read_bytes() for path in (GOLDEN / "lab").rglob("*") if path.is_file())
    texts = [data.decode() for data in files if data != host_program()]

    assert len(texts) > 20
    for text in texts:
        assert redact(text) == text


HARMLESS = [
    "packets from gpu-s1-1 pass stripe1-leaf1 - spine4 - stripe1-leaf2, not spine1",
    "drift and verify pass: this is what the fabric file says",
    "pin 12 of et-0/0/1 is dark",
    "PASS: no findings; 96 checks passed; 2 skipped",
    "mkdir -p /etc/ailb",
    "        password {",
    "# no password is set here",
    "ssh -p 2222 root@bmc",
    "sshpass -e ssh -p 2222 root@bmc",
    "docker run -p 8080:80 exporter",
    "mysql -h db -P 3306 -u robot",
    "curl -x proxy:3128 -o /tmp/x https://example.net/x",
    "systemctl --user restart agent",
    "curl --passive https://example.net",
    "iptables -p udp --dport 4791 -j ACCEPT",
    "echo done | tee /var/log/ailb",
    "ops ALL=(ALL) NOPASSWD: ALL",
    "unknown keys: mtu, vlan",
    "ip macsec show",
    "PrivateKeyFile=/etc/systemd/network/wg.key",
    "PresharedKeyFile = /etc/wg/psk",
    "password_file: /run/secrets/x",
    "token-path: $CREDENTIALS_DIRECTORY/token",
    "WG_PUBLIC_KEY=x",
    "keyfile /etc/chrony/chrony.keys",
    "auth: {method: tls}",
    'private_key="/etc/cert/user.prv"',
    "SSL_KEY=/etc/ssl/x.key",
    "tls_key = /etc/ssl/x.pem",
    "agent --key  /etc/x",
    'the works are identified as "derived from"',
    "LoadCredential=db:/etc/creds/db",
    "agent --key /etc/x --token-file /run/x --auth-mode tls",
    "curl --key ./client.pem https://example.net",
    "passwd: files systemd",
    "Defaults passwd_tries=3",
    "vllm serve --max-tokens 4096 --tokenizer x",
    "max_tokens: 4096",
    "- name: TOKENIZERS_PARALLELISM\n  value: false",
    "- name: NCCL_IB_HCA\n  value: mlx5",
    "- --port\n- 8080",
    "kind: ConfigMap\ndata:\n  a: b",
    "NCCL_IB_PKEY=0x8001",
    "    Communities: color:0:1 65000:1",
    "community = 65000:1",
    "bgp_community.add((65000,1));",
    "monitor traffic interface et-0/0/0",
    "echo done > /etc/x",
    "echo x | sha256sum",
    "vault status",
    "login%20page and user=ops%20x",
    "SNMP community is not set",
    "ip -6 rule add pref 10000 from fc00:1::/64 table 10000; ping -c 3 fc00::1",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_words_that_look_like_one_stay(text: str) -> None:
    assert redact(text) == text


@given(st.lists(st.sampled_from(SECRETS + HARMLESS)))
def test_what_was_searched_before_and_which_words_there_are_make_no_difference(texts: list[str]) -> None:
    """All hints, and nothing remembered, give what the hints of a text and the lines of earlier ones give."""
    text = "\n".join(texts)
    # Data of Kubernetes' Secrets, and the signs of a diff, are found by other means.
    if SECRET_KIND.search(text) or DIFF.search(text):
        return
    CLEAN.clear()
    expected = "\n".join(_hidden(text.split("\n"), HINTS, False))
    CLEAN.clear()
    assert mask_lines(text) == expected
    assert mask_lines(text) == expected


def test_lines_that_are_remembered_hold_no_secret_and_are_few() -> None:
    CLEAN.clear()
    for text in (*SECRETS, *HARMLESS, "\n".join(f"key {number}" for number in range(2 * MOST_CLEAN))):
        mask_lines(text)
    assert 0 < len(CLEAN) <= MOST_CLEAN
    assert not [line for line in CLEAN if "hunter2" in line]
