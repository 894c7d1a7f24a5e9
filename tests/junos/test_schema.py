import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import OutputError, UsageError
from ailb_gen.junos import cache, yang, yang_files
from ailb_gen.junos.check import check
from ailb_gen.junos.reader import read
from ailb_gen.junos.schema import Schema, load_schema
from ailb_gen.junos.statements import Json
from ailb_gen.junos.values import Wrong, canonical, compile_type, posix
from ailb_gen.junos.yang_files import asked_directory, model_directory, model_files
from tests.conftest import need_shared
from tests.junos.models import schema

RELEASE_FOLDERS = ("common", "conf", "conf-with-extensions")

ROOT_MODEL = """
module junos-conf-root {
  namespace "urn:root"; prefix jc;
  container configuration {
    leaf version { type string; }
    list groups { key name; leaf name { type string; } }
  }
}
"""
MODEL = """
module junos-conf-things {
  namespace "urn:things"; prefix t;
  import junos-conf-root { prefix jc; }
  import junos-common-ddl-extensions { prefix junos; }
  augment /jc:configuration { uses things; }
  augment /jc:configuration/jc:groups { uses things; }
  grouping things {
    container things {
      list thing {
        key name;
        junos:cli-feature "nokeyword";
        leaf name { junos:cli-feature "nokeyword"; type string; }
        leaf size { type uint8 { range "1 .. 9"; } }
        leaf color {
          type enumeration { enum red { junos:must "(\\".. size\\")"; junos:must-message "red has a size"; } }
        }
        uses things;
      }
    }
  }
}
"""
EXTENSIONS = """
module junos-common-ddl-extensions {
  namespace "urn:ddl"; prefix junos;
  extension must { argument a; } extension must-message { argument a; } extension cli-feature { argument a; }
}
"""


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "yang"
    folder.mkdir()
    (folder / "junos-conf-root@2024-01-01.yang").write_text(ROOT_MODEL)
    (folder / "junos-conf-things@2024-01-01.yang").write_text(MODEL)
    (folder / "junos-common-ddl-extensions@2024-01-01.yang").write_text(EXTENSIONS)
    (folder / "README.md").write_text("not a model")
    return folder


def _cached(models: Path) -> list[Path]:
    return sorted((models.parent / "cache" / "ailb-gen").glob("junos-*.json"))


def _says(models: Path, text: str) -> list[str]:
    return [one.juniper or one.message for one in check(read(text), load_schema(models)).findings]


def test_a_schema_is_built_from_modules(models: Path) -> None:
    assert _says(models, "set things a size 3\nset things a color red\nset things a things b size 1\n") == []
    assert _says(models, "set things a color red\n") == ["red has a size"]
    assert _says(models, "set things a things b things c size 10\n") == ["10 is not within 1-9"]
    assert _says(models, "set groups g things a size 0\n") == ["0 is not within 1-9"]


def test_a_schema_is_built_once(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[tuple[str, int, int]] = []

    @contextmanager
    def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
        counts: list[int] = []
        yield counts.append
        reported.append((what, total, sum(counts)))

    load_schema(models, progress)
    [(_, total, done)] = reported
    assert total == done == len(ROOT_MODEL) + len(MODEL) + len(EXTENSIONS)
    assert len(_cached(models)) == 1
    monkeypatch.setattr(yang, "build", lambda *_: pytest.fail("built again"))
    assert list(load_schema(models, progress).root.words) == ["version", "groups", "things"]
    assert len(reported) == 1


def test_other_models_are_another_schema(models: Path) -> None:
    load_schema(models)
    (models / "junos-conf-things@2024-01-01.yang").write_text(MODEL.replace("1 .. 9", "1 .. 5"))
    assert _says(models, "set things a size 9\n") == ["9 is not within 1-5"]
    assert len(_cached(models)) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:40],
        lambda content: content + b" ",
        lambda content: content.replace(b"size", b"sise"),
        lambda content: b"\x80\x04]q\x00.",
        lambda content: content.replace(b"schema ", b"schema 9", 1),
    ],
)
def test_a_damaged_cache_is_built_again(models: Path, damage: Callable[[bytes], bytes]) -> None:
    load_schema(models)
    [path] = _cached(models)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert _says(models, "set things a size 3\n") == []
    assert path.read_bytes() == whole


