"""The index against the files: rows to pages that are not there, pages no row leads to, a catalogue of yesterday."""

from __future__ import annotations

from collections.abc import Iterator

from memory_core.audit.findings import Finding, Severity
from memory_core.audit.snapshot import Catalogue, Snapshot
from memory_core.conventions import conventions_in, is_convention
from memory_core.ids import PageId
from memory_core.index import Index
from memory_core.layouts import INDEX, Form


def index_findings(seen: Snapshot) -> Iterator[Finding]:
    """What is wrong between this scope's index and its pages."""
    index = seen.index
    if index is None:
        if INDEX not in seen.unread and any(seen.table.rule(page).form is not Form.STATE for page in seen.pages):
            yield _missing(seen)
        return
    _, warning = index.budget(seen.table.default_budget_tokens)
    for problem in (*index.problems, *filter(None, [warning])):
        yield seen.finding("index-unread", problem, INDEX)
    yield from _dead_rows(seen, index)
    for page in pages_without_row(seen, index):
        what = f"No routing row leads to {seen.file(page)}: no message opens it. `--fix` adds a row."
        yield seen.finding("index-missing-row", what, page, fixable=True)
    yield from _unreached(seen)
    if seen.catalogue is Catalogue.STALE:
        what = "The catalogue differs from the pages; the next flush writes it anew, `--fix` now."
        yield seen.finding("index-catalogue-stale", what, INDEX, severity=Severity.WATCH, fixable=True)


def pages_without_row(seen: Snapshot, index: Index) -> tuple[PageId, ...]:
    """Routed pages that stand on disk and that no row names; a row marked as deprecated is a person's word too."""
    named = {route.page for route in index.routes}
    routed = (page for page in sorted(seen.pages) if seen.table.rule(page).priority is not None)
    return tuple(page for page in routed if page not in named)


def _missing(seen: Snapshot) -> Finding:
    what = (
        f"{seen.file(INDEX)} is not there, so nothing is routed: `remem init` or the first flush makes it; no "
        "page changes."
    )
    return seen.finding("index-missing", what, INDEX, severity=Severity.WATCH)


def _dead_rows(seen: Snapshot, index: Index) -> Iterator[Finding]:
    """Rows to pages with names of their own; the others are made when something is to be written there."""
    for route in dict.fromkeys(route for route in index.routes if not route.deprecated):
        starred = seen.table.rule(route.page).page.endswith("*")
        if starred and route.page not in seen.pages and route.page not in seen.unread:
            what = (
                f"The row {route.trigger[:60]!r} leads to {seen.file(route.page)}, which is not there: write "
                "the page, or mark the row [DEPRECATED]."
            )
            yield seen.finding("index-dead-row", what, INDEX)


def _unreached(seen: Snapshot) -> Iterator[Finding]:
    named = {page for text in seen.pages.values() for page in conventions_in(text.text, seen.table)}
    for page in sorted(seen.pages):
        if is_convention(page) and page not in named:
            what = f"No page names {page}, so it is never loaded: name it on the page that needs it."
            yield seen.finding("index-unreached", what, page, severity=Severity.WATCH)
