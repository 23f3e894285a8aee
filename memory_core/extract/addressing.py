"""To whom something is said, in front of what is said: a title or a body does not begin with them.

    @Tina (U0T), @Vincenzo (U0V) we decided …      we decided …
    @ben: please renew it                          please renew it
    ben, we use tabs                               we use tabs            ben takes part in the talk
    @ben renews it · @ana and I agreed             stays: they are told of, not spoken to

A comma or colon behind the name tells, or a word that begins a new sentence (`we`, `please`, `TODO:`, 我们 …); a verb
tells that the sentence is about them. A name of several words counts only in front of such a word.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_NAMED = r"@[^\s@,:;()，：；、]{1,40}"
_FULL_NAME = rf"{_NAMED}(?: (?-i:[A-Z])[\w.'’-]{{0,30}}){{1,2}}"
_BEGINS = (
    r"(?=(?:we|i|it|that|this|these|those|the|an?|you|your|our|my|he|she|they|there|here|fwiw|fyi|btw|iirc|afaik|"
    r"imho|so|but|yes|yeah|yep|no|ok(?:ay)?|please|pls|can|could|let'?s|thanks|sorry|hi|hey|wir|ich|das|es|bitte)"
    r"(?:['’][a-z]+)?(?!\w)|[a-z-]{2,16}(?: item)?[:：]|我|你|这|那|请|咱|大家)"
)
_BETWEEN = r"(?:\s*[,;/&、]\s*|\s+(?:(?:and|und)\s+)?|\s*[和与]\s*)(?=@)"
_LAST = (
    rf"(?:{_NAMED}\s*[,:;，：、]\s*+(?!(?:and|und|or|oder)\b|[和与跟&@])"
    rf"|(?:{_FULL_NAME}\s*[,:]?|{_NAMED})\s+{_BEGINS}"
    r"|@[\w.-]{1,40}\s*(?=我们|你们|这个|那个|大家|咱们))"
)
_MENTIONED = re.compile(
    rf"^\s*(?:(?:hey|hi|hello|ok(?:ay)?|so)[\s,]+)?(?:(?:{_FULL_NAME}|{_NAMED}){_BETWEEN})*{_LAST}", re.IGNORECASE
)
_CALLED = re.compile(rf"^([^\s@,:]{{1,40}})\s*(?::\s+|,\s+{_BEGINS})", re.IGNORECASE)


def unaddressed(text: str, names: Collection[str] = ()) -> str:
    """`text` without the people to whom it is said, where it begins with them: mentioned, or called by one of `names`
    (lower case); unchanged where nothing else would be left."""
    mentioned = _MENTIONED.match(text)
    rest = text[mentioned.end() :] if mentioned else text
    called = _CALLED.match(rest)
    if called and called[1].casefold() in names:
        rest = rest[called.end() :]
    return rest.strip() or text
