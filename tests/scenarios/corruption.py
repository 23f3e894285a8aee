"""Ways in which a file goes wrong: seeded mutations of its bytes, its structure, or of what stands in its place.

A mutation takes a random generator and what it needs, and nothing else, so that a seed gives the same damage again.
Those of bytes and of text are functions of the content; those of a place change the file system (a folder, a link, a
pipe, no permission, nothing). Which of them fit which kind of file, the lists at the end say.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from memory_core.ledger.schema import VERSION

Spoil: TypeAlias = Callable[[random.Random, bytes], bytes]
"""Other content in the place of this."""
Displace: TypeAlias = Callable[[random.Random, Path], None]
"""Something else in the place of the file."""


def _span(rng: random.Random, content: bytes, longest: int = 400) -> tuple[int, int]:
    begin = rng.randrange(len(content) + 1)
    return begin, min(len(content), begin + rng.randint(1, longest))


# -- bytes -----------------------------------------------------------------------------------------------------------


def flip(rng: random.Random, content: bytes) -> bytes:
    """One to eight bits are others."""
    spoilt = bytearray(content)
    for _ in range(rng.randint(1, 8) if content else 0):
        spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def letter(rng: random.Random, content: bytes) -> bytes:
    """One byte is another letter, digit or mark: what a person mistypes."""
    at, put = rng.randrange(len(content) + 1), rng.choice(b"aZ09#|-:\"{}[],\n ~<>!`*'\\")
    return content[:at] + bytes([put]) + content[at + 1 :]


def insert(rng: random.Random, content: bytes) -> bytes:
    """Random bytes stand in between."""
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.randbytes(rng.randint(1, 60)) + content[at:]


def delete(rng: random.Random, content: bytes) -> bytes:
    """A part is missing."""
    begin, end = _span(rng, content)
    return content[:begin] + content[end:]


def duplicate(rng: random.Random, content: bytes) -> bytes:
    """A part stands there twice."""
    begin, end = _span(rng, content)
    return content[:end] + content[begin:]


def truncate(rng: random.Random, content: bytes) -> bytes:
    """The end is missing."""
    return content[: rng.randrange(len(content) + 1)]


def empty(rng: random.Random, content: bytes) -> bytes:
    """Nothing is left."""
    return b""


def swap_blocks(rng: random.Random, content: bytes) -> bytes:
    """Two parts changed places."""
    one, two, three, four = sorted(rng.randrange(len(content) + 1) for _ in range(4))
    return content[:one] + content[three:four] + content[two:three] + content[one:two] + content[four:]


def zeros(rng: random.Random, content: bytes) -> bytes:
    """A part is zeros, as after a power cut."""
    begin, end = _span(rng, content)
    return content[:begin] + b"\0" * (end - begin) + content[end:]


def all_zeros(rng: random.Random, content: bytes) -> bytes:
    """Everything is zeros."""
    return b"\0" * len(content)


def not_utf8(rng: random.Random, content: bytes) -> bytes:
    """Bytes of another encoding."""
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice([b"caf\xe9", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x80"]) + content[at:]


def utf16(rng: random.Random, content: bytes) -> bytes:
    """Saved in another encoding as a whole."""
    return content.decode("utf-8", "replace").encode(rng.choice(["utf-16", "utf-16-be", "utf-8-sig"]))


def with_bom(rng: random.Random, content: bytes) -> bytes:
    """Saved by an editor that puts a mark in front."""
    return b"\xef\xbb\xbf" + content


def crlf(rng: random.Random, content: bytes) -> bytes:
    """Saved by an editor with other line ends."""
    return content.replace(b"\n", rng.choice([b"\r\n", b"\r"]))


def controls(rng: random.Random, content: bytes) -> bytes:
    """Characters that no keyboard types."""
    at = rng.randrange(len(content) + 1)
    signs = ["\u202e", "\u2028", "\ufeff", "\x1b[2J", "\x07", "\ufffd", "\x85", "\U000e0041"]
    return content[:at] + rng.choice(signs).encode() + content[at:]


BYTES: Sequence[Spoil] = (
    flip,
    letter,
    insert,
    delete,
    duplicate,
    truncate,
    empty,
    swap_blocks,
    zeros,
    all_zeros,
    not_utf8,
    utf16,
    with_bom,
    crlf,
    controls,
)


# -- Markdown --------------------------------------------------------------------------------------------------------


def _lines(rng: random.Random, content: bytes, wanted: bytes) -> tuple[list[bytes], int | None]:
    lines = content.splitlines(keepends=True)
    found = [at for at, line in enumerate(lines) if wanted in line]
    return lines, rng.choice(found) if found else None


def front_matter_broken(rng: random.Random, content: bytes) -> bytes:
    """A rule line of the front matter is gone, or its YAML is none."""
    lines, at = _lines(rng, content, b"---\n")
    if at is None or rng.random() < 0.4:
        return content.replace(b": ", rng.choice([b' "', b": [", b":\t", b" *"]), rng.randint(1, 3))
    lines[at] = rng.choice([b"", b"-- -\n", b"----\n", b"---\n---\n"])
    return b"".join(lines)


def header_half_cut(rng: random.Random, content: bytes) -> bytes:
    """The head of a record, or of a section, is cut in its middle."""
    lines, at = _lines(rng, content, b"#")
    if at is None:
        return delete(rng, content)
    lines[at] = lines[at][: rng.randrange(len(lines[at]))] + rng.choice([b"", b"\n"])
    return b"".join(lines)


def row_cut(rng: random.Random, content: bytes) -> bytes:
    """A row of a table is cut, or has a bar too many."""
    lines, at = _lines(rng, content, b"|")
    if at is None:
        return duplicate(rng, content)
    line = lines[at]
    lines[at] = rng.choice([line[: rng.randrange(len(line))] + b"\n", line.replace(b"|", b"||", 1), b"|" + line])
    return b"".join(lines)


def mark_broken(rng: random.Random, content: bytes) -> bytes:
    """A comment of ours, which parts what is derived from what people wrote, is gone, doubled or open."""
    lines, at = _lines(rng, content, b"<!--")
    if at is None:
        return swap_blocks(rng, content)
    line = lines[at]
    lines[at] = rng.choice([b"", line + line, line.replace(b"-->", b""), line.replace(b"<!--", b"<!-"), b"<!--\n"])
    return b"".join(lines)


def field_broken(rng: random.Random, content: bytes) -> bytes:
    """A field of a record has no name, another date, or a number that is none."""
    lines, at = _lines(rng, content, b"- ")
    if at is None:
        return flip(rng, content)
    lines[at] = rng.choice(
        [
            lines[at].replace(b": ", b" ", 1),
            lines[at].replace(b"hit_count=", b"hit_count=9" * 30),
            lines[at].replace(b"2026-", b"9999-"),
            lines[at].replace(b"2026-0", b"2026-9"),
            lines[at].replace(b"- ", b"", 1),
        ]
    )
    return b"".join(lines)


MARKDOWN: Sequence[Spoil] = (front_matter_broken, header_half_cut, row_cut, mark_broken, field_broken)


# -- JSON ------------------------------------------------------------------------------------------------------------

_STRANGE = ("null", "true", "-1", "1e999", "NaN", "1" + "0" * 400, "[]", "{}", '"x"', '""', "[[]]", '{"a": [null]}')


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path]
    if isinstance(value, dict):
        found += [place for key, inner in value.items() for place in _places(inner, (*path, key))]
    if isinstance(value, list):
        found += [place for at, inner in enumerate(value) for place in _places(inner, (*path, at))]
    return found


def wrong_value(rng: random.Random, content: bytes) -> bytes:
    """A value somewhere in it, or all of it, is of another type, huge, or no number."""
    try:
        value = json.loads(content)
    except ValueError:
        return flip(rng, content)
    path = rng.choice(_places(value))
    if not path:
        return rng.choice(_STRANGE).encode()
    inner = value
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = "\x00strange\x00"
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text.replace(json.dumps("\x00strange\x00"), rng.choice(_STRANGE)).encode() + b"\n"


def key_twice(rng: random.Random, content: bytes) -> bytes:
    """A key stands in an object twice, with another value."""
    lines, at = _lines(rng, content, b'": ')
    if at is None:
        return duplicate(rng, content)
    key = lines[at].split(b": ")[0]
    lines.insert(at, key + b": " + rng.choice(_STRANGE).encode() + b",\n")
    return b"".join(lines)


def deep(rng: random.Random, content: bytes) -> bytes:
    """Nested deeper than a reader goes."""
    depth = rng.choice([500, 5000, 100_000])
    return rng.choice([b"[" * depth + b"]" * depth, b'{"a": ' * depth + b"1" + b"}" * depth, b"[" * depth])


def another_value(rng: random.Random, content: bytes) -> bytes:
    """Valid JSON of another kind."""
    return rng.choice([b"[1, 2]", b'"text"', b"null", b"{}", b"0", b'{"tasks": {}}', b'{"groups": []}', b"[null]"])


def name_of_another(rng: random.Random, content: bytes) -> bytes:
    """A sound mapping in which a room has another room's name, or two have exchanged theirs."""
    entries = json.loads(content)
    one, other = rng.sample(sorted(entries), 2)
    names = [entries[one]["name"], entries[other]["name"]]
    entries[one]["name"] = names[1]
    entries[other]["name"] = rng.choice(names)
    return json.dumps(entries, indent=2).encode()


