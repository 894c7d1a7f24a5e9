"""Templates: a user's go first, and every failure names template, line and device."""

import shutil
from pathlib import Path

import pytest

from ailb_gen.errors import TemplateError
from ailb_gen.render import budget
from ailb_gen.render.artifacts import RenderOptions, render
from ailb_gen.render.environment import Templates, members, quoted, systemd_name
from ailb_gen.shipped import shipped_templates
from tests.conftest import SMALL, design_of


def user_template(folder: Path, name: str, text: str) -> RenderOptions:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return RenderOptions(templates=folder)


def test_a_users_template_goes_before_the_shipped_one(tmp_path: Path) -> None:
    options = user_template(tmp_path, "junos/_lldp.j2", "    lldp {\n        interface all;\n    }\n")
    text = render(design_of(SMALL), options)["switches/spine1.conf"].content.decode()
    assert "port-id-subtype" not in text
    assert "    lldp {\n        interface all;\n    }\n" in text
    assert "group fabric-green" in text


def test_unbalanced_user_templates_are_told(tmp_path: Path) -> None:
    options = user_template(tmp_path, "junos/_lldp.j2", "    lldp {\n")
    with pytest.raises(TemplateError, match="stripe1-leaf1:"):
        render(design_of(SMALL), options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ device.nmae }}\n", r"_lldp\.j2:1: .*no attribute 'nmae'.*\(while rendering stripe1-leaf1\)"),
        ("\n{% if %}\n", r"_lldp\.j2:2: "),
        ("a\n{{ 1 / 0 }}\n", r"_lldp\.j2:2: .*division by zero"),
        ("{% include 'junos/_none.j2' %}\n", r"template junos/_none\.j2 is missing"),
        ("{{ [].pop() }}\n", r"_lldp\.j2:1: access to attribute 'pop' of 'list' object is unsafe"),
        ("{% include 'junos/_lldp.j2' %}\n", "recursion"),
        ("{{ cycler() }}\n", r"_lldp\.j2:1: "),
        ("{{ '\\ud800' }}\n", "surrogates not allowed"),
    ],
)
def test_failures_name_template_and_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        render(design_of(SMALL), user_template(tmp_path, "junos/_lldp.j2", text))


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ design.__class__.__init__.__globals__ }}",
        "{{ (design | attr('__class__')).__mro__ }}",
        "{{ design['__class__']['__mro__'] }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ self._TemplateReference__context }}",
        "{{ '{0.__class__.__mro__}'.format(design) }}",
        "{{ '%s' | format(lipsum.__globals__) }}",
        "{{ settings.__setattr__('x', 1) }}",
        "{% set x = [1] %}{{ x.append(2) }}",
        "{% include '../../../../../../etc/hostname' %}",
        "{% include '/etc/hostname' %}",
    ],
)
def test_templates_do_not_leave_the_sandbox(tmp_path: Path, text: str) -> None:
    with pytest.raises(TemplateError):
        render(design_of(SMALL), user_template(tmp_path, "junos/_lldp.j2", text))


def test_in_the_sandbox_the_same_is_rendered(tmp_path: Path) -> None:
    shutil.copytree(shipped_templates() / "host", tmp_path / "mine" / "host")
    design = design_of(SMALL)
    assert render(design, RenderOptions(templates=tmp_path / "mine")) == render(design, RenderOptions())


def test_the_template_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="--templates must name a directory"):
        Templates(tmp_path / "nowhere")


def test_where_memory_has_no_limit_users_templates_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "junos").mkdir()
    (tmp_path / "junos/leaf.conf.j2").write_text("", encoding="utf-8")
    monkeypatch.setattr(budget, "MEMORY", tmp_path / "absent")
    with pytest.raises(TemplateError, match="needs Linux"):
        Templates(tmp_path)
    Templates()


def test_filters() -> None:
    assert members(("1",)) == "1"
    assert members(("1", "2-3")) == "[ 1 2-3 ]"
    assert quoted("facing_spine1:et-0/0/0:0") == "facing_spine1:et-0/0/0:0"
    assert [quoted(text) for text in ("spare link", "delete:", "*")] == ['"spare link"', '"delete:"', '"*"']
    assert systemd_name("gpu-0") == "gpu\\x2d0"
