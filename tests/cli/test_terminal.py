"""What every verb shows on a terminal of 80 columns, with colors and without; `make golden` renews it.

`golden/terminal/NAME.ansi` has the colors (`cat` shows them); with NO_COLOR it must be the same text.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer

from ailb_gen.cli import app
from ailb_gen.emulator.faults import Fault
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.batfish.fake.service import FakeBatfish
from tests.batfish.fake.store import Kept, Network
from tests.cli.terminal import GOLDEN, WIDTH, Case, Shown, check, once, verbs
from tests.cli.verbs import run
from tests.conftest import ROOT, design_of, need_root, need_shared, need_tool
from tests.deploy.fabric import CANARY, LAST, Site
from tests.deploy.test_deployment_rollback import killed
from tests.junos.models import MODELS
from tests.ports import free_ports
from tests.sot.stub import PORT, SITE, SPINE, empty_netbox

WHAT_IF = """\
name: a job on the lab fabric
fabric: fabric.yaml
job: {data: 4, tensor: 2, gradient_bytes: 64KiB, tensor_bytes: 64KiB, forward: 10us, backward: 20us}
balancers: [rlb, ecmp]
failures: [spine1]
level: flow
reliability: {months: 1, draws: 2, mttr: 8h, checkpoints: {write: 30s, restart: 10min}}
"""
WRONG = """\
interfaces {
    et-0/0/0 {
        mtuu 9000;
        speed 401g;
    }
}
"""
CASES = (
    Case("help", "--help", quick=True),
    Case("help-lab", "lab --help"),
    Case("help-junos", "junos --help"),
    Case("help-batfish", "batfish --help"),
    Case("help-batfish-clean", "batfish clean --help"),
    Case("help-inventory", "inventory --help"),
    Case("help-inventory-push", "inventory push --help"),
    Case("help-inventory-pull", "inventory pull --help"),
    Case("help-validate", "validate --help"),
    Case("help-deploy", "deploy --help"),
    Case("help-runs", "runs --help"),
    Case("help-runs-prune", "runs prune --help"),
    Case("usage", "validate fabric.yaml", 2),
    Case("init", "init new.yaml --yes"),
    Case("config", "config"),
    Case("cache", "cache"),
    Case("init-again", "init fabric.yaml --yes", 2),
    Case("generate", "generate fabric.yaml -o new"),
    Case("generate-check", "generate changed.yaml -o out --check", 1),
    Case("generate-diff", "generate changed.yaml -o out --diff --limit spine1"),
    Case("fabric-error", "generate wrong.yaml -o new", 2, quick=True),
    Case("grow-stripe", "grow stripe fabric.yaml --dry-run"),
    Case("grow-rail", "grow rail single.yaml --dry-run"),
    Case("grow-spine", "grow spine fabric.yaml --by 4 --dry-run"),
    Case("grow-server", "grow server fabric.yaml --dry-run"),
    Case("grow-refused", "grow spine fabric.yaml", 2, quick=True),
    Case("replace-nic", "replace nic macs.yaml gpu-s1-1 gpu0_eth --mac a0:88:c2:00:00:02 --dry-run"),
    Case("replace-server", "replace server fabric.yaml gpu-s1-1 --management-mac a0:88:c2:00:00:03 --dry-run"),
    Case("replace-switch", "replace switch fabric.yaml spine1 --serial AB12 --dry-run"),
    Case("explain-fabric", "explain fabric.yaml"),
    Case("drain", "drain fabric.yaml spine1 --floor 75% --dry-run"),
    Case("drain-gracefully", "drain drained.yaml spine1 --graceful-shutdown --dry-run"),
    Case("drain-refused", "drain fabric.yaml spine1 spine2 --floor 75%", 2, quick=True),
    Case("undrain-refused", "undrain fabric.yaml spine1", 2, quick=True),
    Case("undrain", "undrain drained.yaml spine1 --dry-run"),
    Case("maintain-status", "maintain fabric.yaml out --status"),
    Case("maintain-refused", "maintain fabric.yaml out spine1", 2, quick=True),
    Case("explain-leaf", "explain fabric.yaml stripe1-leaf1"),
    Case("explain-spine", "explain fabric.yaml spine1"),
    Case("explain-server", "explain fabric.yaml gpu-s1-1"),
    Case("validate", "validate fabric.yaml out"),
    Case("validate-damaged", "validate fabric.yaml damaged", 1, quick=True),
    Case("validate-all", "validate fabric.yaml damaged --checks AILB710 --all", 1),
    Case("validate-waived", "validate fabric.yaml damaged --checks roce,AILB091 --waivers waivers.yaml"),
    Case("validate-warnings", "validate fabric.yaml damaged --checks AILB005,AILB311"),
    Case("validate-since", "validate fabric.yaml damaged --checks roce --since out", 1),
    Case("review", "review fabric.yaml damaged --before fabric.yaml out", 1),
    Case("checks", "checks"),
    Case("checks-one", "checks AILB503"),
    Case("rib", "rib spine1 fc00:1:1:1::/64 -C out"),
    Case("rib-leaf", "rib stripe2-leaf1 fc00:1:1:1::/64 -C out --fail spine1"),
    Case("fib", "fib stripe1-leaf1 -C out"),
    Case("path", "path gpu-s1-1:gpu0_eth gpu-s2-1:gpu0_eth -C out"),
    Case("path-fails", "path gpu-s1-1:gpu0_eth gpu-s2-1:gpu0_eth -C out --fail stripe2-leaf1", 1),
    Case("path-unknown", "path gpu-s1-1 gpu-s9-9 -C out", 2),
    Case("draw", "draw fabric.yaml out -o fabric.svg"),
    Case("export", "export --list"),
    Case("monitoring", "monitoring fabric.yaml out -o monitoring"),
    Case("monitoring-unknown", "monitoring fabric.yaml out -o monitoring --collector gnmi", 2),
    Case("junos-diff", "junos diff out/switches/spine1.conf damaged/switches/spine1.conf", 1),
    Case("junos-convert", "junos convert small.conf --to set"),
    Case("junos-check-no-models", "junos check out/switches/spine1.conf", 2),
    Case("batfish-snapshot", "batfish snapshot out -o snapshots"),
    Case("simulate", "simulate fabric.yaml out --bytes 1M --level flow --balancer rlb,ecmp --executor serial"),
    Case("simulate-error", "simulate missing.yaml", 2),
    Case("study-list", "study --list"),
    Case("study-unknown", "study hoper", 2),
    Case("simulate-impossible", "simulate fabric.yaml out --bytes 1M --level flow --fail stripe1-leaf1", 2),
    Case("study", "study what-if what-if.yaml --executor serial"),
    Case("emulate-stop-none", "emulate --stop nowhere", 2),
    Case("lab-status-none", "lab status", 2),
    Case("lab-down-none", "lab down"),
)
INVENTORY = "fabric.yaml out -i inventory"
PUSH = f"{INVENTORY} --state runs --yes --confirm-minutes 10 --verify-timeout 5 --minute 1"
# On devices, which they do not change.
LOOKS = (
    Case("plan", f"plan {INVENTORY}"),
    Case("plan-brief", f"plan {INVENTORY} --brief --limit spines"),
    Case("drift", f"drift {INVENTORY}", 1),
    Case("verify", f"verify {INVENTORY}"),
    Case("watch", f"watch {INVENTORY} --rounds 1", 1),
    Case("watch-every", f"watch {INVENTORY} --every 5", 2),
    Case("accept", f"accept {INVENTORY} --ping none --job none"),
    Case("collect", "collect fabric.yaml -i inventory -o collected"),
    Case("deploy-dry-run", f"deploy --dry-run {PUSH}"),
    Case("rollback-nothing", f"rollback {PUSH}", 2),
    Case("runs-show-nothing", "runs show fabric.yaml --state runs", 2),
)
# One after the other.
PUSHES = (
    Case("deploy", f"deploy {PUSH}"),
    Case("deploy-again", f"deploy {PUSH}"),
    Case("rollback", f"rollback {PUSH}"),
    Case("runs-list", "runs list fabric.yaml --state runs"),
    Case("runs-show", "runs show fabric.yaml 1 --state runs"),
    Case("runs-diff", "runs diff fabric.yaml 2 --state runs"),
    Case("runs-report", "runs report fabric.yaml --state runs -o run.html"),
    Case("runs-prune-dry-run", "runs prune fabric.yaml --state runs --keep 1 --dry-run"),
    Case("runs-prune", "runs prune fabric.yaml --state runs --keep 1 --yes"),
)
REFUSED = Case("deploy-refused", f"deploy {PUSH}", 3)
ROLLED_BACK = Case("deploy-rolled-back", f"deploy {PUSH}", 4)
CONFIRM = Case("confirm", f"confirm {INVENTORY} --state state")
EMULATE = (
    Case("emulate", "emulate out --inventory emulated --daemon --base-port {}"),
    Case("emulate-stop", "emulate --stop emulated"),
    Case("emulate-stop-again", "emulate --stop emulated"),
)
BATFISH = Case("validate-batfish", "validate fabric.yaml out --checks batfish --batfish {}")
BATFISH_CLEAN = Case("batfish-clean", "batfish clean {} --dry-run")
NO_BATFISH = Case("validate-no-batfish", "validate fabric.yaml out --checks batfish --batfish {}", 3)
INVENTORY_PUSH = Case("inventory-push", "inventory push netbox fabric.yaml --plan-only --url {}")
INVENTORY_PULL = Case("inventory-pull", "inventory pull netbox fabric.yaml --check --url {}", 1)
JUNOS_CHECK = Case("junos-check", "junos check wrong.conf out/switches/spine1.conf --yang {}", 1)
LINK = "stripe1-leaf1:et-0/0/2"
NIC = "gpu-s1-1:gpu0_eth"
# Of one lab, in this order.
IN_LAB = (
    Case("lab-up", "lab up fabric.yaml out --inventory inventory"),
    Case("lab-status", "lab status"),
    Case("lab-exec", "lab exec stripe1-leaf1 -- sysctl net.ipv6.conf.all.forwarding"),
    Case("lab-exec-unknown", "lab exec stripe1-laef1 -- true", 2),
    # A shell that reads nothing ends at once, and says nothing.
    Case("lab-shell", "lab shell spine1"),
    Case("lab-capture", "lab capture spine1 et-0/0/0 -o packets.pcap --count 1"),
    Case("lab-traffic", "lab traffic --count 50 --rate 100"),
    Case("lab-check", "lab check fabric.yaml out --rounds 0"),
    Case("lab-check-fails", "lab check other.yaml out --rounds 0 --checks AILBL0*", 1),
    Case("lab-fail", f"lab fail {LINK}"),
    Case("lab-status-failed", "lab status"),
    Case("lab-repair", "lab repair"),
    Case("lab-repair-nothing", "lab repair"),
    Case("lab-fail-silent", f"lab fail {NIC} --silent --no-wait"),
    Case("lab-traffic-lost", "lab traffic --count 50 --rate 100"),
    Case("lab-down", "lab down"),
)
SCHEMA = Case("schema", "schema what-if")
ALL = (
    *CASES, *LOOKS, *PUSHES, REFUSED, ROLLED_BACK, CONFIRM, *EMULATE, BATFISH,
    BATFISH_CLEAN, NO_BATFISH, INVENTORY_PUSH, INVENTORY_PULL, JUNOS_CHECK, SCHEMA,
    *IN_LAB,
)  # fmt: skip


def test_every_verb_is_shown_at_its_work() -> None:
    """Not only when it refuses to begin: with exit code 0 or 1; and there is no golden file that nothing shows."""
    known = list(verbs(typer.main.get_command(app)))
    lines = [case.words.split() for case in ALL if case.code <= 1 and "--help" not in case.words]
    assert [verb for verb in known if list(verb) not in [line[: len(verb)] for line in lines]] == []
    assert {path.stem for path in GOLDEN.iterdir()} == {case.name for case in ALL if case is not SCHEMA}


def test_the_help_of_every_verb_fits_and_is_not_cut() -> None:
    for verb in (
        (),
        ("lab",),
        ("junos",),
        ("batfish",),
        ("inventory",),
        ("runs",),
        ("grow",),
        ("replace",),
        *verbs(typer.main.get_command(app)),
    ):
        code, text, _ = run(*verb, "--help")
        assert code == 0
        usage, *lines = text.splitlines()
        assert [line for line in (usage, *lines) if len(line) > WIDTH] == [], verb
        assert [line for line in lines if line.endswith("...")] == [], verb


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a directory in which all command lines are run: a fabric, its files, and damaged ones."""
    place = tmp_path_factory.mktemp("terminal")
    text = (ROOT / "examples/lab/fabric.yaml").read_text(encoding="utf-8")
    (place / "fabric.yaml").write_text(text)
    (place / "changed.yaml").write_text(text.replace("interval_ms: 300", "interval_ms: 500"))
    (place / "drained.yaml").write_text(f"{text}drain: [spine1, 'stripe1-leaf1 spine2']  # INC-42\n")
    (place / "single.yaml").write_text(text.replace("stripes: 2", "stripes: 1"))
    nics = "{gpu-s1-1: {nics: {0: {mac: a0:88:c2:00:00:01}}}}"
    (place / "macs.yaml").write_text(f"{text}overrides: {{servers: {nics}}}\n")
    (place / "wrong.yaml").write_text(text.replace("spines: 4", "spines: 0").replace("rails: 2", "rails: two"))
    (place / "what-if.yaml").write_text(WHAT_IF)
    (place / "wrong.conf").write_text(WRONG)
    (place / "small.conf").write_text("system {\n    host-name spine1;\n}\n")
    (place / "waivers.yaml").write_text(
        "- {id: AILB710, scope: 'stripe*', reason: 'jumbo frames come with ticket 4711', expires: 2099-12-31}\n"
        "- {id: AILB709, scope: '*', reason: 'jumbo frames come with ticket 4711', expires: 2099-12-31}\n"
    )
    write_rendering(rendering(design_of(text), place / "out", RenderOptions("curly", None)))
    shutil.copytree(place / "out", place / "damaged", symlinks=True)
    for path in (place / "damaged/switches").glob("stripe*.conf"):
        path.write_text(path.read_text().replace("mtu 9216", "mtu 9000"))
    spine = place / "damaged/switches/spine1.conf"
    spine.write_text(spine.read_text().replace("multipath {", "apply-macro multipath {"))
    return place


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=() if case.quick else pytest.mark.long) for case in CASES],
)
def test_what_a_verb_shows(case: Case, folder: Path, shown: Shown) -> None:
    def look(color: bool) -> list[str]:
        for made in ("new", "new.yaml", "fabric.schema.json", "ailb.toml", "snapshots", "fabric.svg"):
            path = folder / made
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return shown(case.words.split(), folder, case.code, color)

    check(case.name, look)


