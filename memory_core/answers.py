"""What the commands say: short, friendly, true. Pure functions from values to text.

A receipt is worded only from what was read back; names of pages are page ids, never paths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from memory_core.answers_sleep import NAMES
from memory_core.commands import FORMS, Form, Right, Unknown
from memory_core.disclosure import Disclosure, LeftOut, Loaded, Step
from memory_core.flush.correct import Corrected
from memory_core.flush.plans import Receipt
from memory_core.flush.undo import Undone
from memory_core.forms.tasks import Task, ordered, overdue
from memory_core.ids import DirectScope, PageId
from memory_core.layouts import Kind
from memory_core.search import Found
from memory_core.sleep.report import Stage
from memory_core.text import counted, one_line

_NOUNS = {
    Kind.LESSON: "lesson",
    Kind.STATUS: "status change",
    Kind.STACK: "fact about the stack",
    Kind.ARCHITECTURE: "fact about the architecture",
    Kind.ENVIRONMENT: "fact about the environment",
    Kind.TOOL: "fact about a tool",
}
SHOWN_CHARACTERS = 6000
"""How much of a page `/remem show` gives in a chat; the rest is named."""


def noun(kind: Kind) -> str:
    """`decision`, `fact about the environment`: what a record of this kind is called in a sentence."""
    return _NOUNS.get(kind, kind.value)


def kinds_counted(kinds: Mapping[Kind, int]) -> str:
    """`2 decisions, 1 task`."""
    return ", ".join(counted(number, noun(kind)) for kind, number in kinds.items() if number)


def receipt_text(receipt: Receipt) -> str:
    """The receipt of a flush: kinds, pages, messages, pending; or why nothing was saved."""
    if receipt.running:
        return "A flush of this memory is already running; what was said since belongs to the next one."
    if receipt.problem:
        return f"Nothing was saved: {receipt.problem} What was said is kept, and saved by the next try."
    read = counted(receipt.messages, "message")
    pending = (
        f" {counted(receipt.pending, 'thing')} still open, settled at the next flush." if receipt.pending else ""
    )
    if not receipt.written:
        nothing = f"Nothing new to keep ({read} read)." if receipt.messages else "Nothing new since the last flush."
        if receipt.caught_up:
            nothing = "Saved:" + caught_up_text(receipt.caught_up)
        return nothing + pending + waits_text(receipt.waits, receipt.blocked)
    what = kinds_counted(receipt.kinds) or "notes for the journal"
    pages = ", ".join(receipt.pages)
    rest = pending + caught_up_text(receipt.caught_up) + waits_text(receipt.waits, receipt.blocked)
    return f"Saved (no. {receipt.number}): {what} from {read}, in {pages}.{rest}"


def caught_up_text(pages: Sequence[PageId]) -> str:
    """That what waited for pages is written now, with a blank before it; '' where nothing did."""
    return f" What waited for {', '.join(pages)} is written now." if pages else ""


def waits_text(waiting: Sequence[PageId], blocked: Mapping[PageId, str]) -> str:
    """What could not be written on pages with bad bytes, or where something else stands in a page's place (`blocked`
    says what), with a blank before it; '' where there is none."""
    later = "What belongs there waits for the first flush after that."
    told = "".join(f" {why} {later}" for why in blocked.values())
    pages = [page for page in waiting if page not in blocked]
    if not pages:
        return told
    holds, it = ("holds", "it") if len(pages) == 1 else ("hold", "them")
    return (
        f"{told} {', '.join(pages)} {holds} bytes that are not UTF-8, so what belongs there waits; save {it} as "
        f"UTF-8 (`remem doctor` names the bytes), then the next flush writes {it}."
    )


def undone_text(undone: Undone) -> str:
    """What undo took back, from what was read back."""
    if undone.nothing:
        return "There is nothing to undo: since the last undo nothing was saved, noted or corrected."
    if undone.noted:
        return _noted_undone(undone)
    step = f"{NAMES[Stage(undone.sleep)]} no. {undone.number}" if undone.sleep else f"flush no. {undone.number}"
    what = "the last correction" if undone.correction else step
    counted = kinds_counted(undone.kinds or {})
    of_it = bool(counted) and not undone.correction and not undone.at_once  # else it counts what stays, too
    lines = [f"Taken back: {what}{f' ({counted})' if of_it else ''}."]
    if undone.pages:
        lines.append(f"{', '.join(undone.pages)} {'is' if len(undone.pages) == 1 else 'are'} as before it.")
    if undone.kept:
        lines.append(_kept(undone))
    if undone.at_once:
        again = " Another `/remem undo` takes back the newest of it." if undone.more else ""
        lines.append(f"What was noted when it was said, before that flush, stays where it was noted.{again}")
    if undone.sleep:
        lines.append("The next sleep may come to the same again.")
    elif not undone.correction:
        lines.append("What was said then is not saved again; `/remem note …` keeps a single thing.")
    return " ".join(lines) + waits_text(undone.waits, undone.blocked)


def _statement(kind: str, title: str) -> str:
    named = noun(Kind(kind)) if kind in set(Kind) else kind
    return f"{named} “{title}”" if title else named


def _noted_undone(undone: Undone) -> str:
    """What is said of something that was written when it was said, and is taken back: all that one message said."""
    named = [_statement(kind, title) for kind, title in undone.noted]
    what = f"the {' and the '.join(named)}" if any(named) else "with a message that was changed or deleted since"
    done = undone.pages or not undone.kept
    lines = [f"Taken back: what was noted last, {what}." if done else f"Not taken back: {what}, noted last."]
    if undone.pages:
        lines.append(f"{', '.join(undone.pages)} {'is' if len(undone.pages) == 1 else 'are'} as before it.")
    if undone.kept:
        lines.append(_kept(undone))
    return " ".join(lines) + waits_text(undone.waits, undone.blocked)


def _kept(undone: Undone) -> str:
    return f"What was changed by hand since then stays, in {', '.join(undone.kept)}."


def corrected_text(corrected: Corrected, words: str) -> str:
    """What a correction did, from what was read back; else the records that it may have meant."""
    if corrected.new is not None and corrected.old is not None:
        return f"Corrected in {corrected.page}: {corrected.new.title} (before: {corrected.old.label})"
    if not corrected.candidates:
        return f"No record of this memory fits “{words}”, so nothing was changed."
    lines = [f"- {record.label} ({page})" for page, record in corrected.candidates]
    return "\n".join(
        [f"“{words}” does not name one record, so nothing was changed. Say more of its words, or its date:", *lines]
    )


def help_text(*, prefix: str = "/remem") -> str:
    """The table of the forms that exist."""
    rows = [_help_row(form, prefix) for form in FORMS]
    return "What remem can do here:\n" + "\n".join(rows)


def _help_row(form: Form, prefix: str) -> str:
    call = " ".join(part for part in (prefix, form.word, form.argument) if part)
    right = "" if form.right is Right.MEMBER else f" ({form.right})"
    return f"- `{call}`: {form.effect}{right}"


def unknown_text(unknown: Unknown) -> str:
    """An unknown word gets the nearest form and the table."""
    hint = f" Did you mean `{unknown.nearest}`?" if unknown.nearest else ""
    return f"I don't know `{unknown.word}`.{hint}\n{help_text()}"


def missing_text(form: Form) -> str:
    """A form that was called without what it needs."""
    return f"`/remem {form.word}` needs {form.argument}. For example: `/remem {form.word} {_EXAMPLES[form.word]}`"


_EXAMPLES = {
    "search": "cache",
    "note": "decision: we use Redis for sessions",
    "correct": "session cache => we use Valkey for sessions",
    "purpose": "we run the build servers",
    "zone": "Europe/Berlin",
    "rule": "answer in English",
}

NOT_ADMIN = "Only an admin of this room may do that."


@dataclass(frozen=True, slots=True)
class PageSize:
    """A page of the scope in numbers."""

    page: PageId
    lines: int
    tokens: int
    budget_lines: int | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """What `/remem status` tells. `unsaved`: messages since the last flush; `loaded`: what the session holds now."""

    title: str
    purpose: str
    zone: str
    last_flush: str
    flush_number: int
    unsaved: int
    pending: int
    tasks: Sequence[str]
    pages: Sequence[PageSize]
    budget_tokens: int
    spent_tokens: int
    loaded: Sequence[PageId]
    recorded: bool = True
    sleep: str = ""
    usage: str = ""
    notes: Sequence[str] = ()


def task_lines(open_tasks: Sequence[Task], today: date) -> tuple[str, ...]:
    """The open tasks as a status tells them: what is overdue first, with the day since when."""
    return tuple(_task_line(task, overdue(task, today)) for task in ordered(open_tasks, today))


def _task_line(task: Task, late: date | None) -> str:
    due = f", due {task.due}" if task.due and not late else ""
    return f"{task.title} ({task.status}{f', overdue since {late.isoformat()}' if late else due})"


def status_text(status: Status) -> str:
    """The status, a line each."""
    saved = f"{status.last_flush} (no. {status.flush_number})" if status.last_flush else "never"
    lines = [
        f"**{status.title}**" + (f": {status.purpose}" if status.purpose else ""),
        f"- last flush: {saved}; {counted(status.unsaved, 'message')} not saved yet; {status.pending} pending",
        f"- tasks: {'; '.join(status.tasks) if status.tasks else 'none'}",
        *([f"- sleep: {status.sleep}"] if status.sleep else []),
        *([f"- the model today: {status.usage}"] if status.usage else []),
        f"- pages: {', '.join(map(_page_size, status.pages)) if status.pages else 'none yet'}",
        f"- loaded now: {', '.join(status.loaded) or 'nothing'} "
        f"({status.spent_tokens} of {status.budget_tokens} tokens); time zone {status.zone}",
    ]
    if not status.recorded:
        lines.append("- I do not record this room: nobody has addressed me here yet.")
    return "\n".join([*lines, *(f"- note: {note}" for note in status.notes)])


def _page_size(size: PageSize) -> str:
    over = " (over its budget)" if size.budget_lines is not None and size.lines > size.budget_lines else ""
    return f"{size.page} {counted(size.lines, 'line')}/{counted(size.tokens, 'token')}{over}"


def why_text(disclosure: Disclosure | None) -> str:
    """The last disclosure: step, page, trigger, tokens, what was left out."""
    if disclosure is None:
        return "I have not answered here since I started, so nothing was loaded."
    if not disclosure.indexed:
        return "This memory has no index yet, so nothing was loaded. `/remem purpose …` makes one."
    where = "here" if isinstance(disclosure.scope, DirectScope) else f"in {disclosure.title}"
    lines = [f"For the last answer {where}:"]
    loaded = {part.step for part in disclosure.loaded}
    lines += [f"- {step}: {found}" for step, found in _steps(disclosure) if step not in loaded]
    lines += [_why_loaded(part) for part in disclosure.loaded]
    lines += [_why_left(part) for part in disclosure.left_out]
    held = f"the session holds {disclosure.spent_tokens} of {disclosure.budget_tokens}"
    lines.append(f"- in all {counted(disclosure.tokens, 'token')}; {held}")
    return "\n".join([*lines, *(f"- note: {note}" for note in disclosure.notes)])


def _steps(disclosure: Disclosure) -> list[tuple[Step, str]]:
    """The steps in their order, each told once; of the budget the last word, which counts what tools brought, too."""
    told = dict.fromkeys(disclosure.trail)
    budget = [one for one in told if one[0] is Step.BUDGET][-1:]
    return sorted([*(one for one in told if one[0] is not Step.BUDGET), *budget])


def _why_loaded(part: Loaded) -> str:
    priority = f" ({part.priority.name})" if part.priority is not None else ""
    size = counted(part.tokens, "token") + (", cut" if part.cut else "")
    return f"- {part.step}: {part.page}{priority}, {size}: {part.why}"


def _why_left(part: LeftOut) -> str:
    return f"- left out: {part.page}, {part.what}, {counted(part.tokens, 'token')}: {part.why}"


def search_text(words: str, found: Sequence[Found]) -> str:
    """Search results, best first, each with page, date and source."""
    if not found:
        return f"Nothing about “{words}” in this memory."
    return f"About “{words}”:\n" + "\n".join(f"- {found_line(one)}" for one in found)


def found_line(found: Found) -> str:
    """One result: date, title or text, page, source."""
    day = f"[{found.day.isoformat()}] " if found.day else ""
    text = " ".join(found.text.split())
    return quoted(found.page, text[:400], day=day, title=found.title, source=found.source)


def quoted(page: PageId, text: str, *, day: str = "", title: str = "", source: str = "") -> str:
    """A quotation on one line: date, title, text, page, source; nothing of it twice.

    A title that only begins the text (titles are cut from their text) is left out, and so are a bullet's mark, the
    bars of a table's row and a source that the text names itself.
    """
    title = one_line(title)
    body = " | ".join(cell.strip() for cell in text.strip().strip("|").split("|") if cell.strip())
    body = body.removeprefix("- ").removeprefix("* ")
    begins = title.rstrip("…. ")
    head = f"{title}: " if begins and not body.startswith(begins) else ""
    tail = f", {source}" if source and source.split(" ", 1)[0] not in body else ""
    return f"{day}{head}{body} ({page}{tail})"


def page_text(page: PageId, text: str) -> str:
    """A page as shown in a chat; what is beyond the limit is named."""
    shown = text.strip()
    if len(shown) > SHOWN_CHARACTERS:
        left = len(shown) - SHOWN_CHARACTERS
        cut = shown[:SHOWN_CHARACTERS]
        shown = f"{cut}\n… ({counted(left, 'more character')}; `/remem search` finds what stands there)"
    return f"{page}:\n{shown}" if shown else f"{page} is empty."


def pages_text(sizes: Sequence[PageSize]) -> str:
    """The list that `/remem show` gives without a page."""
    if not sizes:
        return "This memory has no page yet. `/remem note …` or the next flush makes the first."
    return "Pages: " + ", ".join(map(_page_size, sizes)) + ". `/remem show <page>` reads one."


def flush_time(moment: datetime | None, zone: tzinfo) -> str:
    """`YYYY-MM-DD HH:mm` in the scope's zone; '' for never."""
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M") if moment else ""
