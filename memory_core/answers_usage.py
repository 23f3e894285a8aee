"""What models cost, in words: for `/remem status`, `remem status` and `remem usage`. Pure.

A price that is not known is said to be unknown, and a sum that lacks prices says how many: it is never shown as 0.
Tokens that no provider reported are counted by remem, and said to be.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.ledger.usage import Purpose, Spent
from memory_core.text import counted

_FOR = {Purpose.REPLY: "answers", Purpose.MEMORY: "saving"}
_MICRO = 1_000_000


def purpose_word(purpose: Purpose) -> str:
    """The purpose for people."""
    return _FOR[purpose]


def usage_text(spent: Sequence[Spent]) -> str:
    """All of it in one line, purposes apart; `nothing` where nothing was used."""
    apart = {purpose: [one for one in spent if one.purpose == purpose] for purpose in Purpose}
    told = (f"{purpose_word(purpose)} {sum_text(runs)}" for purpose, runs in apart.items() if runs)
    return "; ".join(told) or "nothing"


def sum_text(spent: Sequence[Spent]) -> str:
    """Tokens, runs and money of all of it together."""
    tokens, runs = sum(one.tokens for one in spent), sum(one.runs for one in spent)
    estimated = sum(one.estimated_runs for one in spent)
    about = "about " if estimated else ""
    ours = "" if not estimated else ", estimated" if estimated == runs else f", {counted(estimated, 'run')} estimated"
    words = "token" if tokens == 1 else "tokens"
    return f"{about}{tokens:,} {words} in {counted(runs, 'run')} ({money_text(spent)}{ours})"


def money_text(spent: Sequence[Spent]) -> str:
    """What it cost, as far as prices are known."""
    micro_usd, unpriced = sum(one.cost_micro_usd for one in spent), sum(one.unpriced_runs for one in spent)
    if not unpriced:
        return dollars(micro_usd)
    if not micro_usd:
        return "price unknown"
    return f"{dollars(micro_usd)} and {counted(unpriced, 'run')} of unknown price"


def dollars(micro_usd: int) -> str:
    """An amount of US dollars; small ones are not rounded to nothing."""
    if micro_usd >= _MICRO // 100 or not micro_usd:
        return f"${micro_usd / _MICRO:,.2f}"
    return f"${micro_usd / _MICRO:.6f}".rstrip("0")


def known_cost_usd(spent: Spent) -> float | None:
    """The cost in dollars; None where a price of it is missing."""
    return None if spent.unpriced_runs else spent.cost_micro_usd / _MICRO
