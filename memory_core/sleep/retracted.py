"""What lies in the archive and was taken back since: it must not come back when it is used, nor be quoted as valid.

A record that contradicts an archived one and was stated since is compared with it as two records of a page are
(likeness.supersedes), whatever page it stands on, and also where it lies in the archive itself:

    it supersedes     the archived record leaves a struck line, and the newer one names it
    in conflict       the archived one comes back to its page, marked, as the other is: somebody has to decide, and a
                      conflict is never archived

A fact of the environment (forms/facts) is known by its key: one that has another value by now, on the board or on a
page, leaves a struck line too, whatever its words.

A flush does the first at once for what it hears taken back (memory_core.flush.record_draft); REM finds the rest: what
was put in the positive, said while a page was damaged, or written by hand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_core.forms import facts
from memory_core.forms.archive import archived, has_fence, is_open, title_of
from memory_core.forms.board import BOARDS, board
from memory_core.forms.escape import escape_comment
from memory_core.forms.marks import marked
from memory_core.forms.records import Record, parse, render, struck
from memory_core.forms.records import replace as replace_record
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.operations.records import AddRecord
from memory_core.operations.sleep import DropBlocks, EditRecords
from memory_core.sleep.likeness import Alike, contrary, said, supersedes, told_last
from memory_core.sleep.night import Night
from memory_core.sleep.sheet import sheet_of


@dataclass(slots=True)
class _Told:
    """A record, where it is, and its block as it stands by now."""

    page: PageId
    block: str
    record: Record
    away: bool


def settle(night: Night) -> dict[PageId, set[str]]:
    """Strike what was taken back, bring back what is in conflict; the identities of what came back, by page."""
    back: dict[PageId, set[str]] = {}
    away = list(_away(night))
    standing = list(_standing(night)) if away else []
    outdated = list(_outdated(night, standing, away))
    away = [one for one in away if all(one is not old for old, _ in outdated)]
    for old, new in outdated:
        _strike(night, new, old)
    for new, old in _against(standing, away):
        if supersedes(new.record, old.record):
            _strike(night, new, old)
        elif not new.away and (page := _return(night, new, old)):
            back.setdefault(page, set()).add(old.record.identity)
    return back


def _against(standing: Sequence[_Told], away: Sequence[_Told]) -> Iterator[tuple[_Told, _Told]]:
    """Each archived record that something stated since contradicts, with the newest that does, oldest first."""
    texts = [said(one.record) for one in (*standing, *away)]
    every = [*standing, *away]
    days = {at: told_last(one.record) for at, one in enumerate(every)}
    pairs = list(Alike(texts).pairs(len(standing))) if standing else []
    pairs += [(one + len(standing), other + len(standing)) for one, other in Alike(texts[len(standing) :]).pairs()]
    newest: dict[int, int] = {}
    for one, other in pairs:
        if not contrary(texts[one], texts[other]):
            continue
        for new, old in ((one, other), (other, one)):
            since = days[new] > days[old] or (days[new] == days[old] and not every[new].away)
            if every[old].away and since and days[new] > days.get(newest.get(old, -1), date.min):
                newest[old] = new
    for old, new in sorted(newest.items(), key=lambda pair: days[pair[0]]):
        yield every[new], every[old]


def _outdated(
    night: Night, standing: Sequence[_Told], away: Sequence[_Told]
) -> Iterator[tuple[_Told, _Told | PageId]]:
    """The archived facts that have another value now, each with the record, or the board, that tells it."""
    newer: dict[str, list[tuple[str, date, _Told | PageId]]] = defaultdict(list)
    for one in (*standing, *away):
        if key := facts.key_of(one.record):
            newer[key].append((facts.value_of(one.record), told_last(one.record), one))
    for page, text in night.draft.texts.items() if newer else ():
        if (form := night.draft.table.rule(page).form) in BOARDS:
            for key, value in board(form).parse(text).snapshot:
                if said := facts.stated(value):
                    newer[facts.comparable(key)].append((said.value, said.last, page))
    for old in away:
        value, day = facts.value_of(old.record), told_last(old.record)
        others = [one for one in newer.get(facts.key_of(old.record), ()) if one[0] != value and one[1] >= day]
        found = next((one[2] for one in others if one[1] > day or not isinstance(one[2], _Told)), None)
        if found is not None:
            yield old, found


def _strike(night: Night, new: _Told | PageId, old: _Told) -> None:
    """The archived record leaves its struck line; the newer one names it, but for a line of a board."""
    left = struck(old.record)
    line = marked(f"~~{escape_comment(left)}~~", old.record.messages)
    if not night.draft.do(EditRecords(old.page, (((old.block, line),),))):
        return
    night.tally.superseded += 1
    told = f"superseded {old.record.label} in the archive by"
    if not isinstance(new, _Told):
        night.tally.lines.append(f"{told} what stands on {new}")
        return
    names = dict.fromkeys((left, *old.record.supersedes, *new.record.supersedes))
    _put(night, new, replace(new.record, supersedes=tuple(names)))
    where = "" if new.away else f" on {new.page}"
    night.tally.lines.append(f"{told} {new.record.label}{where}")


def _return(night: Night, other: _Told, old: _Told) -> PageId | None:
    """The archived record stands on its page again, both marked; the page, or None where it cannot stand there."""
    gone = archived(old.record)
    home = PageId(gone.page) if gone else None
    if gone is None or home not in night.record_pages():
        return None
    if is_open(night.draft.texts[home]) and has_fence(old.block):
        return None
    marks = dict.fromkeys((*old.record.conflicts, other.record.label))
    record = replace(old.record, archived="", conflicts=tuple(marks))
    if not night.draft.do(AddRecord(home, render(record), gone.section)):
        return None
    night.draft.do(DropBlocks(old.page, (old.block,), title_of(old.page.partition("/")[2])))
    _put(night, other, replace(other.record, conflicts=(*other.record.conflicts, old.record.label)))
    night.tally.returned += 1
    night.tally.conflicts += 1
    night.tally.lines.append(f"conflict: {old.record.label} is back on {home}, against {other.record.label}")
    return home


def _put(night: Night, told: _Told, record: Record) -> None:
    """The record as it is to be from now on."""
    after = replace_record(told.block, told.record.identity, record).removesuffix("\n")
    night.draft.do(EditRecords(told.page, (((told.block, after),),)))
    told.block, told.record = after, record


def _standing(night: Night) -> Iterator[_Told]:
    """The records of the pages that an edit can tell apart."""
    for page in night.record_pages():
        for slot in sheet_of(page, night.draft.table.rule(page), night.draft.texts[page]).slots:
            if slot.alone:
                yield _Told(page, slot.block, slot.record, away=False)


def _away(night: Night) -> Iterator[_Told]:
    """The records of all archives, those that stand there once."""
    for page, text in list(night.draft.texts.items()):
        if night.draft.table.rule(page).form is Form.ARCHIVE and page not in night.damaged:
            found = [placed for placed in parse(text).records if placed.level]
            blocks = [text[placed.start : placed.end].replace("\r\n", "\n") for placed in found]
            often = Counter(blocks)
            for placed, block in zip(found, blocks, strict=True):
                if placed.record.archived and often[block] == 1:
                    yield _Told(page, block, placed.record, away=True)
