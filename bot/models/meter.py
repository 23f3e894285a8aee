"""The meter: for now it counts nothing and refuses nothing."""

from __future__ import annotations

from bot.models.spending import Run
from bot.settings import Settings
from memory_core.handle import Handles
from memory_core.ids import Scope
from memory_core.ledger.usage import Purpose


class LedgerMeter:
    """Counts nothing (bot.models.spending.Meter)."""

    async def check(self, scope: Scope, purpose: Purpose) -> None:
        """Every run may begin."""

    async def spend(self, scope: Scope, purpose: Purpose, run: Run) -> None:
        """Nothing is kept."""

    def factor(self, model: str) -> float:
        """Nothing is learnt."""
        return 1.0


async def metered(settings: Settings, handles: Handles, reports: object) -> LedgerMeter:
    """The meter that the settings ask for."""
    return LedgerMeter()
