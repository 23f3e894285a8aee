"""What holds for every page: it can be read, no secret stands in it, it fits its budget, its records parse."""

from __future__ import annotations

from collections.abc import Iterator

from memory_core.audit.findings import Finding, Severity
from memory_core.audit.memory_page import MEMORY
from memory_core.audit.snapshot import Snapshot
from memory_core.conventions import only_points
from memory_core.forms import flush_state, heartbeat, records, tasks
from memory_core.forms.blocks import lines_of
from memory_core.layouts import FLUSH_STATE, HEARTBEAT, TASKS, Form, PageRule
from memory_core.redact.mask import mask
from memory_core.store.base import PageText

_RECORDS = (Form.NEWEST_FIRST, Form.ADDED, Form.SECTIONS)
_MOST_SECRETS = 10
"""So many lines are told one by one; a file full of keys needs no longer list."""


def page_findings(seen: Snapshot) -> Iterator[Finding]:
    """Everything that is said of pages one by one."""
    for page, why in sorted(seen.unread.items()):
        yield seen.finding("page-unreadable", why, page, severity=Severity.ERROR)
    for page, text in sorted(seen.pages.items()):
        rule = seen.table.rule(page)
        if text.bad_bytes:
            yield _damaged(seen, text)
        if page not in (FLUSH_STATE, HEARTBEAT):  # the program's own: times, counts and hashes
            for line, kind in secrets_in(text.text):
                what = secret_message(kind)
                yield seen.finding("secret", what, page, (line, line), Severity.ERROR)
        yield from _budget(seen, rule, text)
        yield from _records(seen, rule, text)
        yield from _side_file(seen, text)


def secret_message(kind: str) -> str:
    """What to do about a secret of that kind; the secret itself is never told."""
    return f"A secret in plain text ({kind}): remove it here, and change it where it is used, since it was readable."


def secrets_in(text: str) -> Iterator[tuple[int, str]]:
    """Line and kind of each secret, at most ten; line 0 for one that goes over several lines."""
    missing = dict.fromkeys(mask(text).kinds)
    if not missing:
        return
    told = 0
    for number, line in enumerate(text.splitlines(), start=1):
        for kind in mask(line).kinds if line.strip() else ():
            missing.pop(kind, None)
            told += 1
            if told > _MOST_SECRETS:
                return
            yield number, kind
    for kind in missing:
        yield 0, kind


def damage_of(text: PageText) -> tuple[int, str]:
    """The line of the first byte that is not UTF-8, and a sentence about all of them."""
    offset = text.bad_bytes[0].offset
    more = f" and {len(text.bad_bytes) - 1} more" if len(text.bad_bytes) > 1 else ""
    line = text.text.count("\n", 0, max(text.text.find("\ufffd"), 0)) + 1
    return (
        line,
        f"The byte at offset {offset}{more} is not UTF-8: save the file as UTF-8; until then it is only read.",
    )


def _damaged(seen: Snapshot, text: PageText) -> Finding:
    line, what = damage_of(text)
    return seen.finding("page-damaged", what, text.page, (line, line), Severity.ERROR)


def _budget(seen: Snapshot, rule: PageRule, text: PageText) -> Iterator[Finding]:
    lines, budget = len(text.text.splitlines()), rule.budget_lines
    if budget is None or lines <= budget or text.page == MEMORY:
        return
    if rule.form is Form.JOURNAL:
        what = f"{lines} lines, more than {budget}: a full day. Nothing is cut; deep sleep takes from it what lasts."
        yield seen.finding("journal-over-budget", what, text.page, severity=Severity.WATCH)
    else:
        what = (
            f"{lines} lines, its budget is {budget}: what is over it is cut from a conversation; shorten or "
            "split it, or run sleep."
        )
        yield seen.finding("page-over-budget", what, text.page)


def _records(seen: Snapshot, rule: PageRule, text: PageText) -> Iterator[Finding]:
    if rule.form not in _RECORDS or rule.priority is None:
        return
    parsed = records.parse(text.text)
    for problem in parsed.problems:
        yield seen.finding("record-unread", problem, text.page)
    if parsed.records or rule.form is Form.SECTIONS or only_points(text.text, seen.table):
        return
    if any(not line.text.startswith("#") and line.text.strip() for line in lines_of(text.text)):
        what = (
            "No entry here has the form of a record (`## [2026-04-06] Title`): it is read as plain text, "
            "and sleep leaves it alone."
        )
        yield seen.finding("page-free-text", what, text.page, severity=Severity.WATCH)


def _side_file(seen: Snapshot, text: PageText) -> Iterator[Finding]:
    why = ""
    match text.page:
        case page if page == TASKS:
            why = tasks.parse(text.text).broken
        case page if page == FLUSH_STATE:
            why = ", ".join(flush_state.parse(text.text).broken)
        case page if page == HEARTBEAT and heartbeat.parse(text.text).broken:
            why = "it is no JSON object"
    if why:
        what = f"Not understood ({why}): correct it; else a copy is kept and it is written anew at the next flush."
        yield seen.finding("side-file-broken", what, text.page)
