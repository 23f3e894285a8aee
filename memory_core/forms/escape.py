"""Text from people on disk: it may look like anything, and must never act as anything.

Our pages give a meaning to a few forms only, all of them at the start of a line or in a comment:

    #…             a heading                    - …  * …  + …   a field, a bullet
    ``` and ~~~    a fence                      ~~…             a struck (superseded) line
    […]            a date or [PROVEN]           | …             a table row
    > …            a quotation                  --- and ===     a rule or an underlined heading
    2026-…         a date                       <!-- … -->      a mark of ours, anywhere in a line

`escape` puts ONE backslash in front of such a form, after the backslashes that stand there already; `unescape` takes
one away. So `unescape(escape(text)) == text` for every text, and nothing that went through `escape` is a heading,
field, fence or comment of ours. What a text is cleaned of before it is kept at all: memory_core.text.
"""

from __future__ import annotations

import re

_ACTIVE = r"(?=#|```|~~|[-*+](?:[ \t]|$)|>|\||\[|---|===|\d{4}[-/.]\d)"
_START = re.compile(rf"^([ \t]*\\*){_ACTIVE}", re.MULTILINE)
_ESCAPED_START = re.compile(rf"^([ \t]*\\*)\\{_ACTIVE}", re.MULTILINE)
_OPEN = re.compile(r"<(\\*)!--")
_ESCAPED_OPEN = re.compile(r"<(\\*)\\!--")
_CLOSE = re.compile(r"--(\\*)>")
_ESCAPED_CLOSE = re.compile(r"--(\\*)\\>")


def escape(text: str) -> str:
    """`text` with every form that our pages give a meaning to made harmless; reversible by `unescape`."""
    if "\n" in text or not text[:1].isalpha():  # no active form begins with a letter
        text = _START.sub(r"\1\\", text)
    return escape_comment(text)


def unescape(text: str) -> str:
    """The text that `escape` was given."""
    return _ESCAPED_START.sub(r"\1", unescape_comment(text)) if "\\" in text else text


def escape_comment(text: str) -> str:
    """Only the comment marks made harmless: for values that never stand at the start of a line."""
    return _CLOSE.sub(r"--\1\\>", _OPEN.sub(r"<\1\\!--", text)) if "--" in text else text


def unescape_comment(text: str) -> str:
    """The text that `escape_comment` was given."""
    return _ESCAPED_OPEN.sub(r"<\1!--", _ESCAPED_CLOSE.sub(r"--\1>", text)) if "\\" in text else text