def key_of_another(rng: random.Random, content: bytes) -> bytes:
    """A sound mapping in which an entry stands under another room's key."""
    entries = json.loads(content)
    key = rng.choice(sorted(entries))
    entries[f"{key}{rng.randrange(10)}"] = entries.pop(key)
    return json.dumps(entries, indent=2).encode()


JSON: Sequence[Spoil] = (wrong_value, wrong_value, key_twice, deep, another_value)


NAMES: Sequence[Spoil] = (*JSON, name_of_another, name_of_another, key_of_another)


# -- in the file's place ---------------------------------------------------------------------------------------------


def removed(rng: random.Random, path: Path) -> None:
    """The file is gone."""
    path.unlink()


def folder(rng: random.Random, path: Path) -> None:
    """A folder with something in it."""
    path.unlink()
    path.mkdir()
    if rng.random() < 0.5:
        (path / "note.txt").write_text("a note of mine\n", "utf-8")


def pipe(rng: random.Random, path: Path) -> None:
    """A named pipe, on which a reader would wait for ever."""
    path.unlink()
    os.mkfifo(path)


def dangling(rng: random.Random, path: Path) -> None:
    """A link to nowhere."""
    path.unlink()
    path.symlink_to(path.with_name("nowhere"))


def link(rng: random.Random, path: Path) -> None:
    """A link to where the content is."""
    kept = path.with_name(path.name + ".sound")
    path.rename(kept)
    path.symlink_to(kept)


