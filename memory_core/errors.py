"""The errors of remem's memory, in one tree.

    RememError
    ├── BadInput              a value from outside breaks a rule: names the value, the limit, the next step
    ├── StoreError            a page could not be read or written
    │   ├── UnknownPage       the page id is not in the layout's allow list
    │   ├── NoIndex           the scope has no index yet, so nothing of it is read or written
    │   ├── PageExists        an exclusive creation met an existing page
    │   ├── PageChanged       the page changed since it was read (read again, merge, write again)
    │   ├── PageDamaged       the page holds bytes that are not UTF-8: it is never written over
    │   └── StoreFailed       the file system refused (no space, no permission, I/O)
    │       └── PageBlocked   a folder, a link or a pipe stands in the page's place: only a person can move it away
    ├── LedgerError
    │   ├── LedgerDamaged     the ledger does not open or fails its check
    │   └── LedgerFailed      a write of the ledger was refused
    ├── EmbeddingFailed       the optional embedder gave no vectors: search goes on by words alone
    ├── ExtractionFailed      the extractor gave no candidates: what was said is kept and read through again
    ├── SleepFailed           a stage of sleep could not do its work; the next try finishes it
    ├── NamesDamaged          group_names.json cannot be trusted: no name is given out
    ├── WorkspaceHeld         another process holds the workspace
    ├── WorkspaceGone         state knows the workspace, the disk does not
    └── Denied                the gate refuses a read (typed reason; the model sees it, the log counts it)

One more stands above this floor: ModelFailed of bot.models.failures, a RememError of a model that gave no answer.

What goes wrong below (OSError, sqlite3.Error) is translated at the port that meets it, nowhere else.
Messages never hold a secret or another scope's text.
"""

from __future__ import annotations


class RememError(Exception):
    """The root: one sentence that names the value, the limit and the next step."""


class BadInput(RememError, ValueError):
    """A value from outside breaks a rule."""


class StoreError(RememError):
    """A page could not be read or written."""


class UnknownPage(StoreError, KeyError):
    """The page id is not in the scope's allow list."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class NoIndex(StoreError):
    """The scope has no index yet; the first join makes it, then this works."""


class PageExists(StoreError):
    """An exclusive creation met an existing page; nothing was changed."""


class PageChanged(StoreError):
    """The page changed since it was read; nothing was changed."""


class PageDamaged(StoreError):
    """The page holds undecodable bytes and is not written over until a person repaired it."""


class StoreFailed(StoreError):
    """The file system refused; the old content stands, unless only the very last step failed (store.base)."""


class PageBlocked(StoreFailed):
    """Something that is no file stands in the page's place; it is never touched, and other pages are as they were."""


class LedgerError(RememError):
    """The ledger could not do its work."""


class LedgerDamaged(LedgerError):
    """The ledger file does not open or fails its check; it was set aside, not replaced in silence."""


class LedgerFailed(LedgerError):
    """A write was refused; nothing of it was kept."""


class EmbeddingFailed(RememError):
    """The optional embedder gave no vectors; words alone still find."""


class ExtractionFailed(RememError):
    """The extractor gave no candidates. Its words are for the operator's log, never for a room."""


class SleepFailed(RememError):
    """A stage of sleep could not do its work; what it began is finished by the next try."""


class NamesDamaged(RememError):
    """The mapping of rooms to names cannot be trusted; no name is given out."""


class WorkspaceHeld(RememError):
    """Another process holds the workspace."""


class WorkspaceGone(RememError):
    """The workspace is known to state but gone from disk (unmounted?); nothing is initialised anew."""


class Denied(RememError):
    """The gate refuses a read: `reason` is one of gate.DENIALS, the message is fit for the model."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
