"""What a speaker said in their own words, sentence by sentence.

The rules of extraction look at one sentence at a time, and only at what its author says themselves. So the first
step takes away what is not theirs: quoted lines (`> …`), code fences, pasted logs and documents, shell lines,
record-like lines (`## [date] …`, `- Fitness: …`) and fake notices (`[System] …`, which void the whole message).
What stays is cut into sentences; long quoted spans inside one are blanked for matching, kept for showing.

A heading line (`Decisions:`, `TODO:`) in front of a list lends its words to each of the list's lines.

Everything here is linear in the length of the text, and never raises; texts are cut at `TEXT_LIMIT` characters,
sentences longer than `SENTENCE_LIMIT` are taken for pasted prose and left out, but labelled ones are cut there with a
mark; after `SENTENCES` nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

TEXT_LIMIT = 12_000
SENTENCE_LIMIT = 420
SENTENCES = 150
LONG_TEXT = 1_200
"""From here on a message is taken for a document: only its labelled lines (`Decision: …`) count."""
TITLE_LIMIT = 80
KEPT = 4096
"""How many answers are kept in mind of what a sentence says by itself: the last messages of a conversation are read
again, as context, by each of its flushes."""

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"\s*(?:>|&gt;|│|\|\s)")
_NOTICE = re.compile(
    r"\s*(?:\[\s*/?\s*(?:system|assistant|inst|admin|notice|developer|tool|系统|系统通知)\b[^\]]{0,40}\]"
    r"|【\s*系统[^】]{0,20}】"
    r"|<\s*/?\s*(?:system|assistant|instructions?|inst|\|im_start\|)[^>]{0,40}>"
    r"|(?:system(?: (?:message|notice|prompt))?|assistant|系统(?:消息|通知|提示))\s*[:：])",
    re.IGNORECASE,
)
_PASTED_LINE = re.compile(
    r"""\s*(?:
      \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d            # log lines begin with a time
    | \[?\d\d:\d\d:\d\d[\],.\s]
    | (?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)\b\s*[:\]\[|-]?\s
    | Traceback\ \(most | File\ ".{1,200}",\ line | at\ [\w.$<>]{3,}\( | Caused\ by:
    | [$#%]\ \S | (?:>>>|\.\.\.|PS>|C:\\)\s? | (?:diff\ --git|@@\ |\+\+\+\ |---\ a/)
    | \#{1,6}\s+\[ | -\ (?:Tags|Fitness|Source|Body|Supersedes|Conflicts|Archived)\s*:
    | [{}\[\]()<>;=|+*/\\_~^-]+\s*$ | \(define\b | \#lang\b
    )""",
    re.VERBOSE,
)
_BULLET = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)])\s+")
_HEADING = re.compile(
    r"\s*[*_#]*\s*(?:(?:the )?(?:decisions?|todos?|to-dos?|tasks?|action items?|blockers?|agreements?|done)"
    r"|决定|决议|结论|待办|任务|阻塞|约定|完成|決定事項|タスク|Entscheidungen?|Aufgaben)\s*[*_]*\s*[:：]\s*[*_]*\s*",
    re.IGNORECASE,
)
_QUOTED_SPAN = re.compile(r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|「([^」\n]{1,400})」|«([^»\n]{1,400})»")
_STOP = re.compile(r"(?<=[。！？；])(?![。！？；])\s*|(?<=[.!?;…])\s+(?=\S)")
_NO_STOP = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|nr|ca|bzw|z\.B|d\.h|incl|dr|mr|ms|st|\d{1,2})\.)$", re.IGNORECASE
)
_LABELLED = re.compile(
    r"\W*(?:@\S{1,40}[\s,:，：]+)*(?:(?:final |our |the )?decisions?|decided|resolved|agreed|agreements?|"
    r"lessons?(?: learned)?|"
    r"todos?|to-dos?|tasks?|action items?|blockers?|blocked|remember|note"
    r"|决定|决议|结论|约定|教训|经验|待办|任务|阻塞|记住|決定事項?|結論|教訓|タスク|entscheidung|beschluss|beschlossen|lehre|aufgabe|merke?)"
    r"\s*[:：=]",
    re.IGNORECASE,
)
"""What names its kind itself goes on after a semicolon: the reason, mostly."""
_QUESTION = re.compile(r"(?:[?？]\W*|(?:吗|呢|么|嘛|でしょうか|ですか|ますか|かな)\W*)$")
_SLACK_MENTION = re.compile(r"<[@#!](?:[A-Z0-9]{1,20}\|)?([^<>|\n]{1,60})>")
_MENTION_ID = re.compile(r"(@[^@()\n]{1,80}?) ?\([UWB][A-Z0-9]{6,12}\)")
"""A mention as our Slack adapter writes it: the id tells people of one name apart, and says nothing to a reader."""
_SLACK_LINK = re.compile(r"<((?:https?|mailto)[^<>|\s]{1,500})(?:\|[^<>\n]{0,200})?>")
_LINK = re.compile(r"(?:https?://|www\.)\S+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_WIDE = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|so|and|but|also|well|alright|right|great|cool|yes|yeah|hm+|btw|fyi|psa|please|pls|then|no(?=,)|"
    r"now|oh|hey|hi"
    r"|那|那么|所以|好的?|嗯|另外|顺便|对了|also|na|gut|じゃあ|では)(?:[\s,:;.!，、：。-]+|(?<=[\u4e00-\u9fff])))+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message: `text` as shown, `plain` for matching (long quoted spans blanked, curly marks made
    straight), `question` when it asks, `document` when the message is so long that only labelled lines count."""

    text: str
    plain: str
    question: bool = False
    document: bool = False


@lru_cache(KEPT // 4)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences that the author of `text` says themselves, in order; none for a fake system notice."""
    text = _readable(text[:TEXT_LIMIT])
    if _NOTICE.match(text):
        return ()
    own = _FENCE.sub("\n", text)
    document = len(own) > LONG_TEXT
    found = (
        Sentence(piece, _plain(piece), bool(_QUESTION.search(piece)), document)
        for line in _own_lines(own)
        for piece in _pieces(line)
        if not _wholly_quoted(piece)
    )
    return tuple(islice(found, SENTENCES))


def one_line(text: str, limit: int = 400) -> str:
    """`text` on one line, at most `limit` characters, cut with `…` between words."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    blank = cut.rfind(" ", limit * 2 // 3)
    return (cut[:blank] if blank > 0 else cut).rstrip(" ,;，、") + "…"


def without_links(text: str) -> str:
    """`text` without its web addresses."""
    return _LINK.sub(" ", text)


def title_of(text: str) -> str:
    """A title of at most 80 characters: the text without its opening fillers, cut, its end mark dropped.

    Nothing in between is changed, so that whoever compares them sees that the text says it all again.
    """
    short = one_line(text)
    return one_line(_LEAD.sub("", short).strip(" .!。！,，;；:：-–*_") or short, TITLE_LIMIT)


def _readable(text: str) -> str:
    """Control and zero-width characters gone; a platform's own mention and link forms as plain text."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _SLACK_LINK.sub(r"\1", _SLACK_MENTION.sub(r"@\1", text))
    return _MENTION_ID.sub(r"\1", text)


def _own_lines(text: str) -> Iterator[str]:
    """The lines that are the author's own; list lines get the words of the heading above them."""
    heading = ""
    for line in text.split("\n"):
        if not line.strip():
            continue
        if _QUOTED_LINE.match(line) or _PASTED_LINE.match(line):
            heading = ""
            continue
        if (found := _HEADING.fullmatch(line)) is not None:
            heading = found.group().strip(" *_#").rstrip()
            continue
        bullet = _BULLET.match(line)
        if bullet is None:
            heading = ""
            yield line.strip()
        else:
            yield f"{heading} {line[bullet.end() :]}".strip()


def _pieces(line: str) -> Iterator[str]:
    """The sentences of a line. A full stop ends one only before a blank, and not after an abbreviation or number.

    What is labelled (`decision: …; because …`) goes on after a semicolon.
    """
    held = ""
    parts = _STOP.split(line)
    labelled = begins = _LABELLED.match(line) is not None
    for part, after in zip(parts, [*parts[1:], ""], strict=True):
        blank = "" if held.endswith("；") else " "
        held = f"{held}{blank}{part}".strip() if held else part.strip()
        if labelled and held.endswith((";", "；")) and _goes_on(held, after):
            continue
        labelled = labelled and _NO_STOP.search(held) is not None
        if held and not _NO_STOP.search(held):
            yield from _kept(held, labelled=begins)
            held, begins = "", False
    yield from _kept(held, labelled=begins)


def _kept(piece: str, *, labelled: bool) -> Iterator[str]:
    """The piece, if there is one and it is not too long; a labelled one is cut."""
    if piece and len(piece) <= SENTENCE_LIMIT:
        yield piece
    elif labelled:
        yield one_line(piece, SENTENCE_LIMIT)


def _goes_on(held: str, after: str) -> bool:
    """Does what stands after the semicolon belong to it: words (no "lol"), no question, and not too much?"""
    words = len(after.split()) >= 2 or len(_WIDE.findall(after)) >= 3
    return words and not _QUESTION.search(after) and len(held) + len(after) < SENTENCE_LIMIT


def _plain(text: str) -> str:
    """The form that is matched: straight apostrophes, quoted spans of four words or more blanked, emphasis gone."""
    text = text.replace("’", "'").replace("‘", "'").replace("\u3000", " ")
    return _QUOTED_SPAN.sub(_blank_if_long, text).replace("**", "").replace("__", "").strip(" *_")


def _blank_if_long(found: re.Match[str]) -> str:
    inner = next(group for group in found.groups() if group is not None)
    long = len(inner.split()) >= 4 or (bool(_WIDE.search(inner)) and len(inner) >= 8)
    return '""' if long else found.group()


def _wholly_quoted(piece: str) -> bool:
    """True for a sentence that is one quotation, or the rest of one that began before."""
    stripped = piece.strip()
    return stripped[:1] in '"“「«' and (stripped[-1:] in '"”」»' or not re.search(r"[\"”」»]", stripped[1:]))
