"""`remem eval extraction`: how well are conversations read, by the rules and, where one is set, by the model?

Labelled conversations (bot.evaluation) are read as a flush reads them, the bars of the flush included, and what would
be written is compared with the labels. The kept-out half is what counts: the rules were tuned on the other one. A
model costs one request or more a conversation; its provider's troubles are counted, not scored as silence.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bot.evaluation.labelled import LABELLED, Labelled, load
from bot.evaluation.scoring import Score, score_one
from bot.models.failures import Failure, ModelFailed
from bot.models.spending import Run
from bot.reading import settings_for
from bot.settings import Settings
from memory_core.candidates import Candidate, Extractor, Request
from memory_core.errors import BadInput
from memory_core.extract import RulesExtractor
from memory_core.flush.bars import checked
from memory_core.ids import DirectScope, GroupScope, PersonKey, Scope
from memory_core.ledger.usage import Purpose
from memory_core.text import counted
from memory_core.tokens import load_counter

BESIDE = 4
"""So many conversations a model is asked about at the same time."""


@dataclass(slots=True)
class Bill:
    """What a model used for the whole measurement: a meter without limits."""

    runs: list[Run] = field(default_factory=list)

    async def check(self, scope: Scope, purpose: Purpose) -> None:
        """Everything is allowed."""

    async def spend(self, scope: Scope, purpose: Purpose, run: Run) -> None:
        """Count it."""
        self.runs.append(run)

    def factor(self, model: str) -> float:
        """Nothing is known of the model's tokens."""
        return 1.0

    def line(self) -> str:
        """Requests, tokens and money."""
        tokens = sum(run.input_tokens + run.output_tokens for run in self.runs)
        known = [run.cost_usd for run in self.runs if run.cost_usd is not None]
        unknown = len(self.runs) - len(known)
        cost = f", ${sum(known):.4f}" if known else ""
        return (
            f"{counted(len(self.runs), 'request')}, {tokens:,} tokens{cost}"
            f"{f', {unknown} of unknown price' if unknown else ''}"
        )


@dataclass(slots=True)
class Rules:
    """The rules as the fallback of a model; counts how often they had to read."""

    inner: Extractor = field(default_factory=RulesExtractor)
    asked: int = 0

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """The rules' candidates."""
        self.asked += 1
        return await self.inner.extract(request)


@dataclass(slots=True)
class Measured:
    """One extractor's scores, on the half that was kept out and on the other; `failed`: conversations unanswered."""

    name: str
    kept_out: Score = field(default_factory=Score)
    tuned: Score = field(default_factory=Score)
    failed: int = 0
    notes: list[str] = field(default_factory=list)


def evaluate(data: Path | None, report: Path | None, workspace: Path | None) -> None:
    """Measure and print; also write the figures to `report` as JSON. Raises BadInput."""
    conversations = load(data or LABELLED)
    settings = settings_for(workspace, quiet=True)
    console = Console()
    if settings.model or settings.memory_model:
        require_models(settings)  # what is wrong with them is said before anything is measured
    results = [asyncio.run(measured("rules", RulesExtractor(), conversations))]
    _print(console, results[0])
    if settings.model or settings.memory_model:
        results.append(asyncio.run(by_model(settings, conversations)))
        _print(console, results[1])
    else:
        console.print("No model is set (REMEM_MEMORY_MODEL or REMEM_MODEL): only the rules were measured.")
    if report is not None:
        _write(report, results)


async def measured(name: str, extractor: Extractor, conversations: Sequence[Labelled], beside: int = 1) -> Measured:
    """Read all conversations, `beside` at a time, and score. Raises BadInput for a model that is not set up."""
    result = Measured(name)
    gate = asyncio.Semaphore(beside)

    async def one(conversation: Labelled) -> Sequence[Candidate] | None:
        async with gate:
            return await _read(extractor, conversation)

    found = await asyncio.gather(*map(one, conversations))
    for conversation, candidates in zip(conversations, found, strict=True):
        if candidates is None:
            result.failed += 1
        else:
            score_one(conversation, candidates, result.kept_out if conversation.held_out else result.tuned)
    return result


