"""Which page a message asks for: its words against the index's live routing rows.

A row is scored in two parts, and the better row wins; a tie goes to the higher priority.

* The row's own words. A trigger is a list of phrases (commas, slashes, 、) or a sentence. Each phrase scores by the
  weight of its terms that stand in the message, and by how much of the phrase that is; terms standing side by side as
  in the phrase count a little more. A term weighs less when several rows have it, or when it is a word of any message
  (who, today, 什么). The best phrase counts whole, each further one half of the one before.
* The word list of the page's kind (lexicon): the same sum over its cues, at most LEXICON_LIMIT, times LEXICON_SHARE,
  so that it never outweighs a word of weight in a row. Cues that the row's own words found already are not counted
  twice. A page that stands for one of many (a project) is found by its row or its own name, which counts double; its
  word list only helps.

What scores under THRESHOLD is no match. Only pages that a live row names are candidates; pages without a priority
(conventions) are never matched directly, `best_convention` chooses among those that a loaded page names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory_core.ids import PageId
from memory_core.index import Index, Route
from memory_core.layouts import PageRule, Priority, Table
from memory_core.lexicon import cues_near, generality, likely_meant
from memory_core.pleasantry import is_pleasantry
from memory_core.script import fold, is_paired
from memory_core.terms import surfaces, terms
from memory_core.text import one_line

THRESHOLD = 0.37
LEXICON_SHARE = 0.6
LEXICON_LIMIT = 1.25
NAME_WEIGHT = 2.0
_HEAD_CHARS, _TAIL_CHARS = 1500, 500
_SEPARATORS = re.compile(r"[,;/|，、；·•\n]|\s+(?:or|und|oder|and)\s+|\s[-–—]\s|[.。!！?？](?:\s|$)|或者?|以及|和")


@dataclass(frozen=True, slots=True)
class Match:
    """A page that the message asks for: how strongly, by which row (`trigger`), and `why` in a few words."""

    page: PageId
    priority: Priority
    score: float
    trigger: str
    why: str


@dataclass(frozen=True, slots=True)
class _Said:
    """A message made ready: how each term was written, where it stands, and the folded text."""

    words: Mapping[str, str]
    positions: Mapping[str, tuple[int, ...]]
    folded: str


@dataclass(frozen=True, slots=True)
class _Hit:
    """One thing that was found: what to show of it, its score, and the terms that it used up."""

    shown: str
    score: float
    used: frozenset[str]


def match(message: str, index: Index, table: Table) -> tuple[Match, ...]:
    """The pages that `message` asks for, best first, a tie to the higher priority; empty when none is meant."""
    if is_pleasantry(message):
        return ()
    said = _said(message)
    routes = [route for route in index.routes if not route.deprecated and table.rule(route.page).priority is not None]
    rarity = _rarity(routes)
    alone = _alone(routes, table)
    best: dict[PageId, Match] = {}
    for route in routes:
        rule = table.rule(route.page)
        found = _score(said, route, rule, rarity, helps_alone=route.page in alone)
        if found and found.score >= THRESHOLD and (route.page not in best or found.score > best[route.page].score):
            best[route.page] = found
    return tuple(sorted(best.values(), key=lambda found: (-found.score, found.priority)))


def best_convention(message: str, names: Sequence[PageId], index: Index, table: Table) -> PageId | None:
    """The page of `names` (conventions that the loaded page mentions) that `message` is about, if it is about any.

    A live row that points at the page lends its words; the page's own name counts too.
    """
    said = _said(message)
    scores: list[tuple[float, int]] = []
    for at, page in enumerate(names):
        triggers = [route.trigger for route in index.routes if route.page == page and not route.deprecated]
        hits = [hit for trigger in triggers for hit in _own_hits(said, trigger, {})]
        name = _name_hit(said, _own_name(page, table.rule(page)))
        scores.append((_sum([*hits, *name]), -at))
    top = max(scores, default=(0.0, 0))
    return names[-top[1]] if top[0] >= THRESHOLD else None


def speaks_of(message: str, lexicon: str) -> bool:
    """Do the words of that list, by themselves, find something in the message that would be a match?"""
    found = _cue_hits(_said(message), lexicon, set())
    return LEXICON_SHARE * min(_sum(found), LEXICON_LIMIT) >= THRESHOLD


def _score(
    said: _Said, route: Route, rule: PageRule, rarity: Mapping[str, float], *, helps_alone: bool
) -> Match | None:
    """The row's score; None when nothing was found."""
    own = _own_hits(said, route.trigger, rarity)
    if rule.page.endswith("*"):
        own += _name_hit(said, _own_name(route.page, rule))
    used = {term for hit in own for term in hit.used}
    kind = _cue_hits(said, rule.lexicon, used) if own or helps_alone else []
    score = _sum(own) + LEXICON_SHARE * min(_sum(kind), LEXICON_LIMIT)
    if not score:
        return None
    row = one_line(route.trigger, 60)
    if own:
        why = f'"{max(own, key=lambda hit: hit.score).shown}" in row "{row}"'
    else:
        why = f'"{max(kind, key=lambda hit: hit.score).shown}" is a word of {rule.lexicon}, row "{row}"'
    return Match(route.page, route.priority, round(score, 4), route.trigger, why)


