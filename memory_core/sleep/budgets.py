"""Line budgets: a page that is too long gives up what is worth least; it goes to the archive of the month.

First the struck lines of superseded records, oldest first (the record that took their place names them still); then
records, lowest score first, but never PROVEN ones, never those in conflict, and never a person's own sections, which
are not counted either. What cannot be held is reported. A page of daily lines gives up its oldest days. A page of
what is being done gives up nothing here: the flush shows as many tasks and facts as it has room for
(flush/board_budget, flush/fact_budget), and what is too long then, blockers and a person's own lines, is reported.
"""

from __future__ import annotations

from collections.abc import Collection

from memory_core.forms import daily
from memory_core.forms.blocks import lines_of
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.operations.sleep import DropBlocks, EditRecords
from memory_core.sleep.fitness import is_proven, standing_score
from memory_core.sleep.likeness import told_last
from memory_core.sleep.night import Night
from memory_core.sleep.sheet import Slot, counted_lines, sheet_of
from memory_core.text import counted


def hold_budget(night: Night, page: PageId, spared: Collection[str] = ()) -> None:
    """Bring one page within its budget, if it has one. `spared`: identities of records that came back just now."""
    rule = night.draft.table.rule(page)
    budget, own = rule.budget_lines, rule.sections if rule.form is Form.CHANNEL else ()
    if budget is None:
        return
    over = counted_lines(night.draft.texts[page], own) - budget
    while over > 0 and _give_up(night, page, over, spared):
        over = counted_lines(night.draft.texts[page], own) - budget
    if over > 0:
        night.tally.over_budget.append(
            f"{page}: {over + budget} of {budget} lines; what is left must not leave by rule"
        )


def _give_up(night: Night, page: PageId, over: int, spared: Collection[str]) -> bool:
    """Move about `over` lines out; False where nothing may leave."""
    draft = night.draft
    sheet = sheet_of(page, draft.table.rule(page), draft.texts[page])
    old = sorted(set(sheet.struck))[: (over + 1) // 2]
    if old and night.put_away(night.archive, old):
        night.tally.lines.append(f"moved {counted(len(old), 'struck line')} from {page} to the archive (line budget)")
        return draft.do(DropBlocks(page, tuple(old)))
    free = [slot for slot in sheet.slots if slot.alone and not slot.record.conflicts and not is_proven(slot.record)]
    free = [slot for slot in free if slot.was.identity not in spared]
    free.sort(key=lambda slot: (standing_score(slot.record, night.today), told_last(slot.record), -slot.at))
    leaving: list[tuple[Slot, str]] = []
    for slot in free:
        if over <= 0:
            break
        if block := sheet.leaving(slot, night.today):
            leaving.append((slot, block))
            over -= slot.lines
    if not leaving or not night.put_away(night.archive, [block for _, block in leaving]):
        return False
    night.tally.archived += len(leaving)
    night.tally.lines += [f"archived {slot.record.label} from {page} (line budget)" for slot, _ in leaving]
    gone = tuple(((slot.block, ""),) for slot, _ in leaving)
    return draft.do(EditRecords(page, gone, sheet.sections_of(slot for slot, _ in leaving)))


def hold_days(night: Night) -> None:
    """The oldest days leave a page of daily lines that is too long."""
    draft = night.draft
    for page in [page for page in draft.texts if page not in night.damaged]:
        rule = draft.table.rule(page)
        over = len(draft.texts[page].splitlines()) - (rule.budget_lines or 10**9)
        if rule.form is not Form.DAILY_LINES or over <= 0:
            continue
        lines = [line.text for line in lines_of(draft.texts[page]) if not line.inert and daily.parse(line.text)]
        old = sorted(lines)[:over]
        if old and night.put_away(night.archive, old):
            draft.do(DropBlocks(page, tuple(old)))
            night.tally.lines.append(f"moved {len(old)} of the oldest days from {page} to the archive (line budget)")


def tell_boards(night: Night) -> None:
    """A page of what is being done is told where it is too long: blockers and a person's own lines stay there."""
    for page in [page for page in night.draft.texts if page not in night.damaged]:
        rule = night.draft.table.rule(page)
        lines = len(night.draft.texts[page].splitlines())
        if rule.form in (Form.ATTENTION, Form.ACTIVE) and rule.budget_lines and lines > rule.budget_lines:
            night.tally.over_budget.append(
                f"{page}: {lines} of {rule.budget_lines} lines; blockers and your own lines stand until they are over"
            )
