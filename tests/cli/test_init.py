"""`ailb-gen init` and `ailb-gen schema`."""

from pathlib import Path

import pytest

from ailb_gen.design.build import build
from ailb_gen.intent.load import load
from tests.cli.verbs import at_terminal, refused
from tests.conftest import ROOT, Cli


def test_schema_is_json(cli: Cli) -> None:
    code, out, _ = cli("schema")
    assert code == 0
    assert out == (ROOT / "docs" / "fabric.schema.json").read_text(encoding="utf-8")


def test_init_writes_a_file_that_generates(cli: Cli, tmp_path: Path) -> None:
    code, out, err = cli("init", "new/fabric.yaml", "--name", "pod7", "--spines", "6", "--servers", "8", "--links", "4")
    assert (code, err) == (0, "")
    files = "new/fabric.yaml, new/fabric.schema.json, new/ailb.toml"
    assert out == f"{files}: written; next: cd new && ailb-gen generate\n"
    assert cli("generate", cwd=tmp_path / "new")[0] == 0
    assert (tmp_path / "new" / "generated" / "manifest.json").exists()
    design, warnings = build(load(tmp_path / "new" / "fabric.yaml"))
    assert (design.name, len(design.spines), len(design.colors), len(design.servers)) == ("pod7", 6, 24, 16)
    assert not warnings
    refused(cli("init", "new/fabric.yaml"), "--force overwrites it")
    assert cli("init", "new/fabric.yaml", "--force")[0] == 0


def test_init_writes_the_schema_that_the_file_refers_to(cli: Cli, tmp_path: Path) -> None:
    assert cli("init")[1].endswith(": written; next: ailb-gen generate\n")
    first = (tmp_path / "fabric.yaml").read_text().splitlines()[0]
    schema = tmp_path / first.partition("$schema=")[2]
    assert schema.read_text() == (ROOT / "docs" / "fabric.schema.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["ailb.toml", "pyproject.toml"])
def test_init_leaves_a_project_and_a_schema_as_they_are(cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[tool.ailb]\n" if name != "ailb.toml" else "")
    (tmp_path / "fabric.schema.json").write_text("mine")
    assert cli("init")[1] == "fabric.yaml: written; next: ailb-gen generate fabric.yaml -o generated\n"
    assert (tmp_path / "fabric.schema.json").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {name, "fabric.yaml", "fabric.schema.json"}
    assert cli("init", "--force")[0] == 0
    assert (tmp_path / "fabric.schema.json").read_text() != "mine"


@pytest.mark.parametrize(
    "words",
    [
        ("--platform", "generic", "--spines", "20"),
        ("--stripes", "16"),
        ("--spines", "32", "--stripes", "8"),
        ("--platform", "qfx5130-32cd", "--spines", "16", "--stripes", "4", "--servers", "16"),
    ],
)
def test_init_lays_out_ports_that_fit(cli: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    code, _, err = cli("init", *words)
    assert (code, err) == (0, "")
    build(load(tmp_path / "fabric.yaml"))


@pytest.mark.parametrize("name", ['a"b', "x # y", "a\\b", "null", "[a]"])
def test_init_quotes_what_it_is_told(cli: Cli, tmp_path: Path, name: str) -> None:
    code, _, err = cli("init", "--name", name)
    assert (code == 0) == (name == "null"), err
    assert (tmp_path / "fabric.yaml").exists() == (name == "null")
    assert name == "null" or "is not a usable name" in err


def test_init_writes_nothing_unusable(cli: Cli, tmp_path: Path) -> None:
    refused(cli("init", "--name", "bad name", "--pool", "10.0.0.0/8"), "bad name", "IPv6")
    assert not (tmp_path / "fabric.yaml").exists()


@pytest.mark.parametrize(
    ("pool", "fields"),
    [
        ("fc00::/16", ""),
        ("fd12:3456:789a::/48", ', stripe: "48-55", leaf: "56-59", uplink: "60-63"'),
        ("fd12:3456:789a:8000::/50", ', stripe: "50-55", leaf: "56-59", uplink: "60-63"'),
    ],
)
def test_init_lays_out_the_address_plan_of_a_longer_pool(cli: Cli, tmp_path: Path, pool: str, fields: str) -> None:
    assert cli("init", "--pool", pool, "--stripes", "6")[0] == 0
    assert f'addressing: {{pool: "{pool}"{fields}}}\n' in (tmp_path / "fabric.yaml").read_text()
    build(load(tmp_path / "fabric.yaml"))


def test_init_names_no_line_of_a_file_that_it_does_not_write(cli: Cli) -> None:
    start = "fabric.yaml (not written): error[bad-plan]: addressing.pool: a /60 leaves 4 bits"
    refused(cli("init", "--pool", "fd12::/60"), start)


def test_init_asks_on_a_terminal(tmp_path: Path) -> None:
    seen = at_terminal(tmp_path, "init", "--rails", "2", answers="asked\n" + "\n" * 6)
    assert "Name of the fabric" in seen
    assert "Rails" not in seen
    assert load(tmp_path / "fabric.yaml").fabric.name == "asked"


def test_init_refuses_an_answer_before_it_asks_the_next(tmp_path: Path) -> None:
    answers = "bad name\nfine\nqfx9999\ngeneric\n0\n" + "\n" * 9
    seen = at_terminal(tmp_path, "init", answers=answers)
    places = [
        seen.index(text) for text in ("'bad name' is not a usable name", "Platform [", "'qfx9999'", "between 1 and")
    ]
    assert places == sorted(places)
    fabric = load(tmp_path / "fabric.yaml").fabric
    assert (fabric.name, fabric.platform.leaf, len(fabric.stripes)) == ("fine", "generic", 2)
