"""What was said as search takes it: each message as its line, whatever its text, its time and the zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from memory_core.clock import day_in
from memory_core.forms.units import Unit, said_on
from memory_core.ids import MessageKey
from memory_core.ledger.transcript import Said
from memory_core.messages import Voice
from memory_core.search.parts import Placed
from memory_core.search.sources import TALK, Piece, talk_source

_TEXTS = st.text(st.sampled_from("ab \t\n\r\u00a0\u2028界"), max_size=12) | st.text(max_size=20)
_MOMENTS = st.integers(0, 4_000_000_000_000_000).map(
    lambda us: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)
)
_ZONES = st.sampled_from([UTC, ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Kolkata")])


@given(_TEXTS, _MOMENTS, _ZONES)
def test_a_message_is_told_as_its_line(text: str, moment: datetime, zone: ZoneInfo) -> None:
    said = Said(7, MessageKey("console:x:7"), "ana", text, moment, Voice.PERSON, addressed=False)
    (placed,) = talk_source(Piece("p", "t", "m", (6, 7)), {7: said}, zone).placed()
    here = moment.astimezone(zone)
    told = re.sub(r"\s*\n\s*", "\n  ", text.strip())
    unit = Unit(
        text=f"- {told} (@ana, {here:%H:%M})",
        context=(said_on(day_in(zone, moment)),),
        body=text,
        day=day_in(zone, moment),
        source=f"@ana, {here:%H:%M}",
        said_by="ana",
        close=True,
    )
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    seconds = (moment - midnight) // timedelta(seconds=1)
    at = moment.toordinal() + seconds / 86_400
    assert placed == Placed(TALK, unit, message=said.key, talk="t", at=at)


def test_neither_what_remem_said_nor_what_it_was_asked_is_told() -> None:
    moment = datetime(2026, 4, 6, tzinfo=UTC)
    asked = Said(1, MessageKey("k1"), "ana", "what did we decide", moment, Voice.PERSON, addressed=True)
    answer = Said(2, MessageKey("k2"), "remem", "Redis.", moment, Voice.SELF, addressed=False)
    aside = asked._replace(seq=3, addressed=False)
    told = Said(4, MessageKey("k4"), "ana", "we use Redis", moment, Voice.PERSON, addressed=True)
    bot = Said(5, MessageKey("k5"), "ci", "build 7 failed", moment, Voice.BOT, addressed=False)
    said = {one.seq: one for one in (asked, answer, aside, told, bot)}
    placed = talk_source(Piece("p", "t", "m", tuple(said)), said, UTC).placed()
    assert [one.unit.body for one in placed] == ["what did we decide", "we use Redis", "build 7 failed"]
