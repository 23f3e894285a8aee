"""What must hold after a damage: nothing written over, nothing lost, nobody else's memory touched or seen.

The judges here are their own, not the program's: a JSON file is damaged if Python's reader refuses it, if a key
stands in it twice, if it holds no object, or if what it holds is not found again in what was written.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from bot.wording import UNFORESEEN
from tests.scenarios.corruption_world import SIDES, Heard, Side

_OWN_LINES = re.compile(rb"\s*(- Fitness:|- last flush:|- pending:|last_updated:|rooms:|\W*$)")
"""Lines that a save writes anew: uses of records, the snapshot of the last save, dates, and what holds no word."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_DERIVED = re.compile(rb"<!-- remem:catalogue.*?<!-- /remem:catalogue -->", re.DOTALL)
_STATE = {
    "last_flush_time": (str, type(None)),
    "flush_number": (int,),
    "context_usage_at_flush": (int, float, type(None)),
    "trigger": (str,),
    "pending_items": (list,),
}
_DEPTH = 100
_STAMP = ("_mtime", "_size", "_sha256")


def files_in(workspace: Path) -> dict[str, bytes]:
    """Every ordinary file of a workspace by its path; what else stands there (folders, links, pipes) is left out."""
    found: dict[str, bytes] = {}
    for folder, _, names in os.walk(workspace):
        for name in names:
            path = Path(folder, name)
            if stat.S_ISREG(path.lstat().st_mode):
                found[str(path.relative_to(workspace))] = path.read_bytes()
    return found


def kind_of(path: Path) -> str:
    """What stands there, links not followed; with the target of a link."""
    if not os.path.lexists(path):
        return "nothing"
    mode = path.lstat().st_mode
    return f"link to {os.readlink(path)}" if stat.S_ISLNK(mode) else stat.filemode(mode)[0]


def spoken_to_fairly(heard: Heard) -> None:
    """Nobody was shown a failure that nobody foresaw, and the operator's log has no trace of one."""
    for log in heard.logs:
        assert not log.get("exc_info"), log
    for said in (heard.said, heard.refused, *heard.not_kept):
        assert "Traceback" not in said
        assert UNFORESEEN not in said
        assert not re.search(r"\w+Error\b", said), said


def kept_apart(heard: Heard, files: Mapping[str, bytes], brought: Collection[tuple[Side, str]] = ()) -> None:
    """No scope was told, or holds, another one's secret. `brought`: what the damage itself laid into a scope."""
    for side in SIDES:
        told = "\n".join(heard.replies.get(side.spot.room.key, ()))
        own = b"\n".join(content for file, content in files.items() if side.owns(file))
        for secret in (other.secret for other in SIDES if other is not side):
            if (side, secret) not in brought:
                assert secret not in told, f"{secret} was told in {side.name}: {told}"
                assert secret.encode() not in own, f"{secret} stands in the memory of {side.name}"


def same(one: Mapping[str, bytes], other: Mapping[str, bytes], side: Side) -> None:
    """A scope's files are the same, byte by byte, but for the times of its pages in its state file."""
    mine, theirs = (
        {file: _timeless(file, content) for file, content in files.items() if side.owns(file)}
        for files in (one, other)
    )
    assert mine.keys() == theirs.keys(), f"files of {side.name}: {mine.keys() ^ theirs.keys()}"
    for file, content in mine.items():
        assert content == theirs[file], f"{file} is another one"


def _timeless(file: str, content: bytes) -> bytes:
    return re.sub(rb'(_mtime": )\d+', rb"\1 0", content) if file.endswith("flush-state.json") else content


def lines_kept(before: bytes, after: bytes, sound: bytes = b"") -> None:
    """Every line that stood in a page stands in it still. `sound`: the page before its damage, whose catalogue is
    derived and may be another one. A record that was used is written anew: control characters in it become blanks."""
    before, after, sound = (_CONTROLS.sub(b" ", content) for content in (before, after, sound))
    derived = {
        line for content in (before, sound) for part in _DERIVED.findall(content) for line in part.splitlines()
    }
    wanted = Counter(
        line for line in before.splitlines() if line.strip() and line not in derived and not _OWN_LINES.match(line)
    )
    missing = wanted - Counter(after.splitlines())
    assert not missing, f"lines are gone: {list(missing)[:4]}"


def json_kept(file: str, before: bytes, files: Mapping[str, bytes]) -> None:
    """A JSON file stands as it stood, or beside it, or all that it held is in the one that was written."""
    after = files.get(file)
    if not before.strip(b"{}\n "):
        return
    folder = file.rpartition("/")[0]
    for other, content in files.items():
        if other.startswith(folder) and _without_bom(content) == _without_bom(before):
            return
    value, written = _read(before), _read(after or b"")
    assert value is not None, f"{file} was no JSON, is another one now, and is kept nowhere"
    assert written is not None, f"{file} is no JSON after it was written"
    if file.endswith("flush-state.json"):
        _state_kept(file, value, written)
    elif file.endswith("pending_tasks.json"):
        _ = value.pop("lastUpdated", None)
        assert _holds(written, value), f"{file} lost something: {value} → {written}"
    else:
        for key, entry in value.items():
            _ = entry.pop("title", None) if isinstance(entry, dict) else None
            assert _holds(written.get(key), entry), f"{file} lost {key}"


def _state_kept(file: str, value: Mapping[str, object], written: Mapping[str, object]) -> None:
    for key, one in value.items():
        if key in _STATE:
            assert type(one) in _STATE[key], f"{file}: {key} was {one!r}"
        elif not key.endswith(_STAMP):
            assert _holds(written.get(key), one), f"{file} lost {key}"


def _without_bom(content: bytes) -> bytes:
    return content.removeprefix(b"\xef\xbb\xbf")


def _read(content: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(_without_bom(content).decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        value = {"tasks": value}
    return value if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands in it twice")
    return dict(pairs)


def _holds(after: object, before: object, depth: int = 0) -> bool:
    """Is all of `before` in `after`?"""
    if depth == _DEPTH:
        return after == before
    if isinstance(before, dict):
        return isinstance(after, dict) and all(
            key in after and _holds(after[key], before[key], depth + 1) for key in before
        )
    if isinstance(before, list):
        return isinstance(after, list) and all(
            any(_holds(one, wanted, depth + 1) for one in after) for wanted in before
        )
    return repr(after) == repr(before)


def saved(files: Mapping[str, bytes], side: Side, words: str) -> bool:
    """Does a record with these words stand in a page of that scope? Never twice in one, and in no other scope."""
    for file, content in files.items():
        if file.endswith(".md"):
            heads = sum(line.startswith(b"## [") and words.encode() in line for line in content.splitlines())
            assert heads <= 1, f"{words} stands twice in {file}"
            assert not heads or side.owns(file), f"{words} of {side.name} stands in {file}"
    return any(words.encode() in content for file, content in files.items() if file.endswith(".md"))