def locked(rng: random.Random, path: Path) -> None:
    """Nobody may read it. (For root, who may read everything, that is a sound file.)"""
    path.chmod(0)


def unreadable_folder(rng: random.Random, path: Path) -> None:
    """Its folder has another folder's rights, and the file is read-only."""
    path.chmod(0o444)


PLACES: Sequence[Displace] = (removed, folder, pipe, dangling, link, locked, unreadable_folder)


# -- the ledger ------------------------------------------------------------------------------------------------------


def header(rng: random.Random, content: bytes) -> bytes:
    """A byte of the first hundred is another: page size, versions, counters."""
    at = rng.randrange(100)
    return content[:at] + rng.randbytes(1) + content[at + 1 :]


def page_spoilt(rng: random.Random, content: bytes) -> bytes:
    """A whole page is zeros, noise, or another page."""
    size, pages = 4096, max(1, len(content) // 4096)
    at, other = rng.randrange(pages) * size, rng.randrange(pages) * size
    put = rng.choice([b"\0" * size, rng.randbytes(size), content[other : other + size]])
    return content[:at] + put + content[at + size :]


def page_head(rng: random.Random, content: bytes) -> bytes:
    """The head of a page, or its first pointers, are others."""
    at = rng.randrange(max(1, len(content) // 4096)) * 4096 + rng.randrange(24)
    return content[:at] + rng.randbytes(rng.randint(1, 4)) + content[at + 4 :]


def grown(rng: random.Random, content: bytes) -> bytes:
    """Something was appended."""
    return content + rng.randbytes(rng.randint(1, 9000))


def text_file(rng: random.Random, content: bytes) -> bytes:
    """No database at all."""
    return b"this is no database, it is a note of mine\n" * rng.randint(1, 400)


LEDGER: Sequence[Spoil] = (
    flip,
    flip,
    header,
    page_spoilt,
    page_head,
    grown,
    text_file,
    truncate,
    empty,
    zeros,
    all_zeros,
    swap_blocks,
    insert,
    delete,
)


def another_version(rng: random.Random, path: Path) -> None:
    """A ledger that says it is of another version."""
    with closing(sqlite3.connect(path)) as ledger:
        ledger.execute(f"PRAGMA user_version = {rng.choice([0, 1, VERSION + 1, 99, -1])}")


def another_database(rng: random.Random, path: Path) -> None:
    """Somebody else's database; our log may lie beside it."""
    path.unlink()
    with closing(sqlite3.connect(path)) as birds:
        birds.execute("CREATE TABLE birds (name)")
        birds.commit()


def row_strange(rng: random.Random, path: Path) -> None:
    """A sound database with a value that we never wrote."""
    cell = rng.choice(
        [
            ("messages", "voice"),
            ("messages", "sent_us"),
            ("messages", "room"),
            ("messages", "author"),
            ("conversations", "cursor"),
            ("conversations", "room"),
            ("plans", "cursors"),
            ("plans", "number"),
            ("plans", "id"),
            ("texts", "text"),
            ("texts", "text"),
            ("texts", "text"),
            ("scopes", "scope"),
            ("known", "scope"),
            ("timers", "about"),
            ("timers", "due_us"),
        ]
    )
    value = rng.choice(["strange", "", "[", 10**15, -5, 2**62, b"\xff\xfe", "\x00", "group:../..", "group:"])
    table, column = cell
    with closing(sqlite3.connect(path)) as ledger:
        keys = [row[0] for row in ledger.execute(f"SELECT {column} FROM {table}")]  # noqa: S608
        if keys:
            ledger.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} = ?", (value, rng.choice(keys)))  # noqa: S608
        ledger.commit()


LEDGER_PLACES: Sequence[Displace] = (
    another_version,
    another_database,
    row_strange,
    row_strange,
    row_strange,
    removed,
    folder,
    pipe,
    dangling,
    link,
    locked,
)
