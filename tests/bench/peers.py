"""Other memories, searched beside remem on the same texts: only those that are installed, the others skipped by name.

    mem0        Memory.add(…, infer=False) of each text, then Memory.search, for one user
    memsearch   one Markdown file a group, MemSearch.index, then MemSearch.search under that group's prefix

Both embed with the same local model (all-MiniLM-L6-v2 through sentence-transformers), which must be in its cache;
neither asks a language model for anything. What a peer raises while it is set up is told as the reason to skip it.
The calls are those that their own documentation names: mem0 2.x, memsearch 0.x.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Protocol, TypeAlias

from rich.table import Table

from tests.bench.figures import at, ms
from tests.bench.memories import Group

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384
LIMIT = 10
_REFUSED = (ImportError, OSError, ValueError, RuntimeError, TypeError, AttributeError)
"""What a library that lacks a part, a model or a network raises."""


class Peer(Protocol):
    """A memory that holds the texts of some groups."""

    async def add(self, group: str, texts: Sequence[str]) -> None:
        """Keep the texts as the group's."""
        ...

    async def search(self, group: str, words: str) -> int:
        """How many of the group's texts it finds."""
        ...


class Mem0:
    """mem0's own store on disk (qdrant, local)."""

    def __init__(self, folder: Path) -> None:
        store = {"collection_name": "bench", "path": str(folder / "mem0"), "embedding_model_dims": DIMENSIONS}
        config = {
            "vector_store": {"provider": "qdrant", "config": {**store, "on_disk": True}},
            "embedder": {"provider": "huggingface", "config": {"model": MODEL}},
            "llm": {"provider": "openai", "config": {"api_key": "never asked"}},
            "history_db_path": str(folder / "mem0-history.db"),
        }
        self._memory = import_module("mem0").Memory.from_config(config)

    async def add(self, group: str, texts: Sequence[str]) -> None:
        """Each text as it is: nothing is inferred."""
        for text in texts:
            await asyncio.to_thread(self._memory.add, text, user_id=group, infer=False)

    async def search(self, group: str, words: str) -> int:
        """Among the group's own."""
        told = await asyncio.to_thread(self._memory.search, words, top_k=LIMIT, filters={"user_id": group})
        return len(told["results"])


class MemSearch:
    """memsearch over a folder of Markdown (Milvus Lite)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "memsearch"
        self._folder.mkdir()
        self._memory = import_module("memsearch").MemSearch(
            paths=[self._folder], embedding_provider="local", embedding_model=MODEL, milvus_uri=str(folder / "m.db")
        )

    async def add(self, group: str, texts: Sequence[str]) -> None:
        """A file with a heading for each text."""
        file = self._folder / f"{group}.md"
        lines = "\n".join(f"## {number}\n{text}\n" for number, text in enumerate(texts))
        await asyncio.to_thread(file.write_text, lines, "utf-8")
        await self._memory.index_file(file)

    async def search(self, group: str, words: str) -> int:
        """Under the group's own file."""
        return len(await self._memory.search(words, top_k=LIMIT, source_prefix=self._folder / f"{group}.md"))


PEERS: dict[str, Callable[[Path], Peer]] = {"mem0": Mem0, "memsearch": MemSearch}
"""By the name of the package to import."""

Told: TypeAlias = dict[str, dict[str, float] | str]
"""By peer: p50 and p95 in seconds and the seconds of adding one text; or why it was skipped."""


def beside(groups: Sequence[Group], messages: int) -> Told:
    """Ask every peer that is here so many questions about these groups. Blocking."""
    return {name: _asked(name, groups, messages) for name in PEERS}


def _asked(name: str, groups: Sequence[Group], messages: int) -> dict[str, float] | str:
    if find_spec(name) is None:
        return f"skipped: {name} is not installed"
    with tempfile.TemporaryDirectory() as folder:
        try:
            return asyncio.run(_measured(PEERS[name](Path(folder)), groups, messages))
        except _REFUSED as refused:
            return f"skipped: {type(refused).__name__}: {str(refused)[:200]}"


async def _measured(peer: Peer, groups: Sequence[Group], messages: int) -> dict[str, float]:
    began = time.perf_counter()
    for group in groups:
        await peer.add(group.name, [text for _, text in group.texts])
    added_s = (time.perf_counter() - began) / max(1, sum(len(group.texts) for group in groups))
    random, times = Random(5), list[float]()
    for _ in range(messages):
        group = random.choice(groups)
        question = group.question(random)
        began = time.perf_counter()
        await peer.search(group.name, question)
        times.append(time.perf_counter() - began)
    return {"p50": at(times, 0.5), "p95": at(times, 0.95), "add": added_s}


def shown(told: Told) -> Table:
    """The peers as a table."""
    table = Table("peer", "search p50", "search p95", "add, each", title="peers, on the texts of the first size")
    for name, found in told.items():
        if isinstance(found, str):
            table.add_row(name, found, "", "")
        else:
            table.add_row(name, *(ms(found[key]) for key in ("p50", "p95", "add")))
    return table
