"""The frames in which some models (gpt-oss: "harmony") write, where a server passes them on as text. Pure.

    <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>

Only the channel `final` is for people: what stands in any other is thought aloud, or a call of a tool. What stands in
no frame stays; but if its frame ends and the final one follows, its beginning stood in the model's template, and it
was thought. Frames that an answer quotes as code (between backticks, in a fenced block) are part of it.

The frames are described in OpenAI's "harmony response format" (cookbook.openai.com/articles/openai-harmony).
"""

from __future__ import annotations

import re

_HEADER = (
    r"(?:<\|start\|>[^<\n]{0,80})?(?P<framed><\|channel\|>)\s*(?P<channel>[a-z]*)[^<\n]{0,80}"
    r"(?:<\|constrain\|>[^<\n]{0,80})?<\|message\|>|<\|start\|>[^<\n]{0,80}<\|message\|>"
)
_END = r"<\|(?:end|return|call)\|>"
_CODE = r"^[ \t]*```[^\n]*(?:\n.*?(?:^[ \t]*```[ \t]*$|\Z)|\Z)|`[^`\n]+(?:`|\Z)"
_FLAGS = re.DOTALL | re.MULTILINE
_SHOWN = re.compile(rf"(?P<code>{_CODE})|(?P<header>{_HEADER})|(?P<end>{_END})", _FLAGS)
_HIDDEN = re.compile(rf"(?P<header>{_HEADER})|(?P<end>{_END})", _FLAGS)
_NOTHING_BEHIND = re.compile(r"\s*(?:\Z|<\|(?:start|channel)\|>)")
_TAIL_CHARACTERS = 400
"""More than the longest header: only so much of a growing text's end may turn out to be one."""
_MAY_GO_ON = re.compile(
    rf"\s*(?:{_END}\s*)?(?:<\|start\|>[^<\n]{{0,80}})?(?:<\|channel\|>[^<\n]{{0,80}})?"
    r"(?:<\|constrain\|>[^<\n]{0,80})?(?:<(?:\|[a-z]{0,9}(?:\|>?)?)?)?\Z"
)
FINAL = "final"


def unframed(text: str, *, growing: bool = False) -> str:
    """`text` without frames, and without what is not for people. `growing`: more comes; its end may be held back."""
    if "<|" not in text:
        return text.removesuffix("<") if growing else text
    shown = _unframed(text)
    if not growing:
        return shown
    head, tail = shown[:-_TAIL_CHARACTERS], shown[-_TAIL_CHARACTERS:]
    return head + _MAY_GO_ON.sub("", tail)


def _unframed(text: str) -> str:
    """One pass from frame to frame; in a frame that is not shown, code means nothing."""
    kept: list[str] = []
    at, hidden, framed, ended = 0, False, False, False
    while (found := (_HIDDEN if hidden else _SHOWN).search(text, at)) is not None:
        if not hidden:
            kept.append(text[at : found.start()])
        at = found.end()
        if found["header"] is not None:
            hidden = found["framed"] is not None and found["channel"] != FINAL
            if ended and not framed and not hidden:
                kept.clear()
            framed, ended = True, False
        elif found["end"] is None:
            kept.append(found[0])
        elif hidden or framed or _NOTHING_BEHIND.match(text, at):
            hidden, ended = False, True
        else:
            kept.append(found[0])
    return "".join(kept if hidden else [*kept, text[at:]])
