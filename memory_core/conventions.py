"""Conventions: files that are loaded only where a page names them. Pure.

A page names one as `conventions/api.md` or `conventions/api`, anywhere in its text. No routing row opens one
by itself.
"""

from __future__ import annotations

import re

from memory_core.ids import PageId
from memory_core.layouts import Table

_FOLDER = "conventions/"
_NAMED = re.compile(r"conventions/([^\s/\\:*?\"<>|()\[\]`',;]{1,80})")


def conventions_in(text: str, table: Table) -> tuple[PageId, ...]:
    """The conventions that `text` names (`conventions/api.md`, `conventions/api`), in order, each once."""
    found: list[PageId] = []
    for match in _NAMED.finditer(text):
        page = PageId(_FOLDER + match[1].rstrip(".!…").removesuffix(".md"))
        if any(rule.name_in(page) is not None for rule in table.rules):
            found.append(page)
    return tuple(dict.fromkeys(found))


def only_points(text: str, table: Table) -> bool:
    """Does a page say nothing but where its conventions stand ("Conventions: see conventions/api.md")?"""
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "<!--"))
    ]
    return bool(conventions_in(text, table)) and all(
        line.endswith((":", "：")) or conventions_in(line, table) for line in lines
    )


def is_convention(page: PageId) -> bool:
    """Is it a file of conventions/? Such a page is opened only where an open page names it."""
    return page.startswith(_FOLDER)
