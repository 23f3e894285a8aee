"""Markdown → Slack's mrkdwn, in pieces that Slack takes: pure.

    **bold** __bold__   *bold*          [label](url)   <url|label>        - item    • item
    *italic* _italic_   _italic_        <https://x>    <https://x>        # Title   *Title*
    ~~gone~~            ~gone~          > quote        > quote            a table   a code block with even columns
    https://x           <https://x>

`&`, `<` and `>` are escaped exactly once, also in code, so that nothing an answer quotes becomes a link or a ping:
only the links above are written with `<`. Pieces are cut as Markdown and rendered each for itself.

Limits: https://docs.slack.dev/changelog/2018-truncating-really-long-messages (4,000 characters are safe),
https://docs.slack.dev/reference/block-kit/blocks/section-block (3,000 a section).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adapters.marks import opening
from adapters.messages import Button
from adapters.text import SMALLEST_LIMIT, split

PIECE_CHARACTERS = 3900
"""The most that one message of ours holds, escapes counted."""

SECTION_CHARACTERS = 3000
"""The most that a section block holds: the limit of a message with buttons."""

LABEL_CHARACTERS = 75
"""The most that a button shows."""

_COLUMN_CHARACTERS = 40
"""A column is padded up to here: one long cell must not blow up every row of its table."""

_AFTER_URL = ".,;:!?)]}'\"…"
"""What follows an address in a sentence and is no part of it."""

_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<title>.*)$")
_BULLET = re.compile(r"(?P<indent>[ \t]*)[-*+][ \t]+")
_RULE = re.compile(r"[ ]{0,3}(?:(?:-[ ]*){3,}|(?:\*[ ]*){3,}|(?:_[ ]*){3,})$")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_DASHES = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$")
_INLINE = re.compile(
    r"(?<!`)(?P<ticks>`++)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>[^\[\]\n]*)\]\("
    r"(?P<target>(?:https?://|mailto:)[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:[ ]+\"[^\"\n]*\")?\)"
    r"|<(?P<auto>(?:https?://|mailto:)[^\s<>]+)>"
    r"|(?P<url>https?://[^\s<>*`]+)"
    r"|\*\*\*(?P<both>(?=\S).+?(?<=\S))\*\*\*"
    r"|\*\*(?P<bold>(?=\S).+?(?<=\S))\*\*(?!\*)"
    r"|(?<!\w)__(?P<strong>(?=\S).+?(?<=\S))__(?!\w)"
    r"|~~(?P<gone>(?=\S).+?(?<=\S))~~"
    r"|(?<![\w*])\*(?P<italic>(?=[^\s*]).+?(?<=[^\s*]))\*(?![\w*])"
    r"|\\(?P<literal>[\\`*_{}\[\]()#+.!~|>-])"
)


def pieces(markdown: str, limit: int = PIECE_CHARACTERS) -> tuple[str, ...]:
    """`markdown` as mrkdwn messages of at most `limit` characters each, none blank."""
    return tuple(_pieces(markdown, limit, limit))


def _pieces(markdown: str, limit: int, cut_at: int) -> Iterator[str]:
    """What grew over `limit` by its escapes is cut again, finer."""
    for piece in split(markdown, max(cut_at, SMALLEST_LIMIT)):
        text = mrkdwn(piece)
        if len(text) <= limit or len(piece) <= SMALLEST_LIMIT:
            yield text
        else:
            yield from _pieces(piece, limit, min(len(piece) * limit // len(text), len(piece) - 1))


def escaped(text: str) -> str:
    """`text` so that Slack shows it as typed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mrkdwn(markdown: str) -> str:
    """One piece of Markdown in Slack's form."""
    return "\n".join(_lines(markdown.replace("\r\n", "\n").split("\n")))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    number = 0
    while number < len(lines):
        line = lines[number]
        opened = opening(line, 8000)
        if opened is not None:
            fence, lead = opened[0], "> " if ">" in opened[0].lead else ""
            yield f"{lead}```"
            number += 1
            while number < len(lines) and (tail := fence.tail_of(lines[number])) is None:
                yield lead + escaped(_QUOTE.sub("", lines[number], count=1) if lead else lines[number])
                number += 1
            yield f"{lead}```"
            if number < len(lines) and tail:
                yield _line(tail)
        elif _ROW.match(line) and number + 1 < len(lines) and _ROW.match(lines[number + 1]):
            end = number
            while end < len(lines) and _ROW.match(lines[end]):
                end += 1
            yield from _table(lines[number:end])
            number = end - 1
        else:
            yield _line(line)
        number += 1


