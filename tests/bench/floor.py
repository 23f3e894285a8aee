"""The bare floor of a message: what nobody who searches a memory can leave out, and nothing besides.

    resolve   look whether the table of names changed, and find the group in it
    read      the group's index and the page that is asked for, from their files
    search    one FTS5 query (porter, words joined by OR, the ten best) in that group's own table
    count     the tokens of the index and of what was found

Everything that blocks is done off the event loop: files through aiofiles, SQLite in one thread of its own. Nothing
is escaped, checked, cut, explained or kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiofiles

from memory_core.tokens import load_counter
from tests.bench.memories import Group

LIMIT = 10
_WORD = re.compile(r"\w+")


class Floor:
    """The bare way through a workspace that was laid down. `close` ends its threads."""

    def __init__(self, workspace: Path, database: Path, groups: Sequence[Group]) -> None:
        """Build the tables, one for each group. Blocking."""
        self._groups = workspace / "memory/groups"
        self._counter = load_counter()
        self._database = sqlite3.connect(database, check_same_thread=False)
        for number, group in enumerate(groups):
            self._database.execute(f"CREATE VIRTUAL TABLE t{number} USING fts5(line, tokenize = 'porter unicode61')")
            put = f"INSERT INTO t{number} (line) VALUES (?)"  # noqa: S608  # a number
            self._database.executemany(put, [(text,) for _, text in group.texts])
        self._database.commit()
        self._tables = {group.name: f"t{number}" for number, group in enumerate(groups)}
        self._names: dict[str, str] = {}
        self._mark = (0, 0)
        self._readers = ThreadPoolExecutor(4)
        self._searcher = ThreadPoolExecutor(1)

    def close(self) -> None:
        """End the threads, close the database."""
        self._readers.shutdown()
        self._searcher.shutdown()
        self._database.close()

    async def answer(self, room: str, question: str, page: str) -> int:
        """The tokens of what `question` finds in the memory of `room`, whose page of that name is read."""
        loop = asyncio.get_running_loop()
        name = await loop.run_in_executor(self._searcher, self._resolve, room)
        index = await self._read(self._groups / f"{name}.md")
        await self._read(self._groups / name / f"{page}.md")
        found = await loop.run_in_executor(self._searcher, self._search, name, question)
        return self._counter.count(index) + self._counter.count("\n".join(found))

    async def _read(self, file: Path) -> str:
        async with aiofiles.open(file, "rb", executor=self._readers) as stream:
            return (await stream.read()).decode()

    def _resolve(self, room: str) -> str:
        file = self._groups / "group_names.json"
        status = os.stat(file)
        mark = (status.st_mtime_ns, status.st_size)
        if mark != self._mark:
            self._names = {key: value["name"] for key, value in json.loads(file.read_text("utf-8")).items()}
            self._mark = mark
        return self._names[room]

    def _search(self, name: str, question: str) -> list[str]:
        table = self._tables[name]
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question.lower()))
        query = f"SELECT line FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT {LIMIT}"  # noqa: S608  # a number
        return [row[0] for row in self._database.execute(query, (words,))]
