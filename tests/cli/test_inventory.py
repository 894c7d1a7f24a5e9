"""`ailb-gen inventory push`: options, URL and token; a service that has nothing, or refuses."""

import json
from pathlib import Path

import pytest
import typer

from ailb_gen.cli import inventory
from ailb_gen.sot.records import Ref
from tests.conftest import SMALL, Cli
from tests.sot.memory import Memory
from tests.sot.stub import empty_netbox

TOKEN = "nbt_key.t0ken-of-the-tests"


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No service, a token, and a fabric."""
    monkeypatch.delenv("NETBOX_URL", raising=False)
    monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
    (tmp_path / "fabric.yaml").write_text(SMALL)


def test_the_url_comes_from_the_option_the_project_or_the_environment(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("inventory", "push", "netbox", "fabric.yaml", "-n", "--json")
    code, _, errors = cli(*words)
    assert (code, "where is NetBox?" in errors) == (2, True)
    with empty_netbox() as url:
        code, out, _ = cli(*words, "--url", f"{url}/")
        assert code == 0
        kinds = json.loads(out)["kinds"]
        assert (kinds["device"], "bgp-session" in kinds) == (
            {"create": 10, "update": 0, "delete": 0, "unchanged": 0},
            False,
        )
        monkeypatch.setenv("NETBOX_URL", url)
        assert cli(*words)[0] == 0
        monkeypatch.setenv("NETBOX_URL", "https://wrong.example")
        (tmp_path / "ailb.toml").write_text(f'fabric = "fabric.yaml"\ninventory-url = "{url}"\n')
        assert cli("inventory", "push", "netbox", "-n")[0] == 0


@pytest.mark.parametrize("verb", ["push", "pull"])
def test_a_missing_fabric_file_is_told_before_a_missing_url(cli: Cli, verb: str) -> None:
    code, out, errors = cli("inventory", verb, "netbox", "nope.yaml")
    assert (code, out, "nope.yaml" in errors, "where is NetBox" in errors) == (2, "", True, False)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("netbox.example.net", "must begin with http:// or https://"),
        ("ftp://netbox.example.net", "must begin with http:// or https://"),
        ("https://netbox.example.net/?x=1", "must begin with http:// or https://"),
        ("https://[::1", "must begin with http:// or https://"),
        ("https://me:secret@netbox.example.net", "must have no user and no password"),
    ],
)
def test_a_wrong_url(cli: Cli, url: str, says: str) -> None:
    code, out, errors = cli("inventory", "push", "netbox", "fabric.yaml", "--url", url)
    assert (code, out, says in errors, "secret" in errors) == (2, "", True, False)


def test_without_a_token_both_places_are_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NETBOX_TOKEN")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    code, out, errors = cli("inventory", "push", "netbox", "fabric.yaml", "--url", "https://netbox.example.net")
    assert (code, out) == (3, "")
    assert "set NETBOX_TOKEN, or unlock the keyring and call: keyring set https://netbox.example.net ailb-gen" in errors
    assert "{env:" not in errors


def test_without_a_terminal_nothing_is_written_unasked(cli: Cli) -> None:
    with empty_netbox() as url:
        code, _, errors = cli("inventory", "push", "netbox", "fabric.yaml", "--url", url)
    assert (code, "--plan-only" in errors) == (2, True)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_a_service_that_refuses_shows_no_token(cli: Cli, status: int) -> None:
    with empty_netbox(refuse=status) as url:
        code, out, errors = cli("-v", "inventory", "push", "netbox", "fabric.yaml", "--url", url)
    assert (code, str(status) in errors) == (3, True)
    assert "t0ken" not in out + errors


def test_nobody_there(cli: Cli) -> None:
    with empty_netbox() as url:
        pass
    code, _, errors = cli("inventory", "push", "netbox", "fabric.yaml", "--url", url)
    assert (code, "nothing accepts connections" in errors) == (3, True)


def test_a_token_that_is_nowhere(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NETBOX_TOKEN")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    code, _, errors = cli("inventory", "push", "netbox", "fabric.yaml", "--url", "https://netbox.example.net")
    assert (code, "keyring entry" in errors, "NETBOX_TOKEN" in errors) == (3, True, True)


@pytest.mark.parametrize("as_json", [False, True])
def test_what_the_service_refuses_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    memory = Memory()
    memory.refuses = {Ref("prefix", ("fc00:1:1:1::/64",))}
    monkeypatch.setattr(inventory, "connected", lambda service, url: memory)
    with pytest.raises(typer.Exit) as ended:
        inventory.push("netbox", tmp_path / "fabric.yaml", yes=True, as_json=as_json)
    assert ended.value.exit_code == 1
    out = capsys.readouterr().out
    if as_json:
        reason = '{"name": ["not here"]}'
        assert json.loads(out)["refused"] == [{"kind": "prefix", "key": ["fc00:1:1:1::/64"], "reason": reason}]
    else:
        assert "Memory refuses these" in out
        assert 'prefix fc00:1:1:1::/64: {"name": ["not here"]}' in out
