"""Slugs: what NetBox takes, and no two fabrics share."""

import re

import pytest

from ailb_gen.sot.netbox_fields import slug, tag_slug


@pytest.mark.parametrize(("name", "expected"), [("Hall 2", "hall-2"), ("RFC 6996", "rfc-6996"), ("a.b", "a-b")])
def test_slugs_are_those_of_forms(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_a_name_without_ascii_letters_has_a_slug() -> None:
    assert re.fullmatch("[0-9a-f]{8}", slug("東京"))
    assert slug("東京") != slug("京都")


def test_names_that_differ_have_different_tags() -> None:
    names = ["ailb-gen-lab-1", "ailb-gen-lab.1", "ailb-gen-Lab-1", "ailb-gen-" + "x" * 200]
    slugs = [tag_slug(name) for name in names]
    assert slugs[0] == names[0]
    assert len(set(slugs)) == len(names)
    assert all(re.fullmatch("[-a-z0-9_]{1,100}", one) for one in slugs)
