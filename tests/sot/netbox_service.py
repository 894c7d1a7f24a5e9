"""How NetBox is installed, migrated and run by services.py."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tests.sot.services import DJANGO, Instance, Kind

# A token of version 2, as NetBox makes them since 4.5: nbt_KEY.TOKEN.
TOKENS = {
    "all": "nbt_ailbTestsAll.ThisTokenOfTestsMayDoEverythingAndIsKnown",
    "read-only": "nbt_ailbTestRead.ThisTokenOfTestsMayNotWriteAndIsKnownToo",
    "no-rights": "nbt_ailbTestNone.ThisTokenOfTestsMayDoNothingAndIsKnownTooo",
    "v1": "0123456789abcdef0123456789abcdef01234567",
}

CONFIGURATION = (
    DJANGO
    + """\
REDIS = {
    name: {"HOST": "127.0.0.1", "PORT": %(redis_port)d, "DATABASE": number}
    for number, name in enumerate(("tasks", "caching"))
}
API_TOKEN_PEPPERS = {1: "0123456789" * 5}
PLUGINS = ["netbox_bgp"]
CENSUS_REPORTING_ENABLED = False
"""
)

# Runs in NetBox's shell.
USERS = """\
from users.models import Token, User
tokens = %(tokens)r
admin = User.objects.create_superuser("ailb", "", "ailb-tests-only")
nobody = User.objects.create_user("nobody", "", "ailb-tests-only")
for name, text in tokens.items():
    user = nobody if name == "no-rights" else admin
    if name == "v1":
        token = Token(version=1, user=user, token=text)
    else:
        key, _, secret = text.removeprefix("nbt_").partition(".")
        token = Token(version=2, key=key, user=user, token=secret, write_enabled=name != "read-only")
    token.save()
"""


def write(instance: Instance) -> None:
    """Write NetBox's configuration."""
    folder = instance.folder / "conf"
    folder.mkdir(exist_ok=True)
    values = {"folder": str(instance.folder), "redis_port": instance.redis_port}
    (folder / "configuration.py").write_text(CONFIGURATION % values)


def environment(instance: Instance) -> Mapping[str, str]:
    """Return the environment of NetBox's programs."""
    return os.environ | {"NETBOX_ROOT": str(instance.folder), "DJANGO_SETTINGS_MODULE": "netbox.settings"}


def migrate(instance: Instance) -> tuple[tuple[str, ...], ...]:
    """Return the programs that fill an empty database."""
    netbox = str(instance.venv / "bin" / "netbox")
    return (netbox, "migrate"), (netbox, "shell", "--no-imports", "-c", USERS % {"tokens": TOKENS})


def serve(instance: Instance) -> tuple[str, ...]:
    """Return the server: two processes, as many as our machines have cores."""
    gunicorn = str(instance.venv / "bin" / "gunicorn")
    options = ("--bind", f"127.0.0.1:{instance.port}", "--workers", "2", "--threads", "3", "--timeout", "300")
    return (gunicorn, "--preload", *options, "netbox.wsgi")


NETBOX = Kind(
    name="netbox",
    packages=("netbox==4.7.3", "netbox-bgp==0.20.2"),
    pythons=("3.12", "3.13"),
    version=1,
    write=write,
    environment=environment,
    migrate=migrate,
    serve=serve,
    probe="/api/status/",
    tokens=TOKENS,
)
