"""The fake of the embedder's port: words on a few places, with a small dictionary. Deterministic, and fast."""

from __future__ import annotations

import math
import threading
from array import array
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from memory_core.errors import EmbeddingFailed
from memory_core.search.embedding import Vector, cosines

GERMAN: Mapping[str, str] = {
    "schlüssel": "key",
    "haustür": "door",
    "wo": "where",
    "liegt": "lies",
    "drucker": "printer",
    "tinte": "toner",
}


class WordEmbedder:
    """Each word falls on one of 64 places; a German word falls where its English one does. Texts that share words are
    near. The last 8 places are the text's own and next to nothing: no two texts have the same vector.
    """

    dimensions = 72

    def __init__(self, name: str = "words of the tests 2") -> None:
        self.name = name
        self.fails = False
        self.calls: list[tuple[str, ...]] = []

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each text."""
        if self.fails:
            raise EmbeddingFailed("The tests' embedder was told to fail.")
        self.calls.append(tuple(texts))
        return [self.vector(text) for text in texts]

    def similar(self, asked: Vector, held: Sequence[Vector]) -> Sequence[float]:
        """How near `asked` is to each of `held`."""
        return cosines(asked, held)

    def vector(self, text: str) -> Vector:
        """The vector of one text."""
        counts = [0.0] * 64
        for word in text.lower().split():
            plain = word.strip(".,:?!()@-")
            known = GERMAN.get(plain, plain).encode("utf-8", "replace")
            counts[blake2b(known, digest_size=1).digest()[0] % 64] += 1.0
        own = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() if any(counts) else bytes(8)
        whole = [*counts, *(one / 2**14 for one in own)]
        norm = math.sqrt(sum(one * one for one in whole)) or 1.0
        return array("f", (one / norm for one in whole))


class GatedEmbedder(WordEmbedder):
    """Several texts at once wait at a gate; a single one, a question, passes."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Semaphore(0)
        self.waits = threading.Event()

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each text, once the gate lets them through."""
        if len(texts) > 1:
            self.waits.set()
            if not self.gate.acquire(timeout=20):
                raise EmbeddingFailed("Nobody opened the gate.")
        return super().embed(texts)
