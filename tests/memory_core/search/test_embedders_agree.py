"""What every embedder promises, asked of the one that the tests bring and of the real one, where it is installed."""

from __future__ import annotations

import math
from array import array
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version

import pytest

from bot.embedding import PACKAGE, SentenceEncoder
from memory_core.search.embedding import Embedder, cosines
from tests.memory_core.search.embedders import WordEmbedder

ODD = (
    "",
    " \n\t",
    "\0 a \0",
    "\ud83d half of a character",
    "\ufdfa" * 300,  # one character that becomes eighteen
    "a" + "\u0301" * 400,
    "x" * 50_000,
    "很" * 3000,
    "👩‍👩‍👧‍👦" * 50,
    "\u202eright to left",
)


def _installed() -> bool:
    try:
        version(PACKAGE)
    except PackageNotFoundError:
        return False
    return True


@pytest.fixture(
    scope="module",
    params=[
        "words",
        pytest.param(PACKAGE, marks=pytest.mark.skipif(not _installed(), reason=f"{PACKAGE} is not installed")),
    ],
)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return WordEmbedder() if request.param == "words" else SentenceEncoder()


def test_every_text_has_a_vector_of_norm_one_or_nothing(embedder: Embedder) -> None:
    texts = [*ODD, "We ship on Friday."]
    vectors = embedder.embed(texts)
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector.typecode == "f"
        assert len(vector) == embedder.dimensions
        norm = math.sqrt(sum(one * one for one in vector))
        assert norm == pytest.approx(1.0, abs=1e-3) or (norm == 0.0 and not text.strip())


def test_no_text_no_vector(embedder: Embedder) -> None:
    assert list(embedder.embed([])) == []
    [asked] = embedder.embed(["We ship on Friday."])
    assert list(embedder.similar(asked, [])) == []


def test_a_text_has_the_same_vector_whatever_stands_beside_it(embedder: Embedder) -> None:
    texts = ["We ship on Friday.", *ODD, "The cat is at the vet."]
    together = embedder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        [alone] = embedder.embed([text])
        assert max(abs(one - other) for one, other in zip(alone, vector, strict=True)) < 1e-4


def test_similar_gives_the_cosines_and_a_text_is_nearest_to_itself(embedder: Embedder) -> None:
    texts = ["We ship on Friday.", "Anna is allergic to peanuts.", "The printer needs toner.", "the printer"]
    vectors = embedder.embed(texts)
    for number, vector in enumerate(vectors):
        told = list(embedder.similar(vector, vectors))
        assert told == pytest.approx(cosines(vector, vectors), abs=1e-4)
        assert max(range(len(told)), key=told.__getitem__) == number


def test_what_is_kept_as_bytes_is_the_same_vector(embedder: Embedder) -> None:
    [vector] = embedder.embed(["We ship on Friday."])
    kept = array("f")
    kept.frombytes(vector.tobytes())
    assert kept == vector


def test_several_threads_may_ask_at_once(embedder: Embedder) -> None:
    texts = [f"sentence {number} of many" for number in range(16)]
    expected = embedder.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(embedder.embed, [texts] * 8):
            for one, other in zip(found, expected, strict=True):
                assert max(abs(a - b) for a, b in zip(one, other, strict=True)) < 1e-4


def test_the_name_holds_a_version(embedder: Embedder) -> None:
    assert any(sign.isdigit() for sign in embedder.name)


def test_vectors_of_different_lengths_are_not_compared() -> None:
    with pytest.raises(ValueError, match="another length"):
        cosines(array("f", [1.0, 0.0]), [array("f", [1.0])])
