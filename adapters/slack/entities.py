"""Slack's text as people read it, and who is mentioned in it: pure.

    <@U0AAA>               @ana (U0AAA)      two people may share a name: the id decides
    <@B0T> at the start    nothing           it addresses the bot and says nothing
    <#C0BBB|ops>           #ops
    <!channel> <!here>     @channel @here
    <!subteam^S1|@ops>     @ops
    <!date^…|1 May>        1 May
    <https://x|label>      label (https://x)
    &lt; &gt; &amp;        < > &

Rule: https://docs.slack.dev/messaging/formatting-message-text. What a message shows outside its text (blocks and
attachments of other apps) is read as text too: `shown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from adapters.payload import Json, part, parts, string
from memory_core.text import one_line

MENTIONS_LOOKED_UP = 10
"""So many different people are looked up for one message; who is named beyond that stands with the id alone."""

_ENTITY = re.compile(r"<([^<>\n]{1,3000})>")
_PERSON = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>\n]*)?>")


def mentioned(text: str) -> tuple[str, ...]:
    """The ids of the people that `text` mentions, in order, each once."""
    return tuple(dict.fromkeys(_PERSON.findall(text)))


def mentions(text: str, user: str) -> bool:
    """Is `user` mentioned in `text`?"""
    return bool(user) and user in _PERSON.findall(text)


def readable(text: str, names: Mapping[str, str], me: str = "") -> str:
    """`text` with names for ids, without the mention of the bot (`me`) that it begins with."""
    if me:
        text = re.sub(rf"\A(?:\s*<@{re.escape(me)}(?:\|[^<>\n]*)?>[,:]?)+\s*", "", text)
    return _unescaped(_ENTITY.sub(lambda found: _entity(found[1], names), text))


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _entity(inside: str, names: Mapping[str, str]) -> str:
    """One `<…>` as people read it."""
    target, _, label = inside.partition("|")
    label = one_line(label, 200)
    if target.startswith("@"):
        name = names.get(target[1:]) or label.lstrip("@")
        return f"@{one_line(name, 80)} ({target[1:]})" if name else f"@{target[1:]}"
    if target.startswith("#"):
        return f"#{(label or target[1:]).lstrip('#')}"
    if target.startswith("!"):
        fallback = target[1:].split("^", 1)[0]
        return (label or f"@{fallback}") if "^" in target or label else f"@{fallback}"
    address = target.removeprefix("mailto:").removeprefix("tel:")
    return address if label in {"", address, target} else f"{label} ({address})"


def shown(message: Json) -> str:
    """What a message says: its text, else its blocks', and its attachments', still in Slack's form.

    The preview that Slack adds under a link (`from_url`) is not part of what somebody said.
    """
    lines = [string(message, "text")] if string(message, "text").strip() else list(_in_blocks(message))
    for attachment in parts(message, "attachments"):
        if lines and string(attachment, "from_url"):
            continue
        own = [string(attachment, name) for name in ("pretext", "title", "text")]
        fields = [f"{string(field, 'title')}: {string(field, 'value')}" for field in parts(attachment, "fields")]
        told = [line for line in (*own, *fields, *_in_blocks(attachment)) if line.strip(": ")]
        lines.extend(told or [string(attachment, "fallback")])
    return "\n".join(dict.fromkeys(line for line in lines if line.strip()))


def _in_blocks(message: Json) -> Iterator[str]:
    """The lines of a message's blocks: headers, sections with fields, contexts, rich text, image descriptions."""
    for block in parts(message, "blocks"):
        yield from _texts(block)
        for element in parts(block, "elements"):
            yield (
                "".join(_texts(element)) if element.get("type") == "rich_text_section" else " ".join(_texts(element))
            )


def _texts(node: Json, depth: int = 0) -> Iterator[str]:
    """Every text that a block or element holds itself."""
    if isinstance(node.get("text"), str):
        yield string(node, "text")
    elif string(node, "text", "text"):
        yield string(node, "text", "text")
    if string(node, "alt_text"):
        yield string(node, "alt_text")
    if string(node, "type") == "link" and not string(node, "text"):
        yield string(node, "url")
    if string(node, "type") == "user":
        yield f"<@{string(node, 'user_id')}>"
    for field in parts(node, "fields"):
        yield string(field, "text")
    nested = string(node, "type").startswith("rich_text_") and depth < 4
    for element in parts(node, "elements") if nested else ():
        yield from _texts(element, depth + 1)


def described(message: Json) -> str:
    """The name of the app that posted `message`, marked as one."""
    name = string(message, "username") or string(part(message, "bot_profile"), "name") or "an app"
    return f"{one_line(name, 80)} (app)"
