"""Cutting a long answer into pieces that a platform takes, without breaking its formatting.

`split` works on Markdown, before a platform's own rendering. Each piece stands alone: what a cut leaves open is
closed at the end of the piece and opened again, bare, at the start of the next; so a piece can be cut again.

Where a cut may fall, best first:

    rank        a cut that is …                                      taken if the piece keeps at least
    PARAGRAPH   between paragraphs                                   half of the limit
    LINE        between lines, outside a fence                       half
    CODE_LINE   between lines inside a fence                         a third
    WORD        between words                                        a third
    HARD        anywhere but inside a delimiter or a character       one character

* A code fence is opened again without its info string, which may be 300 characters long. The closing line is part
  of the sum. Platforms let three backticks close a fence whatever follows them; what follows such a closing line is
  put on a line of its own, so that every reader of Markdown agrees.
* A blank code line is code: nothing inside a fence is trimmed. A code line longer than a piece is cut where it must.
* Inline code is closed and opened again around a cut; a quote repeats its marks; a list item goes on indented.
* A cut makes no heading, quote, item or fence out of the middle of a line.
* Emphasis and links that a cut crosses are not repaired: cuts fall between words, and both are short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from adapters.marks import CodeSpans, Fence, continuation, inside_character, opening, starts_block
from memory_core.errors import BadInput

SMALLEST_LIMIT = 60
"""Below this, the marks that a cut repeats would not leave room for text."""

LONG_LINE = 8_000
"""The longest line whose marks are read where nothing is cut."""

_BLANKS = re.compile(r"(?<![ \t])[ \t]++(?=\S)")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")


class _Rank(IntEnum):
    PARAGRAPH = 0
    LINE = 1
    CODE_LINE = 2
    WORD = 3
    HARD = 4


_KEEPS = {_Rank.PARAGRAPH: 2, _Rank.LINE: 2, _Rank.CODE_LINE: 3, _Rank.WORD: 3}


@dataclass(frozen=True, slots=True)
class _Cut:
    """A place to cut: what closes the piece before it and opens the one after it. `code`: inside a fence."""

    at: int
    rank: _Rank
    close: str = ""
    reopen: str = ""
    code: bool = False

    def apply(self, text: str) -> tuple[str, str]:
        """The piece before the cut, and the rest."""
        if self.code:
            return text[: self.at] + self.close, self.reopen + text[self.at :]
        rest = text[self.at :].lstrip() if self.rank >= _Rank.WORD else _BLANK_LINES.sub("", text[self.at :])
        return text[: self.at].rstrip() + self.close, self.reopen + rest


def split(markdown: str, limit: int) -> tuple[str, ...]:
    """Cut `markdown` into pieces of at most `limit` characters, none of them blank; short text comes back as it is.

    Raises BadInput when `limit` is under SMALLEST_LIMIT.
    """
    if limit < SMALLEST_LIMIT:
        raise BadInput(f"A piece of {limit} characters is too short to cut Markdown; the least is {SMALLEST_LIMIT}.")
    if not markdown.strip():
        return ()
    if len(markdown) <= limit:
        return (markdown,)
    rest, pieces = _tidy(markdown, limit), []
    while len(rest) > limit:
        cut = _best(_cuts(rest, limit), limit)
        head, rest = cut.apply(rest)
        if cut.rank is _Rank.HARD:
            rest = _tidy(rest, limit)
        pieces.append(head)
    return tuple(piece for piece in (*pieces, rest) if piece.strip())


def closed(markdown: str) -> str:
    """`markdown` with the fence that it leaves open closed: what is put under it is no code then."""
    fence: Fence | None = None
    for line in markdown.split("\n"):
        if fence is None:
            opened = opening(line, LONG_LINE)
            fence = opened[0] if opened else None
        elif fence.tail_of(line) is not None:
            fence = None
    return f"{markdown.rstrip()}\n{fence.line}" if fence else markdown


def _tidy(markdown: str, limit: int) -> str:
    """The text with plain line ends, each fence closed by a line of its own, no info string that fills a piece."""
    waiting = markdown.replace("\r\n", "\n").strip("\n").rstrip().split("\n")[::-1]
    lines: list[str] = []
    fence: Fence | None = None
    while waiting:
        line = waiting.pop()
        if fence is None:
            opened = opening(line, limit)
            fence = opened[0] if opened else None
            lines.append(opened[1] if opened and len(line) > limit // 4 else line)
            continue
        tail = fence.tail_of(line)
        lines.append(line if tail is None else fence.line)
        if tail is not None:
            fence = None
            waiting.extend([tail] if tail else [])
    return "\n".join([*lines, fence.line] if fence else lines)


def _best(cuts: Iterator[_Cut], limit: int) -> _Cut:
    """The best rank that leaves enough in the piece, as late as possible in it; else the latest cut of all."""
    last: dict[_Rank, _Cut] = {cut.rank: cut for cut in cuts}
    for rank, share in _KEEPS.items():
        if rank in last and last[rank].at * share >= limit:
            return last[rank]
    return max(last.values(), key=lambda cut: cut.at, default=_Cut(limit, _Rank.HARD))


def _cuts(text: str, limit: int) -> Iterator[_Cut]:
    """Every cut worth considering in the first `limit` characters, in order."""
    spans = CodeSpans(text[: limit * 16], limit)
    fence: Fence | None = None
    start, body, after_blank = 0, 0, False
    while start <= limit + 1:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end]
        opened = opening(line, limit) if fence is None else None
        if fence is None and start:
            ticks = spans.around(start)
            if ticks is not None and start - 1 + len(ticks) <= limit:
                yield _Cut(start, _Rank.PARAGRAPH if after_blank else _Rank.LINE, ticks, ticks)
        if opened:
            fence, body = opened[0], end + 1
        elif fence is None:
            yield from _text_cuts(text, start, end, spans, limit)
        elif fence.tail_of(line) is not None:
            fence = None
        else:
            yield from _code_cuts(text, fence, start, end, body, limit)
        after_blank = not line.strip()
        start = end + 1


def _code_cuts(text: str, fence: Fence, start: int, end: int, body: int, limit: int) -> Iterator[_Cut]:
    """Before a code line (not the first: that piece would hold no code), and inside one that is too long."""
    if start > body and start + len(fence.line) <= limit:
        yield _Cut(start, _Rank.CODE_LINE, fence.line, fence.line + "\n", code=True)
    at = limit - len(fence.line) - 1
    if start < at < end:
        while at > start + 1 and (fence.tail_of(text[at : at + limit]) is not None or inside_character(text, at)):
            at -= 1
        yield _Cut(at, _Rank.HARD, "\n" + fence.line, fence.reopen, code=True)


def _text_cuts(text: str, start: int, end: int, spans: CodeSpans, limit: int) -> Iterator[_Cut]:
    """Between the words of a line, and the latest place that is left if it does not fit."""
    prefix = continuation(text[start : min(end, limit)], limit)
    least = start + len(prefix)
    for blank in _BLANKS.finditer(text, least, min(end, limit + 1)):
        if blank.start() > least and not starts_block(text, blank.end()):
            ticks = spans.around(blank.start())
            beside = "`" in (text[blank.start() - 1], text[blank.end()])  # with our ticks it would make another mark
            if ticks is not None and blank.start() + len(ticks) <= limit and not (ticks and beside):
                yield _Cut(blank.start(), _Rank.WORD, ticks, prefix + ticks)
    if end <= limit:
        return
    for at in range(limit, least, -1):
        ticks = spans.around(at)
        if ticks is None or at + len(ticks) > limit or inside_character(text, at) or starts_block(text, at):
            continue
        yield _Cut(at, _Rank.HARD, ticks, prefix + ticks)
        return
