"""The port of an embedder: what search asks of a model that tells how near texts are in meaning. There may be none.

    text ── embed ──▶ vector, kept beside the unit it was made of, under the embedder's `name`
    question ── embed ──▶ vector ── similar(question, kept vectors) ──▶ how near each is ── fusion ──▶ an order

An embedder is local and knows no language from another: a question finds a sentence in any language it was made for.
How near two texts are says something beside other texts only; one model's numbers lie between 0.7 and 0.9, another's
around 0.2. So they are put in order and never held against a threshold (memory_core.search.fusion).

Vectors of different names are never compared: the name holds the model, its version and how text is prepared for it.
A vector says much of its text, so it is as private as the text is: it lies in the files of the same scope, and goes
when the text goes.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import mul
from typing import Protocol, TypeAlias

Vector: TypeAlias = "array[float]"
"""Typecode `f`; its length is the embedder's `dimensions`, its norm 1, or 0 for what holds nothing."""


class Embedder(Protocol):
    """What tells how near texts are. Every method may take seconds, so it is called in a thread, by any of them."""

    @property
    def name(self) -> str:
        """Model, version and preparation: vectors that were made under another name are worth nothing."""

    @property
    def dimensions(self) -> int:
        """The length of every vector."""

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each text, in their order. The same text has the same vector (but for the last bits), whatever
        stands beside it and whether it is a question or what answers it. Any string may come: empty, huge, of any
        script, no valid Unicode. Raises EmbeddingFailed.
        """

    def similar(self, asked: Vector, held: Sequence[Vector]) -> Sequence[float]:
        """How near `asked` is to each of `held`: greater is nearer, as `cosines`. Raises EmbeddingFailed."""


def cosines(asked: Vector, held: Sequence[Vector]) -> tuple[float, ...]:
    """What `similar` must give, but for rounding; about 20 ms for 1,000 vectors of 512 numbers. Raises ValueError for
    vectors of different lengths.
    """
    if any(len(one) != len(asked) for one in held):
        raise ValueError(f"a vector of another length than {len(asked)} cannot be compared")
    return tuple(sum(map(mul, asked, one)) for one in held)
