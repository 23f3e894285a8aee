"""The offline agent quotes, names its sources, and knows when it does not know."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from bot.agent import Ask, Reply
from bot.offline import NOT_ASKED, UNKNOWN, WHAT_I_AM, OfflineAgent
from memory_core.candidates import Candidate
from memory_core.disclosure import Disclosure, Loaded, Step
from memory_core.errors import BadInput, Denied
from memory_core.ids import Conversation, GroupScope, MessageKey, PageId, PersonKey, RoomKey
from memory_core.layouts import Form, Priority
from memory_core.ledger.base import Context
from memory_core.messages import Entry, Message, Voice

BUILD = GroupScope("build")
ROOM = Conversation(RoomKey("console:build"))
EXPERIENCE = """## [2026-04-06] Redis for the session cache
Redis over Memcached, because sessions must survive a restart.
(@ana in #build, 2026-04-06 14:02)

## [2026-03-01] Backups go to the second data centre
A nightly copy, kept for thirty days.
(@ben in #build, 2026-03-01 09:00)
"""


def _said(text: str, *, voice: Voice = Voice.PERSON, key: str = "q", who: str = "ana") -> Message:
    at = datetime(2026, 4, 7, 9, tzinfo=UTC)
    author = PersonKey(f"console:{who.split()[0]}")
    return Message(MessageKey(f"console:build:{key}"), ROOM, author, who, text, at, voice)


def _disclosed(
    text: str = EXPERIENCE, page: str = "experience", *, matched: bool = True, form: Form = Form.ADDED
) -> Disclosure:
    records = ("redis", "backups") if page == "experience" else ()
    part = Loaded(PageId(page), Step.PAGE, text, 100, "because", Priority.P2, records, matched=matched, form=form)
    return Disclosure(BUILD, "#build", (part,), budget_tokens=6000, spent_tokens=100)


@dataclass
class Doors:
    """Doors that find one disclosure, or refuse; they note what was asked."""

    found: Disclosure | None = None
    asked: list[str] = field(default_factory=list)

    async def search(self, words: str) -> Disclosure:
        self.asked.append(words)
        if self.found is None:
            raise Denied("over_budget", "the budget is used up")
        return self.found

    async def open(self, page: PageId) -> Disclosure:
        raise Denied("no_route", f"{page} is not offered")

    async def tasks(self) -> Disclosure:
        raise Denied("missing", "no task is open")

    async def remember(self, kind: str, text: str) -> Candidate:
        raise BadInput("nobody said that")


async def _reply(
    text: str,
    *disclosures: Disclosure,
    said: tuple[Message, ...] = (),
    root: Message | None = None,
    doors: Doors | None = None,
    noted: bool = False,
) -> Reply:
    entries = tuple(Entry(at, message) for at, message in enumerate(said))
    message = _said(text)
    ask = Ask(
        BUILD,
        message,
        disclosures,
        (message.key,) * len(disclosures),
        Context((), entries),
        "#build",
        message.sent_at,
        root=root,
        noted=noted,
    )
    return await OfflineAgent().reply(ask, doors or Doors(), _unshown)


async def _unshown(text: str) -> None:
    """Nobody looks at an answer that is not whole."""


@pytest.mark.asyncio
async def test_it_quotes_the_best_record_with_page_and_source() -> None:
    reply = await _reply("why did we take redis for sessions?", _disclosed())
    assert "sessions must survive a restart" in reply.text
    assert "experience" in reply.text
    assert "@ana" in reply.text
    assert "Backups" not in reply.text
    assert reply.quoted == ((PageId("experience"), "redis"),)


@pytest.mark.asyncio
async def test_what_it_does_not_find_it_does_not_know() -> None:
    doors = Doors(_disclosed("nothing of use\n", "people"))
    reply = await _reply("when is the summer party?", _disclosed(matched=False), doors=doors)
    assert reply == Reply(UNKNOWN)
    assert doors.asked == ["when is the summer party?"]


@pytest.mark.asyncio
async def test_where_the_page_holds_no_answer_it_searches_through_the_door() -> None:
    doors = Doors(_disclosed())
    reply = await _reply("where do the nightly backups go?", _disclosed("- one task\n", "attention"), doors=doors)
    assert "second data centre" in reply.text


@pytest.mark.asyncio
async def test_without_an_index_it_asks_no_door() -> None:
    doors = Doors(_disclosed())
    reply = await _reply("what did we decide?", Disclosure(BUILD, "#build", indexed=False), doors=doors)
    assert reply.text == UNKNOWN
    assert doors.asked == []


@pytest.mark.asyncio
async def test_a_question_that_names_only_the_topic_gets_the_page() -> None:
    row = "| renew the certificate | pending | ben | |"
    page = f"## Active Tasks\n\n| Task | Status | Who | Notes |\n|---|---|---|---|\n{row}\n"
    reply = await _reply("anything left for us?", _disclosed(page, "attention"))
    assert "renew the certificate" in reply.text


@pytest.mark.asyncio
async def test_what_was_said_here_but_not_saved_yet_is_told_as_that() -> None:
    reply = await _reply(
        "which port has the staging database?",
        Disclosure(BUILD, "#build", indexed=False),
        said=(_said("the staging database listens on port 5433", key="a", who="ben"),),
    )
    assert "5433" in reply.text
    assert "@ben" in reply.text
    assert reply.text.startswith("It was said here:")


@pytest.mark.asyncio
async def test_a_question_that_was_asked_before_is_no_answer() -> None:
    asked = replace(_said("which port has the staging database?", key="a", who="ben"), addressed=True)
    nothing = Disclosure(BUILD, "#build", indexed=False)
    reply = await _reply("which port has the staging database?", nothing, said=(asked,))
    assert reply.text == UNKNOWN


@pytest.mark.asyncio
async def test_case_34_a_thread_knows_its_root_and_the_bots_answer() -> None:
    listed = _said("Five tools: hammer, saw, plane, file, drill", voice=Voice.SELF, key="b", who="remem")
    nothing = Disclosure(BUILD, "#build", indexed=False)
    reply = await _reply(
        "what did you list, which tools?", nothing, said=(listed,), root=_said("list 5 tools", key="root")
    )
    assert "hammer" in reply.text


@pytest.mark.asyncio
async def test_case_34_the_bots_answer_may_be_the_root() -> None:
    listed = _said("Five tools: hammer, saw, plane, file, drill", voice=Voice.SELF, key="b", who="remem")
    reply = await _reply("what did you list?", Disclosure(BUILD, "#build", indexed=False), root=listed)
    assert "hammer" in reply.text


@pytest.mark.asyncio
async def test_a_polite_question_is_no_question_about_its_own_words() -> None:
    own = _said("You're welcome.", voice=Voice.SELF, key="b", who="remem")
    reply = await _reply("can you tell me why we took redis for sessions?", _disclosed(), said=(own,))
    assert "restart" in reply.text


@pytest.mark.asyncio
@pytest.mark.parametrize("question", ["what is this?", "which host has a full disk?"])
async def test_case_47_an_apps_alert_that_a_thread_hangs_on_is_context(question: str) -> None:
    alert = _said("Disk full on host db-7", voice=Voice.BOT, key="a", who="pager (app)")
    reply = await _reply(question, Disclosure(BUILD, "#build", indexed=False), root=alert)
    assert "db-7" in reply.text
    assert "pager (app)" in reply.text


@pytest.mark.asyncio
async def test_its_own_words_are_no_memory() -> None:
    own = _said("the party is on Friday", voice=Voice.SELF, key="b", who="remem")
    reply = await _reply("when is the party?", Disclosure(BUILD, "#build", indexed=False), said=(own,))
    assert reply.text == UNKNOWN


@pytest.mark.asyncio
async def test_it_says_what_it_is() -> None:
    assert WHAT_I_AM in (await _reply("who are you?", _disclosed())).text


@pytest.mark.asyncio
async def test_thanks_and_greetings_cost_nothing() -> None:
    assert (await _reply("thanks!", _disclosed())).quoted == ()
    assert "Hello" in (await _reply("good morning", _disclosed())).text


@pytest.mark.asyncio
async def test_what_was_noted_is_not_quoted_back() -> None:
    assert (await _reply("decision: redis for sessions", _disclosed(), noted=True)).text == ""
    assert "restart" in (await _reply("remember redis for sessions, why did we?", _disclosed(), noted=True)).text


EARLIER = """## [2026-05-02] Redis for the visitor survey
(@ben in #build, 2026-05-02 09:00)

## [2026-05-01] Redis for the library survey
(@ben in #build, 2026-05-01 09:00)

## [2026-04-30] Redis for the harbour survey
(@ben in #build, 2026-04-30 09:00)
"""


@pytest.mark.asyncio
async def test_what_answers_whole_is_quoted_though_records_answer_half() -> None:
    note = _disclosed("- Kafka for the autumn survey (@ana, 10:00)\n", "journal/2026-05-03", form=Form.JOURNAL)
    reply = await _reply("what did we take for the autumn survey?", _disclosed(EARLIER), note)
    assert "Kafka for the autumn survey" in reply.text.splitlines()[1]


@pytest.mark.asyncio
@pytest.mark.parametrize("form", [Form.NEWEST_FIRST, Form.CHANNEL])
async def test_where_only_half_of_the_question_is_answered_the_archive_is_searched(form: Form) -> None:
    doors = Doors(_disclosed("## [2026-01-02] Kafka for the autumn survey\n(@ana)\n", "archive/2026-01"))
    reply = await _reply("autumn survey?", _disclosed(EARLIER, form=form), doors=doors)
    assert doors.asked == ["autumn survey?"]
    assert "Kafka" in reply.text.splitlines()[1]


@pytest.mark.asyncio
async def test_the_summary_of_a_day_is_no_answer_where_a_record_is() -> None:
    day = _disclosed(
        "- 2026-01-02: Kafka for the autumn survey; lunch moved\n", "daily-synced", form=Form.DAILY_LINES
    )
    doors = Doors(_disclosed("## [2026-01-02] Kafka for the autumn survey\n(@ana)\n", "archive/2026-01"))
    assert "daily-synced" not in (await _reply("autumn survey?", day, doors=doors)).text
    assert "daily-synced" in (await _reply("autumn survey?", day, doors=Doors())).text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("the summer party may move to the lake", False),
        ("das Sommerfest zieht vielleicht an den See", False),
        ("夏日派对可能会搬到湖边", False),
        ("tell me about the summer party", True),
        ("is there a summer party", True),
        ("夏日派对在哪里", True),
        ("夏祭りはいつですか", True),
    ],
)
async def test_what_is_no_question_is_not_answered_as_one(text: str, is_asked: bool) -> None:
    reply = await _reply(text, Disclosure(BUILD, "#build", indexed=False))
    assert reply.text == (UNKNOWN if is_asked else NOT_ASKED)
    assert "/remem note" in NOT_ASKED