def test_many_may_build_at_once(models: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made: list[Schema] = list(pool.map(lambda _: load_schema(models), range(8)))
    assert {tuple(one.root.words) for one in made} == {("version", "groups", "things")}
    [path] = _cached(models)
    assert cache.read(path) is not None
    assert {one.suffix for one in path.parent.iterdir()} == {".json", ".lock"}


def test_a_cache_that_cannot_be_written(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(models / "README.md"))
    with pytest.raises(OutputError, match="XDG_CACHE_HOME"):
        load_schema(models)


@given(st.binary(max_size=200))
def test_any_bytes_are_no_cache(content: bytes) -> None:
    assert cache.decode(content) is None


@given(st.lists(st.recursive(st.text() | st.integers() | st.none(), st.lists, max_leaves=10), max_size=5))
def test_blocks_come_back(blocks: list[object]) -> None:
    found = cache.decode(cache.encode(blocks))
    assert found is not None
    assert [found[number] for number in range(len(found))] == json.loads(json.dumps(blocks))


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("junos-conf-things@2024-01-01.yang", MODEL.replace("grouping things", "grouping other"), "incomplete"),
        ("junos-conf-things@2024-01-01.yang", MODEL[:-6], "not a YANG"),
        ("junos-conf-things@2024-01-01.yang", "", "not a YANG"),
        ("junos-conf-things@2024-01-01.yang", "{{{", "not a YANG"),
        ("junos-conf-things@2024-01-01.yang", "module x", "not a YANG"),
        ("junos-conf-things@2024-01-01.yang", MODEL.replace("key name;", ""), "list thing has no key"),
        ("junos-conf-things@2024-01-01.yang", MODEL.replace("type uint8", "type-uint8"), "leaf size has no type"),
        ("junos-conf-things@2024-01-01.yang", MODEL.replace("1 .. 9", "1 nine"), "'1 nine' is not a range"),
        ("junos-conf-things@2024-01-01.yang", MODEL.replace("prefix t;", ""), "junos-conf-things has no prefix"),
        (
            "junos-conf-things@2024-01-01.yang",
            MODEL.replace("container things {", "uses things; container x {"),
            "itself",
        ),
        ("junos-conf-root@2024-01-01.yang", ROOT_MODEL.replace("groups", "others"), "no list configuration groups"),
        ("junos-conf-root@2024-01-01.yang", ROOT_MODEL.replace("container", "list"), "no list configuration groups"),
    ],
)
def test_models_that_cannot_be_used(models: Path, name: str, text: str, reason: str) -> None:
    (models / name).write_text(text)
    with pytest.raises(UsageError, match=reason):
        load_schema(models)
    assert _cached(models) == []


def test_which_folder_holds_models(models: Path) -> None:
    assert model_directory(models) == models
    assert model_directory(models.parent) == models
    with pytest.raises(UsageError, match="no such directory"):
        model_directory(models / "nowhere")
    (models.parent / "empty").mkdir()
    with pytest.raises(UsageError, match="clone https://github"):
        model_directory(models.parent / "empty")
    (models.parent / "second").mkdir()
    (models.parent / "second" / "junos-qfx-conf-root@2024-01-01.yang").write_text(ROOT_MODEL)
    with pytest.raises(UsageError, match="2 directories below it have models"):
        model_directory(models.parent)


def test_a_whole_disk_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yang_files, "MAX_FOLDERS", 3)
    for name in "abcd":
        (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match="more than 3 directories in it"):
        model_directory(tmp_path)


def test_folders_of_a_published_release(tmp_path: Path) -> None:
    yang = need_shared("yang/24.4R1-EVO")
    release = tmp_path / "24.4" / "24.4R1-EVO"
    folders = {name: release / "native" / "conf-and-rpcs" / name / "models" for name in RELEASE_FOLDERS}
    for folder in folders.values():
        folder.mkdir(parents=True)
    for path in yang.glob("*.yang"):
        kinds = ("common",) if path.name.startswith("junos-common") else ("conf", "conf-with-extensions")
        for kind in kinds:
            (folders[kind] / path.name).symlink_to(path)
    found = model_directory(release)
    assert found == folders["conf-with-extensions"]
    assert [(path.name, text) for path, text in model_files(found)] == [
        (path.name, text) for path, text in model_files(yang)
    ]
    assert model_directory(folders["conf"]) == folders["conf"]


def test_who_names_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AILB_YANG", raising=False)
    with pytest.raises(UsageError, match="AILB_YANG"):
        asked_directory(None)
    monkeypatch.setenv("AILB_YANG", "/a")
    assert asked_directory(None) == Path("/a")
    assert asked_directory(Path("/b")) == Path("/b")


def test_the_shared_models() -> None:
    root = schema().root
    assert {"interfaces", "protocols", "vlans", "system", "groups", "version"} <= root.words.keys()
    [interface] = root.words["interfaces"].bare
    assert [key.name for key in interface.keys] == ["name"]
    assert interface.words["unit"].words["family"].words["inet6"].words["address"].keys[0].is_address
    route_filter = root.words["policy-options"].words["policy-statement"].words["from"].words["route-filter"]
    assert [key.name for key in route_filter.keys] == ["address", "choice-ident", "choice-value"]


