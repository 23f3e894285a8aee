"""REM: a scope's records are looked through, page by page. Pure: a draft of the pages goes in, operations come out.

    1. returns         archived records that were used since, or said again, come back to their page; what was taken
                       back since is struck in the archive (retracted.py)
    2. duplicates      become one (merging.py)
    3. contradictions  the newer supersedes the older, or both are marked as in conflict (likeness.py)
    4. conflicts       a mark whose other side is gone goes
    5. PROVEN          at five hits
    6. archive         by the rules of fitness.py, lowest score first
    7. budgets         what is too long gives up struck lines, then its lowest scores: LOW, MEDIUM, unproven HIGH

Steps 2 and 6 together touch at most a share of a page's records a run (Caps); the rest waits for the next one. Age
rules of HIGH and PROVEN count as well: whatever takes a record away by rule is slow enough to be noticed. Step 7 is
not capped: a page that outgrows its budget stops being loadable, and what leaves it stands in the archive and comes
back when it is used. Records in conflict, PROVEN ones and a person's own sections never leave for a budget.

A page without priority and budget (USER.md) is read whole and its records are never quoted: nothing there is
archived, since nothing could ever count as used.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from memory_core.forms.records import Record, parse
from memory_core.layouts import Form
from memory_core.sleep.budgets import hold_budget, hold_days, tell_boards
from memory_core.sleep.fitness import archivable, is_proven, score
from memory_core.sleep.likeness import Alike, contrary, said, same, supersedes, told_last
from memory_core.sleep.merging import fullness, merged
from memory_core.sleep.night import Night
from memory_core.sleep.returns import bring_back
from memory_core.sleep.sheet import Sheet, Slot, sheet_of
from memory_core.sleep.topics import hold_topics
from memory_core.text import counted


def plan_rem(night: Night) -> None:
    """Fill the night's draft and tally."""
    back = bring_back(night)
    for page in night.record_pages():
        if night.late():
            night.tally.held_back.append(f"{page}: the time of this run was over; it is looked through next time")
            continue
        sheet = sheet_of(page, night.draft.table.rule(page), night.draft.texts[page])
        sheet.returned = back.get(page, set())
        _tidy(night, sheet)
        hold_topics(night, page)
        hold_budget(night, page, spared=sheet.returned)
    hold_days(night)
    tell_boards(night)


def _tidy(night: Night, sheet: Sheet) -> None:
    """Steps 2 to 6 on one page."""
    limit = night.caps.changes(len(sheet.slots))
    left = limit - _merge(night, sheet, limit)
    _contradictions(night, sheet)
    _clear_conflicts(night, sheet)
    for slot in sheet.live:
        if not slot.record.proven and is_proven(slot.record) and slot.alone:
            slot.record = replace(slot.record, proven=True)
            night.tally.proven += 1
            night.tally.lines.append(f"proven {slot.record.label} ({counted(slot.record.hit_count, 'use')})")
    leaving = _by_rule(night, sheet, left)
    edits = sheet.edits()
    if leaving and not night.put_away(night.archive, [block for _, block, _ in leaving]):
        night.tally.held_back.append(f"{sheet.page}: the archive of this month cannot be written")
        for slot, _, _ in leaving:
            slot.gone = False
        edits = sheet.edits()
        leaving = []
    night.tally.archived += len(leaving)
    night.tally.lines += [f"archived {slot.was.label} from {sheet.page} ({why})" for slot, _, why in leaving]
    if edits:
        night.draft.do(edits)


def _merge(night: Night, sheet: Sheet, limit: int) -> int:
    """Step 2; how many records were merged away."""
    done = _merge_twins(night, sheet, limit)
    again = True
    while again:
        again = False
        live = sheet.live
        texts = [said(slot.record) for slot in live]
        for one, other in Alike(texts).pairs():
            first, second = live[one], live[other]
            if first.gone or second.gone or not same(texts[one], texts[other]):
                continue
            if sheet.returned & {first.was.identity, second.was.identity}:
                continue  # see returns.py
            if not (first.alone and second.alone):
                continue  # one of blocks that are equal to the letter: those become one first
            if done >= limit:
                _tell_cap(night, sheet, limit)
                return done
            kept, gone = _ordered(first, second)
            _put_into(night, sheet, kept, gone)
            texts[one if kept is first else other] = said(kept.record)
            done += 1
            again = True
    return done


def _merge_twins(night: Night, sheet: Sheet, limit: int) -> int:
    """Blocks that are equal to the letter become one before anything else is asked, however little they say.

    Merged with another record first, one of them would be told apart by the next run alone, which would then do what
    this one had to leave (sheet.py). Those that the cap leaves belong to the edit all the same: it fits no second
    time, when they alone stand there.
    """
    done = 0
    for slot in sheet.slots:
        for twin in slot.twins if slot.twins[0] is slot else ():
            if twin is slot or slot.was.identity in sheet.returned:
                continue
            if done >= limit:
                _tell_cap(night, sheet, limit)
                return done
            for one in slot.twins:
                sheet.join(slot, one)
            _put_into(night, sheet, slot, twin)
            done += 1
    return done


