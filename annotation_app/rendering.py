"""An output as HTML: sanitised markdown, the same for all arms, without links or remote loads. Rendered once, at release."""

import unicodedata
from collections.abc import Iterable, Sequence

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

LARGEST = 100_000  # code points; beyond that a text is shown plain, for a page that stays quick
_TAGS = {
    "p", "br", "hr", "em", "strong", "del", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
# Each of these finds its own direction, as mixed texts need it.
_OWN_DIRECTION = {f"{name}_open" for name in ("paragraph", "heading", "list_item", "blockquote", "th", "td")}
_ATTRIBUTES = {"ol": {"start"}} | {
    tag: {"dir"} for tag in ("p", "h3", "h4", "h5", "h6", "li", "blockquote", "table", "th", "td")
}
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False, "linkify": False})
    .enable(["table", "strikethrough"])
    .disable(["image", "autolink"])
)


def rendered(text: str, presentation: str) -> str:
    """Return sanitised HTML, or "" where the text is to be shown plain. Headings start at level 3, below the page's own."""
    if presentation != "markdown" or len(text) > LARGEST:
        return ""
    tokens = _MARKDOWN.parse(text)
    for place, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        if token.type == "table_open":
            token.attrSet("dir", _direction_of_table(tokens[place:]))
        if token.type in _OWN_DIRECTION:
            token.attrSet("dir", "auto")
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, link_rel=None)


def direction_of(texts: Iterable[str]) -> str:
    """Return "rtl" where the first letter that has a direction runs from right to left, else "ltr"; as `dir="auto"`.

    A browser that finds it out itself looks again with every row that it reads of a large table.
    """
    for text in texts:
        for letter in text:
            kind = unicodedata.bidirectional(letter)
            if kind in ("L", "R", "AL"):
                return "ltr" if kind == "L" else "rtl"
    return "ltr"


def _direction_of_table(tokens: Sequence[Token]) -> str:
    return direction_of(token.content for token in tokens if token.type == "inline")
