"""`ailb-gen init --example`."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen.design.build import build
from ailb_gen.intent.load import load
from ailb_gen.shipped import shipped_examples
from tests.cli.verbs import refused
from tests.conftest import EXAMPLES, ROOT, Cli

# Of several fabrics.
CLUSTERS = sorted(path.parent.name for path in EXAMPLES.glob("*/cluster.yaml"))
FABRICS = sorted(path.parent.name for path in EXAMPLES.glob("*/fabric.yaml"))


def test_every_example_that_is_a_fabric_or_a_cluster_is_known() -> None:
    assert list(shipped_examples()) == sorted([*FABRICS, *CLUSTERS])


@pytest.mark.parametrize("name", CLUSTERS)
def test_an_example_of_several_fabrics_is_copied(cli: Cli, tmp_path: Path, name: str) -> None:
    code, out, err = cli("init", "mine", "--example", name)
    assert (code, err) == (0, "")
    schemas = ["fabric.schema.json", "cluster.schema.json"]
    copied = sorted(path.name for path in (tmp_path / "mine").iterdir())
    assert copied == sorted([*(path.name for path in (EXAMPLES / name).iterdir() if path.is_file()), *schemas])
    assert out == f"mine: {len(copied)} files written; next: ailb-gen generate mine/cluster.yaml -o build/{name}\n"
    for schema in schemas:
        assert (tmp_path / "mine" / schema).read_bytes() == (ROOT / "docs" / schema).read_bytes()
        assert any(f"$schema={schema}\n" in path.read_text() for path in (tmp_path / "mine").glob("*.yaml"))
    assert cli("generate", "mine/cluster.yaml", "-o", "out")[0] == 0


@pytest.mark.parametrize("name", FABRICS)
def test_an_example_is_copied_as_the_fabric_that_it_is(cli: Cli, tmp_path: Path, name: str) -> None:
    code, out, err = cli("init", "--example", name)
    assert (code, err) == (0, "")
    copied = sorted(path.name for path in (tmp_path / name).iterdir())
    assert copied == sorted(
        [*(path.name for path in (EXAMPLES / name).iterdir() if path.is_file()), "fabric.schema.json"]
    )
    assert out == f"{name}: {len(copied)} files written; next: ailb-gen generate {name}/fabric.yaml -o build/{name}\n"
    ours, theirs = (build(load(path / name / "fabric.yaml"))[0] for path in (tmp_path, EXAMPLES))
    # The digest is that of the bytes, which name another schema file.
    assert replace(ours, digest="") == replace(theirs, digest="")


def test_a_copy_refers_to_its_own_files(cli: Cli, tmp_path: Path) -> None:
    assert cli("init", "pods/mine", "--example", "lab")[0] == 0
    mine = tmp_path / "pods/mine"
    assert (mine / "fabric.yaml").read_text().startswith("# yaml-language-server: $schema=fabric.schema.json\n")
    assert (mine / "fabric.schema.json").read_bytes() == (ROOT / "docs/fabric.schema.json").read_bytes()
    assert "ailb-gen generate pods/mine/fabric.yaml" in (mine / "README.md").read_text()
    assert os.access(mine / "demo.sh", os.X_OK)
    assert not os.access(mine / "fabric.yaml", os.X_OK)


def test_a_directory_with_blanks_is_quoted_in_commands(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("init", "my pod/x", "--example", "lab")
    assert code == 0
    assert out.endswith("next: ailb-gen generate 'my pod/x/fabric.yaml' -o build/lab\n")
    assert "ailb-gen generate 'my pod/x'/fabric.yaml" in (tmp_path / "my pod/x/README.md").read_text()


def test_nothing_is_overwritten(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "jvd").mkdir()
    refused(cli("init", "--example", "jvd"), "jvd: exists already", "ailb-gen init DIRECTORY --example jvd")
    refused(cli("init", "--example", "jvd", "--force"), "copied as it is")
    refused(cli("init", "--example", "lab", "--spines", "8"), "copied as it is")
    assert [path.name for path in tmp_path.iterdir()] == ["jvd"]
    assert not list((tmp_path / "jvd").iterdir())


def test_an_unknown_name_lists_all(cli: Cli) -> None:
    known = "known: brownfield, frontier, jvd, jvd-8-uplinks, lab"
    refused(cli("init", "--example", "jdv"), f"no example is called 'jdv'; did you mean 'jvd'? {known}")
    refused(cli("init", "--example", "../lab"), known)


def test_a_directory_that_cannot_be_made(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, _, err = cli("init", "file/jvd", "--example", "jvd")
    assert (code, "file/jvd: cannot make the directory" in err) == (3, True)