def _said(message: str) -> _Said:
    if len(message) > _HEAD_CHARS + _TAIL_CHARS:
        message = f"{message[:_HEAD_CHARS]}\n{message[-_TAIL_CHARS:]}"
    words: dict[str, str] = {}
    positions: dict[str, tuple[int, ...]] = {}
    for at, (surface, found) in enumerate(surfaces(message)):
        for term in (*found, *terms(likely_meant(surface))):
            words.setdefault(term, surface)
            positions[term] = (*positions.get(term, ()), at)
    return _Said(words, positions, fold(message))


def _own_name(page: PageId, rule: PageRule) -> str:
    return rule.name_in(page) or page


def _alone(routes: Sequence[Route], table: Table) -> set[PageId]:
    """The pages that their kind's word list may find by itself: those that are not one of several of their rule."""
    pages: dict[PageId, set[PageId]] = {}
    for route in routes:
        pages.setdefault(table.rule(route.page).page, set()).add(route.page)
    return {page for group in pages.values() if len(group) == 1 for page in group}


def _rarity(routes: Sequence[Route]) -> dict[str, float]:
    """Per term of the rows: 1 when one row has it, less the more rows have it."""
    count: dict[str, int] = {}
    for route in routes:
        for term in {term for phrase in _phrases(route.trigger) for term in phrase}:
            count[term] = count.get(term, 0) + 1
    total = max(len(routes), 2)
    return {term: math.log1p(total / rows) / math.log1p(total) for term, rows in count.items()}


@lru_cache(maxsize=1 << 12)
def _phrases(trigger: str) -> tuple[tuple[str, ...], ...]:
    """The trigger's phrases as terms."""
    found = (terms(part) for part in _SEPARATORS.split(trigger))
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))


def _own_hits(said: _Said, trigger: str, rarity: Mapping[str, float]) -> list[_Hit]:
    """The trigger's phrases that stand in the message, whole or in part."""
    hits: list[_Hit] = []
    for phrase in _phrases(trigger):
        weights = {term: generality(term) * rarity.get(term, 1.0) for term in phrase}
        present = [term for term in weights if term in said.words]
        if not present:
            continue
        found, total = sum(weights[term] for term in present), sum(weights.values())
        score = min(1.0, found) * (found / total) ** _part_exponent(phrase)
        if len(present) == len(weights):
            score *= 1.0 if len(weights) == 1 else 1.2 if _side_by_side(said, phrase) else 0.9
        elif all(generality(term) < 1 for term in present):
            score *= 0.4
        hits.append(_Hit(" ".join(dict.fromkeys(said.words[term] for term in present)), score, frozenset(present)))
    return hits


def _part_exponent(phrase: Sequence[str]) -> float:
    """How much a part of a phrase is worth.

    Half of a two-word phrase is half of it (tech of tech stack); one word of a sentence may be all that it is about;
    pairs of characters overlap, so that one of three is more than a third.
    """
    if is_paired(phrase[0]):
        return 0.5
    return 1.0 if len(phrase) == 2 else 0.5 if len(phrase) == 3 else 1 / 3


def _name_hit(said: _Said, name: str) -> list[_Hit]:
    """The page's own name in the message: `home-server` also as `home server` or `homeserver`."""
    parts = terms(re.sub(r"[-_.]+", " ", name))
    joined = re.sub(r"[-_.\s]+", "", fold(name))
    whole = is_paired(joined) and joined in said.folded
    if (
        not whole
        and (not parts or not all(part in said.words for part in parts))
        and not set(terms(joined)) & said.words.keys()
    ):
        return []
    return [_Hit(name, NAME_WEIGHT, frozenset(parts))]


def _cue_hits(said: _Said, lexicon: str, used: set[str]) -> list[_Hit]:
    """The cues of a word list that stand in the message and add something to what is used already."""
    hits: list[_Hit] = []
    for cue in cues_near(lexicon, said.positions, said.folded):
        if not (cue.stands_in(said.folded) if cue.piece else _side_by_side(said, cue.terms)):
            continue
        means = cue.means()
        if not means or not used.issuperset(means):
            hits.append(_Hit(cue.shown, cue.weight, frozenset(means)))
            used = used | set(means)
    return hits


def _side_by_side(said: _Said, phrase: Sequence[str]) -> bool:
    """Whether the terms of `phrase` follow each other in the message."""
    starts = said.positions.get(phrase[0], ())
    return any(
        all(start + step in said.positions.get(term, ()) for step, term in enumerate(phrase)) for start in starts
    )


def _sum(hits: Sequence[_Hit]) -> float:
    """The best hit counts whole, each further one half of the one before."""
    scores = sorted((hit.score for hit in hits), reverse=True)
    return sum((score / 2.0**rank for rank, score in enumerate(scores)), start=0.0)
