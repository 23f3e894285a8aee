"""What is ours in a prompt and what is data: the marks, and how text is kept from making them. Pure.

    <memory page="experience" step="3 page" source="#build">
    | every line of the page
    </memory>

A mark stands at the beginning of a line, a page's line never does, and what looks like a mark within a text loses its
bracket: in any case, width or spacing, and with invisible characters in between. Tokens that models are trained to
take for the frame of a chat (`<|im_start|>`) are broken by a blank, because some servers read them in content.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from memory_core.text import LINE_BREAK, one_line

MEMORY = "memory"
RULES = "group-rules"
LABEL_CHARACTERS = 80
"""How much of a name, a title or a page is told."""

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_HIDDEN = "[\\s/\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufe0e\ufe0f\ufeff]*"
_OPENING = "[<\uff1c\ufe64\u2039\u27e8\u3008\u276e\u02c2]"
_FRAME = re.compile(f"({_OPENING})(?=[\\s\u200b-\u200f\u2060]*[|\uff5c])")
_LABEL = str.maketrans(
    {
        "[": "(",
        "]": ")",
        "<": "(",
        ">": ")",
        "\uff1c": "(",
        "\uff1e": ")",
        ":": "\u00b7",
        '"': "'",
        "\uff1a": "\u00b7",
    }
)


def _spelt(word: str) -> str:
    """A pattern for `word` in any case and width, with invisible characters in between."""
    letters = (
        f"[{re.escape(char)}{char.upper() if char.isalpha() else ''}{_wide(char)}{_wide(char.upper())}]"
        for char in word
    )
    return _HIDDEN.join(letters)


def _wide(char: str) -> str:
    return chr(ord(char) + 0xFEE0)


_MARK = re.compile(f"{_OPENING}(?={_HIDDEN}(?:{'|'.join(map(_spelt, (MEMORY, RULES)))}))")


def data(text: str) -> str:
    """A text of others, one kind of line end, without control characters and without anything that acts as a mark."""
    lines = (_CONTROLS.sub(" ", line) for line in LINE_BREAK.split(text))
    return _FRAME.sub(r"\1 ", _MARK.sub("(", "\n".join(lines)))


def indented(text: str) -> str:
    """The lines of a text behind its first, moved in: none of them can be taken for another message."""
    return text.replace("\n", "\n  ")


def label(text: str, limit: int = LABEL_CHARACTERS) -> str:
    """A name, a title or a page on one line, without the characters that our lines are made of."""
    return data(one_line(text, limit)).translate(_LABEL)


def block(mark: str, text: str, attributes: Mapping[str, str]) -> str:
    """A text between marks, each of its lines behind `| `."""
    told = " ".join([mark, *(f'{name}="{label(value)}"' for name, value in attributes.items())])
    lines = "\n".join(f"| {line}".rstrip() for line in data(text).rstrip("\n").split("\n"))
    return f"<{told}>\n{lines}\n</{mark}>"
