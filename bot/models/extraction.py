"""The extractor with a model: for now the rules."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.models import Model

from bot.models.spending import Meter
from memory_core.candidates import Candidate, Extractor, Request
from memory_core.tokens import Counter


class ModelExtractor:
    """The rules."""

    def __init__(
        self,
        model: Model,
        fallback: Extractor,
        *,
        counter: Counter,
        meter: Meter,
        window_tokens: int,
        timeout_s: float,
    ) -> None:
        self._fallback = fallback

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """The candidates of the rules."""
        return await self._fallback.extract(request)