@pytest.fixture
def site(tiny: Site, tmp_path: Path) -> Site:
    """A fabric of emulated switches, with short names for everything in the current directory."""
    for name, path in (("fabric.yaml", tiny.generated.fabric), ("out", tiny.generated.artifacts)):
        (tmp_path / name).symlink_to(path)
    return tiny


@pytest.mark.long
@pytest.mark.parametrize("case", LOOKS, ids=lambda case: case.name)
def test_what_a_verb_shows_that_only_looks(site: Site, tmp_path: Path, shown: Shown, case: Case) -> None:
    def look(color: bool) -> list[str]:
        for made in ("collected", "runs"):
            shutil.rmtree(tmp_path / made, ignore_errors=True)
        return shown(case.words.split(), tmp_path, case.code, color)

    check(case.name, look)


def done(case: Case, folder: Path, shown: Shown, *given: object) -> None:
    """Do what cannot be done twice; `given` is put into the words."""
    once(case.name, shown(case.words.format(*given).split(), folder, case.code, True))


@pytest.mark.long
def test_what_a_push_and_its_rollback_show(site: Site, tmp_path: Path, shown: Shown) -> None:
    for case in PUSHES:
        done(case, tmp_path, shown)


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "device", "fault"),
    [(REFUSED, CANARY, Fault("error", "commit")), (ROLLED_BACK, LAST, Fault("session-down", "commit"))],
    ids=["refused", "rolled-back"],
)
def test_what_a_push_that_fails_shows(
    site: Site, tmp_path: Path, shown: Shown, case: Case, device: str, fault: Fault
) -> None:
    site.fleet.add_faults(device, fault)
    done(case, tmp_path, shown)


