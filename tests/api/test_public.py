"""The public names of the library, and their signatures: whoever changes one changes this list, and the changelog."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys

import pytest

import ailb_gen
from tests.conftest import ROOT

NAMES = sorted(set(ailb_gen.__all__) - {"__version__"})


def _signature(name: str) -> str:
    value = getattr(ailb_gen, name)
    if isinstance(value, type):
        members = sorted(key for key, item in vars(value).items() if not key.startswith("_") and _is_public(item))
        return f"{name}: {', '.join(members)}"
    return re.sub(r"<(?:function )?(\S+)(?: object)? at 0x\w+>", r"\1", f"{name}{inspect.signature(value)}")


def _is_public(item: object) -> bool:
    return callable(item) or isinstance(item, property) or inspect.isdatadescriptor(item)


def test_names_and_signatures_are_those_on_record() -> None:
    text = "\n".join(map(_signature, NAMES)) + "\n"
    record = ROOT / "tests" / "api" / "public.txt"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        record.write_text(text, encoding="utf-8")
    assert text == record.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_docstring(name: str) -> None:
    assert (getattr(ailb_gen, name).__doc__ or "").strip()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'genrate'"):
        ailb_gen.genrate  # noqa: B018


def test_names_are_listed() -> None:
    assert dir(ailb_gen) == sorted(ailb_gen.__all__)


def test_importing_it_brings_nothing_slow() -> None:
    words = "import sys, ailb_gen; print(sorted({name.split('.')[0] for name in sys.modules} & {'pydantic', 'jinja2'}))"
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