def _line(line: str) -> str:
    """A line outside code: its mark, then its text."""
    quote = _QUOTE.match(line)
    if quote:
        return (
            f"> {_line(line[quote.end() :])}"
            if not _QUOTE.match(line[quote.end() :])
            else "> " + escaped(line[quote.end() :])
        )
    heading = _HEADING.match(line)
    if heading and (title := _inline(heading["title"].rstrip().rstrip("#")).replace("*", "").strip()):
        return f"*{title}*"
    if _RULE.match(line):
        return "———"
    bullet = _BULLET.match(line)
    return f"{bullet['indent']}• {_inline(line[bullet.end() :])}" if bullet else _inline(line)


def _inline(text: str) -> str:
    """Text within a line; what is no formatting is escaped."""
    out, done = [], 0
    for found in _INLINE.finditer(text):
        out.append(escaped(text[done : found.start()]))
        out.append(_formatted(found))
        done = found.end()
    return "".join([*out, escaped(text[done:])])


def _formatted(found: re.Match[str]) -> str:
    if (code := found["code"]) is not None:
        return f"`{escaped(code.strip() or code)}`" if "`" not in code else escaped(found[0])
    if (target := found["target"] or found["auto"]) is not None:
        address = escaped(target).replace("|", "%7C")
        label = escaped(re.sub(r"[*`|]+", "", found["label"] or "")).strip()
        return f"<{address}|{label}>" if label else f"<{address}>"
    if (url := found["url"]) is not None:  # an edit finds no links by itself
        address = _address(url)
        return f"<{escaped(address).replace('|', '%7C')}>{escaped(url[len(address) :])}"
    if found["literal"] is not None:
        return escaped(found["literal"])
    for name, left, right in (("both", "*_", "_*"), ("bold", "*", "*"), ("strong", "*", "*"), ("gone", "~", "~")):
        if found[name] is not None:
            return left + _inline(found[name]) + right
    return f"_{_inline(found['italic'])}_"


def _address(url: str) -> str:
    """An address without the marks that end the sentence around it; a bracket that it opened belongs to it."""
    address = url.rstrip(_AFTER_URL)
    while address.count("(") > address.count(")") and url.startswith(")", len(address)):
        address += ")"
    return address


def _table(rows: Sequence[str]) -> Iterator[str]:
    """A table as a code block with even columns."""
    cells = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows if not _DASHES.match(row)]
    widths = [
        min(max(len(row[column]) if column < len(row) else 0 for row in cells), _COLUMN_CHARACTERS)
        for column in range(max(map(len, cells), default=0))
    ]
    yield "```"
    for row in cells:
        yield escaped("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip())
    yield "```"


def with_buttons(text: str, buttons: Sequence[Button]) -> list[dict[str, object]]:
    """The blocks of a message with buttons. `verbatim`: Slack makes no mention out of plain words."""
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}},
        {
            "type": "actions",
            "elements": [
                {
                    "type": "button",
                    "action_id": f"remem-{number}",
                    "text": {"type": "plain_text", "text": button.label[:LABEL_CHARACTERS]},
                    "value": button.id,
                }
                for number, button in enumerate(buttons)
            ],
        },
    ]
