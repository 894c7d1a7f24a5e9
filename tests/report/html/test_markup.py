"""Markdown of studies as HTML: what it means, and that text stays text."""

from __future__ import annotations

import pytest

from ailb_gen.report.html.markup import inline, prose


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "plain"),
        ("set `a<b` & go", "set <code>a&lt;b</code> &amp; go"),
        ("a `<b>` *soft* and **strong**", "a <code>&lt;b&gt;</code> <em>soft</em> and <strong>strong</strong>"),
        ("**all `code`**", "<strong>all <code>code</code></strong>"),
        ("`a*b*c`", "<code>a*b*c</code>"),
        ("[text](https://example.net/x)", '<a href="https://example.net/x">text</a>'),
        ("[file](other.md) <script>", "file &lt;script&gt;"),
        ("[x](javascript:alert)", "x"),
    ],
)
def test_a_line(text: str, html: str) -> None:
    assert inline(text) == html


def test_blocks() -> None:
    text = """
## Heading
Text over
two lines.

- first, with
  a second line
- *second*

| a | b \\| c | |
|---|---|---:|
| 1 | `2` | 3 |
"""
    assert prose(text) == (
        "<h3>Heading</h3><p>Text over two lines.</p>"
        "<ul><li>first, with a second line</li><li><em>second</em></li></ul>"
        '<table><thead><tr><th scope="col">a</th><th scope="col">b | c</th><td></td></tr></thead>'
        "<tbody><tr><td>1</td><td><code>2</code></td><td>3</td></tr></tbody></table>"
    )
    assert prose("") == ""
