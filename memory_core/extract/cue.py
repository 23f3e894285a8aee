"""What a cue is: words that announce a decision, a task, a blocker, …

The tables (cues_decisions, cues_work, cues_people, cues_talk) hold cues in English, Chinese, Japanese and German. A
row is a kind, how firm the words are, and a pattern. The first row that matches a sentence wins, so the more telling
cues stand first.

    LABEL      a written label (`Decision:`, `TODO:`, 决定：): settles, also inside a long message
    EXPLICIT   the plain word for it (`we decided to …`): settles
    COMMITTED  one person commits (`let's go with …`): settles in a DM; in a group someone else must agree
    PROPOSED   an open proposal (`I propose …`, 建议…): someone else must agree or act; unanswered it is unsettled
    HINTED     a soft proposal (`how about …`): someone else must agree or act; unanswered it is nothing
    STATED     a fact of the setting (`we use …`): must be said in two messages

Patterns are matched on one sentence of at most a few hundred characters and hold no nested repetition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from memory_core.layouts import Kind


class Firmness(IntEnum):
    """How firm a cue is, weakest first (see the top of this file)."""

    STATED = 0
    HINTED = 1
    PROPOSED = 2
    COMMITTED = 3
    EXPLICIT = 4
    LABEL = 5


@dataclass(frozen=True, slots=True)
class Cue:
    """One row of the table. `status` is a task's; `whole` keeps the matched words in what was stated."""

    kind: Kind
    firmness: Firmness
    pattern: re.Pattern[str]
    status: str = ""
    whole: bool = True


def cue(*alternatives: str) -> re.Pattern[str]:
    """One pattern of several; letters of either case."""
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE)


START = (
    r"^(?:[\W_]|\b(?:ok(?:ay)?|so|and|but|also|alright|right|great|well|btw|fyi|hey|then|please|pls|important|final"
    r"|good news)\b|那么|好的|那|好|嗯|另外|重要)*"
)
"""The start of a sentence, over its fillers."""
