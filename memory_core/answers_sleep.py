"""What is said of sleep: short, dry, true. Pure functions from values to text.

A report is worded from what was read back (memory_core.sleep.stages); its own lines are the long form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from types import MappingProxyType

from memory_core.sleep.report import SAID, Report, Stage
from memory_core.text import counted

TOLD = 8
"""So many lines about single records a chat gets; the rest is counted."""

PLACES = 12
"""So many pages are named; a message on Discord has room for about 90."""

NAMES = {Stage.DEEP: "deep sleep", Stage.REM: "REM sleep"}

NONE_UNDONE: Mapping[Stage, datetime] = MappingProxyType({})

NO_MEMORY = "There is no memory here yet, so there is nothing to go through."


def report_lines(report: Report) -> tuple[str, ...]:
    """The report for a person, a line each, without the mark that keeps it out of memory."""
    return tuple(line.removeprefix(SAID) for line in report.lines)


def slept_text(report: Report, most: int = TOLD) -> str:
    """What a sleep did; or why it did nothing."""
    name = NAMES[report.stage].capitalize() if report.stage is Stage.DEEP else NAMES[report.stage]
    if report.problem:
        return f"No sleep: {report.problem}"
    told = report_lines(report)
    if report.nothing:
        head = f"{name}: nothing to do."
    else:
        done = ", ".join(what for number, what in _counts(report) if number) or "small repairs"
        number = f" (no. {report.number})" if report.number else ""
        head = f"{name}{number}: {done}; in {_places(report.pages)}."
    more = [f"… and {len(told) - most} more"] if len(told) > most else []
    return "\n".join([head, *(f"- {line}" for line in told[:most]), *more])


def _places(pages: Sequence[str]) -> str:
    """The pages by name, of very many (a long history was imported) the first, and how many more there are."""
    named = [*pages[:PLACES], counted(len(pages) - PLACES, "more page")] if len(pages) > PLACES else pages
    return ", ".join(named)


def _counts(report: Report) -> tuple[tuple[int, str], ...]:
    return (
        (report.promoted, f"{report.promoted} promoted"),
        (report.absorbed, f"{counted(report.absorbed, 'journal line')} absorbed"),
        (report.merged, f"{report.merged} merged"),
        (report.superseded, f"{report.superseded} superseded"),
        (report.conflicts, f"{report.conflicts} in conflict"),
        (report.proven, f"{report.proven} PROVEN"),
        (report.archived, f"{report.archived} archived"),
        (report.returned, f"{report.returned} back from the archive"),
        (report.journals, f"{counted(report.journals, 'journal')} moved to the archive"),
    )


def rest_text(
    last_deep: datetime | None,
    last_rem: datetime | None,
    next_at: datetime | None,
    undigested: int,
    zone: tzinfo,
    *,
    on: bool,
    undone: Mapping[Stage, datetime] = NONE_UNDONE,
) -> str:
    """`deep 2026-04-06 03:10, REM never; next look 2026-04-09 03:10; 2 journals not gone through`.

    `undone`: sleeps that were taken back, which are not the last ones told then.
    """
    coming = "only when asked (REMEM_SLEEP is off)"
    if on:
        coming = f"next look {_moment(next_at, zone)}" if next_at else "next look after the first flush"
    waiting = f"{counted(undigested, 'journal')} not gone through"
    back = {stage: f" (that of {_moment(at, zone)} was taken back)" for stage, at in undone.items()}
    deep = f"deep {_moment(last_deep, zone)}{back.get(Stage.DEEP, '')}"
    return f"{deep}, REM {_moment(last_rem, zone)}{back.get(Stage.REM, '')}; {coming}; {waiting}"


def _moment(moment: datetime | None, zone: tzinfo) -> str:
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M") if moment else "never"


def sleep_notes(trouble: str, stuck: int) -> list[str]:
    """What is wrong with a scope's sleep: why the last try failed, and that it reads nothing of new notes."""
    failed = [f"the last sleep failed and is tried again: {trouble}"] if trouble else []
    return failed + ([f"{stuck} sleeps met new notes and could read nothing new of them"] if stuck else [])


def trouble_text(at: datetime, why: str, zone: tzinfo) -> str:
    """When and why a flush failed last."""
    return f"the flush of {_moment(at, zone)} failed: {why}"
