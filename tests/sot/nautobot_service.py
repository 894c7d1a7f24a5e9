"""How Nautobot, with its BGP models and Golden Config, is installed, set up and run by services.py.

Its 513 migrations take four minutes of a processor. Django makes the same tables from the models in eight seconds, so
that is done here, with what migrations put into them: statuses, roles of devices and IP addresses, the namespace
Global. Left out are Nautobot's examples of VPN profiles, approval workflows and cable types.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tests.sot.services import DJANGO, Instance, Kind

TOKENS = {
    "all": "0123456789abcdef0123456789abcdef01234567",
    "read-only": "1123456789abcdef0123456789abcdef01234567",
    "no-rights": "2123456789abcdef0123456789abcdef01234567",
}

CONFIGURATION = (
    """\
from nautobot.core.settings import *
"""
    + DJANGO
    + """\
CACHES["default"]["LOCATION"] = "redis://127.0.0.1:%(redis_port)d/1"
CELERY_BROKER_URL = "redis://127.0.0.1:%(redis_port)d/0"
# Jobs run in the process that asks for them: there is no worker.
CELERY_TASK_ALWAYS_EAGER = True
CONTENT_TYPE_CACHE_TIMEOUT = 0
INSTALLATION_METRICS_ENABLED = False
GIT_ROOT = %(folder)r + "/git"
MEDIA_ROOT = %(folder)r + "/media"
JOBS_ROOT = %(folder)r + "/jobs"
PLUGINS = ["nautobot_bgp_models", "nautobot_plugin_nornir", "nautobot_golden_config"]
PLUGINS_CONFIG = {
    "nautobot_plugin_nornir": {
        "nornir_settings": {
            "credentials": "nautobot_plugin_nornir.plugins.credentials.env_vars.CredentialsEnvVars",
        },
    },
}


# Every app is without migrations: its tables are made from its models.
class NoMigrations:
    def __contains__(self, name):
        return True

    def __getitem__(self, name):
        return None


MIGRATION_MODULES = NoMigrations()
"""
)

# Runs in Nautobot's shell.
CONTENTS = """\
from django.apps import apps
from django.core.management import call_command
from nautobot.extras.management import populate_role_choices, populate_status_choices
from nautobot.ipam.models import get_default_namespace
populate_status_choices(apps, None)
populate_role_choices(apps, None)
get_default_namespace()
# Apps extend the statuses once there are some.
call_command("migrate", run_syncdb=True)
from django.contrib.auth import get_user_model
from nautobot.users.models import Token
users = get_user_model().objects
admin = users.create_superuser("admin", "", "ailb-tests-only")
nobody = users.create_user("nobody", "", "ailb-tests-only")
for name, key in %(tokens)r.items():
    Token.objects.create(user=nobody if name == "no-rights" else admin, key=key, write_enabled=name != "read-only")
"""

SERVER = """\
[uwsgi]
http-socket = 127.0.0.1:%(port)d
master = true
processes = 2
module = nautobot.core.wsgi:application
# As in Nautobot's documentation.
buffer-size = 4096
die-on-term = true
need-app = true
# It closes connections after every answer, and does not say so: a client that uses one again fails at times.
add-header = Connection: close
disable-logging = true
"""


def write(instance: Instance) -> None:
    """Write Nautobot's configuration."""
    folder = instance.folder
    values = {"folder": str(folder), "redis_port": instance.redis_port, "port": instance.port}
    (folder / "nautobot_config.py").write_text(CONFIGURATION % values)
    (folder / "uwsgi.ini").write_text(SERVER % values)
    for name in ("git", "media", "jobs", "static"):
        (folder / name).mkdir(exist_ok=True)


def environment(instance: Instance) -> Mapping[str, str]:
    """Return the environment of Nautobot's programs."""
    return server_of(instance.folder)


def server_of(folder: Path) -> Mapping[str, str]:
    """Return the environment of programs of the Nautobot in a folder."""
    return os.environ | {"NAUTOBOT_ROOT": str(folder), "NAUTOBOT_CONFIG": str(folder / "nautobot_config.py")}


def program(instance: Instance) -> str:
    """Return Nautobot's program."""
    return str(instance.venv / "bin" / "nautobot-server")


def migrate(instance: Instance) -> tuple[tuple[str, ...], ...]:
    """Return the programs that fill an empty database."""
    server = program(instance)
    contents = CONTENTS % {"tokens": TOKENS}
    return (server, "migrate", "--run-syncdb"), (server, "nbshell", "--command", contents)


def serve(instance: Instance) -> tuple[str, ...]:
    """Return the server: two processes, as many as our machines have cores."""
    return (program(instance), "start", "--ini", str(instance.folder / "uwsgi.ini"))


NAUTOBOT = Kind(
    name="nautobot",
    packages=("nautobot==3.2.7", "nautobot-bgp-models==3.2.0", "nautobot-golden-config==3.0.8"),
    pythons=("3.12", "3.11", "3.13"),
    version=1,
    write=write,
    environment=environment,
    migrate=migrate,
    serve=serve,
    probe="/api/status/",
    tokens=TOKENS,
)