@pytest.mark.long
def test_what_confirming_shows(site: Site, tmp_path: Path, shown: Shown) -> None:
    killed(site, "verified")
    done(CONFIRM, tmp_path, shown)


@pytest.mark.long
def test_what_an_emulator_shows(folder: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AILB_PASSWORD", raising=False)
    try:
        for case in EMULATE:
            done(case, folder, shown, free_ports(8))
    finally:
        run("emulate", "--stop", str(folder / "emulated"))


@pytest.mark.long
def test_what_is_shown_with_batfish(folder: Path, shown: Shown) -> None:
    with FakeBatfish() as server:
        address = server.address
        done(BATFISH, folder, shown, address)
        made = (datetime.now(UTC) - timedelta(hours=3.5)).isoformat()
        server.networks["ailb-gen-000000000000"] = Network()
        server.networks["ailb-gen-111111111111"] = Network({"files": Kept({}, created=made)})
        server.networks["ailb-gen-222222222222"] = Network({"files": Kept({}, created=made)}, queued=[{"id": "1"}])
        done(BATFISH_CLEAN, folder, shown, address)
    done(NO_BATFISH, folder, shown, address)


@pytest.mark.long
def test_what_is_shown_with_an_inventory(folder: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOX_TOKEN", "nbt_tests.only")
    with empty_netbox() as url:
        done(INVENTORY_PUSH, folder, shown, url)
    with empty_netbox(sites=SITE, devices=SPINE, interfaces=PORT) as url:
        done(INVENTORY_PULL, folder, shown, url)


@pytest.mark.long
def test_what_checking_a_configuration_shows(folder: Path, shown: Shown) -> None:
    done(JUNOS_CHECK, folder, shown, need_shared(MODELS))


@pytest.mark.long
def test_what_a_schema_shows(folder: Path, shown: Shown) -> None:
    for color in (False, True):
        told = shown(SCHEMA.words.split(), folder, SCHEMA.code, color)
        assert told == (ROOT / "docs/what-if.schema.json").read_text().splitlines()


@pytest.mark.long
def test_what_the_verbs_of_a_lab_show(tmp_path: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    need_root()
    for tool in ("bird", "ip", "nft"):
        need_tool(tool)
    shutil.copytree(ROOT / "tests/golden/lab", tmp_path / "out", symlinks=True)
    text = (ROOT / "examples/lab/fabric.yaml").read_text()
    (tmp_path / "fabric.yaml").write_text(text)
    (tmp_path / "other.yaml").write_text(text.replace("65101-", "65111-"))
    try:
        for case in IN_LAB:
            once(case.name, shown(case.words.split(), tmp_path, case.code, True))
    finally:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        run("lab", "down")