@pytest.mark.parametrize(
    ("made", "good", "bad"),
    [
        (["uint8"], ["0", "255", "0x1f", "+7"], ["256", "-1", "x", "", "1.5", "٣", "9" * 5000]),
        (["int8"], ["-128", "127"], ["-129", "128"]),
        (["uint32", "1 .. 5 | 9"], ["1", "5", "9"], ["0", "6", "8", "10"]),
        (["uint16", "min .. 5 | 100 .. max"], ["0", "5", "65535"], ["6", "99", "65536"]),
        (["decimal64", "0.001 .. 20"], ["0.001", "20", "7"], ["0", "20.1", "x", "1e3"]),
        (["boolean"], ["true", "false"], ["yes"]),
        (["enumeration", ["a", "b"], {}], ["a", "b"], ["c", "A", ""]),
        (["string", "1 .. 3", []], ["a", "abc"], ["", "abcd"]),
        (["string", "4", []], ["abcd"], ["abc"]),
        (["string", "", [["posix", "![/ %]", "m"]]], ["abc"], ["a/b", "a b", "%"]),
        (["string", "", [["posix", "^[[:xdigit:]]+$", "m"]]], ["09af"], ["xyz", "af\n", ""]),
        (["string", "", [["posix", "!^((__.*)|(.{5,}))$", "m"]]], ["abcd", "_a"], ["__a", "abcde"]),
        (["string", "", [["xsd", "[a-z]+", "m"]]], ["abc"], ["abc1"]),
        (["union", [["wildcard"], ["uint8"], ["enumeration", ["auto"], {}]]], ["7", "auto"], ["<*>", "256"]),
        (["junos", "ipv4addr"], ["10.0.0.1"], ["10.0.0", "fc00::1", "10.0.0.256"]),
        (["junos", "ipv6addr"], ["fc00::1", "::", "fe80::1%et-0/0/0.0"], ["10.0.0.1", "fc00::1::2"]),
        (["junos", "ipaddr"], ["fc00::1", "10.0.0.1", "ntp.example.net"], ["10.0.0.256", "fc00::zz", "1.2.3"]),
        (["junos", "ipv6prefix"], ["fc00::/64", "fc00::1"], ["fc00::/129", "fc00::/", "fc00::/x", "10.0.0.0/8"]),
        (["junos", "ipprefix-mandatory"], ["10.0.0.1/8"], ["10.0.0.1"]),
        (["junos", "ipprefix-only"], ["10.0.0.0/8", "10/8", "fc00::1/16", "10.0.0.1"], ["/8", "10.0.0.1/33"]),
        (["junos", "mac-addr"], ["a0:88:c2:3b:50:66"], ["a0:88:c2:3b:50", "xx:88:c2:3b:50:66"]),
        (["junos", "areaid"], ["0", "0.0.0.0"], ["x", "0.0"]),
    ],
)
def test_types(made: list[object], good: list[str], bad: list[str]) -> None:
    fits = compile_type(made, lambda pattern, reason: pytest.fail(f"{pattern}: {reason}"))
    assert fits is not None
    assert [word for word in good if fits(word) is not None] == []
    assert [word for word in bad if fits(word) is None] == []


def test_a_pattern_that_cannot_be_compiled_is_reported() -> None:
    reported: list[str] = []
    assert compile_type(["string", "", [["posix", "(", "m"]]], lambda pattern, reason: reported.append(pattern)) is None
    assert reported == ["("]


def test_posix_brackets() -> None:
    assert posix(r"^[\.]$") == r"^[\\.]\z"
    assert posix("[]a]") == r"[\]a]"
    assert posix("[^[:alnum:]_-]") == "[^a-zA-Z0-9_-]"
    assert posix(r"a\.b") == r"a\.b"


def test_every_pattern_of_the_models_compiles() -> None:
    models = schema()
    reported: list[str] = []
    for number in range(models.blocks):
        stack = [models.block(number)]
        while stack:
            one = stack.pop()
            if isinstance(one, list):
                if len(one) == 3 and one[0] == "string":
                    compile_type(one, lambda pattern, reason: reported.append(pattern))
                stack += one
    assert set(reported) == set()


def test_one_address_has_one_form() -> None:
    assert canonical("fc00::1/64") == canonical("FC00:0:0::1/64") != canonical("fc00::1/65")
    assert canonical("x") == "x"


def test_a_word_is_judged_once_for_all_leaves_of_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []

    def compiled(made: Json, unreadable: Callable[[str, str], object]) -> Callable[[str], Wrong | None]:
        def fits(word: str) -> Wrong | None:
            judged.append(word)
            check = compile_type(made, unreadable)
            return check(word) if check is not None else None

        return fits

    monkeypatch.setattr("ailb_gen.junos.schema.compile_type", compiled)
    found = Schema([[]], "")
    for word in ("7", "70", "7", "70"):
        fits, _ = found.type_check(["uint8", "1 .. 9"])
        assert fits is not None
        assert (fits(word) is None) == (word == "7")
    assert judged == ["7", "70"]