def _put_into(night: Night, sheet: Sheet, kept: Slot, gone: Slot) -> None:
    """The record of `gone` is merged into that of `kept`."""
    kept.record = merged(kept.record, (gone.record,))
    gone.gone = True
    sheet.join(kept, gone)
    night.tally.lines.append(f"merged {gone.record.label} into {kept.record.label} on {sheet.page}")
    night.tally.merged += 1


def _tell_cap(night: Night, sheet: Sheet, limit: int) -> None:
    told = f"{sheet.page}: more duplicates wait for the next run (cap {limit})"
    night.tally.held_back += [told] if told not in night.tally.held_back else []


def _ordered(first: Slot, second: Slot) -> tuple[Slot, Slot]:
    """The fuller one, and the other."""
    return (second, first) if fullness(second.record) > fullness(first.record) else (first, second)


def _contradictions(night: Night, sheet: Sheet) -> None:
    """Step 3."""
    live = [slot for slot in sheet.live if slot.alone and slot.was.identity not in sheet.returned]
    texts = [said(slot.record) for slot in live]  # what follows changes no text
    for one, other in Alike(texts).pairs():
        first, second = live[one], live[other]
        if first.gone or second.gone or not contrary(texts[one], texts[other]):
            continue
        old, new = _by_time(sheet, first, second)
        if supersedes(new.record, old.record):
            sheet.strike(old, new)
            night.tally.superseded += 1
            night.tally.lines.append(f"superseded {old.record.label} by {new.record.label} on {sheet.page}")
        elif old.record.label not in new.record.conflicts or new.record.label not in old.record.conflicts:
            new.record = _against(new.record, old.record)
            old.record = _against(old.record, new.record)
            night.tally.conflicts += 1
            night.tally.lines.append(f"conflict on {sheet.page}: {old.record.label} and {new.record.label}")


def _by_time(sheet: Sheet, first: Slot, second: Slot) -> tuple[Slot, Slot]:
    """The older and the newer; of one day's the later source, then the one that the page's order calls newer."""
    down = -1 if sheet.rule.form is not Form.ADDED else 1

    def when(slot: Slot) -> tuple[date, str, int]:
        return told_last(slot.record), max((one.at for one in slot.record.sources), default=""), down * slot.at

    return (first, second) if when(first) <= when(second) else (second, first)


def _against(record: Record, other: Record) -> Record:
    return replace(record, conflicts=tuple(dict.fromkeys((*record.conflicts, other.label))))


def _clear_conflicts(night: Night, sheet: Sheet) -> None:
    """Step 4: a mark in our form names a record that stands; one that was merged is named by what it became."""
    marked = [slot for slot in sheet.live if slot.record.conflicts and slot.alone]
    if not marked:
        return
    standing = {slot.record.label for slot in sheet.live}
    for page in night.record_pages():
        if page != sheet.page:
            standing |= {placed.record.label for placed in parse(night.draft.texts[page]).records}
    became = {
        slot.was.label: next((one.record.label for one in sheet.live if one.group == slot.group), "")
        for slot in sheet.slots
        if slot.gone and not slot.line
    }
    for slot in marked:
        named = (became.get(one, one) if one not in standing else one for one in slot.record.conflicts)
        left = (one for one in named if one and (one in standing or not one.startswith("[")))
        slot.record = replace(slot.record, conflicts=tuple(one for one in left if one != slot.record.label))


def _by_rule(night: Night, sheet: Sheet, left: int) -> list[tuple[Slot, str, str]]:
    """Step 6: the slots that leave, each with its block for the archive and the reason."""
    if sheet.rule.priority is None and sheet.rule.budget_lines is None:
        return []
    due = [
        (score(slot.record, night.today), slot.at, slot, why)
        for slot in sheet.live
        if slot.alone and slot.was.identity not in sheet.returned and (why := archivable(slot.record, night.today))
    ]
    leaving: list[tuple[Slot, str, str]] = []
    waiting = 0
    for _, _, slot, why in sorted(due, key=lambda one: one[:2]):
        block = sheet.leaving(slot, night.today)
        if not block:
            night.tally.held_back.append(f"{sheet.page}: {slot.record.label} cannot be moved without harm; it stays")
        elif len(leaving) < left:
            slot.gone = True
            leaving.append((slot, block, why))
        else:
            waiting += 1
    if waiting:
        night.tally.held_back.append(f"{sheet.page}: {counted(waiting, 'more record')} to be archived (cap of a run)")
    return leaving
