"""Of what a model writes, what a person sees. Pure.

Some models think aloud between tags, in the text itself: that is never shown, not even while it is written. A page of
HTML is no answer: it comes from a proxy or a server in front of the model. While an answer grows, what may yet turn
out to be one of these is held back.
"""

from __future__ import annotations

import re

_NAMES = "think|thinking|thought|reasoning|reflection"
_BLOCK = re.compile(rf"^[ \t]*<({_NAMES})>.*?(?:</\1>[ \t]*\n*|\Z)", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_ENDED_ONLY = re.compile(rf"\A.*</(?:{_NAMES})>\s*", re.IGNORECASE | re.DOTALL)
_MAY_OPEN = re.compile(r"^[ \t]*</?[a-z!]{0,14}\Z", re.IGNORECASE | re.MULTILINE)
_HTML = re.compile(r"\s*(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<\?xml\s)", re.IGNORECASE)
_MAY_BE_HTML = re.compile(r"\s*<[!?a-z][^>]{0,40}\Z", re.IGNORECASE)


def visible(text: str, *, growing: bool = False) -> str:
    """`text` without what was thought aloud; '' for HTML. `growing`: more of it comes; its end may be held back."""
    shown = _BLOCK.sub("", text)
    shown = _ENDED_ONLY.sub("", shown)  # the opening tag stands in the model's template
    if is_html(shown):
        return ""
    if growing:
        if _MAY_BE_HTML.match(shown):
            return ""
        shown = _MAY_OPEN.sub("", shown)
    return shown.strip()


def is_html(text: str) -> bool:
    """Is this a web page instead of an answer?"""
    return _HTML.match(text) is not None
