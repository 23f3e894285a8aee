"""Slack's text as people read it."""

from __future__ import annotations

import pytest

from adapters.slack.entities import mentioned, readable, shown

NAMES = {"U0AAA": "ana", "UREMEM": "remem"}


def test_case_44_ids_become_names_and_the_id_of_a_person_stays() -> None:
    assert readable("ask <@U0AAA> in <#C0BBB|ops> <!channel>", NAMES) == "ask @ana (U0AAA) in #ops @channel"


@pytest.mark.parametrize(
    ("slack", "people_read"),
    [
        ("if a &lt; b &amp;&amp; c &gt; d", "if a < b && c > d"),
        ("&amp;lt;", "&lt;"),
        ("<https://example.com/?a=1&amp;b=2>", "https://example.com/?a=1&b=2"),
        ("see <https://example.com|the page>", "see the page (https://example.com)"),
        ("<mailto:ana@example.com|ana@example.com>", "ana@example.com"),
        ("<!here> <!everyone>", "@here @everyone"),
        ("<!subteam^S1|@ops>", "@ops"),
        ("<!subteam^S1>", "@subteam"),
        ("<!date^1392734382^{date}|18 Feb 2014>", "18 Feb 2014"),
        ("<#C0BBB>", "#C0BBB"),
        ("<@U0NEW|bo>", "@bo (U0NEW)"),
        ("<@U0NEW>", "@U0NEW"),
        ("a <b c", "a <b c"),
    ],
)
def test_each_form(slack: str, people_read: str) -> None:
    assert readable(slack, NAMES) == people_read


def test_the_mention_that_a_message_begins_with_is_left_out() -> None:
    assert readable("<@UREMEM> status?", NAMES, "UREMEM") == "status?"
    assert readable("<@UREMEM>", NAMES, "UREMEM") == ""
    assert readable("<@UREMEM>, <@UREMEM>: hi", NAMES, "UREMEM") == "hi"
    assert readable("thanks <@UREMEM>", NAMES, "UREMEM") == "thanks @remem (UREMEM)"


def test_who_is_mentioned_is_told_once_and_in_order() -> None:
    assert mentioned("<@U2> and <@U1|bo> and <@U2> but not <#C1|x> &lt;@U3&gt;") == ("U2", "U1")


def test_case_47_blocks_and_attachments_are_read() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Disk full"}},
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "db-1"},
            "fields": [{"type": "mrkdwn", "text": "97 %"}],
        },
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "since 14:02"}]},
        {"type": "image", "image_url": "https://x", "alt_text": "a graph"},
    ]
    assert shown({"text": "", "blocks": blocks}).split("\n") == [
        "Disk full",
        "db-1",
        "97 %",
        "since 14:02",
        "a graph",
    ]
    attachment = {"fallback": "fb", "title": "Alert", "text": "cpu", "fields": [{"title": "host", "value": "a"}]}
    assert shown({"attachments": [attachment]}) == "Alert\ncpu\nhost: a"
    assert shown({"attachments": [{"fallback": "only this"}]}) == "only this"


def test_rich_text_is_read_when_there_is_no_text() -> None:
    sections = [
        {
            "type": "rich_text_section",
            "elements": [{"type": "text", "text": "hi "}, {"type": "user", "user_id": "U1"}],
        }
    ]
    assert shown({"blocks": [{"type": "rich_text", "elements": sections}]}) == "hi <@U1>"


def test_text_comes_before_blocks() -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "other"}}
    assert shown({"text": "said", "blocks": [block]}) == "said"
