"""flush-state.json: what a scope's last flush left behind, for people, for `status` and for the next flush.

    {"last_flush_time": "2026-04-06T14:30:00+08:00", "flush_number": 6, "context_usage_at_flush": 0.42,
     "trigger": "command", "pending_items": [{"kind": "decision", "title": …, "flushes": 1, "sources": [...]}],
     "experience_mtime": 1775456000000000000, "experience_size": 4182, "experience_sha256": "…"}

It is a report, not the truth: what was flushed is the ledger's cursor. So a file that is empty, of another shape or
with a value of a wrong type only means "unknown" (`broken` says what), never "all flushed"; whoever writes it anew
keeps a copy of the broken one first. Fields that we do not know are kept.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from memory_core.forms import json_text
from memory_core.forms.record_values import Source
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Kind
from memory_core.store.base import Stamp

_STAMP = ("_mtime", "_size", "_sha256")
_YEARS = range(1970, 9000)
"""At the ends of the calendar a time has no form in another zone."""
_HIGHEST = 10**12
"""No flush has such a number, and the ledger holds none that is much higher."""


@dataclass(frozen=True, slots=True)
class PendingItem:
    """Something promising that missed its bar. `flushes`: how many flushes have seen it; the third drops it."""

    kind: Kind
    title: str
    body: str
    sources: tuple[Source, ...]
    flushes: int = 1
    who: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class FlushState:
    """The file as read; None and 0 where a value is unknown. `extra` are fields that we do not know, as JSON text."""

    last_flush_time: datetime | None = None
    flush_number: int = 0
    context_usage_at_flush: float | None = None
    trigger: str = ""
    pending_items: tuple[PendingItem, ...] = ()
    pages: Mapping[PageId, Stamp] | None = None
    extra: str = "{}"
    broken: tuple[str, ...] = ()


def parse(text: str | None) -> FlushState:
    """Read the file (None: there is none); never raises."""
    if text is None:
        return FlushState()
    try:
        data, twice = json_text.loads(text)
    except (ValueError, RecursionError):
        return FlushState(broken=("the file is no JSON",))
    if not isinstance(data, dict):
        return FlushState(broken=("the file holds no object",))
    broken = ["a key stands in it twice"] if twice else []
    items = data.pop("pending_items", [])
    pending = [_pending(item) for item in items] if isinstance(items, list) else [None]
    if None in pending:
        broken.append("pending_items")
    return FlushState(
        last_flush_time=_time(data.pop("last_flush_time", None), broken),
        flush_number=_number(data.pop("flush_number", 0), broken),
        context_usage_at_flush=_share(data.pop("context_usage_at_flush", None), broken),
        trigger=_word(data.pop("trigger", ""), broken),
        pending_items=tuple(item for item in pending if item is not None),
        pages=_stamps(data),
        extra=json.dumps(data, ensure_ascii=False),
        broken=tuple(broken),
    )


def render(state: FlushState) -> str:
    """The file's text."""
    data: dict[str, object] = {
        "last_flush_time": state.last_flush_time.isoformat(timespec="seconds") if state.last_flush_time else None,
        "flush_number": state.flush_number,
        "context_usage_at_flush": state.context_usage_at_flush,
        "trigger": state.trigger,
        "pending_items": [_item(item) for item in state.pending_items],
    }
    for page, stamp in sorted((state.pages or {}).items()):
        values = (stamp.mtime_ns, stamp.size_bytes, stamp.sha256)
        data |= {page + suffix: value for suffix, value in zip(_STAMP, values, strict=True)}
    data |= json.loads(state.extra)
    return json.dumps(data, ensure_ascii=False, indent=2).encode("utf-8", "replace").decode() + "\n"


def _time(value: object, broken: list[str]) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or moment.year not in _YEARS:
        broken.append("last_flush_time")
        return None
    return moment


def _number(value: object, broken: list[str]) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _HIGHEST:
        return value
    broken.append("flush_number")
    return 0


def _share(value: object, broken: list[str]) -> float | None:
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    broken.append("context_usage_at_flush")
    return None


def _word(value: object, broken: list[str]) -> str:
    if isinstance(value, str):
        return value
    broken.append("trigger")
    return ""


def _stamps(data: dict[str, object]) -> dict[PageId, Stamp]:
    """The complete stamps among the fields, which are taken out of `data`; incomplete ones stay there as they are."""
    found: dict[PageId, Stamp] = {}
    for name in [key.removesuffix("_mtime") for key in data if key.endswith("_mtime")]:
        mtime, size, sha256 = (data.get(name + suffix) for suffix in _STAMP)
        if isinstance(mtime, int) and isinstance(size, int) and isinstance(sha256, str):
            found[PageId(name)] = Stamp(mtime, size, sha256)
            for suffix in _STAMP:
                del data[name + suffix]
    return found


def _pending(item: object) -> PendingItem | None:
    """The item; None for one that is not in our form."""
    if not isinstance(item, dict) or item.get("kind") not in set(Kind):
        return None
    title, body, flushes = item.get("title"), item.get("body"), item.get("flushes", 1)
    sources = item.get("sources", [])
    if not (isinstance(title, str) and isinstance(body, str) and body and isinstance(flushes, int)):
        return None
    if not isinstance(sources, list):
        return None
    read = tuple(source for source in map(_source, sources) if source)
    who, project = (value if isinstance(value := item.get(name, ""), str) else "" for name in ("who", "project"))
    return PendingItem(Kind(item["kind"]), title, body, read, flushes, who, project)


def _source(value: object) -> Source | None:
    if not isinstance(value, dict) or not isinstance(value.get("keys"), list):
        return None
    person, name, place, at = (
        one if isinstance(one := value.get(field), str) else "" for field in ("person", "name", "place", "at")
    )
    return Source(person, name, place, at, tuple(MessageKey(key) for key in value["keys"] if isinstance(key, str)))


def _item(item: PendingItem) -> dict[str, object]:
    sources = [
        {"person": one.person, "name": one.name, "place": one.place, "at": one.at, "keys": list(one.keys)}
        for one in item.sources
    ]
    values = {
        "kind": item.kind.value,
        "title": item.title,
        "body": item.body,
        "who": item.who,
        "project": item.project,
    }
    return {**values, "flushes": item.flushes, "sources": sources}