def require_models(settings: Settings) -> None:
    """Are the models set up? Blocking: loads their libraries. Raises BadInput."""
    from bot.models.providers import chosen

    chosen(settings)


async def by_model(settings: Settings, conversations: Sequence[Labelled]) -> Measured:
    """Measure the model that would read conversations. Raises BadInput where it is not set up."""
    from bot.models.extraction import ModelExtractor
    from bot.models.providers import chosen

    picked = await asyncio.to_thread(chosen, settings)
    spent, rules = Bill(), Rules()
    extractor = ModelExtractor(
        picked.memory,
        rules,
        counter=await asyncio.to_thread(load_counter),
        meter=spent,
        window_tokens=picked.window_tokens,
        timeout_s=settings.model_timeout_s,
    )
    async with picked.memory:
        result = await measured(settings.memory_model or settings.model, extractor, conversations, BESIDE)
    result.notes.append(spent.line())
    result.notes.append(
        f"the rules had to read {rules.asked} of {counted(len(conversations), 'conversation')} in its place"
    )
    return result


async def _read(extractor: Extractor, conversation: Labelled) -> Sequence[Candidate] | None:
    """What a flush would write of a conversation; None where the model's provider failed."""
    scope: Scope = DirectScope(PersonKey("console:eval")) if conversation.direct else GroupScope("eval")
    request = replace(conversation.request, scope=scope)
    try:
        candidates = await extractor.extract(request)
    except ModelFailed as failed:
        if failed.failure is Failure.SETUP:
            raise BadInput(f"{failed} ({failed.why})") from failed
        return None
    facts = ((candidate, checked(candidate, request, UTC, scope)) for candidate in candidates)
    return [replace(candidate, settled=fact.settled) for candidate, fact in facts if fact is not None]


def _print(console: Console, result: Measured) -> None:
    table = Table(title=f"Extraction by {result.name}", title_justify="left")
    table.add_column("", no_wrap=True)
    for name in ("precision", "recall", "precision (tuned half)", "recall (tuned half)"):
        table.add_column(name, justify="right")
    for row in _rows(result):
        shares = (
            part for score in (result.kept_out, result.tuned) for part in (score.precise(row), score.recalled(row))
        )
        table.add_row(row, *(_share(right, all_) for right, all_ in shares))
    console.print(table)
    proposals = (f"{score.open_found} of {score.open_found + score.open_missed}" for score in _halves(result))
    console.print(f"Open proposals seen as such: {' and '.join(proposals)} (kept-out, tuned half).")
    if result.failed:
        console.print(f"Left out of the figures: {counted(result.failed, 'conversation without an answer')}.")
    for note in result.notes:
        console.print(f"{note[:1].upper()}{note[1:]}.")


def _halves(result: Measured) -> tuple[Score, Score]:
    return result.kept_out, result.tuned


def _rows(result: Measured) -> Sequence[str]:
    names = {name for score in _halves(result) for name in score.rows()}
    return sorted(names, key=lambda name: (":" in name, not name.startswith("lang:"), name))


def _share(right: int, all_: int) -> str:
    return f"{right / all_:.2f} ({right}/{all_})" if all_ else "–"


def _figures(score: Score) -> Iterator[tuple[str, dict[str, float | int | None]]]:
    for row in score.rows():
        (right, told), (found, facts) = score.precise(row), score.recalled(row)
        yield (
            row,
            {
                "right": right,
                "told": told,
                "found": found,
                "facts": facts,
                "precision": right / told if told else None,
                "recall": found / facts if facts else None,
            },
        )


def _write(report: Path, results: Sequence[Measured]) -> None:
    told = {
        result.name: {
            "kept_out": dict(_figures(result.kept_out)),
            "tuned": dict(_figures(result.tuned)),
            "failed": result.failed,
        }
        for result in results
    }
    try:
        report.write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    except OSError as refused:
        raise BadInput(f"The figures cannot be written to {report} ({refused.strerror}).") from None
