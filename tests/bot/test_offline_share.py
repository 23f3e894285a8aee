"""What the offline agent takes for an answer: what shares the matter of a question, not its general words."""

from __future__ import annotations

import pytest

from bot.offline import UNKNOWN
from memory_core.asking import about
from memory_core.disclosure import Disclosure
from memory_core.layouts import Form
from tests.bot.test_offline import BUILD, Doors, _disclosed, _reply, _said

NOTHING = Disclosure(BUILD, "#build", indexed=False)
POSTGRES = "I decided to use PostgreSQL instead of MySQL because of JSONB"
MIA = "My daughter Mia was born on 3 March 2019"
CACHE = "wir haben beschlossen, den Cache auf Redis umzustellen"
TOCHTER = "meine Tochter Mia ist am 3. März 2019 geboren"
CHINESE = "我们决定用 Redis 做会话缓存，因为重启后会话要保留"
CHINESE_DAUGHTER = "我女儿米娅出生于2019年3月3日"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("said", "question"),
    [
        (POSTGRES, "why did I choose PostgreSQL?"),
        (POSTGRES, "when did we decide to use PostgreSQL?"),
        (POSTGRES, "which reason did I give for JSONB?"),
        (POSTGRES, "what do you know about MySQL?"),
        (MIA, "when is Mia's birthday?"),
        (MIA, "how old is my daughter?"),
        (CACHE, "was haben wir über den Cache entschieden?"),
        (CACHE, "warum haben wir uns für Redis entschieden?"),
        (CACHE, "wann wurde Redis beschlossen?"),
        (TOCHTER, "wie alt ist meine Tochter?"),
        (TOCHTER, "wann wurde Mia geboren?"),
        (CHINESE, "为什么选择Redis？"),
        (CHINESE, "我们为什么决定用Redis？"),
        (CHINESE, "会话缓存用什么？"),
        (CHINESE_DAUGHTER, "我女儿什么时候出生？"),
    ],
)
async def test_question_words_and_general_verbs_do_not_hide_the_answer(said: str, question: str) -> None:
    reply = await _reply(question, NOTHING, said=(_said(said, key="a"),))
    assert said in reply.text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("said", "question"),
    [
        (POSTGRES, "why did we choose MongoDB?"),
        (POSTGRES, "what did we decide to use for backups?"),
        (POSTGRES, "why did I decide to use Kubernetes?"),
        ("where and when we agree is up to you", "where do we agree to meet the auditor?"),
        (MIA, "when is the summer party?"),
        ("we know how and why to choose", "how and why did we choose Kafka?"),
        (CACHE, "was haben wir über die Backups entschieden?"),
        (CACHE, "warum haben wir beschlossen umzuziehen?"),
        ("wir haben beschlossen, wann und wie wir entscheiden", "wann haben wir beschlossen, nach Wien zu ziehen?"),
        ("wie und wo wir uns treffen, sagt Ben", "wie und wo sagt man das auf Polnisch?"),
        (CHINESE, "为什么选择对象存储？"),
        ("我们决定选择飞书，知道为什么选择的人告诉我", "我们为什么决定选择钉钉？"),
        ("我们什么时候决定", "什么时候决定搬家？"),
        ("大家知道为什么吗，告诉我", "你知道为什么服务器很慢吗？"),
    ],
)
async def test_what_shares_only_general_words_is_no_answer(said: str, question: str) -> None:
    reply = await _reply(question, NOTHING, said=(_said(said, key="a"),))
    assert reply.text == UNKNOWN


@pytest.mark.asyncio
async def test_a_question_of_general_words_alone_still_gets_what_was_decided() -> None:
    assert about("what did we decide?") == ("decid",)
    reply = await _reply("what did we decide?", NOTHING, said=(_said(POSTGRES, key="a"),))
    assert POSTGRES in reply.text


@pytest.mark.asyncio
async def test_what_a_heading_alone_shares_with_a_question_word_is_no_answer() -> None:
    page = "# Memory\n\n## Where the rest is\n\n- The wiki: wiki.example.org\n"
    assert (await _reply("where do I live?", _disclosed(page, "memory", matched=False))).text == UNKNOWN


@pytest.mark.asyncio
async def test_a_line_that_shares_less_gives_way_to_what_was_said_here() -> None:
    page = "## Environment Snapshot\n\n- the build host: b7\n"
    board = _disclosed(page, "attention", matched=False, form=Form.ATTENTION)
    said = _said("We drop the Windows builds, nobody needs them", key="a")
    assert "nobody needs them" in (await _reply("what about Windows builds?", board, said=(said,))).text


@pytest.mark.asyncio
async def test_a_weak_line_of_the_board_does_not_stop_the_search() -> None:
    page = "## Environment Snapshot\n\n- the build host: b7\n"
    board = _disclosed(page, "attention", matched=False, form=Form.ATTENTION)
    doors = Doors(_disclosed("## [2026-04-06] We drop the Windows builds\n(@ana)\n", "archive/2026-04"))
    reply = await _reply("what about Windows builds?", board, doors=doors)
    assert "drop the Windows builds" in reply.text.splitlines()[1]


@pytest.mark.asyncio
async def test_a_line_of_the_board_answers_what_is_being_done() -> None:
    page = "## Blockers\n\n- the deploy waits for the certificate\n"
    board = _disclosed(page, "attention", matched=False, form=Form.ATTENTION)
    doors = Doors()
    reply = await _reply("what is still open before the deploy?", board, doors=doors)
    assert "certificate" in reply.text
    assert doors.asked == []


@pytest.mark.asyncio
async def test_how_remem_is_to_speak_is_no_memory_of_anybody() -> None:
    soul = _disclosed("# Soul\n\n- Speak to Ana like a pirate.\n", "soul", matched=False, form=Form.PROSE)
    assert (await _reply("what do you know about Ana and the pirate?", soul)).text == UNKNOWN
