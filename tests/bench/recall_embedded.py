"""The recall bench by the optional embedder: remem's order fused with the one by meaning (memory_core.search)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bot.embedding import SentenceEncoder
from memory_core.errors import BadInput
from memory_core.search import fusion
from memory_core.search.embedding import Vector
from tests.bench.recall_data import Question, Turn
from tests.bench.recall_rankings import RANKINGS

EMBEDDER = "embedder"


@dataclass(slots=True)
class Embedded:
    """remem's order fused with the one by meaning. Every text is embedded once, for `spent_s` of a processor."""

    embedder: SentenceEncoder
    vectors: dict[str, Vector] = field(default_factory=dict)
    spent_s: float = 0.0

    def __call__(self, turns: Sequence[Turn], question: Question) -> Sequence[int]:
        """Without the embedder's own loading, which is done before."""
        lines = [turn.line for turn in turns]
        self._embed(dict.fromkeys((*lines, question.text)))
        similar = self.embedder.similar(self.vectors[question.text], [self.vectors[line] for line in lines])
        meant = fusion.order(fusion.near(similar, [turn.session for turn in turns]))
        return fusion.fused(RANKINGS["remem"](turns, question), meant)

    def cost(self) -> str:
        """What it took, for people."""
        texts = len(self.vectors)
        each_ms = 1000 * self.spent_s / max(1, texts)
        return f"{self.embedder.name}: {texts} texts embedded, {each_ms:.1f} ms of a processor each"

    def _embed(self, texts: Iterable[str]) -> None:
        new = [text for text in texts if text not in self.vectors]
        began = time.process_time()
        self.vectors.update(zip(new, self.embedder.embed(new), strict=True))
        self.spent_s += time.process_time() - began


def with_embedder() -> Embedded | None:
    """The ranking by the embedder, if it is installed; said when it is not."""
    try:
        embedder = SentenceEncoder()
    except BadInput as missing:
        print(f"{EMBEDDER}: skipped. {missing}")
        return None
    embedder.embed(["warm"])
    return Embedded(embedder)
