"""Of what a model writes, what a person sees. Pure.

Some models think aloud between tags, or in frames of their own (bot.models.frames), in the text itself: that is never
shown, not even while it is written. Tags that are quoted as code (between backticks, in a fenced block) are part of
the answer: people ask about such tags, too. A page of HTML is no answer: it comes from a proxy or a server in front
of the model. While an answer grows, what may yet turn out to be one of these is held back.
"""

from __future__ import annotations

import re

from bot.models.frames import unframed

_NAMES = "think|thinking|thought|reasoning|reflection"
_FENCE = r"(?P<fence>^[ \t]*```[^\n]*(?:\n.*?(?:^[ \t]*```[ \t]*$|\Z)|\Z))"
_FLAGS = re.IGNORECASE | re.DOTALL | re.MULTILINE
_SPAN = r"(?P<span>`[^`\n]+(?:`|\Z))"
_NEXT = re.compile(rf"{_FENCE}|{_SPAN}|<(?P<name>{_NAMES})\s*>", _FLAGS)
_OPENS = re.compile(rf"<(?:{_NAMES})\s*>", re.IGNORECASE)
_CLOSES = re.compile(rf"</(?:{_NAMES})\s*>", re.IGNORECASE)
_ENDS = re.compile(rf"{_FENCE}|{_SPAN}|</(?:{_NAMES})\s*>", _FLAGS)
_END_OF = {name: re.compile(rf"</{name}\s*>[ \t]*\n*", re.IGNORECASE) for name in _NAMES.split("|")}
_ENDS_LINE = re.compile(rf"^[ \t]*</(?:{_NAMES})\s*>", _FLAGS)
_MAY_OPEN = re.compile(r"[ \t]*</?[a-z!]{0,14}\s*\Z", re.IGNORECASE)
_HTML = re.compile(r"\s*(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<\?xml\s)", re.IGNORECASE)
_MAY_BE_HTML = re.compile(r"\s*<[!?a-z][^>]{0,40}\Z", re.IGNORECASE)


def visible(text: str, *, growing: bool = False) -> str:
    """`text` without what was thought aloud; '' for HTML. `growing`: more of it comes; its end may be held back."""
    text = unframed(text, growing=growing)
    shown = _without_thoughts(text, growing) if _OPENS.search(text) else text
    if _CLOSES.search(shown):
        shown = _after_thought(shown)
    if is_html(shown):
        return ""
    if growing:
        if _MAY_BE_HTML.match(shown):
            return ""
        shown = _MAY_OPEN.sub("", shown)
    return shown.strip()


def _without_thoughts(text: str, growing: bool) -> str:
    """`text` without what stands between two tags; code is passed over.

    A tag without an end hides the rest where a line begins with it, and while the text grows; else somebody writes
    about the tag. One pass: what is looked for behind one tag is not looked for again behind the next.
    """
    kept: list[str] = []
    endless: set[str] = set()
    at = 0
    while (found := _NEXT.search(text, at)) is not None:
        if (name := found["name"]) is None:
            kept.append(text[at : found.end()])
            at = found.end()
            continue
        name = name.lower()
        end = None if name in endless else _END_OF[name].search(text, found.end())
        begins = not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip(" \t")
        if end is not None:
            kept.append(text[at : found.start()])
            at = end.end()
        elif begins or growing:
            return "".join([*kept, text[at : found.start()]])
        else:
            endless.add(name)
            kept.append(text[at : found.end()])
            at = found.end()
    return "".join([*kept, text[at:]])


def _after_thought(text: str) -> str:
    """What stands behind the last end of a thought whose opening tag stands in the model's template."""
    at = 0
    for found in _ENDS.finditer(text):
        if found["fence"] is None and found["span"] is None:
            at = found.end()
        elif found["fence"] is not None and (end := _ENDS_LINE.search(found[0])):
            # A fence that a thought left open: its end stands on a line of its own, without a beginning before it.
            at = at if _OPENS.search(found[0], 0, end.start()) else found.start() + end.end()
    return text[at:].lstrip() if at else text


def is_html(text: str) -> bool:
    """Is this a web page instead of an answer?"""
    return _HTML.match(text) is not None
