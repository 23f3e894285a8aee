"""Operations of undo on whole pages (the two rules they keep: memory_core.operations)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from memory_core.forms.patches import Hunk, hunks, patched
from memory_core.ids import PageId
from memory_core.layouts import Form


@dataclass(frozen=True, slots=True)
class Patch:
    """Lines take the place of others, byte for byte, wherever those stand by now (memory_core.forms.patches)."""

    page: PageId
    hunks: tuple[Hunk, ...]
    op: Literal["patch"] = "patch"

    def apply(self, text: str, form: Form) -> str:
        """The page with the old lines; unchanged where a hunk does not fit, or would fit a second time."""
        new = patched(text, self.hunks)
        return text if new is None or patched(new, self.hunks) not in (None, new) else new

    def undo(self, before: str) -> Patch:
        """What stood there."""
        return Patch(self.page, hunks(before, self.apply(before, Form.STATE)))


@dataclass(frozen=True, slots=True)
class Unmake:
    """A page goes, as long as it has this hash: one that a step made and left so, or a journal that was archived.

    `bom`: the file began with a byte order mark, which undo brings back.
    """

    page: PageId
    sha256: str
    bom: bool = False
    op: Literal["unmake"] = "unmake"

    def apply(self, text: str, form: Form) -> str:
        """'' for the text that was left, which means no page (memory_core.flush.apply); another text as it is."""
        return "" if text and text_hash(text) == self.sha256 else text

    def undo(self, before: str) -> Unmake | Patch:
        """The text again."""
        mark = "\ufeff" if self.bom else ""
        return Patch(self.page, hunks(mark + before, "")) if self.apply(before, Form.STATE) != before else self


def text_hash(text: str) -> str:
    """The hash of a page's text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
