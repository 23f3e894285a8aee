"""The Source line of a record, read: who said it, where, when, in which messages.

    @ana (slack:T1:U2) in #build, 2026-04-06 14:02, slack:T1:C9:1712412120.000100
    @ana in #build, 2026-04-06, slack:T1:C9:1712412120.000100          a fact that left its board, which knows no ids

Several are divided by `; `. What has another form is kept as its text, with the message keys that are found in it.
Values and how they are written: record_values.
"""

from __future__ import annotations

import re

from memory_core.forms.record_values import Source
from memory_core.ids import MessageKey

_SOURCE = re.compile(r"@(?P<name>.*?) \((?P<person>\S+)\) in (?P<place>.*?), (?P<at>\d{4}-[^,]*), (?P<keys>\S.*)")
_ONE_KEY = r"(?:discord:[^\s:]+|slack:[^\s:]+:[^\s:]+|console:[^\s:]+):[^\s;,]+"
_KEY = re.compile(_ONE_KEY)
_NAMED = re.compile(
    rf"@(?P<name>[^()\s](?:[^()]*[^()\s])?)(?P<person>) in (?P<place>[^()]*?), (?P<at>\d{{4}}-[^,]*), "
    rf"(?P<keys>{_ONE_KEY}(?: {_ONE_KEY})*)"
)


def sources_of(text: str) -> tuple[Source, ...]:
    """The sources of such a line, in order; never raises."""
    return tuple([_source(part.strip()) for part in text.split("; ") if part.strip()])


def _source(text: str) -> Source:
    found = _SOURCE.fullmatch(text) or _NAMED.fullmatch(text)
    if found is None:
        return Source(keys=tuple(MessageKey(key) for key in _KEY.findall(text)), text=text)
    name, person, place, at, keys = found.groups()
    return Source(person, name, place, at, tuple(map(MessageKey, keys.split())))
